//! `diff`: a change is played before it is made.

use expect_test::{Expect, expect};

use super::{args, directory, example, observed_at, observed_yaml};
use crate::commands::diff::{Diff, DiffArgs, text};
use crate::exit::CommandError;
use crate::manifests;
use crate::output::Screen;
use crate::snapshot::{Content, Entry, Snapshot};

fn base() -> Snapshot {
    let mut snapshot = manifests::read_snapshot(&[example("newcomer")], None).unwrap();
    // Without the newcomer.
    snapshot.entries.retain(|entry| entry.namespace() != "team-3");
    snapshot.source = "examples/newcomer".to_owned();
    snapshot
}

fn compared(base: &Snapshot, line: &str) -> Result<Diff, CommandError> {
    Diff::of(base, &args(line), None)
}

fn printed(base: &Snapshot, line: &str) -> String {
    text(&compared(base, line).unwrap(), args::<DiffArgs>(line).output, Screen::plain()).unwrap()
}

fn check(base: &Snapshot, line: &str, expected: &Expect) {
    expected.assert_eq(&printed(base, line));
}

/// A directory with one manifest, and the flag that applies it.
fn applied(manifest: &str) -> (tempfile::TempDir, String) {
    let directory = directory(&[("change.yaml", manifest)]);
    let flag = format!("-f {}", directory.path().display());
    (directory, flag)
}

const NEWCOMER: &str = "
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: team-x, namespace: team-x}
spec: {}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: team-x}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
";

#[test]
fn manifests_without_a_namespace_are_in_the_one_that_is_named() {
    let queue =
        "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: team-1}, spec: {weight: 3}}";
    let (_directory, flag) = applied(queue);
    let changes = |namespace| Diff::of(&base(), &args(&flag), namespace).unwrap().changes;
    assert_eq!(changes(Some("team-1")), ["change Queue team-1"]);
    assert_eq!(changes(Some("other")), ["create Queue other/team-1 (weight 3)"]);
    assert_eq!(changes(None), ["create Queue team-1 (weight 3)"]);
}

