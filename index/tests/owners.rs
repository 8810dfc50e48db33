//! What a snapshot shows of owners: how many pods they want, and of which kind.

use expect_test::expect;

use super::{QUEUE, apply, check, index_of, namespace_a, shown};
use quotient_index::Index;

#[test]
fn owners_that_want_pods() {
    check(
        &[
            QUEUE,
            "
kind: ReplicaSet
metadata:
  name: web-7d9c
  namespace: a
  uid: r-1
  generation: 4
  creationTimestamp: 2026-01-01T11:00:00Z
spec:
  replicas: 3
  selector: {}
  template:
    metadata: {annotations: {quotient.dev/gang-min-available: '2'}}
    spec:
      priority: 7
      nodeSelector: {disk: ssd}
      initContainers: [{name: i, resources: {requests: {cpu: 2}}}]
      containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]
---
kind: StatefulSet
metadata: {name: db, namespace: a}
spec: {selector: {}, template: {spec: {containers: [{name: c, resources: {limits: {cpu: 500m}}}]}}}
---
kind: Job
metadata: {name: train, namespace: a, uid: j-1}
spec:
  parallelism: 4
  completions: 10
  template:
    metadata: {annotations: {quotient.dev/gang: ring, quotient.dev/gang-min-available: '4'}}
    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}
status: {succeeded: 2}
",
        ]
        .concat(),
        &expect![[r#"
            namespace a
              queue q: uid a/q
              owner web-7d9c: uid r-1, generation 4, created 11:00:00, wanted 3, shape {requests {cpu 2, memory 1Gi}, placement {node_selector [[disk, ssd]]}}, gang {name r-1, min_available 2}, priority 7
              owner db: uid a/StatefulSet/db, kind StatefulSet, wanted 1, shape {requests {cpu 500m}}
              owner train: uid j-1, kind Job, wanted 4, shape {requests {nvidia.com/gpu 1}}, gang {name ring, min_available 4}, succeeded 2
        "#]],
    );
}

