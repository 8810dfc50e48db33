//! P11 to P20: what the operator sees is old, short, doubled, out of order or silent.

use serde_json::json;

use super::play::{DOWN, WATCHED, ends_of, newcomer};
use super::{Named, here};
use crate::campaign::trial::Trial;
use crate::faults::{Act, Match, OperatorOptions, StaleView, WatchMatch, WatchWhat, What};
use crate::objects::Kind;
use crate::scenario::build::{self, created, deleted, merged, seconds};
use crate::trace::Verb;

/// Longer than until every kind is listed anew.
const RELISTED: u64 = 2300;

pub(super) const ALL: &[Named] = &[
    here("P11", "after a failover the new leader sees how it was before the evictions", "I5 I9 I20", || {
        [5, 10, 20]
            .map(|behind| {
                let view = StaleView { behind, until: seconds(150) };
                let stale = OperatorOptions { view: Some(view), ..OperatorOptions::default() };
                let acts = [Act::Start(stale), Act::Stop { operator: 0 }];
                acts.into_iter().fold(newcomer().blind().heals_after(150), |play, act| {
                    play.faults(Match::evictions(), What::Then(Box::new(act)), 1, 1)
                })
            })
            .into()
    }),
    here("P12", "the watch loses the end of a victim", "I2 I9 L7", || {
        ["newcomer", "budgets", "stateful"]
            .map(|workload| {
                Trial::of(workload)
                    .watch(ends_of(Kind::Pod), WatchWhat::Drop, 1)
                    .blind()
                    .heals_after(RELISTED)
                    .lets_in()
            })
            .into()
    }),
    here("P13", "the watch loses the end of a Queue", "I2 I24", || {
        vec![
            Trial::of("queue-deleted")
                .watch(ends_of(Kind::Queue), WatchWhat::Drop, 1)
                .blind()
                .heals_after(RELISTED),
        ]
    }),
    here(
        "P14",
        "kinds are seen in another order than they were written: pods before their Queue, quotas after pods",
        "I2 I5",
        || {
            WATCHED
                .map(|kind| {
                    newcomer()
                        .watch(WatchMatch::of(kind), WatchWhat::Delay(seconds(3)), 10_000)
                        .blind()
                        .heals_after(90)
                })
                .into()
        },
    ),
    here(
        "P15",
        "every event comes twice; every watch begins anew with a list, several times",
        "I20 L8",
        || {
            let twice = WATCHED
                .into_iter()
                .fold(newcomer(), |play, kind| play.watch(WatchMatch::of(kind), WatchWhat::Twice, 100_000));
            let storm = WATCHED.into_iter().fold(newcomer(), |play, kind| {
                let gone = || Act::Watch { operator: 0, kind, what: WatchWhat::Gone };
                (59..63).fold(play, |play, second| play.at(second, gone()))
            });
            vec![twice, storm]
        },
    ),
    here(
        "P16",
        "410 in the middle of a list, and objects that come and go between its pages",
        "I2 I9",
        || {
            let between = |act: Act| {
                newcomer()
                    .flag("--watch-page-size=2")
                    .fault(Match::evictions(), What::CrashAfter(DOWN))
                    .faults(Match::requests(Verb::List, Kind::Pod), What::First(Box::new(act)), 2, 1)
            };
            let mut work = build::work("1m", "1Mi");
            work["nodeSelector"] = json!({"kubernetes.io/hostname": "nowhere"});
            let bare = build::pod("default", "passing", &work);
            vec![
                between(Act::Forget),
                between(created(Kind::Pod, bare)),
                between(deleted(Kind::Pod, "team-1", "large-bbbbt")),
            ]
        },
    ),
    here("P17", "a list of nodes is empty", "I22", || {
        let list = || Match::requests(Verb::List, Kind::Node);
        vec![
            // Of a running operator: nothing is believed.
            touched(gone("newcomer").faults(list(), What::EmptyList, 1, 1)),
            // And of one that has just begun.
            newcomer()
                .fault(Match::evictions(), What::CrashAfter(DOWN))
                .faults(list(), What::EmptyList, 1, 1)
                .blind()
                .heals_after(RELISTED)
                .lets_in(),
        ]
    }),
    here("P18", "half of the nodes are missing in one list", "I22", || {
        let list = Match::requests(Verb::List, Kind::Node);
        vec![touched(gone("two-queues").faults(list, What::PartialList, 1, 1))]
    }),
    here("P19", "nodes are seen much later than pods", "I2 I22", || {
        vec![
            Trial::of("nodes")
                .watch(WatchMatch::of(Kind::Node), WatchWhat::Delay(seconds(20)), 10_000)
                .blind()
                .heals_after(90),
        ]
    }),
    here("P20", "a watch falls silent and stays open", "I22 L1", || {
        WATCHED
            .map(|kind| {
                newcomer()
                    .at(59, Act::Watch { operator: 0, kind, what: WatchWhat::Freeze })
                    .blind()
                    .heals_after(330)
            })
            .into()
    }),
];

/// The nodes of a workload are listed anew.
fn gone(workload: &str) -> Trial {
    Trial::of(workload).watch(WatchMatch::of(Kind::Node), WatchWhat::Gone, 1)
}

/// Something happens to a node, so that its watch says what it has to say.
fn touched(play: Trial) -> Trial {
    let label = json!({"metadata": {"labels": {"touched": "yes"}}});
    play.at(50, merged(Kind::Node, "", "node-1", label)).heals_after(RELISTED)
}
