//! What the pods are expected to request that owners lack.

use quotient_engine::planner::plan;
use quotient_snapshot::NamespaceState;
use quotient_snapshot::amounts::{Amount, Resource};

use super::kinds::{relist_begin, relist_finish};
use super::{apply, at, delete, index_of, namespace_a};
use quotient_index::Index;

const QUEUE: &str =
    "{kind: Queue, metadata: {name: q, namespace: a, uid: q}, spec: {defaultRequests: {}}}\n---\n";

/// A ReplicaSet with this status whose template requests this.
fn replica_set(name: &str, requests: &str, status: &str) -> String {
    format!(
        "{{kind: ReplicaSet, metadata: {{name: {name}, namespace: a, uid: {name}}}, spec: {{replicas: 3, selector: {{}}, \
         template: {{spec: {{containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}}}}}, \
         status: {{replicas: 0, {status}}}}}\n---\n"
    )
}

/// A pod of a controller, which was created in this hour and to which admission has added a sidecar with these requests.
fn pod(name: &str, kind: &str, owner: &str, hour: u32, sidecar: &str) -> String {
    format!(
        "{{kind: Pod, metadata: {{name: {name}, namespace: a, uid: {name}, creationTimestamp: 2026-01-01T{hour}:00:00Z, ownerReferences: \
         [{{apiVersion: v1, kind: {kind}, name: {owner}, uid: {owner}, controller: true}}]}}, spec: {{containers: \
         [{{name: c, resources: {{requests: {{cpu: 1}}}}}}, {{name: proxy, resources: {{requests: {{{sidecar}}}}}}}]}}}}\n---\n"
    )
}

/// What the owner called `name` is shown to request for each of its pods.
fn requests(state: &NamespaceState, name: &str) -> String {
    state.owners.iter().find(|owner| &*owner.name == name).unwrap().shape.requests.to_string()
}

fn web(index: &mut Index) -> String {
    requests(&namespace_a(index), "web")
}

/// The quota is charged with what admission adds: the sidecar of a mesh, the overhead of a runtime class.
#[test]
fn at_least_what_the_newest_pod_of_the_owner_requests() {
    let (old, new) = (
        pod("w-2", "ReplicaSet", "web", 10, "cpu: 300m"),
        pod("w-1", "ReplicaSet", "web", 11, "cpu: 100m, memory: 64Mi"),
    );
    let others =
        [pod("w-3", "ReplicaSet", "db", 12, "cpu: 9"), pod("w-4", "Job", "batch", 12, "cpu: 9")].concat();
    let owner = replica_set("web", "cpu: 1", "");
    for objects in
        [[&old, &new, &others, &owner], [&owner, &others, &new, &old], [&new, &owner, &old, &others]]
    {
        let mut index = index_of(&objects.map(String::as_str).concat());
        apply(&mut index, QUEUE);
        assert_eq!(web(&mut index), "cpu 1100m, memory 64Mi");
        delete(&mut index, &new);
        assert_eq!(web(&mut index), "cpu 1300m");
        // It has become the pod of another owner.
        apply(&mut index, &old.replace("name: web, uid: web", "name: db, uid: db"));
        assert_eq!(web(&mut index), "cpu 1");
    }
    // Its successor of the same name and template has no pods yet.
    let mut index = index_of(&[QUEUE, &owner, &new].concat());
    assert_eq!(web(&mut index), "cpu 1100m, memory 64Mi");
    apply(&mut index, &owner.replace("uid: web", "uid: web2"));
    assert_eq!(web(&mut index), "cpu 1");
    // A pod that was resized since says nothing of the next one.
    let small = pod("w-1", "ReplicaSet", "web", 11, "").replace("cpu: 1}", "cpu: 200m}");
    assert_eq!(web(&mut index_of(&[QUEUE, &owner, &small].concat())), "cpu 1");
}

/// A ReplicaSet without pods says what the last one requested that the quota refused.
#[test]
fn at_least_what_was_requested_when_the_quota_refused_it() {
    let status = |message: &str| {
        format!(
            "conditions: [{{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: '{message}'}}]"
        )
    };
    let shown = |message: &str| {
        web(&mut index_of(&[QUEUE, &replica_set("web", "cpu: 1, memory: 1Gi", &status(message))].concat()))
    };
    let said = "pods \"web-x\" is forbidden: exceeded quota: quotient, requested: requests.cpu=1100m,requests.memory=1152Mi, \
                used: requests.cpu=3,requests.memory=9Gi, limited: requests.cpu=4,requests.memory=10Gi";
    assert_eq!(shown(said), "cpu 1100m, memory 1152Mi");
    // Of a resource that there was enough of it says nothing.
    assert_eq!(
        shown(&said.replace("requests.cpu=1100m,requests.memory", "requests.memory")),
        "cpu 1, memory 1152Mi"
    );
    for cut in ["quotient, requested: requests.cpu=1100m", "quotient,", "quotient, requested: a=b, used: "] {
        assert_eq!(shown(&format!("pods \"x\" is forbidden: exceeded quota: {cut}")), "cpu 1, memory 1Gi");
    }
}

/// Something that fills in what the template leaves open does so for the next pod as well.
#[test]
fn what_is_filled_in_is_not_missed() {
    let objects = [
        QUEUE,
        &replica_set("web", "cpu: 1", ""),
        &replica_set("db", "cpu: 1", ""),
        &pod("w-1", "ReplicaSet", "web", 10, "cpu: 0, memory: 1Gi"),
        &pod("d-1", "ReplicaSet", "db", 10, "cpu: 0"),
    ];
    let mut index = index_of(&objects.concat());
    relist_begin(&mut index, "LimitRange");
    relist_finish(&mut index, "LimitRange");
    let state = namespace_a(&mut index);
    let lacking = state.owners.iter().map(|owner| (&*owner.name, owner.unspecified.memory));
    assert_eq!(lacking.collect::<Vec<_>>(), [("db", true), ("web", false)]);
}

/// Otherwise the quota is raised by less than the pod requests, which is refused for ever where other queues use the rest.
#[test]
fn the_quota_has_room_for_a_pod_with_what_admission_adds() {
    let node =
        "{kind: Node, metadata: {name: n, uid: n}, status: {allocatable: {cpu: 8, memory: 8Gi}}}\n---\n";
    let other = "{kind: Queue, metadata: {name: q, namespace: b, uid: b}, spec: {request: {cpu: 8}}}\n---\n";
    let bound = pod("w-1", "ReplicaSet", "web", 10, "cpu: 100m")
        .replace("spec: {", "status: {phase: Running}, spec: {nodeName: n, ");
    let mut index = index_of(&[QUEUE, node, other, &replica_set("web", "cpu: 1", ""), &bound].concat());
    let decided = plan(&index.snapshot(at("12:00:00")));
    let of_a = decided.queues.iter().find(|(name, _)| name.namespace.as_str() == "a").unwrap().1;
    // The pod and two more like it fit in the queue's half.
    assert_eq!(of_a.target.get(&Resource::Cpu), Amount::new(3300));
}
