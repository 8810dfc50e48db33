//! What is known of pods that the API server refuses.

use super::kinds::{relist_begin, relist_finish};
use super::{apply, index_of, namespace_a};
use quotient_index::Index;

/// A Queue without default requests.
const QUEUE: &str = "{kind: Queue, metadata: {name: q, namespace: a, uid: q, resourceVersion: '1'}, \
     spec: {defaultRequests: {}}}\n---\n";

/// A ReplicaSet with this condition of its status.
fn failing(version: u32, condition: &str) -> String {
    format!(
        "
kind: ReplicaSet
metadata: {{name: web, namespace: a, uid: r-1, resourceVersion: '{version}'}}
spec: {{replicas: 3, selector: {{}}, template: {{spec: {{containers: [{{name: c}}]}}}}}}
status: {{replicas: 0, conditions: [{{type: Available, status: 'True', message: other}}, {{{condition}}}]}}
"
    )
}

fn failure(message: &str) -> String {
    format!("type: ReplicaFailure, status: 'True', reason: FailedCreate, message: '{message}'")
}

/// What is shown of why pods of the one owner are refused.
fn rejected(index: &mut Index) -> Option<String> {
    namespace_a(index).owners[0].rejected.as_ref().map(ToString::to_string)
}

#[test]
fn the_condition_of_a_replica_set_says_why_its_pods_are_refused() {
    for (condition, expected) in [
        (
            failure(
                "pods \"web-\" is forbidden: error looking up service account a/x: serviceaccount \"x\" not found",
            ),
            Some("error looking up service account a/x: serviceaccount \"x\" not found"),
        ),
        (failure("the webhook cannot be reached"), Some("the webhook cannot be reached")),
        (
            failure(
                "pods \"web-x\" is forbidden: exceeded quota: own, requested: pods=1, used: pods=1, limited: pods=1",
            ),
            Some("exceeded quota: own, requested: pods=1, used: pods=1, limited: pods=1"),
        ),
        // Those wait for room, and a pod that cannot be deleted is another matter.
        (failure("pods \"web-x\" is forbidden: exceeded quota: quotient, requested: requests.cpu=1"), None),
        ("type: ReplicaFailure, status: 'True', reason: FailedDelete, message: no".to_owned(), None),
        ("type: ReplicaFailure, status: 'False', reason: FailedCreate, message: no".to_owned(), None),
        (failure(" "), None),
    ] {
        let mut index = index_of(&[QUEUE, &failing(5, &condition)].concat());
        assert_eq!(rejected(&mut index).as_deref(), expected, "{condition}");
    }
    let long = "ü".repeat(1000);
    let mut index = index_of(&[QUEUE, &failing(5, &failure(&long))].concat());
    assert_eq!(rejected(&mut index).unwrap().chars().count(), 240);
}

/// A Job with a template of this spec.
fn job(spec: &str) -> String {
    format!(
        "{{kind: Job, metadata: {{name: train, namespace: a, uid: j-1}}, spec: {{template: {{spec: {spec}}}}}}}\n---\n"
    )
}

/// The resources that the one owner names no request for.
fn unspecified(index: &mut Index) -> String {
    let owner = &namespace_a(index).owners[0];
    owner.unspecified.resources().map(|resource| resource.name().to_owned()).collect::<Vec<_>>().join(" ")
}

/// An index that has listed all LimitRanges there are, which are these.
fn listed(objects: &[&str], limit_ranges: &str) -> Index {
    let mut index = index_of(&objects.concat());
    relist_begin(&mut index, "LimitRange");
    apply(&mut index, limit_ranges);
    relist_finish(&mut index, "LimitRange");
    index
}

#[test]
fn every_container_has_to_name_a_request_for_cpu_and_memory() {
    let full = "{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}";
    for (spec, expected) in [
        (format!("{{containers: [{full}]}}"), ""),
        ("{containers: [{name: c}]}".to_owned(), "cpu memory"),
        ("{containers: [{name: c, resources: {requests: {cpu: 1}}}]}".to_owned(), "memory"),
        // A limit becomes a request, and 0 is one.
        ("{containers: [{name: c, resources: {requests: {cpu: 0}, limits: {memory: 1Gi}}}]}".to_owned(), ""),
        (format!("{{containers: [{full}, {{name: d, resources: {{limits: {{memory: 1Gi}}}}}}]}}"), "cpu"),
        (format!("{{initContainers: [{{name: i}}], containers: [{full}]}}"), "cpu memory"),
        // What is requested for the pod as a whole may stand in for it.
        ("{resources: {requests: {cpu: 1}}, containers: [{name: c}]}".to_owned(), ""),
    ] {
        assert_eq!(unspecified(&mut listed(&[QUEUE, &job(&spec)], "")), expected, "{spec}");
        // Nothing is said before it is known what has a default.
        assert_eq!(unspecified(&mut index_of(&[QUEUE, &job(&spec)].concat())), "", "{spec}");
    }
}

fn limit_range(name: &str, version: u32, defaults: &str) -> String {
    format!(
        "
kind: LimitRange
metadata: {{name: {name}, namespace: a, uid: l-{name}, resourceVersion: '{version}'}}
spec: {{limits: [{{type: Container, defaultRequest: {defaults}}}]}}
---
"
    )
}

#[test]
fn what_has_a_default_need_not_be_named() {
    let bare = job("{containers: [{name: c}]}");
    for (of_queue, of_range, expected) in [
        ("{}", "{cpu: 1}", "memory"),
        ("{}", "{cpu: 1, memory: 1Gi}", ""),
        // What the Queue says is there in a moment.
        ("{memory: 1Gi}", "{}", "cpu"),
        // And so is what it has without saying so.
        ("null", "{}", ""),
    ] {
        let queue = QUEUE.replace("{}", of_queue);
        let mut index = listed(&[&queue, &bare], &limit_range("own", 5, of_range));
        assert_eq!(unspecified(&mut index), expected, "{of_queue} {of_range}");
    }
}

/// Quota admission looks at requests before it looks at room.
#[test]
fn who_exceeds_the_quota_has_all_requests() {
    let mut index = listed(&[QUEUE, &failing(5, &failure("must specify requests.cpu"))], "");
    assert_eq!(unspecified(&mut index), "cpu memory");
    apply(&mut index, &failing(6, &failure("exceeded quota: quotient, requested: requests.cpu=1")));
    assert_eq!(unspecified(&mut index), "");
}
