//! What is to be done with the LimitRange of a namespace.

use quotient_snapshot::amounts::{Bounds, Resource};
use quotient_snapshot::names::Namespace;

use super::kinds::{relist_begin, relist_finish};
use super::{apply, at, delete, index_of, namespace_a};
use quotient_index::limit_ranges::LimitRangeDue;
use quotient_index::{Index, IndexSettings};

const QUEUE: &str = "
---
kind: Queue
metadata: {name: team, namespace: a, uid: q}
spec: {defaultRequests: {cpu: 100m, memory: 128Mi}}
";

/// The reference to that Queue.
const OWNER: &str = "ownerReferences: [{apiVersion: quotient.dev/v1alpha1, kind: Queue, name: team, uid: q, controller: true}]";

/// A LimitRange in namespace a, labeled as kept by Quotient and owned by the Queue if it is `ours`.
fn limit_range(name: &str, version: u32, ours: bool, items: &str) -> String {
    let (label, owner) =
        if ours { ("app.kubernetes.io/managed-by: quotient", OWNER) } else { ("", "ownerReferences: []") };
    format!(
        "
---
kind: LimitRange
metadata: {{name: {name}, namespace: a, uid: l-{name}, resourceVersion: '{version}', labels: {{{label}}}, {owner}}}
spec: {{limits: [{items}]}}
"
    )
}

const BOTH: &str = "{type: Container, defaultRequest: {cpu: 100m, memory: 128Mi}}";
const ONE: &str = "{type: Container, defaultRequest: {cpu: 200m}}";

fn due(index: &Index) -> String {
    let listed = |defaults: &Bounds| {
        let texts =
            defaults.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount)));
        texts.collect::<Vec<_>>().join(", ")
    };
    match index.limit_range_due(&Namespace::from("a"), "team") {
        None => "nothing".to_owned(),
        Some(LimitRangeDue::Create(defaults)) => format!("create: {}", listed(&defaults)),
        Some(LimitRangeDue::Change { uid, defaults, disowned }) => {
            format!("{} {uid}: {}", if disowned { "own" } else { "change" }, listed(&defaults))
        }
        Some(LimitRangeDue::Delete { uid, resource_version }) => {
            format!("delete {uid} as of {}", resource_version.unwrap().as_str())
        }
        Some(LimitRangeDue::Taken) => "taken".to_owned(),
    }
}

#[track_caller]
fn check(objects: &[&str], expected: &str) {
    assert_eq!(due(&index_of(&objects.concat())), expected, "{objects:?}");
}

#[test]
fn it_says_what_the_queue_says() {
    let wanted = "cpu 100m, memory 128Mi";
    check(&[QUEUE], &format!("create: {wanted}"));
    check(&[QUEUE, &limit_range("quotient", 5, true, BOTH)], "nothing");
    // Amounts count, not their texts.
    let same = "{type: Container, defaultRequest: {cpu: '0.1', memory: '134217728'}}";
    check(&[QUEUE, &limit_range("quotient", 5, true, same)], "nothing");

    let change = format!("change l-quotient: {wanted}");
    for other in [
        ONE,
        "",
        "{type: Container, defaultRequest: {cpu: 100m, memory: 128Mi}, max: {cpu: 1}}",
        "{type: Container, defaultRequest: {cpu: 100m, memory: 128Mi, ephemeral-storage: 1Gi}}",
        "{type: Container, defaultRequest: {cpu: 100m, memory: 128Mi}}, {type: Pod, max: {cpu: 1}}",
        "{type: Pod, max: {cpu: 1}}",
    ] {
        check(&[QUEUE, &limit_range("quotient", 5, true, other)], &change);
    }
}

