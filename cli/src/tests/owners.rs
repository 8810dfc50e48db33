//! Deployments, ReplicaSets, StatefulSets and Jobs: which pods they create, and when.

use expect_test::{Expect, expect};

use super::{check, read};
use crate::manifests::Cluster;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 8, memory: 8Gi}}
";

/// A Queue named q in this namespace.
fn queue(namespace: &str, spec: &str) -> String {
    format!(
        "---\n{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: {namespace}}}, \
         spec: {spec}}}\n"
    )
}

/// An object of namespace a whose pods request 1 cpu each and are labeled `app: web`.
fn owner(kind: &str, metadata: &str, spec: &str) -> String {
    let api_version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    format!(
        "
---
apiVersion: {api_version}
kind: {kind}
metadata: {{namespace: a, {metadata}}}
spec:
  {spec}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}
"
    )
}

/// A running pod of namespace a that requests 1 cpu.
fn pod(name: &str, metadata: &str) -> String {
    format!(
        "
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: a, {metadata}}}
spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}
"
    )
}

fn quota(namespace: &str, cpu: u32) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: quotient, namespace: {namespace}}}, \
         spec: {{hard: {{requests.cpu: {cpu}}}}}}}\n"
    )
}

fn cluster(documents: &[String]) -> Cluster {
    read(&[("a.yaml", &documents.concat())]).unwrap()
}

