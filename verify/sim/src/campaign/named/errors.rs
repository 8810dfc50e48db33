//! P21 to P31: the API server refuses, hangs, is gone for a while or is slow.

use std::time::Duration;

use super::play::{WATCHED, from_to, newcomer, quota_change, statuses};
use super::{Named, here};
use crate::campaign::trial::Trial;
use crate::faults::{Act, Fault, Match, OperatorOptions, WatchWhat, What};
use crate::objects::Kind;
use crate::random::Lag;
use crate::scenario::build::{deleted, merged};
use crate::trace::Verb;

pub(super) const ALL: &[Named] = &[
    here("P21", "409 to every second write", "I2 L1", || {
        let odd = (0..200).map(|nth| Fault::at_write(2 * nth + 1, What::Reject(409)));
        vec![newcomer().first(|options| options.faults.extend(odd))]
    }),
    here("P22", "429, with and without the time to come back", "L1 L6", || {
        let busy =
            |on: Match| [Some(1), None].map(|after| newcomer().faults(on.clone(), What::Busy(after), 0, 8));
        [
            Match::evictions(),
            quota_change("team-1"),
            statuses(),
            Match::requests(Verb::Update, Kind::ConfigMap),
        ]
        .into_iter()
        .flat_map(busy)
        .collect()
    }),
    here("P23", "everything is refused with 500, or 503, for a minute", "I26 L1", || {
        [500, 503].map(|code| newcomer().faults(from_to(59, 119), What::Reject(code), 0, 1_000_000)).into()
    })
    .and(&["e2e/tests/bad_days.rs: an_api_server_that_refuses_everything_is_waited_for"]),
    here("P24", "a connection breaks in the middle of an answer, or hangs for 30 s", "I2 I20", || {
        let kinds = [
            Match::evictions(),
            quota_change("team-1"),
            quota_change("team-3"),
            Match::requests(Verb::Update, Kind::ConfigMap),
            Match::requests(Verb::List, Kind::Pod),
        ];
        let both = |on: Match| {
            [What::ReplyReset, What::Delay(Duration::from_secs(30))]
                .map(|what| newcomer().fault(on.clone(), what).blind())
        };
        kinds.into_iter().flat_map(both).collect()
    }),
    here("P25", "403 in one namespace for five minutes", "L6", || {
        let forbidden = Match { namespace: Some("team-2".to_owned()), ..from_to(0, 400) };
        vec![Trial::of("two-queues").faults(forbidden, What::Reject(403), 0, 1_000_000).heals_after(600)]
    })
    .and(&["verify/sim/tests/guards.rs: a_namespace_without_rights_stops_no_other"]),
    here("P26", "a namespace is terminating: nothing can be created in it", "L6 L8", || {
        vec![terminating(60)]
    }),
    here("P27", "a quota is refused as invalid, or as too large", "L6", || {
        [422, 413].map(|code| newcomer().faults(quota_change("team-1"), What::Reject(code), 0, 3)).into()
    }),
    here("P28", "the API server restarts", "I26 L1", || {
        let restart = |play: Trial| {
            WATCHED.into_iter().fold(play, |play, kind| {
                play.at(61, Act::Watch { operator: 0, kind, what: WatchWhat::Reset })
            })
        };
        vec![restart(newcomer().faults(from_to(60, 66), What::Reset, 0, 1_000_000))]
    })
    .and(&["e2e/tests/bad_days.rs: the_control_plane_restarts_in_the_middle"]),
    here(
        "P29",
        "etcd restarts, or is restored from a backup, with its revision raised as etcd wants it",
        "I26 I27",
        || {
            // Made before the quotas were lowered, after that, while pods were on their way, and when they were gone.
            [(61_000, 995), (61_000, 960), (62_000, 1_500), (70_000, 9_000)]
                .map(|(at, back)| {
                    let back = Duration::from_millis(back);
                    newcomer().at_millis(at, Act::Restore { back }).blind().heals_after(90)
                })
                .into()
        },
    )
    .and(&["e2e/tests/bad_days.rs: the_control_plane_restarts_in_the_middle"]),
    here("P30", "nothing gets through between operator and API server for 45 s", "I2 I20 I27", || {
        let cut = || Act::Pause { operator: 0, length: Duration::from_secs(45) };
        [60, 61]
            .map(|second| {
                newcomer().at(second, cut()).operator(OperatorOptions::default()).blind().heals_after(90)
            })
            .into()
    }),
    here("P31", "every answer takes two seconds", "L1", || {
        let slow = |options: &mut OperatorOptions| options.lag = Lag::new(1_000, 1_000);
        vec![newcomer().first(slow).blind().heals_after(120)]
    }),
];

/// At a second team-2 goes with all it has while pods leave for team-3; one of its pods hangs, and so does the namespace.
pub(super) fn terminating(second: u64) -> Trial {
    let hold = serde_json::json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let free = serde_json::json!({"metadata": {"finalizers": null}});
    newcomer()
        .at(50, merged(Kind::Pod, "team-2", "large-2-0", hold))
        .at(second, deleted(Kind::Namespace, "", "team-2"))
        .at(150, merged(Kind::Pod, "team-2", "large-2-0", free))
        // Weights 2 and 3. What team-2's pods hold while they end is of no queue, so that one of team-1's goes, too.
        .ends(
            |workload| {
                workload
                    .quotas([
                        ("team-1", "requests.cpu 3600m, requests.memory 11059Mi"),
                        ("team-2", ""),
                        ("team-3", "requests.cpu 5400m, requests.memory 16589Mi"),
                    ])
                    .running([("team-1", "3"), ("team-2", "0"), ("team-3", "3")])
            },
            3,
        )
        .heals_after(120)
        .expect("the namespace is gone", |world| world.get(Kind::Namespace, "", "team-2").is_none())
        .expect("no storm of requests", |world| {
            let trace = world.trace();
            trace.asked_by("quotient-0").filter(|record| matches!(record.code, 403 | 404)).count() < 40
        })
}
