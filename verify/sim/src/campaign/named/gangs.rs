//! P43 and P60: gangs whose size changes while some of them go, or that is none; and P67, what a QueueJob may ask for.

use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use serde_json::{Value, json};

use super::numbers::bystander;
use super::play::quota_change;
use super::victims::{half, one_node, pods};
use crate::World;
use crate::campaign::trial::Trial;
use crate::campaign::workloads::Case;
use crate::faults::What;
use crate::objects::Kind;
use crate::scenario::build::{self, created, merged};
use crate::trace::Verb;

/// Eight pods, of which each says what `of` has for its number: its gang, and how many of that have to run.
fn ganged(of: impl Fn(u64) -> (&'static str, &'static str)) -> Case {
    let pods = pods(|number| size(of(number)));
    Case::new(half(one_node(), pods), "team-2 comes for half of what gangs hold")
}

fn size((gang, least): (&str, &str)) -> Value {
    json!({GANG_ANNOTATION: gang, GANG_MIN_AVAILABLE_ANNOTATION: least})
}

/// Two gangs of four, each of which needs two: each could give two. Before any pod goes the first is told to need all.
pub(super) fn grows_in_the_middle() -> Vec<Trial> {
    let play = Trial::on(&ganged(|number| (if number < 4 { "first" } else { "second" }, "2")));
    let grown = (0..4).fold(play, |play, number| {
        let annotations = json!({"metadata": {"annotations": size(("first", "4"))}});
        let edit = merged(Kind::Pod, "team-1", &format!("pod-{number}"), annotations);
        play.fault(quota_change("team-1"), What::Then(Box::new(edit)))
    });
    vec![grown.expect("all of the gang that needs all are there", |world| {
        (0..4).all(|number| stays(world, &format!("pod-{number}")))
    })]
}

/// Whether this pod of team-1 is there and not on its way out.
pub(super) fn stays(world: &World, pod: &str) -> bool {
    let pod = world.get(Kind::Pod, "team-1", pod);
    pod.is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_null())
}

/// Sizes that are none: a pod that states one is in no gang. And one that cannot be reached: none of it has ever run.
pub(super) fn of_no_size() -> Vec<Trial> {
    const ODD: [&str; 8] = ["0", "-1", "", "abc", "2.5", "99999999999999999999", "1e3", "NaN"];
    let none = ganged(|number| {
        let place = usize::try_from(number).unwrap_or_default();
        ("odd", ODD.get(place).copied().unwrap_or_default())
    });
    let never = ganged(|_| ("never", "1000000"));
    vec![Trial::on(&none), Trial::on(&never), queue_jobs_of_no_size()]
}

/// QueueJobs that no schema has seen, in a queue without pods.
fn queue_jobs_of_no_size() -> Trial {
    let sizes = [(0, 0), (-1, 2), (2, -1), (2, 3), (0, 5)];
    sizes.iter().enumerate().fold(beside(), |play, (at, (replicas, least))| {
        let spec = json!({
            "minAvailable": least,
            "tasks": [{"name": "worker", "replicas": replicas, "template": {"spec": build::work("1", "1Gi")}}],
        });
        play.at(40, created(Kind::QueueJob, queue_job(&format!("odd-{at}"), &spec)))
    })
}

/// A QueueJob that asks for all that a tenant may not have, and for more than there is: it never starts.
pub(super) fn hostile_template() -> Vec<Trial> {
    let mut work = build::work("1000", "1Gi");
    for (field, value) in [
        ("hostNetwork", json!(true)),
        ("hostPID", json!(true)),
        ("nodeName", json!("node-1")),
        ("serviceAccountName", json!("quotient")),
        ("priorityClassName", json!("system-node-critical")),
        ("volumes", json!([{"name": "host", "hostPath": {"path": "/"}}])),
    ] {
        work[field] = value;
    }
    work["containers"][0]["securityContext"] = json!({"privileged": true});
    let metadata = json!({
        "namespace": "team-1",
        "labels": {"app.kubernetes.io/managed-by": "quotient", "kueue.x-k8s.io/queue-name": "team-2"},
        "finalizers": ["example.com/for-ever"],
    });
    let spec = json!({
        "minAvailable": 2,
        "tasks": [{"name": "worker", "replicas": 2, "template": {"metadata": metadata, "spec": work}}],
    });
    let play = beside().at(40, created(Kind::QueueJob, queue_job("hostile", &spec)));
    vec![play.expect("no pod came of it, and no Job outside of its namespace", |world| {
        let trace = world.trace();
        let made = |kind: Kind| {
            let asked = trace.asked_by("quotient-0").filter(move |record| record.verb == Verb::Create);
            asked.filter(move |record| record.kind == kind && record.subresource.is_empty())
        };
        made(Kind::Pod).next().is_none()
            && made(Kind::Job).all(|record| &*record.namespace == "beside")
            && world.pods("beside") == 0
    })]
}

fn queue_job(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"namespace": "beside", "name": name}, "spec": spec})
}

/// The newcomer's example, and a queue beside it that has nothing.
fn beside() -> Trial {
    let spec = json!({"weight": 0, "request": {"cpu": "0", "memory": "0"}});
    bystander(Trial::of("newcomer"), "beside", &spec)
}
