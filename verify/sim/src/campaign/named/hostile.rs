//! P66 to P72: what tenants do who mean harm.

use serde_json::json;

use super::{Named, gangs, here};
use crate::campaign::trial::Trial;
use crate::objects::Kind;
use crate::scenario::build::{self, created, merged, status_merged};

pub(super) const ALL: &[Named] = &[
    here("P66", "pods that say they are of another tenant's queue", "I24", || {
        let mut pod = build::pod("team-1", "cuckoo", &build::work("1", "1Gi"));
        pod["metadata"]["labels"] =
            json!({"quotient.dev/queue": "team-2", "queue": "team-2", "kueue.x-k8s.io/queue-name": "team-2"});
        // Where the quota has no room it is refused, whatever it says.
        vec![Trial::of("newcomer").at(40, created(Kind::Pod, pod))]
    }),
    here(
        "P67",
        "templates of a QueueJob that ask for the host, another account or a system class",
        "I23 I24",
        gangs::hostile_template,
    )
    .and(&["operator/src/rights.rs: what_must_never_be_needed_is_not"]),
    here("P68", "a flood of pods and Queues that want nothing or cannot run", "L6", || vec![flood()]).and(&[
        "engine/benches/speed.rs: planning_takes_as_much_work_as_before",
        "index/src/memory.rs: a_pod_takes_less_than_260_bytes",
    ]),
    here("P69", "labels made to break metrics, names made to break logs", "L6", Vec::new).and(&[
        "operator/tests/reference.rs: labels_are_few_and_never_single_objects",
        "operator/src/logging.rs: one_event_is_one_line_whatever_it_says",
    ]),
    here("P70", "a user writes a status of a Queue again and again", "I3 I26", || {
        let status = json!({"status": {"deserved": {"cpu": "100"}, "allocated": {"cpu": "100"}, "preempting": null, "observedGeneration": 99}});
        let fake = |namespace: &str| status_merged(Kind::Queue, namespace, namespace, status.clone());
        ["team-1", "team-2"]
            .map(|namespace| {
                (0..12).fold(Trial::of("newcomer").heals_after(90), |play, round| {
                    play.at(50 + 3 * round, fake(namespace))
                })
            })
            .into()
    }),
    here("P71", "annotations that are to keep pods for ever", "I7 I9", || {
        let for_ever = json!({"metadata": {"annotations": {
            "quotient.dev/min-runtime-seconds": "999999999",
            "quotient.dev/preemptable": "false",
            "quotient.dev/last-replica": "Never",
            "controller.kubernetes.io/pod-deletion-cost": "2147483647",
            "sim.quotient.dev/stops-seconds": "3",
        }}});
        let play = |workload: &str, pods: Vec<String>| {
            pods.into_iter().fold(Trial::of(workload), |play, name| {
                play.at(20, merged(Kind::Pod, "team-1", &name, for_ever.clone()))
            })
        };
        vec![
            play("stateful", (0..8).map(|number| format!("db-{number}")).collect()),
            play("finalizer", ["one", "two", "three", "four"].map(str::to_owned).into()),
        ]
    }),
    here("P72", "metrics are asked for without leave", "-", Vec::new)
        .and(&["operator/src/scrape/tests.rs: only_who_is_known_and_may_read_gets_metrics"]),
];

/// 100 Queues in one namespace, of which one can count, and 200 pods that no node can run, just before a share moves.
fn flood() -> Trial {
    let mut work = build::work("1", "1Gi");
    work["nodeSelector"] = json!({"kubernetes.io/hostname": "nowhere"});
    let spec = json!({"weight": 0, "request": {"cpu": "0", "memory": "0"}});
    let play = Trial::of("newcomer").with(Kind::Namespace, build::namespace("crowd"));
    let queues = (0..100).fold(play, |play, number| {
        let queue =
            json!({"metadata": {"namespace": "crowd", "name": format!("queue-{number}")}, "spec": spec});
        play.at(50, created(Kind::Queue, queue))
    });
    let pods = (0..200).fold(queues, |play, number| {
        play.at(55, created(Kind::Pod, build::pod("default", &format!("pod-{number}"), &work)))
    });
    pods.expect("all Queues but one are told that the namespace is taken", |world| {
        let is_stalled = |number: &i32| {
            let queue = world.get(Kind::Queue, "crowd", &format!("queue-{number}")).unwrap_or_default();
            queue["status"]["conditions"].to_string().contains("NamespaceTaken")
        };
        (0..100).filter(is_stalled).count() == 99
    })
}
