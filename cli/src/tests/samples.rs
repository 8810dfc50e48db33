//! The samples of docs/reference/cli.md, each from a whole cluster: what is printed there is printed here.

#![allow(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use quotient_advance::settle;
use quotient_operator::decisions::Decisions;
use serde_json::json;

use super::{PAGE, args, directory, observed, observed_yaml, status};
use crate::commands::diff::{self, Diff, DiffArgs};
use crate::commands::explain::{Question, Target, explain};
use crate::commands::propose::{self, Basis, proposals};
use crate::commands::replay::Replay;
use crate::manifests::Cluster;
use crate::output::{Screen, Style, joined};
use crate::snapshot::Snapshot;

const ML: &str = include_str!("clusters/ml.yaml");

/// When the pods of the trainer were evicted, and when a person looks.
const THEN: &str = "2026-11-24T14:01:20Z";
const NOW: &str = "2026-11-24T14:01:42Z";

/// The page shows what is printed.
fn check(printed: &str, expected: &Expect) {
    expected.assert_eq(printed);
    assert!(PAGE.contains(printed), "docs/reference/cli.md shows something else than:\n{printed}");
}

/// A running pod that requests one gpu.
fn pod(namespace: &str, name: &str, metadata: &str, node: u32, started: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}, uid: p-{name}, creationTimestamp: \"{started}\", {metadata}}}
spec:
  nodeName: gpu-{node}
  priority: 0
  containers: [{{name: main, resources: {{requests: {{cpu: 0, memory: 0, nvidia.com/gpu: 1}}, limits: {{nvidia.com/gpu: 1}}}}}}]
status: {{phase: Running, startTime: \"{started}\"}}
"
    )
}

fn owner(kind: &str, name: &str, api_version: &str) -> String {
    format!(
        "ownerReferences: [{{apiVersion: {api_version}, kind: {kind}, name: {name}, uid: o-{name}, controller: true}}]"
    )
}