#[test]
fn a_daemon_set_wants_a_pod_on_every_node_that_its_controller_counts() {
    let daemon_set = |metadata: &str, status: &str| {
        format!(
            "{{kind: DaemonSet, metadata: {{name: agent, namespace: a, uid: d{metadata}}},
              spec: {{selector: {{}}, template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}}},
              status: {{currentNumberScheduled: 1, numberMisscheduled: 0, numberReady: 0{status}}}}}"
        )
    };
    check(
        &[QUEUE, &daemon_set("", ", desiredNumberScheduled: 3")].concat(),
        &expect![[r#"
            namespace a
              queue q: uid a/q
              owner agent: uid d, kind DaemonSet, wanted 3, shape {requests {cpu 1}}
        "#]],
    );
    for (metadata, status) in [
        ("", ", desiredNumberScheduled: 0"),
        ("", ", desiredNumberScheduled: -1"),
        // A tenant may write this; a DaemonSet has no size that was ever lowered.
        (", annotations: {quotient.dev/replicas-before: '9'}", ", desiredNumberScheduled: 0"),
        (", deletionTimestamp: 2026-01-01T12:00:00Z", ", desiredNumberScheduled: 3"),
    ] {
        assert_eq!(wanted(&daemon_set(metadata, status)), None, "{metadata}{status}");
    }
}

/// A Job with this beside its template in its spec, and with this status.
fn job(uid: &str, spec: &str, status: &str) -> String {
    let template = "template: {spec: {containers: []}}";
    format!(
        "{{kind: Job, metadata: {{name: x, namespace: a, uid: {uid}}}, spec: {{{template}, {spec}}}, status: {{{status}}}}}"
    )
}

/// How many pods the one owner wants; none if it is not there.
fn wanted(object: &str) -> Option<u32> {
    namespace_a(&mut index_of(&[QUEUE, object].concat())).owners.first().map(|owner| owner.wanted)
}

#[test]
fn how_the_pods_of_a_job_end() {
    let outcome = |status: &str| {
        let job = job("one", "completions: 9", status);
        let owner = &namespace_a(&mut index_of(&[QUEUE, &job].concat())).owners[0];
        (owner.succeeded, owner.fails)
    };
    assert_eq!(outcome(""), (0, false));
    assert_eq!(outcome("failed: 2, active: 1"), (0, true));
    assert_eq!(outcome("failed: 2, ready: 1"), (0, false));
    assert_eq!(outcome("failed: 2, succeeded: 3"), (3, false));
    // Those that terminate were deleted or evicted, and count as failed already.
    assert_eq!(outcome("failed: 2, terminating: 2"), (0, false));
    assert_eq!(outcome("failed: 3, terminating: 2"), (0, true));
}

/// The Job controller counts evicted pods as failed.
#[test]
fn a_job_that_lost_its_ready_pods_does_not_only_fail() {
    let mut index = index_of(QUEUE);
    let mut fails = |uid: &str, status: &str| {
        apply(&mut index, &job(uid, "parallelism: 4", status));
        namespace_a(&mut index).owners[0].fails
    };
    assert!(!fails("one", "active: 4, ready: 4"));
    assert!(!fails("one", "failed: 4, terminating: 4"));
    assert!(!fails("one", "failed: 4, active: 4"), "all were evicted");
    assert!(fails("two", "failed: 4, active: 4"), "its successor has had no Ready pod");
    assert!(!fails("two", "failed: 4, active: 4, ready: 1"));
    assert!(!fails("two", "failed: 5, active: 4"));
}

#[test]
fn replicas_wanted() {
    for kind in ["ReplicaSet", "StatefulSet"] {
        for (replicas, expected) in [("5", Some(5)), ("null", Some(1)), ("0", None), ("-1", None)] {
            let object = format!(
                "{{kind: {kind}, metadata: {{name: x, namespace: a}}, \
                 spec: {{replicas: {replicas}, selector: {{}}, template: {{spec: {{containers: []}}}}}}}}"
            );
            assert_eq!(wanted(&object), expected, "{kind} {replicas}");
            let leaving =
                object.replace("namespace: a", "namespace: a, deletionTimestamp: 2026-01-01T12:00:00Z");
            assert_eq!(wanted(&leaving), None);
        }
    }
}

#[test]
fn pods_that_a_job_wants() {
    for (spec, status, expected) in [
        ("", "", Some(1)),
        ("parallelism: 4", "", Some(4)),
        ("parallelism: 0", "", None),
        ("parallelism: 4, completions: 10", "", Some(4)),
        ("parallelism: 4, completions: 3", "", Some(3)),
        ("parallelism: 4, completions: 10", "succeeded: 8", Some(2)),
        ("parallelism: 4, completions: 10", "succeeded: 11", None),
        // A work queue.
        ("parallelism: 4", "succeeded: 1", None),
        ("parallelism: 4", "failed: 1", Some(4)),
        (
            "parallelism: 4, completions: 4, completionMode: Indexed",
            "succeeded: 1, completedIndexes: '2'",
            Some(3),
        ),
        (
            "parallelism: 9, completions: 9, backoffLimitPerIndex: 1",
            "succeeded: 1, failedIndexes: '2-4,6'",
            Some(4),
        ),
        ("parallelism: 4, suspend: true", "", None),
        ("parallelism: 4, suspend: false", "", Some(4)),
        ("managedBy: kubernetes.io/job-controller", "", Some(1)),
        ("managedBy: kueue.x-k8s.io/multikueue", "", None),
        ("parallelism: 4", "conditions: [{type: Complete, status: 'True'}]", None),
        (
            "parallelism: 4",
            "conditions: [{type: Suspended, status: 'False'}, {type: Failed, status: 'True'}]",
            None,
        ),
        ("parallelism: 4", "conditions: [{type: FailureTarget, status: 'True'}]", None),
        ("parallelism: 4", "conditions: [{type: SuccessCriteriaMet, status: 'True'}]", None),
        ("parallelism: 4", "conditions: [{type: Failed, status: 'False'}]", Some(4)),
    ] {
        assert_eq!(wanted(&job("one", spec, status)), expected, "{spec}; {status}");
    }
}

fn replica_set(name: &str, replicas: u32, spec: &str) -> String {
    format!(
        "{{kind: ReplicaSet, metadata: {{name: {name}, namespace: a, uid: u-{name}}}, \
         spec: {{replicas: {replicas}, selector: {{}}, template: {{spec: {{containers: []{spec}}}}}}}}}\n---\n"
    )
}

#[test]
fn former_replica_sets_cost_nothing() {
    let mut index = index_of(QUEUE);
    for number in 0..1000 {
        apply(&mut index, &replica_set(&format!("web-{number}"), 0, ", nodeSelector: {a: b}"));
    }
    assert!(namespace_a(&mut index).owners.is_empty());
    // The texts are the names of the two kinds.
    assert_eq!((index.kept().texts, index.kept().shapes), (2, 0));
}

#[test]
fn pods_and_templates_of_one_kind_have_one_shape() {
    // Admission adds two tolerations to every pod.
    let pod = "
kind: Pod
metadata: {name: p, namespace: a}
spec:
  containers: [{name: c, resources: {requests: {cpu: 1}}}]
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
---
";
    let owner = "
kind: StatefulSet
metadata: {name: s, namespace: a}
spec: {selector: {}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
";
    let state = namespace_a(&mut index_of(&[pod, owner].concat()));
    assert!(std::sync::Arc::ptr_eq(&state.pods[0].shape, &state.owners[0].shape));
}

#[test]
fn a_manifest_names_its_owner_as_its_pods_do() {
    let objects = "
kind: Job
metadata: {name: train, namespace: a}
spec: {template: {spec: {containers: []}}}
---
kind: Pod
metadata:
  name: train-0
  namespace: a
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, controller: true}]
spec: {containers: []}
";
    let state = namespace_a(&mut index_of(objects));
    assert_eq!(state.pods[0].owner(), Some(&state.owners[0].uid));
}

