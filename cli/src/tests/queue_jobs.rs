//! QueueJobs from manifests: their Jobs as the operator would have made them, and what is wrong with them.

use std::fmt::Write as _;

use expect_test::expect;

use super::{check, read};

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: 4}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: q, namespace: a}
spec: {}
---
";

fn job(name: &str, spec: &str) -> String {
    let template = "template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
    let spec = spec.replace("TEMPLATE", template);
    format!(
        "apiVersion: quotient.dev/v1alpha1\nkind: QueueJob\nmetadata: {{name: {name}, namespace: a}}\nspec: {spec}\n---\n"
    )
}

/// The Job of job-01 as a cluster shows it, with four pods that run.
fn running() -> String {
    let mut text = "
apiVersion: batch/v1
kind: Job
metadata:
  name: job-01-w
  namespace: a
  ownerReferences: [{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, name: job-01, controller: true}]
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quotient, namespace: a}
spec: {hard: {requests.cpu: 4}}
---
"
    .to_owned();
    for number in 0..4 {
        write!(
            text,
            "
apiVersion: v1
kind: Pod
metadata:
  name: job-01-w-{number}
  namespace: a
  annotations: {{quotient.dev/gang: queuejob/job-01, quotient.dev/gang-min-available: '2'}}
  ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: job-01-w, controller: true}}]
spec: {{nodeName: n, containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}]}}
---
"
        )
        .unwrap();
    }
    text
}

/// The seed's first table (S-GANG §Use Case).
#[test]
fn a_job_that_comes_gets_its_floor_and_then_its_part() {
    let manifests = [
        CLUSTER.to_owned(),
        running(),
        job("job-01", "{minAvailable: 2, tasks: [{name: w, replicas: 4, TEMPLATE}]}"),
        job("job-02", "{minAvailable: 1, tasks: [{name: w, replicas: 4, TEMPLATE}]}"),
    ];
    check(
        &manifests.concat(),
        &expect![[r#"
            Step 1  capacity 4c
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       8c      4c        4c         4c    0
              QUEUEJOB  STATE    MIN  SLOTS   RUNNING  SUCCEEDED  DESERVED  ALLOCATED  REASON
              a/job-01  Running  2    4 -> 2  4        0          2c        2c         Admitted
              a/job-02  Waiting  1    0       0        0          2c        0          WaitingForQuota
              waits  a/job-02  The QueueJob gets its slots when other pods have ended or the higher quota is enforced.
              unmet  a/job-02/w  4 pods of 1c cannot start: ShareInUse (other pods of the queue use all of the share)

            Step 2  capacity 4c
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       8c      4c        4c         2c    0
              QUEUEJOB  STATE     MIN  SLOTS   RUNNING  SUCCEEDED  DESERVED  ALLOCATED  REASON
              a/job-01  Running   2    2       2        0          2c        2c         Admitted
              a/job-02  Starting  1    0 -> 2  0        0          2c        2c         Admitted
              start  a/job-02-w-r2-0
              start  a/job-02-w-r2-1

            Step 3  capacity 4c
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/q    1       8c      4c        4c         4c    0
              QUEUEJOB  STATE    MIN  SLOTS  RUNNING  SUCCEEDED  DESERVED  ALLOCATED  REASON
              a/job-01  Running  2    2      2        0          2c        2c         Admitted
              a/job-02  Running  1    2      2        0          2c        2c         Admitted
              unmet  a/job-01/w  2 pods of 1c cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  a/job-02/w  2 pods of 1c cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn what_the_api_server_would_refuse_is_refused() {
    for (spec, sentence) in [
        ("{tasks: []}", "spec.tasks: there are 0: write 1 to 16"),
        ("{minAvailable: 0, tasks: [{name: w, TEMPLATE}]}", "spec.minAvailable is 0"),
        ("{minAvailable: -1, tasks: [{name: w, TEMPLATE}]}", "spec.minAvailable is -1"),
        (
            "{minAvailable: 3, tasks: [{name: w, replicas: 2, TEMPLATE}]}",
            "spec.minAvailable is 3: write 1 to 2",
        ),
        ("{minAvailable: 1, tasks: [{name: w, replicas: 2, minAvailable: 2, TEMPLATE}]}", "are 2 together"),
        ("{tasks: [{name: w, replicas: 5001, TEMPLATE}]}", "replicas is 5001"),
        ("{tasks: [{name: w, TEMPLATE}, {name: w, TEMPLATE}]}", "spec.tasks[1].name: w stands there already"),
        ("{tasks: [{name: w, replica: 2, TEMPLATE}]}", "spec.tasks[0].replica: a QueueJob has no such field"),
        ("{tasks: [{name: w, template: {spec: {containers: 1}}}]}", "spec.tasks[0].template"),
        ("{tasks: [{name: w, template: {spec: {nodeName: n, containers: []}}}]}", "leave it out"),
        (
            "{tasks: [{name: w, template: {spec: {containers: [], volumes: [{name: v, hostPath: {path: /}}]}}}]}",
            "leave hostPath out",
        ),
        (
            "{tasks: [{name: w, template: {spec: {containers: [{name: c, resources: {requests: {cpu: x}}}]}}}]}",
            "spec.tasks[0].template",
        ),
    ] {
        let problems = read(&[("input.yaml", &job("bad", spec))]).err().unwrap_or_default();
        assert!(problems.contains(sentence) && problems.contains("QueueJob a/bad"), "{spec}: {problems}");
    }
}