#[test]
fn a_newcomer_shows_who_gives_and_what_goes() {
    let (_directory, flag) = applied(NEWCOMER);
    let wide = printed(&base(), &format!("{flag} -o wide"));
    expect![[r#"
        examples/newcomer, plus: create Queue team-x (weight 1); create Deployment team-x/api
        QUEUE   DESERVED             USED             EVICTED
        team-1  3c 9Gi → 2.5c 8Gi    3c 2Gi → 2c 1Gi  1 bare pod
        team-2  6c 18Gi → 5.1c 16Gi  5c 3Gi           -
        team-x  0 → 1.2c 3Gi         - → 1c 1Gi       1 pod starts, within ~35 s (longest grace 30 s)
          evict  team-1/pod-3  1c 1Gi  Reclaimed  for team-x
        ! ReplicaSet api in team-x: 2 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
        1 eviction, 0 blocked by budgets, 0 guarantees broken, stable after 3 steps
    "#]]
    .assert_eq(&wide);
    let evicted = "  evict  team-1/pod-3  1c 1Gi  Reclaimed  for team-x\n";
    assert_eq!(printed(&base(), &flag), wide.replace(evicted, ""));
}

#[test]
fn gates_fail_and_pass() {
    let (_directory, flag) = applied(NEWCOMER);
    check(
        &base(),
        &format!("{flag} --fail-on evictions>0,share-drop>90%,guarantee-unmeetable,stalled -o markdown"),
        &expect![[r#"
            ### Quotient: what this change does

            examples/newcomer: create Queue team-x (weight 1); create Deployment team-x/api

            | queue | deserved | used | pods |
            |---|---|---|---|
            | team-1 | 3c 9Gi → 2.5c 8Gi | 3c 2Gi → 2c 1Gi | **evicted:** 1 bare pod |
            | team-2 | 6c 18Gi → 5.1c 16Gi | 5c 3Gi | - |
            | team-x | 0 → 1.2c 3Gi | - → 1c 1Gi | 1 pod starts, within ~35 s (longest grace 30 s) |

            1 eviction, 0 blocked by budgets, 0 guarantees broken, stable after 3 steps

            * ReplicaSet api in team-x: 2 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            | gate | result | |
            |---|---|---|
            | `evictions>0` | **failed** | 1 eviction |
            | `share-drop>90%` | passed | the share of queue team-2 falls by 14.2 % |
            | `guarantee-unmeetable` | passed | 0 guarantees that the cluster cannot meet |
            | `stalled` | passed | 0 Queues without a share |
        "#]],
    );
    check(
        &base(),
        &format!("{flag} --fail-on evictions>0,share-drop>90% -o junit"),
        &expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="kubectl quotient diff" tests="2" failures="1">
              <testcase classname="quotient.diff" name="evictions&gt;0"><failure message="1 eviction"/></testcase>
              <testcase classname="quotient.diff" name="share-drop&gt;90%"/>
              <system-out>1 eviction, 0 blocked by budgets, 0 guarantees broken, stable after 3 steps</system-out>
            </testsuite>
        "#]],
    );
}

/// A Queue that is stalled by the change has no share any more.
#[test]
fn a_stalled_queue_loses_its_whole_share() {
    let line = "--set queue/team-1.parentRef.name=gone --fail-on share-drop>90%,stalled";
    let diff = compared(&base(), line).unwrap();
    let messages: Vec<(bool, &str)> =
        diff.verdicts.iter().map(|verdict| (verdict.is_passed, verdict.message.as_str())).collect();
    let [dropped, (false, stalled)] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(dropped, &(false, "the share of queue team-1 falls by 100.0 %"));
    assert!(stalled.starts_with("1 Queue without a share: team-1 (ParentNotFound: "), "{stalled}");
    // Its pods run on.
    let printed = printed(&base(), line);
    assert!(printed.contains("team-1  3c 9Gi → 0  3c 2Gi → -  -\n"), "{printed}");
}

#[test]
fn a_comment_names_guarantees_that_cannot_be_met() {
    let printed = printed(&base(), "--set queue/team-2.guaranteed.cpu=12 -o markdown");
    let remark = "* Queue team-2: 3c of its guarantee cannot be met, even if no other queue had anything\n";
    assert!(printed.contains(remark), "{printed}");
}

#[test]
fn a_weight_a_guarantee_a_node_and_a_drain() {
    check(
        &base(),
        "--set queue/team-1.weight=3",
        &expect![[r#"
            examples/newcomer, plus: set weight of Queue team-1 to 3
            QUEUE   DESERVED               USED    EVICTED
            team-1  3c 9Gi → 3.8c 11.5Gi   3c 2Gi  -
            team-2  6c 18Gi → 5.1c 15.4Gi  5c 3Gi  -
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 1 step
        "#]],
    );
    check(
        &base(),
        "--set queue/team-2.guaranteed.cpu=12",
        &expect![[r#"
        examples/newcomer, plus: set guaranteed.cpu of Queue team-2 to 12
        QUEUE   DESERVED           USED        EVICTED
        team-1  3c 9Gi → 9Gi       3c 2Gi → 0  2 bare pods
        team-2  6c 18Gi → 9c 18Gi  5c 3Gi      -
        ! Queue team-2: 3c of its guarantee cannot be met, even if no other queue had anything
        2 evictions, 0 blocked by budgets, 1 guarantee broken, stable after 2 steps
    "#]],
    );
    check(
        &base(),
        "--add-node cpu=4,memory=8Gi",
        &expect![[r#"
            examples/newcomer, plus: add Node added-1
            QUEUE   DESERVED               USED    EVICTED
            team-1  3c 9Gi → 4.3c 11.6Gi   3c 2Gi  -
            team-2  6c 18Gi → 8.6c 23.3Gi  5c 3Gi  -
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 1 step
        "#]],
    );
    check(
        &base(),
        "--drain node-1",
        &expect![[r#"
            examples/newcomer, plus: drain Node node-1 (5 pods, of which controllers create 0 again)
            QUEUE   DESERVED     USED        EVICTED
            team-1  3c 9Gi → 0   3c 2Gi → 0  -
            team-2  6c 18Gi → 0  5c 3Gi → 0  -
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 1 step
        "#]],
    );
}

#[test]
fn a_change_of_what_does_not_exist_is_refused() {
    let refused = |line: &str| compared(&base(), line).err().unwrap();
    assert_eq!(refused("--drain nothing").to_string(), "there is no Node nothing in examples/newcomer");
    assert_eq!(refused("--set queue/nothing.weight=2").code(), 2);
}

/// A Deployment with one pod, as an API server returned it, with what kubectl applied last.
const OBSERVED: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n-1, creationTimestamp: "2026-11-01T00:00:00Z"}
status: {allocatable: {cpu: 8, memory: 16Gi}, conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z"}]}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata:
  name: a
  namespace: a
  uid: q-a
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"spec": {"limit": {"cpu": 2}}}'
spec: {weight: 1, limit: {cpu: 2}, mode: Full}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a, uid: d-web, generation: 1}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-5d9c
  namespace: a
  uid: r-web
  generation: 1
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d-web, controller: true}]
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-5d9c-1
  namespace: a
  uid: p-1
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d9c, uid: r-web, controller: true}]
spec: {nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
status: {phase: Running, startTime: "2026-11-01T00:00:00Z"}
"#;

/// The whole rollout is played at once: the old pods are gone, and the ReplicaSet creates them by the new template.
#[test]
fn a_changed_template_is_rolled_out() {
    let base = observed_yaml(OBSERVED, "2026-11-24T14:00:00Z");
    let check_requests = |cpu: &str, expected: &Expect| {
        let (_directory, flag) = applied(&format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: a}}, spec: {{template: {{spec: \
             {{containers: [{{name: main, image: other, resources: {{requests: {{cpu: {cpu}, memory: 1Gi}}}}}}]}}}}}}}}"
        ));
        check(&base, &flag, expected);
    };
    // Another image is no other demand.
    check_requests(
        "1000m",
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:00:00Z, read only, plus: change Deployment a/web
            QUEUE  DESERVED  USED    EVICTED
            a      1c 1Gi    1c 1Gi  -
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 1 step
        "#]],
    );
    check_requests(
        "2",
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:00:00Z, read only, plus: change Deployment a/web
            QUEUE  DESERVED         USED             EVICTED
            a      1c 1Gi → 2c 1Gi  1c 1Gi → 2c 1Gi  1 pod starts
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 2 steps
        "#]],
    );
}

/// A StatefulSet and a DaemonSet replace their pods as well, unless that is left to a person.
#[test]
fn changed_templates_of_other_workloads_are_rolled_out() {
    let end = OBSERVED.find("---\napiVersion: apps/v1").unwrap();
    for (kind, size) in [("StatefulSet", "replicas: 1"), ("DaemonSet", "minReadySeconds: 0")] {
        let web = format!("apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web, namespace: a");
        let template = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}";
        let pod = "{nodeName: n1, containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}";
        let base = format!(
            "{}---
{web}, uid: w-1, generation: 1}}
spec: {{{size}, selector: {{matchLabels: {{app: web}}}}, {template}}}
status: {{desiredNumberScheduled: 1, replicas: 1}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web-0, namespace: a, uid: p-0, ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: web, uid: w-1, controller: true}}]}}
spec: {pod}
status: {{phase: Running, startTime: \"2026-11-01T00:00:00Z\"}}
",
            &OBSERVED[..end]
        );
        let base = observed_yaml(&base, "2026-11-24T14:00:00Z");
        let used = |strategy: &str| {
            let (_directory, flag) =
                applied(&format!("{web}}}\nspec: {{{strategy}{}}}", template.replace("cpu: 1", "cpu: 2")));
            let used = compared(&base, &flag).unwrap().comparison.queues.remove(0).used;
            used.1.unwrap().compact()
        };
        assert_eq!(used(""), "2c 1Gi", "{kind}");
        assert_eq!(used("updateStrategy: {type: OnDelete}, "), "1c 1Gi", "{kind}");
        if kind == "DaemonSet" {
            // A node more is a pod more, and one less is one less.
            let printed = printed(&base, "--add-node cpu=2,memory=4Gi");
            assert!(printed.contains("1c 1Gi → 2c 2Gi  1 pod starts"), "{printed}");
            let drained = compared(&base, "--drain n1 --add-node cpu=2,memory=4Gi").unwrap();
            assert_eq!(drained.comparison.unmet, [""; 0]);
            // Its pods belong to the node.
            assert_eq!(drained.changes[0], "drain Node n1 (1 pod, of which controllers create 0 again)");
        }
    }
}

