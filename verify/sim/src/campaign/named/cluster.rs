//! P73 to P81: what the rest of a cluster does to those who watch it.

use std::time::Duration;

use quotient_invariants::Tolerance;
use serde_json::{Value, json};

use super::play::DOWN;
use super::{Named, here};
use crate::campaign::trial::Trial;
use crate::controllers::Lags;
use crate::faults::{Act, Match, What};
use crate::objects::Kind;
use crate::random::Lag;
use crate::scenario::build::{self, created};
use crate::server::Webhook;
use crate::trace::Verb;

pub(super) const ALL: &[Named] = &[
    here(
        "P73",
        "admission takes up to two seconds, and quotas are counted anew while pods are on their way",
        "I2 I5 L1",
        || {
            ["newcomer", "ten-queues", "stateful", "lent", "weights", "controllers"]
                .map(|workload| slowly(Trial::of(workload)))
                .into()
        },
    ),
    here(
        "P74",
        "a second quota meets conflicts, so pods that the first one refuses are admitted",
        "I2 I5 L1",
        || {
            ["newcomer", "stateful", "lent"]
                .map(|workload| {
                    let quota = |team: &str| {
                        build::quota(team, "theirs", &json!({"requests.cpu": "1k", "pods": "1k"}))
                    };
                    let play = slowly(Trial::of(workload));
                    play.with(Kind::ResourceQuota, quota("team-1")).with(Kind::ResourceQuota, quota("team-2"))
                })
                .into()
        },
    )
    .and(&["e2e/tests/two_quotas.rs: pods_that_two_quotas_admit_at_the_same_time_cost_no_other_queue_a_pod"]),
    here("P75", "a plan takes five seconds, and the cluster goes on meanwhile", "I2 I5 I20 L1", || {
        ["newcomer", "ten-queues", "lent", "stateful", "weights", "gated"]
            .map(|workload| Trial::of(workload).first(|options| options.computing = Duration::from_secs(5)))
            .into()
    }),
    here("P76", "a webhook refuses pods, or is down, for a minute", "L1 L6", || {
        [403, 500]
            .into_iter()
            .flat_map(|code| {
                ["team-1", "team-3"].map(|namespace| {
                    let webhook = Webhook { code, ..webhook(Kind::Pod, "", namespace) };
                    during(Trial::of("newcomer"), webhook).heals_after(200)
                })
            })
            .collect()
    }),
    here("P77", "a webhook for evictions is down in the namespace that gives, for a minute", "I9 L6", || {
        vec![during(Trial::of("lent"), webhook(Kind::Pod, "eviction", "team-1")).heals_after(200)]
    })
    .and(&["e2e/tests/eviction_webhooks.rs: a_webhook_that_is_down_or_hangs_holds_up_no_other_pod"]),
    here("P78", "objects of every kind that cannot be decoded, in lists and on watches", "I24 L6", || {
        let at_first = odd_ones("first").into_iter();
        let play = at_first.fold(Trial::of("newcomer"), |play, (kind, object)| play.with(kind, object));
        let later = odd_ones("later").into_iter();
        let play = later.fold(play, |play, (kind, object)| play.at(50, created(kind, object)));
        let evicted = play.clone().fault(Match::evictions(), What::ReplyError(504));
        vec![play.fault(Match::requests(Verb::List, Kind::Pod), What::Reset), evicted]
    })
    .and(&["e2e/tests/undecodable.rs: one_bad_object_of_any_kind_stops_nothing"]),
    here(
        "P79",
        "pods that name their node themselves, one that is there and one that is not",
        "I2 I24 L1",
        || {
            let by_hand = |number: usize, node: &str| {
                let mut work = build::work("1", "1Gi");
                work["nodeName"] = node.into();
                build::pod("team-1", &format!("by-hand-{number}"), &work)
            };
            let play = (0..4).fold(Trial::of("lent"), |play, number| {
                play.at(5, created(Kind::Pod, by_hand(number, "node-1")))
            });
            vec![play.at(50, created(Kind::Pod, by_hand(9, "nowhere"))).otherwise().lets_in()]
        },
    )
    .and(&["e2e/tests/by_hand.rs: a_node_name_set_by_hand_takes_no_share_of_others"]),
    here(
        "P80",
        "the quota controller stops for two minutes: at the start, or in the middle of a reclaim",
        "I2 I5 L1",
        || {
            let stops = |from: u64| {
                let act = |runs| Act::Controller { name: "quota-controller", runs };
                let play =
                    Trial::of("newcomer").heals_after(120).at(from, act(false)).at(from + 120, act(true));
                // Nothing is enforced meanwhile, so shares wait for longer than they may.
                Trial { tolerance: Tolerance { progress: false, ..play.tolerance.clone() }, ..play }
            };
            vec![stops(0), stops(59), stops(61), stops(62).fault(Match::evictions(), What::CrashAfter(DOWN))]
        },
    )
    .and(&["e2e/tests/quota_controller.rs: no_pod_is_evicted_while_no_quota_takes_effect_at_start"]),
    here("P81", "the clock is an hour ahead, or behind, from the beginning", "I5 L1", || {
        [3_600_000, -3_600_000]
            .into_iter()
            .flat_map(|millis| {
                ["newcomer", "lent", "modes"].map(|workload| {
                    Trial::of(workload).at_millis(0, Act::Clock { operator: 0, millis }).heals_after(120)
                })
            })
            .collect()
    }),
];

/// Admission takes up to two seconds, and quotas are counted anew every five seconds, by pods of a moment ago.
fn slowly(play: Trial) -> Trial {
    // What a recount has let in above a quota has to go again.
    let play = play.lets_in();
    let lags =
        Lags { admission: Lag::new(0, 2_000), quota_cache: Lag::new(0, 1_000), recounts: 5, ..play.lags };
    Trial { lags, ..play }
}

fn webhook(kind: Kind, subresource: &'static str, namespace: &str) -> Webhook {
    Webhook { verb: Verb::Create, kind, subresource, namespace: namespace.to_owned(), code: 500 }
}

/// From just before anything moves, for a minute.
fn during(play: Trial, webhook: Webhook) -> Trial {
    play.at(39, Act::Webhooks(vec![webhook])).at(99, Act::Webhooks(Vec::new())).lets_in()
}

/// One of each kind: a label is no text.
fn odd_ones(name: &str) -> Vec<(Kind, Value)> {
    Kind::watched()
        .map(|kind| {
            let namespace = if kind.is_namespaced() { json!("default") } else { Value::Null };
            // Of a pod that cannot be decoded nothing is known, so it requests nothing here.
            let spec = if kind == Kind::Pod { json!({"containers": [{"name": "work"}]}) } else { json!({}) };
            let metadata = json!({"name": name, "namespace": namespace, "labels": {"odd": 5}});
            (kind, json!({"metadata": metadata, "spec": spec}))
        })
        .collect()
}