/// A Queue without the field has the usual defaults, of the resources that its quota bounds.
#[test]
fn there_are_usual_defaults() {
    for spec in ["{}", "{defaultRequests: null}", "{eviction: {}}"] {
        let queue = QUEUE.replace("{defaultRequests: {cpu: 100m, memory: 128Mi}}", spec);
        check(&[&queue], "create: cpu 100m, memory 128Mi");
        check(&[&queue, &limit_range("own", 5, false, ONE)], "create: memory 128Mi");
        check(&[&queue, &limit_range("own", 5, false, BOTH)], "nothing");
        check(&[&queue, &limit_range("quotient", 5, true, ONE)], "change l-quotient: cpu 100m, memory 128Mi");
    }
    let parent = QUEUE.replace("{defaultRequests: {cpu: 100m, memory: 128Mi}}", "{children: {}}");
    check(&[&parent], "nothing");
    let usual = QUEUE.replace("{defaultRequests: {cpu: 100m, memory: 128Mi}}", "{}");
    for (governed, expected) in [("nvidia.com/gpu", "nothing"), ("cpu", "create: cpu 100m")] {
        let mut settings = IndexSettings::default();
        settings.engine.resources.insert(Resource::from_name(governed));
        let mut index = Index::new(settings);
        apply(&mut index, &usual);
        assert_eq!(due(&index), expected, "of {governed}");
    }
}

#[test]
fn an_empty_map_turns_default_requests_off() {
    let queue = QUEUE.replace("{cpu: 100m, memory: 128Mi}", "{}");
    check(&[&queue], "nothing");
    check(&[&queue, &limit_range("quotient", 5, true, BOTH)], "delete l-quotient as of 5");
    check(&[&queue, &limit_range("quotient", 5, false, BOTH)], "nothing");
    // What cannot be read is a mistake of the Queue's, which has no share then.
    let queue = QUEUE.replace("100m", "much");
    check(&[&queue], "nothing");
}

#[test]
fn what_others_give_a_default_for_is_theirs() {
    check(&[QUEUE, &limit_range("own", 5, false, ONE)], "create: memory 128Mi");
    check(&[QUEUE, &limit_range("own", 5, false, BOTH)], "nothing");
    check(
        &[QUEUE, &limit_range("own", 5, false, "{type: Pod, max: {cpu: 1}}")],
        "create: cpu 100m, memory 128Mi",
    );
    let both = [&limit_range("own", 5, false, BOTH), &limit_range("quotient", 6, true, BOTH)];
    check(&[QUEUE, both[0], both[1]], "delete l-quotient as of 6");
}

#[test]
fn a_strangers_of_our_name_is_left_alone() {
    check(&[QUEUE, &limit_range("quotient", 5, false, "{type: Pod, max: {cpu: 1}}")], "taken");
    check(&[QUEUE, &limit_range("quotient", 5, false, ONE)], "taken");
    check(&[QUEUE, &limit_range("quotient", 5, false, BOTH)], "nothing");
}

#[test]
fn without_a_queue_it_is_left_to_garbage_collection() {
    let ours = limit_range("quotient", 5, true, BOTH);
    assert_eq!(due(&index_of(&ours)), "nothing");
    // A Queue that is being deleted may have lost it already.
    let leaving = QUEUE.replace("uid: q", "uid: q, deletionTimestamp: '2026-01-01T00:00:00Z'");
    assert_eq!(due(&index_of(&leaving)), "nothing");
    assert_eq!(
        due(&index_of(&format!("{leaving}{}", ours.replace(OWNER, "ownerReferences: []")))),
        "nothing"
    );
}

#[test]
fn it_is_owned_by_the_queue_that_governs() {
    let ours = limit_range("quotient", 5, true, BOTH);
    check(&[&QUEUE.replace("uid: q", "uid: r"), &ours], "own l-quotient: cpu 100m, memory 128Mi");
    check(&[QUEUE, &ours.replace(OWNER, "ownerReferences: []")], "own l-quotient: cpu 100m, memory 128Mi");
}

#[test]
fn only_news_is_news() {
    let mut index = index_of(QUEUE);
    let ours = |version: u32, items: &str| limit_range("quotient", version, true, items);
    assert_eq!(apply(&mut index, &ours(10, BOTH)), [true]);
    assert_eq!(apply(&mut index, &ours(11, BOTH)), [false], "another version is no news");
    assert_eq!(apply(&mut index, &ours(9, ONE)), [false], "and an older one is none at all");
    assert_eq!(due(&index), "nothing");
    assert_eq!(apply(&mut index, &ours(12, ONE)), [true]);
    // Without a default it is of no concern, and then again.
    assert_eq!(apply(&mut index, &limit_range("own", 5, false, "{type: Pod}")), [false]);
    assert_eq!(apply(&mut index, &limit_range("own", 6, false, ONE)), [true]);
    assert_eq!(apply(&mut index, &limit_range("own", 7, false, "{type: Pod}")), [true]);
    assert_eq!(due(&index), "change l-quotient: cpu 100m, memory 128Mi");

    assert_eq!(delete(&mut index, &ours(12, ONE)), [true]);
    assert_eq!(apply(&mut index, &ours(13, ONE)), [false], "a late reply brings nothing back");
    assert_eq!(due(&index), "create: cpu 100m, memory 128Mi");
}

