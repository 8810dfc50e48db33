//! P32 to P36: the leader, and replicas that still believe to lead.

use std::time::Duration;

use super::play::{from_to, newcomer, quota_change};
use super::{Named, here};
use crate::campaign::trial::{Trial, WITHOUT_LEASE};
use crate::faults::{Act, Fault, Match, OperatorOptions, What};
use crate::objects::Kind;
use crate::scenario::build::deleted;
use crate::trace::Verb;

pub(super) const ALL: &[Named] = &[
    here("P32", "two leaders, both in the middle of a plan", "I2 I9 I20 I27", || {
        let second = || OperatorOptions::default().flag(WITHOUT_LEASE);
        let start = |on| newcomer().fault(on, What::Then(Box::new(Act::Start(second()))));
        let both = |workload| Trial::of(workload).flag(WITHOUT_LEASE).operator(second());
        let mut plays =
            vec![start(Match::evictions()), start(quota_change("team-1")), start(quota_change("team-3"))];
        plays.extend(["newcomer", "weights", "lent"].map(both));
        plays.into_iter().map(|play| play.heals_after(90)).collect()
    }),
    here(
        "P33",
        "a leader is stopped for 40 s in the middle of a plan and goes on with it",
        "I2 I5 I20 I27",
        || {
            let stop = || What::First(Box::new(Act::Pause { operator: 0, length: Duration::from_secs(40) }));
            let play = |on| {
                newcomer().fault(on, stop()).operator(OperatorOptions::default()).blind().heals_after(90)
            };
            vec![
                play(Match::evictions()),
                play(quota_change("team-1")),
                play(quota_change("team-3")),
                play(Match::requests(Verb::Update, Kind::ConfigMap)),
            ]
        },
    )
    .and(&["e2e/tests/bad_days.rs: a_frozen_leader_is_replaced_and_does_no_harm_when_it_wakes"]),
    here("P34", "a user deletes the Lease", "I20 I26", || {
        let lease = || deleted(Kind::Lease, crate::faults::NAMESPACE, "quotient-operator");
        [59, 60, 61]
            .map(|second| newcomer().at(second, lease()).operator(OperatorOptions::default()).heals_after(90))
            .into()
    }),
    here("P35", "the clock jumps by an hour, or runs twice as fast, or half", "I5 L1", || {
        let jump = |second, millis| (second, Act::Clock { operator: 0, millis });
        let jumps =
            [3_600_000, -3_600_000].into_iter().flat_map(|by| [59, 61].map(|second| vec![jump(second, by)]));
        let skews = [1_000, -500].map(|by| (20..120).map(|second| jump(second, by)).collect::<Vec<_>>());
        let play = |acts: Vec<(u64, Act)>| {
            acts.into_iter().fold(newcomer().heals_after(120), |play, (second, act)| play.at(second, act))
        };
        jumps.chain(skews).map(play).collect()
    }),
    here("P36", "renewals of the Lease are throttled for 30 s", "I26 L1", || {
        let throttled = |from| {
            let mut on = from_to(from, from + 30);
            on.kind = Some(Kind::Lease);
            on
        };
        [55, 60]
            .map(|from| {
                let busy = || Fault::on(throttled(from), What::Busy(Some(1))).times(10_000);
                let alone = newcomer().first(|options| options.faults.push(busy()));
                let second = OperatorOptions::default().fault(busy());
                [alone.clone(), alone.operator(second)].map(|play| play.heals_after(90))
            })
            .into_iter()
            .flatten()
            .collect()
    }),
];
