//! P37 to P46: those who have to go, and do not, or not as was thought.

use serde_json::{Value, json};

use super::{Named, gangs, here};
use crate::World;
use crate::campaign::trial::Trial;
use crate::campaign::workloads::Case;
use crate::controllers::{LOST, RUNS_SECONDS};
use crate::faults::{Match, What};
use crate::objects::{Kind, object};
use crate::scenario::Workload;
use crate::scenario::build::{self, created, merged, status_merged, teams};

pub(super) const ALL: &[Named] = &[
    here("P37", "a budget allows no disruption at any time", "L6 L7", || {
        let shares = [("team-1", "4", "8Gi"), ("team-2", "0", "8Gi")];
        vec![
            Trial::of("budgets")
                .with(Kind::PodDisruptionBudget, build::budget("team-1", "train", 4))
                .ends(|workload| workload.shares(shares).running([("team-1", "8"), ("team-2", "0")]), 0)
                .expect("team-2 is told why", |world| is_true(world, "team-2", "Starved")),
        ]
    }),
    here("P38", "two budgets for one pod: the Eviction API answers 500", "I9 L6", || {
        let mut second = build::budget("team-1", "web", 0);
        second["metadata"]["name"] = "web-again".into();
        vec![Trial::of("budgets").with(Kind::PodDisruptionBudget, second)]
    }),
    here("P39", "a finalizer keeps victims Terminating for a minute", "I9 I20 L7", || {
        vec![Trial::of("finalizer")]
    }),
    here("P40", "the kubelet of a victim's node is lost", "I2 I6 I9 I22", || {
        let lost = |ready: &str| json!({"status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2030-01-01T00:00:00Z"}]}});
        let heard = |is: bool| json!({"metadata": {"annotations": {LOST: if is { Value::Null } else { "yes".into() }}}});
        let play = Trial::on(&two_nodes())
            .at(29, merged(Kind::Node, "", "node-2", heard(false)))
            .at(69, status_merged(Kind::Node, "", "node-2", lost("Unknown")))
            .at(170, merged(Kind::Node, "", "node-2", heard(true)))
            .at(170, status_merged(Kind::Node, "", "node-2", lost("True")));
        vec![play.heals_after(150)]
    }),
    here("P41", "a victim ends by itself just before it is evicted", "I9 I20", || {
        let gone = |name: &str| {
            let finished = json!({"status": {"phase": "Succeeded"}});
            What::First(Box::new(status_merged(Kind::Pod, "team-1", name, finished)))
        };
        let mut bare = Trial::on(&bare_pods(None));
        for name in ["pod-5", "pod-6", "pod-7"] {
            bare = bare.fault(Match::evictions(), gone(name));
        }
        vec![
            bare.otherwise().expect("enough is free", |world| world.running("team-2", "cpu") == "4"),
            Trial::on(&bare_pods(Some(24))).otherwise(),
        ]
    }),
    here("P42", "the owner creates the victim again at once, under the same name", "I20", || {
        vec![Trial::of("stateful")]
    }),
    here(
        "P43",
        "a gang is told to need more between plan and eviction: the next plan counts with it, and none is broken up",
        "I10",
        gangs::grows_in_the_middle,
    )
    .and(&[
        "engine/tests/gangs.rs: never_a_part_of_what_a_gang_needs",
        "engine/tests/gangs.rs: a_gang_goes_with_all_its_surplus",
    ]),
    here("P44", "what is asked for could not run on any node", "I16 L6", || {
        let mut work = build::work("1", "1Gi");
        work["nodeSelector"] = json!({"kubernetes.io/hostname": "nowhere"});
        let job = created(Kind::Job, build::job("team-2", "nowhere", 8, &work));
        // No pod goes for them, and no quota shrinks.
        let running = [("team-1", "8"), ("team-2", "0")];
        let all = |mut workload: Workload| {
            workload.later.truncate(1);
            workload.shares([("team-1", "8", "8Gi")]).running(running)
        };
        vec![Trial::of("lent").at(39, job).ends(all, 0).heals_after(400)]
    }),
    here(
        "P45",
        "mirrors of static pods are never victims",
        "I7 I24",
        || {
            vec![Trial::on(&immune()).expect("they are all there", |world| {
                (0..3).all(|number| gangs::stays(world, &format!("pod-{number}")))
            })]
        },
    ),
    here("P46", "a user edits the labels of pods, as if they were of another queue", "I24", || {
        let label = json!({"metadata": {"labels": {"quotient.dev/queue": "team-3", "queue": "team-3"}}});
        let edit = |name: &str| merged(Kind::Pod, "team-2", name, label.clone());
        vec![Trial::of("newcomer").at(59, edit("large-2-0")).at(61, edit("large-2-0"))]
    }),
];

/// Whether a condition of a namespace's Queue holds.
pub(super) fn is_true(world: &World, namespace: &str, condition: &str) -> bool {
    world.get(Kind::Queue, namespace, namespace).is_some_and(|queue| object::is_true(&queue, condition))
}

/// Half of eight cpus for each of two teams.
pub(super) const HALF: [(&str, &str, &str); 2] = [("team-1", "4", "4Gi"), ("team-2", "4", "4Gi")];

/// team-1 has all eight cpus of `nodes`, from `work`; team-2 comes for half.
pub(super) fn half(nodes: Vec<(Kind, Value)>, work: Vec<(Kind, Value)>) -> Workload {
    let workload =
        Workload::new("half", nodes).with(teams(2)).with([(Kind::Queue, build::team("team-1", 1))]);
    let workload =
        work.into_iter().fold(workload, |workload, (kind, object)| workload.create(6, kind, object));
    workload.halved("4Gi")
}

fn two_nodes() -> Case {
    let nodes = ["node-1", "node-2"].map(|name| (Kind::Node, build::node(name, "4", "4Gi")));
    let job = (Kind::Job, build::job("team-1", "train", 8, &build::work("1", "1Gi")));
    Case::new(half(nodes.into(), vec![job]), "team-2 comes for half of two nodes")
}

/// Eight pods without a controller, each with the annotations that `of` has for its number.
pub(super) fn pods(of: impl Fn(u64) -> Value) -> Vec<(Kind, Value)> {
    let pod = |number: u64| {
        let mut pod = build::pod("team-1", &format!("pod-{number}"), &build::work("1", "1Gi"));
        if let annotations @ Value::Object(_) = of(number) {
            pod["metadata"]["annotations"] = annotations;
        }
        (Kind::Pod, pod)
    };
    (0..8).map(pod).collect()
}

pub(super) fn one_node() -> Vec<(Kind, Value)> {
    vec![(Kind::Node, build::node("node-1", "8", "8Gi"))]
}

/// Eight pods without a controller, and that end by themselves after so many seconds.
fn bare_pods(runs: Option<u64>) -> Case {
    let pods = pods(|number| match runs.filter(|_| number >= 4) {
        Some(runs) => json!({RUNS_SECONDS: (runs + number % 2).to_string()}),
        None => Value::Null,
    });
    Case::new(half(one_node(), pods), "team-2 comes for half of what bare pods hold")
}

/// Of eight pods three mirror static pods, which never go.
fn immune() -> Case {
    let mirror = json!({"kubernetes.io/config.mirror": "hash"});
    let pods = pods(|number| if number < 3 { mirror.clone() } else { Value::Null });
    Case::new(half(one_node(), pods), "some of those who hold too much may never go")
}
