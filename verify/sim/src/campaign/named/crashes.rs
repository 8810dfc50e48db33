//! P01 to P10: the process ends, or an answer is lost, between two writes that belong together.

use serde_json::json;

use super::play::{DOWN, newcomer, quota_change, quota_create, statuses};
use super::{Named, here};
use crate::campaign::trial::Trial;
use crate::faults::{Act, Match, What};
use crate::objects::Kind;
use crate::scenario::build::merged;
use crate::trace::Verb;

pub(super) const ALL: &[Named] = &[
    here("P01", "crash between the write that lowers a quota and its answer", "I2 I5 I26", || {
        ["team-1", "team-2"].map(|loser| newcomer().fault(quota_change(loser), What::CrashAfter(DOWN))).into()
    }),
    here("P02", "crash after a quota is lowered, before any eviction", "I5 I26 L1", || {
        vec![newcomer().fault(Match::evictions(), What::CrashBefore(DOWN))]
    }),
    here("P03", "crash between one eviction and the next", "I9 I20 L4", || {
        let between = |(workload, nth): (&str, u32)| {
            Trial::of(workload).faults(Match::evictions(), What::CrashBefore(DOWN), nth, 1)
        };
        [("newcomer", 1), ("budgets", 1), ("budgets", 2), ("ten-queues", 3), ("ten-queues", 7)]
            .map(between)
            .into()
    }),
    here("P04", "crash between the last eviction and the status that tells of it", "I3 I26 L7", || {
        vec![
            newcomer().faults(Match::evictions(), What::CrashAfter(DOWN), 1, 1),
            newcomer().faults(statuses(), What::CrashBefore(DOWN), 8, 1),
        ]
    }),
    here("P05", "crash between the end of a pod and the quota that rises into its room", "I6 L1", || {
        [0, 1].map(|nth| newcomer().faults(quota_change("team-3"), What::CrashBefore(DOWN), nth, 1)).into()
    }),
    here("P06", "a write of each kind is carried out and its answer is lost", "I2 I20 I26", || {
        let kinds = [
            quota_create("team-3"),
            quota_change("team-1"),
            quota_change("team-3"),
            Match::evictions(),
            Match::requests(Verb::Create, Kind::ConfigMap),
            Match::requests(Verb::Update, Kind::ConfigMap),
            statuses(),
            Match::requests(Verb::Create, Kind::Event),
            Match::requests(Verb::Patch, Kind::Job),
            Match::requests(Verb::Update, Kind::Lease),
        ];
        let lost = |on: Match| {
            [What::ReplyLost, What::ReplyError(504), What::ReplyReset]
                .map(|what| newcomer().fault(on.clone(), what))
        };
        kinds.into_iter().flat_map(lost).collect()
    }),
    here(
        "P07",
        "crash while a namespace, or the whole cluster, is governed for the first time",
        "I2 I26",
        || {
            let first = [
                quota_create("team-3"),
                quota_create("team-1"),
                Match::requests(Verb::Create, Kind::ConfigMap),
            ];
            let both = |on: Match| {
                [What::CrashBefore(DOWN), What::CrashAfter(DOWN)]
                    .map(|what| newcomer().fault(on.clone(), what))
            };
            first.into_iter().flat_map(both).collect()
        },
    ),
    here("P08", "crash in the middle of many statuses", "I3 L8", || {
        [2, 5, 9, 14]
            .map(|nth| Trial::of("ten-queues").faults(statuses(), What::CrashAfter(DOWN), nth, 1))
            .into()
    }),
    here("P09", "the operator panics in the middle of a preemption", "I26", || {
        let panic = || What::First(Box::new(Act::Panic { operator: 0 }));
        let quotas = ["team-1", "team-3"].map(|namespace| newcomer().fault(quota_change(namespace), panic()));
        let plays = std::iter::once(newcomer().fault(Match::evictions(), panic())).chain(quotas);
        plays.map(|play| Trial { panics: true, ..play }).collect()
    })
    .and(&["operator/src/cycle/mod.rs: a_panic_of_the_engine_ends_the_loop"]),
    here(
        "P10",
        "in the middle of a preemption another version takes over, which wrote what this one does not know",
        "I26",
        || {
            let unknown =
                json!({"metadata": {"annotations": {"quotient.dev/of-the-future": "yes"}}, "ofTheFuture": 1});
            let of_queue = json!({"status": {"ofTheFuture": {"cpu": "5"}}, "spec": {"ofTheFuture": true}});
            let mut play = newcomer().fault(Match::evictions(), What::CrashAfter(DOWN));
            for namespace in ["team-1", "team-2", "team-3"] {
                let queue = merged(Kind::Queue, namespace, namespace, of_queue.clone());
                let quota = merged(Kind::ResourceQuota, namespace, "quotient", unknown.clone());
                for act in [queue, quota] {
                    play = play.fault(Match::evictions(), What::First(Box::new(act)));
                }
            }
            vec![play]
        },
    )
    .and(&["operator/src/ledger/tests.rs: what_is_damaged_is_refused_with_the_place"]),
];