/// Eight nodes of eight gpus, on which the pods of three queues run. Of the trainer's pods these are evicted.
fn pods(trainers: u32, evicted: std::ops::RangeInclusive<u32>) -> String {
    let mut text = String::new();
    for node in 1..=8 {
        let _ = write!(
            text,
            "---
apiVersion: v1
kind: Node
metadata: {{name: gpu-{node}, uid: n-{node}, creationTimestamp: \"2026-11-01T00:00:00Z\"}}
status:
  allocatable: {{nvidia.com/gpu: 8}}
  conditions: [{{type: Ready, status: \"True\", lastTransitionTime: \"2026-11-01T00:00:00Z\"}}]
"
        );
    }
    let mut place = 0..;
    let mut node = || place.next().unwrap_or(0) / 8 + 1;
    for number in 1..=trainers {
        let ending = if evicted.contains(&number) {
            "deletionTimestamp: \"2026-11-24T14:01:50Z\", deletionGracePeriodSeconds: 30, "
        } else {
            ""
        };
        let last = if number == 47 { "app: trainer-47, " } else { "" };
        let metadata = format!(
            "labels: {{{last}job: trainer}}, annotations: {{quotient.dev/gang: trainer, quotient.dev/gang-min-available: '32'}}, {ending}{}",
            owner("Job", "trainer", "batch/v1")
        );
        // The higher the number, the later it started.
        let started = format!("2026-11-24T13:{:02}:00Z", 10 + number);
        text.push_str(&pod("ml-train", &format!("trainer-{number}"), &metadata, node(), &started));
    }
    for (namespace, name, count) in
        [("ml-dev", "notebook", if trainers == 47 { 9 } else { 12 }), ("web", "api", 8)]
    {
        for number in 1..=count {
            let metadata = owner("ReplicaSet", name, "apps/v1");
            let name = format!("{name}-{number}");
            text.push_str(&pod(namespace, &name, &metadata, node(), "2026-11-24T10:00:00Z"));
        }
    }
    text
}

/// The Deployments and the Job behind the pods, and the budget of one of them.
const WORKLOADS: &str = "
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: trainer-pdb, namespace: ml-train, uid: b-1}
spec: {minAvailable: 1, selector: {matchLabels: {app: trainer-47}}}
status: {disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: notebook, namespace: ml-dev, uid: o-notebook, generation: 1, creationTimestamp: \"2026-11-24T10:00:00Z\"}
spec:
  replicas: 12
  selector: {matchLabels: {app: notebook}}
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: 0, memory: 0, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: api, namespace: web, uid: o-api, generation: 1, creationTimestamp: \"2026-11-24T10:00:00Z\"}
spec:
  replicas: 8
  selector: {matchLabels: {app: api}}
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: 0, memory: 0, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
";

/// The cluster at a time, with these pods.
fn ml(pods: &str, time: &str) -> Snapshot {
    // The pods of the other tests are other ones.
    let objects = ML.split("\n---\n").filter(|document| !document.contains("kind: Pod\n"));
    let objects: Vec<&str> = objects.collect();
    let base = objects
        .join("\n---\n")
        .replace("j-trainer", "o-trainer")
        .replace("uid: p-46", "uid: p-trainer-46")
        .replace("14:01:58", "14:01:40");
    observed_yaml(&format!("{base}{WORKLOADS}{pods}"), time)
}

#[test]
fn status_shows_who_is_over_and_what_is_missing() {
    let snapshot = ml(&pods(47, 44..=46), NOW);
    check(
        &status::printed(&snapshot, "-r gpu").unwrap(),
        &expect![[r#"
            Quotient 0.2.0 · mode Full · leader quotient-7c9f_1 (2 of 2 replicas ready) · lease renewed 2 s ago
            64 gpu, 64 used · unmanaged namespaces use 0 · 1 of 3 queues is starved

            QUEUE       WEIGHT  GUARANTEED  DESERVED  ALLOCATED  USED  STATE
            ml               4           -        56         53    56
              ml-dev         1           8        12          9     9  ████░                 3 below for 22 s, reclaiming
              ml-train       3          16        44         44    47  ███████████████████▓  3 over, returning
            web              1           8         8          8     8  ███

            ! ml-dev    needs 3 gpu; 3 pods of ml-train are terminating (22 s of 30 s grace)   explain queue/ml-dev
            ! ml-train  Deployment notebooks: 2 pods rejected by the quota                     explain deploy/notebooks -n ml-train
        "#]],
    );
}

/// The decision that evicted the pods, as the operator keeps it.
fn record() -> Replay {
    let cluster = Cluster::of(&ml(&pods(47, 0..=0), THEN), None).unwrap();
    let (settled, plan) = settle(&cluster.snapshot);
    let decisions = Decisions::kept();
    let number = decisions.begin(&settled, &plan).unwrap();
    decisions.keep(number, &settled, &plan);
    Replay::of(&decisions.file(Some(number)).unwrap(), &[]).unwrap()
}

#[test]
fn an_eviction_is_explained_with_its_record() {
    let replay = record();
    let cluster = Cluster::of(&ml(&pods(47, 44..=46), NOW), None).unwrap();
    let question = Question { replay: Some(&replay), ..Question::default() };
    let target = Target::parse("pod/trainer-46").unwrap();
    let explanation = explain(&cluster, &target, Some("ml-train"), &question).unwrap();
    check(
        &explanation.text(Screen::plain()),
        &expect![[r#"
            Evicted 22 s ago by Quotient to return 1 gpu to queue ml-dev (not node pressure, not the scheduler).

            Why           ml-train used 47 gpu and deserved 44: 3 over. ml-dev used 9 gpu and deserved 12: 3 below.
            Why this pod  rank 2 of 47 candidates, 3 evicted: lowest priority (0), started 5 min ago, surplus of gang trainer (47
                          running, minimum 32), no protecting annotation
                          kept by a rule: trainer-47 (PodDisruptionBudget trainer-pdb allows 0)
            Decision      1: computed again, it is the same plan, byte for byte
            Comes back    when ml-train uses less than 44 gpu, or its deserved share rises. Job trainer creates it again by itself;
                          the eviction does not count against backoffLimit (podFailurePolicy is set).
            You can       protect it: annotate quotient.dev/preemptible=last · ask your administrator for a guarantee (16 gpu now)
            Record        event on Pod and Job (1 h) · status.recentReclaims of Queue ml-train (the last 20)

            It ends within 8 s.
        "#]],
    );
}

#[test]
fn diff_shows_who_gives_for_a_team_that_joins() {
    let manifest = "
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: team-x, namespace: team-x}
spec: {weight: 1, request: {nvidia.com/gpu: 8}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: tune, namespace: team-x}
spec:
  parallelism: 8
  completions: 8
  template: {spec: {restartPolicy: Never, containers: [{name: main, resources: {requests: {cpu: 0, memory: 0, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
";
    let directory = directory(&[("team-x.yaml", manifest)]);
    let args: DiffArgs = args(&format!("-f {}", directory.path().display()));
    let base = ml(&pods(44, 0..=0), "2026-11-24T14:02:11Z");
    let printed = diff::text(&Diff::of(&base, &args, None).unwrap(), args.output, Screen::plain()).unwrap();
    check(
        &printed,
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:02:11Z, read only, plus: create Queue team-x (weight 1, request nvidia.com/gpu 8);
            create Job team-x/tune
            QUEUE     DESERVED       USED           EVICTED
            ml-dev    12gpu          12gpu          -
            ml-train  44gpu → 38gpu  44gpu → 38gpu  6 pods of Job trainer (guarantee 16 gpu and gang minimum 32 kept)
            team-x    0 → 6gpu       - → 6gpu       6 pods start, within ~35 s (longest grace 30 s)
            web       8gpu           8gpu           -
            ! Job trainer in ml-train: 9 pods of 1gpu cannot start: ShareInUse (other pods of the queue use all of the share)
            ! Job tune in team-x: 2 pods of 1gpu cannot start: ShareInUse (other pods of the queue use all of the share)
            6 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 4 steps
        "#]],
    );
}

#[test]
fn a_workload_that_waits_is_shown_when_it_starts() {
    let cluster = Cluster::of(&observed("web.yaml", "2026-11-24T14:00:18Z"), None).unwrap();
    let event = json!({
        "regarding": {"kind": "ReplicaSet", "name": "api-5d9c"},
        "note": "Error creating: pods \"api-\" is forbidden: exceeded quota: quotient, requested: requests.cpu=1",
        "deprecatedLastTimestamp": "2026-11-24T14:00:06Z",
    });
    let question = Question { events: &[event], ..Question::default() };
    let explanation =
        explain(&cluster, &Target::parse("deploy/api").unwrap(), Some("web"), &question).unwrap();
    check(
        &explanation.text(Screen::plain()),
        &expect![[r#"
            Deployment api has 8 of 10 pods. 2 are rejected by quota "quotient", last 12 s ago.
             √ Queue web is Ready, its quota is enforced        √ all containers set requests, or have defaults
             √ one pod (1 cpu) is smaller than the share (10 cpu) and fits a node (node-7: 6 cpu free)
             × the queue uses 8 of its 8 cpu quota
             › deserves 10 cpu: 2 cpu are being reclaimed from batch (2 pods terminating, 18 s of 30 s)
            Expected to start within 15 s. Nothing to do.
        "#]],
    );
}

#[test]
fn init_proposes_what_use_and_quotas_suggest() {
    const INPUT: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1000, memory: 4000Gi}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: team-a, namespace: team-a}, spec: {hard: {requests.cpu: 60}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: team-a}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 41, memory: 160Gi}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: batch}, spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 90, memory: 300Gi}}}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: batch}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: b, namespace: batch}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main}]}}}}
";
    let cluster = super::read(&[("a.yaml", INPUT)]).unwrap();
    let proposed = proposals(&cluster, Basis::Usage);
    let mut printed = propose::table(&proposed, Style::Plain);
    printed.push(propose::ending(proposed.len(), "quotient-queues/"));
    check(
        &joined(printed),
        &expect![[r#"
        NAMESPACE  USED NOW      WEIGHT  GUARANTEED  DEFAULT REQUESTS  NOTE
        batch      90 cpu 300Gi  9       -           100m, 128Mi       2 workloads without requests
        team-a     41 cpu 160Gi  4       20 cpu      -                 its ResourceQuota team-a (60 cpu) stays and acts as a limit
        2 Queues written with mode: Observe. Nothing applied. Next: kubectl quotient diff -f quotient-queues/
    "#]],
    );
}