#[test]
fn objects_of_a_cluster_are_changed_as_kubectl_apply_would() {
    let base = observed_yaml(OBSERVED, "2026-11-24T14:00:00Z");
    let scaled =
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a}, spec: {replicas: 4}}";
    let queue =
        "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a}, spec: {}}";
    // The Deployment is scaled, and the limit keeps two pods from starting.
    let (_directory, flag) = applied(scaled);
    check(
        &base,
        &flag,
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:00:00Z, read only, plus: change Deployment a/web
            QUEUE  DESERVED         USED             EVICTED
            a      1c 1Gi → 2c 4Gi  1c 1Gi → 2c 2Gi  1 pod starts
            ! ReplicaSet web-5d9c in a: 2 pods of 1c 1Gi cannot start: AboveLimit (the limit of the queue or of a parent queue is
              reached)
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 2 steps
        "#]],
    );
    // kubectl applied the limit, and the manifest leaves it out.
    let (_directory, flag) = applied(&format!("{scaled}\n---\n{queue}"));
    check(
        &base,
        &flag,
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:00:00Z, read only, plus: change Deployment a/web; change Queue a
            QUEUE  DESERVED         USED             EVICTED
            a      1c 1Gi → 4c 4Gi  1c 1Gi → 4c 4Gi  3 pods start
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 2 steps
        "#]],
    );
    // What is there already is no change, and its controller has acted on it.
    let (_directory, flag) = applied(OBSERVED);
    check(
        &base,
        &flag,
        &expect![[r#"
            cluster prod-eu as of 2026-11-24T14:00:00Z, read only, plus: no change
            QUEUE  DESERVED  USED    EVICTED
            a      1c 1Gi    1c 1Gi  -
            0 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 1 step
        "#]],
    );
    assert_eq!(compared(&base, "--set queue/a.limit.cpu=lots").err().unwrap().code(), 2);
}

/// Pods of a cluster are read while the next ones come, and are no JSON then.
#[test]
fn pods_that_were_read_are_as_good_as_their_json() {
    let written = observed_at(&example("newcomer"), "2026-11-24T14:02:00Z");
    let mut read = written.clone();
    for entry in &mut read.entries {
        entry.content = Content::read(entry.json().unwrap().clone());
    }
    let pods: Vec<&Entry> = read.entries.iter().filter(|entry| entry.kind() == "Pod").collect();
    assert!(!pods.is_empty() && pods.iter().all(|pod| pod.json().is_none()));
    let (node, namespace, name) = (pods[0].node(), pods[0].namespace(), pods[0].name());
    let change = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{priority: 7}}}}"
    );
    let (_directory, flag) = applied(&change);
    for (line, sentence) in [
        (format!("--drain {node}"), "drain Node".to_owned()),
        (flag, format!("change Pod {namespace}/{name}")),
    ] {
        let [one, other] = [&written, &read].map(|snapshot| printed(snapshot, &line));
        assert_eq!(one, other, "{line}");
        assert!(one.contains(&sentence), "{one}");
    }
}
