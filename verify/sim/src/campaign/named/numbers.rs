//! P55 to P65: amounts and nodes at the edge of what there can be.

use serde_json::{Value, json};

use super::victims::{HALF, half, is_true, one_node};
use super::{Named, gangs, here};
use crate::campaign::trial::Trial;
use crate::campaign::workloads::Case;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, deleted, status_merged, train};

pub(super) const ALL: &[Named] = &[
    here("P55", "weights of nothing, below nothing, and so large that their sum does not fit", "I3 L6", || {
        let largest = json!({"weight": 1_000_000, "request": build::everything()});
        let largest = pair(largest.clone(), largest);
        let nothing = [("zero", 0_i64), ("negative", -1), ("beyond", i64::from(i32::MAX))];
        let odd = nothing.into_iter().fold(Trial::of("newcomer"), |play, (name, weight)| bystander(play, name, &json!({"weight": weight, "request": {"cpu": "0", "memory": "0"}})));
        vec![Trial::on(&largest), odd]
    }),
    here("P56", "amounts outside every sensible range", "L6", || {
        let long = "9".repeat(10_000);
        let texts = ["1e30", "0.0000001", "-1", "9223372036854775807Gi", "1Ki ", "", "NaN", &long];
        let all = texts.iter().enumerate().fold(Trial::of("newcomer"), |play, (at, text)| {
            bystander(play, &format!("odd-{at}"), &json!({"weight": 0, "request": {"cpu": text, "memory": text}}))
        });
        let limits = texts.iter().enumerate().fold(Trial::of("newcomer"), |play, (at, text)| {
            bystander(play, &format!("odd-{at}"), &json!({"weight": 0, "limit": {"cpu": text}, "request": {"cpu": "0", "memory": "0"}}))
        });
        vec![all, limits]
    })
    .and(&["amounts/src/quantity/tests/vectors.rs: too_large", "index/tests/fuzz.rs: damaged_manifests_neither_panic_nor_harm_others"]),
    here("P57", "many pods that request almost all that a number can hold", "I2 L6", || {
        let work = build::work("9223372036854775", "9223372036854775807");
        let flood = |namespace: &str| {
            (0..40).fold(Trial::of("newcomer"), |play, number| {
                play.at(55, created(Kind::Pod, build::pod(namespace, &format!("huge-{number}"), &work)))
            })
        };
        vec![flood("default"), flood("team-2")]
    }),
    here("P58", "guarantees beyond what there is, and a guarantee above its own limit", "I1 I11", || {
        let all = json!({"weight": 1, "request": build::everything(), "guaranteed": {"cpu": "8", "memory": "8Gi"}});
        let torn = bystander(Trial::of("newcomer"), "torn", &json!({"weight": 0, "guaranteed": {"cpu": "2"}, "limit": {"cpu": "1"}, "request": {"cpu": "0", "memory": "0"}}));
        vec![
            Trial::on(&pair(all.clone(), all)).expect("both are told", |world| ["team-1", "team-2"].iter().all(|name| is_true(world, name, "GuaranteeUnmeetable"))),
            torn.expect("it is told", |world| is_true(world, "torn", "Stalled")),
        ]
    }),
    here("P59", "a resource that only the ask, only the victim, or only a guarantee names, or names nothing of", "I11 I12 I13", sparse)
    .and(&[
        "engine/tests/guarantees.rs: s01_resources_that_only_one_side_names_change_nothing",
        "engine/tests/guarantees.rs: s06_a_resource_without_a_guarantee_is_preemptable_wholly",
        "engine/tests/guarantees.rs: s11_nothing_is_said_of_other_resources",
    ]),
    here("P60", "gangs of none, of fewer than none, and of more than there can be", "I10 L6", gangs::of_no_size)
    .and(&[
        "index/tests/gangs.rs: a_size_that_is_none_is_ignored",
        "engine/tests/gangs.rs: the_members_of_a_gang_below_its_floor_count_as_not_yet_running",
    ]),
    here("P61", "pods that request nothing", "I2 L6", || {
        let mut work = build::work("1", "1Gi");
        work["containers"][0]["resources"] = json!({});
        let play = |namespace: &str| Trial::of("newcomer").at(55, created(Kind::Job, build::job(namespace, "nothing", 5, &work)));
        // Where a quota is, each of them is refused; elsewhere they run.
        ["team-2", "default"].map(play).into()
    }),
    here("P62", "all pods are of the same second", "I18 I25", || vec![Trial::of("ten-queues"), Trial::of("budgets")])
        .and(&["engine/tests/order.rs: the_higher_name_decides_at_last"]),
    here("P63", "a node is Ready and not, every five seconds", "I22 L3", || {
        let flap = |workload: &str, node: &str, from: u64| {
            (0..24).fold(Trial::of(workload).heals_after(150), |play, round| {
                play.at(from + 5 * round, status_merged(Kind::Node, "", node, ready(round % 2 == 1)))
            })
        };
        vec![flap("newcomer", "node-1", 40), flap("two-queues", "node-2", 40)]
    }),
    here("P64", "all capacity is gone, and back", "I22", || {
        let gone = |second: u64, back: u64| {
            let node = build::node("node-1", "9", "27Gi");
            Trial::of("newcomer").at(second, deleted(Kind::Node, "", "node-1")).at(back, created(Kind::Node, node)).heals_after(150)
        };
        vec![gone(50, 80), gone(59, 70), gone(61, 90)]
    }),
    here("P65", "a device plugin restarts: 8 devices, none, 8", "I22", || {
        let devices = |count: &str| json!({"status": {"allocatable": {"nvidia.com/gpu": count}, "capacity": {"nvidia.com/gpu": count}}});
        let restart = |from: u64| {
            let mut play = Trial::of("gpus").heals_after(150);
            for node in ["node-1", "node-2"] {
                let has = |count: &str| status_merged(Kind::Node, "", node, devices(count));
                play = play.at(from, has("0")).at(from + 15, has("4"));
            }
            play
        };
        vec![restart(20), restart(29), restart(40)]
    })
    .and(&["e2e/tests/guards.rs: people_and_device_plugins_cost_no_pod"]),
];

