//! What a snapshot shows of the objects that say how many pods are wanted.

use expect_test::{Expect, expect};

use super::shown;

fn shows(manifests: &str, expected: &Expect) {
    let queue = "{kind: Queue, metadata: {name: q, namespace: a}, spec: {preemption: LowerPriority}}\n---\n";
    expected.assert_eq(&shown(&[queue, manifests].concat()));
}

const SET: &str = "
kind: ReplicaSet
metadata:
  name: web-1
  namespace: a
  uid: r-1
  ownerReferences: [{kind: Deployment, name: web, uid: d-1, controller: true, apiVersion: apps/v1}]
spec: {replicas: 3, selector: {}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
---
";

#[test]
fn a_replica_set_wants_what_its_deployment_says() {
    shows(
        &format!(
            "{SET}
kind: Deployment
metadata:
  name: web
  namespace: a
  uid: d-1
  annotations: {{quotient.dev/replicas-before: '4', quotient.dev/replicas-lowered-to: '2'}}
spec: {{replicas: 2, selector: {{}}, template: {{}}}}
"
        ),
        &expect![[r#"
            namespace a
              queue q: uid a/q, preemption LowerPriority
              owner web-1: uid r-1, wanted 2, shape {requests {cpu 1}}, size {scale_target {kind Deployment, name web, uid d-1}, original_replicas 4, withheld_replicas 2}, controller {api_version apps/v1, kind Deployment, name web, uid d-1}
        "#]],
    );
}

#[test]
fn in_a_rollout_no_object_says_it() {
    shows(
        &format!(
            "{SET}{}
kind: Deployment
metadata: {{name: web, namespace: a, uid: d-1}}
spec: {{replicas: 4, selector: {{}}, template: {{}}}}
",
            SET.replace("web-1", "web-2").replace("r-1", "r-2")
        ),
        &expect![[r#"
            namespace a
              queue q: uid a/q, preemption LowerPriority
              owner web-1: uid r-1, wanted 3, shape {requests {cpu 1}}, size {scale_target {kind Deployment, name web, uid d-1}, written 4, left_alone RollingOut}, controller {api_version apps/v1, kind Deployment, name web, uid d-1}
              owner web-2: uid r-2, wanted 3, shape {requests {cpu 1}}, size {scale_target {kind Deployment, name web, uid d-1}, written 4, left_alone RollingOut}, controller {api_version apps/v1, kind Deployment, name web, uid d-1}
        "#]],
    );
}

#[test]
fn the_newest_replica_set_shows_that_its_deployment_keeps_the_older_pods() {
    let revision = |set: &str, number: u32| {
        set.replacen(
            "metadata:",
            &format!("metadata:\n  annotations: {{deployment.kubernetes.io/revision: '{number}'}}"),
            1,
        )
    };
    shows(
        &format!(
            "{}{}
kind: Deployment
metadata: {{name: web, namespace: a, uid: d-1, annotations: {{deployment.kubernetes.io/revision: '2'}}}}
spec: {{replicas: 3, selector: {{}}, template: {{}}}}
",
            revision(SET, 1),
            revision(&SET.replace("web-1", "web-2").replace("r-1", "r-2"), 2)
        ),
        &expect![[r#"
            namespace a
              queue q: uid a/q, preemption LowerPriority
              owner web-1: uid r-1, wanted 3, shape {requests {cpu 1}}, size {scale_target {kind Deployment, name web, uid d-1}, left_alone RollingOut}, controller {api_version apps/v1, kind Deployment, name web, uid d-1}
              owner web-2: uid r-2, wanted 3, shape {requests {cpu 1}}, size {scale_target {kind Deployment, name web, uid d-1}, left_alone RollingOut, surges_first}, controller {api_version apps/v1, kind Deployment, name web, uid d-1}
        "#]],
    );
}

#[test]
fn who_is_kept_at_a_size_by_something_else_is_left_alone() {
    shows(
        "
kind: StatefulSet
metadata: {name: scaled, namespace: a, uid: s-1}
spec: {replicas: 3, selector: {}, template: {}}
---
kind: HorizontalPodAutoscaler
apiVersion: autoscaling/v2
metadata: {name: scaler, namespace: a}
spec: {maxReplicas: 9, scaleTargetRef: {kind: StatefulSet, name: scaled, apiVersion: apps/v1}}
---
kind: StatefulSet
metadata: {name: out, namespace: a, uid: s-2, annotations: {quotient.dev/within-queue: Never}}
spec: {replicas: 3, selector: {}, template: {}}
---
kind: StatefulSet
metadata:
  name: changed
  namespace: a
  uid: s-3
  annotations: {quotient.dev/replicas-before: '4', quotient.dev/replicas-lowered-to: '2'}
spec: {replicas: 3, selector: {}, template: {}}
---
kind: StatefulSet
metadata:
  name: operated
  namespace: a
  uid: s-4
  ownerReferences: [{kind: Kafka, name: k, uid: k-1, controller: true, apiVersion: v1}]
spec: {replicas: 3, selector: {}, template: {}}
---
kind: Job
metadata:
  name: nightly
  namespace: a
  uid: j-1
  ownerReferences: [{kind: CronJob, name: n, uid: n-1, controller: true, apiVersion: batch/v1}]
spec: {parallelism: 3, completions: 9, template: {}}
",
        &expect![[r#"
            namespace a
              queue q: uid a/q, preemption LowerPriority
              owner changed: uid s-3, kind StatefulSet, wanted 3, size {left_alone SizeSetByAnother}
              owner operated: uid s-4, kind StatefulSet, wanted 3, size {scale_target none, written 0}, controller {api_version v1, kind Kafka, name k, uid k-1}
              owner out: uid s-2, kind StatefulSet, wanted 3, size {left_alone OptedOut}
              owner scaled: uid s-1, kind StatefulSet, wanted 3, size {left_alone Autoscaled}
              owner nightly: uid j-1, kind Job, wanted 3, controller {api_version batch/v1, kind CronJob, name n, uid n-1}
        "#]],
    );
}

#[test]
fn a_job_that_was_scaled_to_nothing_is_kept_and_is_owed_what_is_left_of_it() {
    shows(
        "
kind: Job
metadata:
  name: train
  namespace: a
  uid: j-1
  annotations: {quotient.dev/replicas-before: '4', quotient.dev/replicas-lowered-to: '0'}
spec: {parallelism: 0, completions: 6, template: {}}
status: {succeeded: 3}
",
        &expect![[r#"
            namespace a
              queue q: uid a/q, preemption LowerPriority
              owner train: uid j-1, kind Job, size {original_replicas 4, withheld_replicas 3}, succeeded 3
        "#]],
    );
}