fn class(name: &str, value: i32, default: bool) -> String {
    format!(
        "{{kind: PriorityClass, metadata: {{name: {name}, uid: {name}}}, value: {value}, globalDefault: {default}}}"
    )
}

fn priorities(index: &mut Index) -> Vec<i32> {
    namespace_a(index).owners.iter().map(|owner| owner.priority).collect()
}

#[test]
fn the_priority_of_a_template_is_that_of_its_class() {
    let sets = [
        QUEUE,
        &replica_set("a-number", 1, ", priority: 5, priorityClassName: high"),
        &replica_set("b-class", 1, ", priorityClassName: high"),
        &replica_set("c-built-in", 1, ", priorityClassName: system-node-critical"),
        &replica_set("d-default", 1, ""),
    ]
    .concat();
    let mut index = index_of(&sets);
    assert_eq!(priorities(&mut index), [5, 0, 2_000_001_000, 0]);
    assert_eq!(apply(&mut index, &class("high", 1000, false)), [true]);
    assert_eq!(apply(&mut index, &class("normal", 10, true)), [true]);
    assert_eq!(apply(&mut index, &class("other", 20, true)), [false]);
    assert_eq!(priorities(&mut index), [5, 1000, 2_000_001_000, 10]);
}

#[test]
fn the_priority_of_a_pod_of_a_manifest_can_be_looked_up() {
    let index = index_of(&[class("high", 1000, false), class("normal", 10, true)].join("\n---\n"));
    let priority = |spec: &str| index.priority_of(&serde_yaml_ng::from_str(spec).unwrap());
    assert_eq!(priority("{containers: [], priorityClassName: high}"), 1000);
    assert_eq!(priority("{containers: [], priorityClassName: high, priority: 3}"), 3);
    assert_eq!(priority("{containers: [], priorityClassName: absent}"), 0);
    assert_eq!(priority("{containers: []}"), 10);
}

#[test]
fn quantities_of_a_template_that_cannot_be_read_are_named() {
    let template = "{spec: {containers: [{name: app, resources: {requests: {cpu: lots}}}]}}";
    let problems =
        quotient_index::pod_requests::unreadable_in_template(&serde_yaml_ng::from_str(template).unwrap());
    let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["spec.template.spec.containers[app].resources.requests.cpu"]);
}

/// As the API server fills in what a pod requests as a whole.
#[test]
fn a_limit_of_the_pod_stands_in_only_where_no_container_requests() {
    let text = shown(
        "kind: Queue
metadata: {name: q, namespace: a}
---
kind: ReplicaSet
metadata: {name: web, namespace: a, uid: w}
spec:
  replicas: 3
  selector: {}
  template:
    spec:
      resources: {limits: {cpu: 4, memory: 4Gi}}
      containers: [{name: c, resources: {requests: {cpu: 500m}}}, {name: d, resources: {limits: {cpu: 250m}}}]
",
    );
    assert!(text.contains("750m") && text.contains("4Gi"), "{text}");
}