/// A device of which there is enough: the pods that hold, those that wait with their queue's guarantee, and the holder's
/// guarantee say nothing of it, name none, or name one. In all 27 ways cpu decides.
fn sparse() -> Vec<Trial> {
    const SAID: [Option<&str>; 3] = [None, Some("0"), Some("1")];
    let all = SAID.into_iter().flat_map(|victim| {
        SAID.into_iter().flat_map(move |ask| SAID.into_iter().map(move |guarantee| [victim, ask, guarantee]))
    });
    all.map(|[victim, ask, guarantee]| {
        let mut nodes = one_node();
        for (_, node) in &mut nodes {
            for field in ["capacity", "allocatable"] {
                node["status"][field]["example.com/device"] = "8".into();
            }
        }
        let work = |device: Option<&str>| {
            let mut work = build::work("1", "1Gi");
            if let Some(device) = device {
                work["containers"][0]["resources"]["requests"]["example.com/device"] = device.into();
            }
            work
        };
        let mut workload = half(nodes, vec![(Kind::Job, build::job("team-1", "train", 8, &work(victim)))]);
        let spec = |device: Option<&str>| {
            let mut guaranteed = json!({"cpu": "1"});
            if let Some(device) = device {
                guaranteed["example.com/device"] = device.into();
            }
            json!({"weight": 1, "request": build::everything(), "guaranteed": guaranteed})
        };
        workload.objects.retain(|(kind, _)| *kind != Kind::Queue);
        workload.later.truncate(1);
        let workload = workload
            .with([raw_queue("team-1", &spec(guarantee))])
            .create(30, Kind::Queue, raw_queue("team-2", &spec(ask)).1)
            .create(31, Kind::Job, build::job("team-2", "train", 4, &work(ask)))
            // What is guaranteed comes first, so of devices one may get more; of cpu both get half.
            .quotas([]);
        Trial::on(&Case::new(workload, "a device that some name"))
    })
    .collect()
}

fn ready(is: bool) -> Value {
    let status = if is { "True" } else { "False" };
    json!({"status": {"conditions": [{"type": "Ready", "status": status, "lastTransitionTime": "2029-12-31T00:00:00Z"}]}})
}

/// With a Queue in a namespace of its own without pods.
pub(super) fn bystander(play: Trial, name: &str, spec: &Value) -> Trial {
    let (kind, queue) = raw_queue(name, spec);
    play.with(Kind::Namespace, build::namespace(name)).with(kind, queue)
}

/// A Queue whose spec no schema has seen.
pub(super) fn raw_queue(name: &str, spec: &Value) -> (Kind, Value) {
    (Kind::Queue, json!({"metadata": {"namespace": name, "name": name}, "spec": spec}))
}

/// Two queues with these specs, both with work for all eight cpus.
fn pair(one: Value, other: Value) -> Case {
    let mut workload = Workload::new("pair", one_node());
    for (name, spec) in [("team-1", one), ("team-2", other)] {
        workload = workload.with([(Kind::Namespace, build::namespace(name)), raw_queue(name, &spec)]);
    }
    let workload = workload.at(6, train("team-1", 8)).at(6, train("team-2", 8)).until(30).shares(HALF);
    Case::new(workload, "two alike")
}