/// The owners that the engine sees where namespace a has a Queue, and how many pods of theirs there are.
fn check_owners(documents: &[String], expected: &Expect) {
    let cluster = cluster(&[&[queue("a", "{}")], documents].concat());
    let state = &cluster.snapshot.namespaces[&"a".into()];
    let lines = state.owners.iter().map(|owner| {
        let pods = state.pods.iter().filter(|pod| pod.owner() == Some(&owner.uid)).count();
        let (kind, name, uid) = (owner.kind.name(), &owner.name, &owner.uid);
        format!("{kind} {name} ({uid}): wants {} of {}, has {pods}\n", owner.wanted, owner.shape.requests)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn what_a_standing_quota_admits_is_there_before_the_first_step() {
    check(
        &[
            NODE.replace("cpu: 8", "cpu: 9"),
            queue("a", "{request: {cpu: 1k, memory: 1Ti}}"),
            quota("a", 6),
            owner("Deployment", "name: web", "replicas: 9"),
            queue("b", "{request: {cpu: 1k, memory: 1Ti}}"),
            quota("b", 1),
            owner("StatefulSet", "name: db", "replicas: 2").replace("namespace: a", "namespace: b"),
            // Where no Queue is, no pod is rejected.
            owner("ReplicaSet", "name: free", "").replace("namespace: a", "namespace: c"),
        ]
        .concat(),
        &expect![[r#"
            Before  as far as quotas admit
              start  a/web-r1-0
              start  a/web-r1-1
              start  a/web-r1-2
              start  a/web-r1-3
              start  a/web-r1-4
              start  a/web-r1-5
              start  b/db-0
              start  c/free-r1-0

            Step 1  capacity 8c 8Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       9c 8Gi  4c 4Gi    4c 4Gi     6c 768Mi  0
              b/q    1       8c 8Gi  4c 4Gi    2c 4Gi     1c 128Mi  2c
              evict  a/web-r1-5  b/q is short of 2c; a/q uses 6c 768Mi and deserves 4c 4Gi
              evict  a/web-r1-4  b/q is short of 2c; a/q uses 6c 768Mi and deserves 4c 4Gi
              start  b/db-1
              unmet  a/web  3 pods of 1c 128Mi cannot start: ShareInUse (other pods of the queue use all of the share)

            Step 2  capacity 8c 8Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       9c 8Gi  4c 4Gi    4c 4Gi     4c 512Mi  0
              b/q    1       8c 8Gi  4c 4Gi    4c 4Gi     2c 256Mi  0
              unmet  a/web  5 pods of 1c 128Mi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn a_deployment_has_one_replica_set_scaled() {
    let deployment = owner("Deployment", "name: web", "replicas: 4");
    let of_web = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]";
    let set = |name: &str, replicas: u32, revision: u32| {
        let metadata = format!(
            "name: {name}, uid: u-{name}, annotations: {{deployment.kubernetes.io/revision: '{revision}'}}, {of_web}"
        );
        owner("ReplicaSet", &metadata, &format!("replicas: {replicas}"))
    };
    // Without one there is a new one, and without a number of replicas one pod.
    check_owners(
        &[owner("Deployment", "name: a", "")],
        &expect![[r#"
            ReplicaSet a (a/ReplicaSet/a): wants 1 of cpu 1, memory 128Mi, has 0
        "#]],
    );
    // The one that wants pods, however old.
    check_owners(
        &[deployment.clone(), set("x", 1, 1), set("y", 0, 2)],
        &expect![[r#"
            ReplicaSet x (u-x): wants 4 of cpu 1, memory 128Mi, has 0
        "#]],
    );
    // The newest, where none does.
    check_owners(
        &[deployment.clone(), set("x", 0, 10), set("y", 0, 9)],
        &expect![[r#"
            ReplicaSet x (u-x): wants 4 of cpu 1, memory 128Mi, has 0
        "#]],
    );
    // In the middle of a rollout no size is changed.
    check_owners(
        &[deployment.clone(), set("x", 3, 1), set("y", 2, 2)],
        &expect![[r#"
            ReplicaSet x (u-x): wants 3 of cpu 1, memory 128Mi, has 0
            ReplicaSet y (u-y): wants 2 of cpu 1, memory 128Mi, has 0
        "#]],
    );
    // A foreign ReplicaSet is not touched, even if it has the name.
    let others = owner("ReplicaSet", "name: web", "replicas: 2");
    check_owners(
        &[others, deployment],
        &expect![[r#"
            ReplicaSet web (a/ReplicaSet/web): wants 2 of cpu 1, memory 128Mi, has 0
            ReplicaSet web-2 (a/ReplicaSet/web-2): wants 4 of cpu 1, memory 128Mi, has 0
        "#]],
    );
}

#[test]
fn pods_find_their_owners_with_and_without_ids() {
    let of = |kind: &str, name: &str, more: &str| {
        format!(
            "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {name}, controller: true{more}}}]"
        )
    };
    // A dump without ReplicaSets: the pods tell which one the Deployment has.
    let label = "labels: {pod-template-hash: 5d4f}";
    check_owners(
        &[
            owner("Deployment", "name: web, uid: d-1", "replicas: 3"),
            pod("web-5d4f-x", &format!("{label}, {}", of("ReplicaSet", "web-5d4f", ", uid: rs-1"))),
            pod("web-5d4f-y", &format!("{label}, {}", of("ReplicaSet", "web-5d4f", ", uid: rs-1"))),
            pod("other", &of("ReplicaSet", "web-front-1", ", uid: rs-2")),
        ],
        &expect![[r#"
            ReplicaSet web-5d4f (rs-1): wants 3 of cpu 1, memory 128Mi, has 2
        "#]],
    );
    // Manifests by hand.
    check_owners(
        &[
            owner("Deployment", "name: web", "replicas: 2"),
            pod("w", &of("ReplicaSet", "web", "")),
            owner("StatefulSet", "name: db, uid: s-1", ""),
            pod("d", &of("StatefulSet", "db", "")),
            owner("Job", "name: job", ""),
            pod("j", &of("Job", "job", ", uid: j-1")),
        ],
        &expect![[r#"
            ReplicaSet web (a/ReplicaSet/web): wants 2 of cpu 1, memory 128Mi, has 1
            StatefulSet db (s-1): wants 1 of cpu 1, memory 128Mi, has 1
            Job job (j-1): wants 1 of cpu 1, memory 128Mi, has 1
        "#]],
    );
}

#[test]
fn new_pods_take_after_their_templates() {
    let last = owner("Deployment", "name: calm", "replicas: 3")
        .replace("metadata: {labels", "metadata: {annotations: {quotient.dev/preemptible: last}, labels");
    // By name those of calm would go first, but their template asks for them to be left alone.
    check(
        &[
            NODE,
            &queue("a", "{request: {cpu: 1k, memory: 1Ti}}"),
            &quota("a", 7),
            &last,
            &owner("Deployment", "name: brisk", "replicas: 3"),
            &queue("b", "{request: {cpu: 4, memory: 0}}"),
        ]
        .concat(),
        &expect![[r#"
            Before  as far as quotas admit
              start  a/brisk-r1-0
              start  a/brisk-r1-1
              start  a/brisk-r1-2
              start  a/calm-r1-3
              start  a/calm-r1-4
              start  a/calm-r1-5

            Step 1  capacity 8c 8Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       8c 8Gi  4c 8Gi    4c 8Gi     6c 768Mi  0
              b/q    1       4c      4c        2c         0         2c
              evict  a/brisk-r1-2  b/q is short of 2c; a/q uses 6c 768Mi and deserves 4c 8Gi
              evict  a/brisk-r1-1  b/q is short of 2c; a/q uses 6c 768Mi and deserves 4c 8Gi

            Step 2  capacity 8c 8Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       8c 8Gi  4c 8Gi    4c 8Gi     4c 512Mi  0
              b/q    1       4c      4c        4c         0         0
              unmet  a/brisk  2 pods of 1c 128Mi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

/// What the operator sees as well: demand of pods that are still to be created.
#[test]
fn containers_without_requests_get_the_defaults_of_their_namespace() {
    let web = owner("Deployment", "name: web", "").replace("resources: {requests: {cpu: 1}}", "image: i");
    check_owners(
        std::slice::from_ref(&web),
        &expect![[r#"
        ReplicaSet web (a/ReplicaSet/web): wants 1 of cpu 100m, memory 128Mi, has 0
    "#]],
    );
    let range = "
---
apiVersion: v1
kind: LimitRange
metadata: {name: own, namespace: a}
spec: {limits: [{type: Container, defaultRequest: {cpu: 2}}]}
";
    check_owners(
        &[web, range.to_owned()],
        &expect![[r#"
        ReplicaSet web (a/ReplicaSet/web): wants 1 of cpu 2, memory 128Mi, has 0
    "#]],
    );
}

#[test]
fn mistakes_of_owners_are_named() {
    let text = [
        owner("Deployment", "name: web", "replicas: -1"),
        owner("Job", "name: job", "parallelism: -2"),
        owner("StatefulSet", "name: db", "").replace("cpu: 1", "cpu: lots"),
        owner("ReplicaSet", "name: set", "replicas: many"),
    ];
    expect![[r#"
        error: DIR/a.yaml (document 1): Deployment a/web: spec.replicas is -1: write 0 or more
        error: DIR/a.yaml (document 2): Job a/job: spec.parallelism is -2: write 0 or more
        error: DIR/a.yaml (document 3): StatefulSet a/db: read spec.template.spec.containers[c].resources.requests.cpu: read quantity "lots": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi
        error: DIR/a.yaml (document 4): ReplicaSet a/set: spec.replicas: invalid type: string "many", expected i32"#]].assert_eq(&read(&[("a.yaml", &text.concat())]).unwrap_err());
}

#[test]
fn a_daemon_set_wants_a_pod_on_every_node_that_its_template_admits() {
    check(
        "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {disk: ssd}}, status: {allocatable: {cpu: 4, memory: 4Gi}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {disk: ssd}}, status: {allocatable: {cpu: 4, memory: 4Gi}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 4, memory: 4Gi}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a}, spec: {}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: a}
spec:
  selector: {}
  template:
    spec:
      nodeSelector: {disk: ssd}
      containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]
",
        &expect![[r#"
            Step 1  capacity 12c 12Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/a    1       2c 2Gi  2c 2Gi    4c 8Gi     0     0
              start  a/agent-r1-0
              start  a/agent-r1-1

            Step 2  capacity 12c 12Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED    PREEMPTING
              a/a    1       2c 2Gi  2c 2Gi    4c 8Gi     2c 2Gi  0

            Stable: nothing more would happen.
        "#]],
    );
}