/// What pods of the ReplicaSet `web` and of the task `main` of the QueueJob `train` are expected to request.
fn expected(index: &mut Index) -> [String; 2] {
    let snapshot = index.snapshot(at("12:00:00"));
    let state = &snapshot.namespaces[&Namespace::from("a")];
    let web = state.owners.iter().find(|owner| &*owner.name == "web").unwrap();
    [&web.shape, &state.queue_jobs[0].tasks[0].shape].map(|shape| {
        let [cpu, memory] = [Resource::Cpu, Resource::Memory].map(|one| shape.requests.get(&one).units());
        format!("{cpu}m {}Mi", memory >> 20)
    })
}

/// Admission fills in the defaults when a pod is created, so a quota is charged with them.
#[test]
fn pods_that_are_to_be_created_request_the_defaults() {
    let template = "{spec: {
        initContainers: [{name: i, restartPolicy: Always}, {name: s, resources: {requests: {cpu: 700m}}}],
        containers: [{name: c, resources: {requests: {cpu: 500m}}}, {name: d}, {name: e, resources: {limits: {memory: 1Gi}}}],
        overhead: {cpu: 10m}}}";
    let written = format!(
        "
---
kind: ReplicaSet
metadata: {{name: web, namespace: a, uid: w, resourceVersion: '1'}}
spec: {{replicas: 2, selector: {{}}, template: {template}}}
---
kind: QueueJob
metadata: {{name: train, namespace: a, uid: t, generation: 1}}
spec: {{tasks: [{{name: main, template: {template}}}]}}
"
    );
    let mut index = index_of(&[QUEUE, &written].concat());
    assert_eq!(expected(&mut index), ["710m 1024Mi"; 2], "no LimitRange is known yet");
    relist_begin(&mut index, "LimitRange");
    assert!(relist_finish(&mut index, "LimitRange"));
    // 100m for the sidecar and each container without a request: 500m + 2 * 100m + 100m, or 100m + 700m to start with, and 10m.
    assert_eq!(expected(&mut index), ["810m 1408Mi"; 2], "that of the Queue is to come");
    assert_eq!(apply(&mut index, &limit_range("own", 5, false, ONE)), [true]);
    assert_eq!(expected(&mut index), ["1110m 1408Mi"; 2]);
}

/// The API server fills a default request in when it stores a LimitRange. A manifest leaves that to it.
#[test]
fn a_default_request_that_a_manifest_leaves_out_is_that_of_the_api_server() {
    let web = "
---
kind: ReplicaSet
metadata: {name: web, namespace: a, uid: w}
spec: {replicas: 1, selector: {}, template: {spec: {containers: [{name: c}]}}}
";
    for (item, expected) in [
        ("defaultRequest: {cpu: 200m}, default: {cpu: 300m}, max: {cpu: 2}", "cpu 200m, memory 128Mi"),
        ("default: {cpu: 300m}, max: {cpu: 2, memory: 1Gi}", "cpu 300m, memory 1Gi"),
        ("max: {cpu: 2}, min: {cpu: 50m, memory: 1Mi}", "cpu 2, memory 1Mi"),
    ] {
        let item = format!("{{type: Container, {item}}}");
        let mut index = index_of(&[QUEUE, web, &limit_range("own", 1, false, &item)].concat());
        relist_begin(&mut index, "LimitRange");
        apply(&mut index, &limit_range("own", 1, false, &item));
        relist_finish(&mut index, "LimitRange");
        assert_eq!(namespace_a(&mut index).owners[0].shape.requests.to_string(), expected, "{item}");
    }
}
