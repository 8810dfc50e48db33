//! What is read, and what is said about what is not understood.

use expect_test::{Expect, expect};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use quotient_engine::snapshot::Phase;
use quotient_engine::time::Timestamp;

use super::{directory, example, read};
use crate::manifests;
use crate::objects::Object;

fn check_problems(files: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&read(files).unwrap_err());
}

#[test]
fn kinds_that_no_decision_depends_on_are_skipped_and_counted() {
    let object = |api: &str, kind: &str, name: &str| {
        format!("{{apiVersion: {api}, kind: {kind}, metadata: {{name: {name}}}}}\n---\n")
    };
    let text = [
        object("v1", "Namespace", "a"),
        object("v1", "ConfigMap", "b"),
        object("v1", "ConfigMap", "c"),
        object("scheduling.volcano.sh/v1beta1", "Queue", "d"),
        object("example.org/v1", "AllowList", "e"),
    ];
    let cluster = read(&[("a.yaml", &text.concat())]).unwrap();
    let [warning] = &cluster.warnings[..] else { panic!("{:?}", cluster.warnings) };
    let expected = "4 objects are skipped, of a kind that no decision depends on: AllowList.example.org (1), ConfigMap (2), Queue.scheduling.volcano.sh (1)";
    assert_eq!(warning, expected);
}

#[test]
fn objects_without_a_known_kind_and_version_are_refused() {
    check_problems(
        &[(
            "cluster.yaml",
            "
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: team-a}
---
apiVersion: extensions/v1beta1
kind: Deployment
metadata: {name: web, namespace: team-a}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: theirs}
---
metadata: {name: nothing}
---
kind: Pod
metadata: {name: p}
---
- 1
",
        )],
        &expect![[r#"
            error: DIR/cluster.yaml (document 2): Deployment team-a/web: apiVersion: Deployment is understood in apps/v1, not in extensions/v1beta1
            error: DIR/cluster.yaml (document 4): kind: a manifest says what it describes, such as kind: Pod
            error: DIR/cluster.yaml (document 5): Pod p: apiVersion: a manifest names it, such as apiVersion: v1
            error: DIR/cluster.yaml (document 6): this is no object: a manifest has apiVersion, kind and metadata"#]],
    );
}

/// Queues with a typo, with a wrong type, and with wrong amounts.
const WRONG_QUEUES: &str = "
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: typo, namespace: a}
spec: {wieght: 2, request: {cpu: 1}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: type, namespace: a}
spec: {weight: heavy}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: amount, namespace: a}
spec: {weight: -1, request: {cpu: five, gpu: 1}}
";

/// Other kinds with fields that are not understood.
const WRONG_OTHERS: &str = "
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, resources: {requests: {cpu: 1 core}}}, {name: d, ports: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec: {containers: [{name: c, resources: {requests: {cpu: 1 core}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {memory: -1Gi}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quotient, namespace: a}
spec: {hard: {requests.cpu: lots}}
---
apiVersion: v1
kind: Pod
metadata: {generateName: p-}
---
apiVersion: v1
kind: Pod
metadata: {name: p, creationTimestamp: yesterday}
";

#[test]
fn a_field_that_is_not_understood_is_named() {
    check_problems(
        &[("1-queues.yaml", WRONG_QUEUES), ("2-others.yaml", WRONG_OTHERS)],
        &expect![[r#"
            error: DIR/1-queues.yaml (document 1): Queue a/typo: spec.wieght: a Queue has no such field
            error: DIR/1-queues.yaml (document 2): Queue a/type: spec.weight: invalid type: string "heavy", expected i32
            error: DIR/1-queues.yaml (document 3): Queue a/amount: read spec.request.cpu: read quantity "five": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi; spec.request names "gpu", of which there are no shares: use cpu, memory or an extended resource such as nvidia.com/gpu; spec.weight is -1: write 0 to 1000000
            error: DIR/2-others.yaml (document 1): Pod p: spec.containers[1].ports: invalid type: integer `80`, expected a sequence
            error: DIR/2-others.yaml (document 2): Pod q: read spec.containers[c].resources.requests.cpu: read quantity "1 core": " core" is no suffix; those that exist are n u m k M G T P E, Ki Mi Gi Ti Pi Ei and exponents such as e3
            error: DIR/2-others.yaml (document 3): Node n: read status.allocatable.memory: "-1Gi" is negative; write 0 or more
            error: DIR/2-others.yaml (document 4): ResourceQuota a/quotient: read spec.hard.requests.cpu: read quantity "lots": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi
            error: DIR/2-others.yaml (document 5): Pod: metadata.name: give the object a name
            error: DIR/2-others.yaml (document 6): Pod p: metadata.creationTimestamp: failed to parse four digit integer as year: invalid digit, expected 0-9 but got y"#]],
    );
}

/// Many manifests still have it, and an API server takes it.
#[test]
fn an_autoscaler_of_the_former_version_is_read() {
    const AUTOSCALER: &str = "
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: a}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  targetCPUUtilizationPercentage: 80
";
    let cluster = read(&[("a.yaml", AUTOSCALER)]).unwrap();
    assert!(cluster.warnings.is_empty(), "{:?}", cluster.warnings);
    let autoscaler: &HorizontalPodAutoscaler = cluster.objects.iter().find_map(Object::get).unwrap();
    let target = &autoscaler.spec.scale_target_ref;
    assert_eq!((target.kind.as_str(), target.name.as_str()), ("Deployment", "web"));
}

#[test]
fn files_that_cannot_be_read_are_named() {
    check_problems(
        &[
            ("a.yaml", "kind: [unclosed"),
            ("b.json", "{\"kind\": }"),
            ("c.json", "{\"apiVersion\": \"v1\", \"kind\": \"PodList\"}"),
            ("ignored.txt", "not: [yaml"),
        ],
        &expect![[r#"
            error: DIR/a.yaml: read YAML: did not find expected ',' or ']' at line 2 column 1, while parsing a flow sequence at line 1 column 7
            error: DIR/b.json: read JSON: expected value at line 1 column 10
            error: DIR/c.json: PodList: items: a list has its objects here"#]],
    );
    check_problems(
        &[("ignored.txt", "")],
        &expect!["error: DIR: read directory: there is no *.yaml, *.yml or *.json file in it"],
    );
    check_problems(
        &[("empty.yaml", "# nothing\n---\n")],
        &expect!["error: input: there is no object in it that decisions depend on"],
    );
    let missing = manifests::read(&["missing.yaml".into()], None).unwrap_err().to_string();
    assert!(missing.starts_with("error: missing.yaml: read file: No such file"), "{missing}");
}

#[test]
fn each_object_stands_once() {
    check_problems(
        &[
            ("a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}"),
            (
                "b.yaml",
                "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: []}}",
            ),
        ],
        &expect!["error: DIR/b.yaml: Pod default/p: it stands in DIR/a.yaml already; give each object once"],
    );
}

#[test]
fn fields_of_others_that_are_not_known_are_mentioned_once() {
    let cluster = read(&[(
        "a.yaml",
        "
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, resource: {}}, {name: d, resource: {}}], nodename: n}
",
    )])
    .unwrap();
    expect![[r#"
        Pod: field spec.containers[].resource is not known and ignored
        Pod: field spec.nodename is not known and ignored"#]]
    .assert_eq(&cluster.warnings.join("\n"));
}

#[test]
fn lists_and_several_documents_are_read_in_json_and_yaml() {
    let pod =
        |name: &str| format!("{{\"metadata\": {{\"name\": \"{name}\"}}, \"spec\": {{\"containers\": []}}}}");
    let typed =
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"PodList\", \"items\": [{}, {}]}}", pod("a"), pod("b"));
    let list = "
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {containers: []}}
- apiVersion: v1
  kind: List
  items: [{apiVersion: v1, kind: Pod, metadata: {name: d}, spec: {containers: []}}]
";
    let anchors = "
apiVersion: v1
kind: Pod
metadata: &metadata {name: e, labels: {app: x}}
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: f}
spec: &base {containers: []}
status: {<<: &ready {phase: Running}, reason: x}
";
    let rows = "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"x\"}}\n\
                {\"apiVersion\": \"v1\", \"kind\": \"PodList\", \"items\": null}\n";
    let files =
        [("1.json", &*typed), ("2.yaml", list), ("3.yml", anchors), ("4.json", rows), ("5.yaml", rows)];
    // The namespace stands in two files.
    assert!(
        read(&files).unwrap_err().contains("DIR/5.yaml (document 1): Namespace x: it stands in DIR/4.json")
    );
    let cluster = read(&files[..4]).unwrap();
    let pods = &cluster.snapshot.namespaces[&"default".into()].pods;
    assert_eq!(pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(pods.last().unwrap().phase, Phase::Running);
}

#[test]
fn what_manifests_leave_out_is_completed() {
    let cluster = read(&[(
        "a.yaml",
        "
apiVersion: v1
kind: Pod
metadata: {name: bound, namespace: a}
spec: {nodeName: n, containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: created, namespace: a, uid: u, creationTimestamp: 2026-01-01T00:00:00Z}
spec: {nodeName: n, containers: []}
status: {phase: Pending}
---
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: a}
spec: {containers: []}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quotient, namespace: a}
spec: {hard: {requests.cpu: 3}}
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {conditions: [{type: Ready, status: 'True', lastTransitionTime: 2026-01-01T00:00:10Z}]}
",
    )])
    .unwrap();
    let start = Timestamp::from_seconds(1_767_225_600);
    assert_eq!(cluster.snapshot.now, start.plus_seconds(10));
    let state = &cluster.snapshot.namespaces[&"a".into()];
    let seen: Vec<_> =
        state.pods.iter().map(|pod| (pod.uid.as_str(), pod.phase, pod.created, pod.started)).collect();
    let now = cluster.snapshot.now;
    assert_eq!(
        seen,
        [
            ("a/bound", Phase::Running, now, Some(now)),
            ("u", Phase::Pending, start, None),
            ("a/new", Phase::Pending, now, None),
        ]
    );
    let quota = state.quota.as_ref().unwrap();
    assert_eq!(quota.hard, quota.enforced);
    // A node that became Ready at the very last moment counts all the same.
    assert!(cluster.snapshot.nodes[&"n".into()].counts);
}

#[test]
fn a_running_pod_without_a_start_time_has_started() {
    let pod = |name: &str, created: &str, status: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: a{created}}},
              spec: {{nodeName: n, containers: []}}, status: {{{status}}}}}\n---\n"
        )
    };
    let created = ", creationTimestamp: 2026-01-01T00:00:00Z";
    let text = [
        pod("dumped", created, "phase: Running, startTime: 2026-01-01T00:00:05Z"),
        pod("edited", created, "phase: Running"),
        pod("finished", created, "phase: Succeeded"),
        pod("pulling", created, "phase: Pending"),
        pod("written", "", "phase: Running"),
    ];
    let cluster = read(&[("a.yaml", &text.concat())]).unwrap();
    let created = Timestamp::from_seconds(1_767_225_600);
    assert_eq!(cluster.snapshot.now, created.plus_seconds(5));
    let pods = &cluster.snapshot.namespaces[&"a".into()].pods;
    let seen: Vec<_> = pods.iter().map(|pod| (pod.name.as_str(), pod.started)).collect();
    assert_eq!(
        seen,
        [
            ("dumped", Some(created.plus_seconds(5))),
            ("edited", Some(created)),
            ("finished", None),
            ("pulling", None),
            ("written", Some(cluster.snapshot.now)),
        ]
    );
}

#[test]
fn the_quota_of_our_name_is_what_the_queue_is_allocated() {
    let quota = |namespace: &str, labels: &str| {
        format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: {namespace}}}, spec: {{}}}}\n---\n
             {{apiVersion: v1, kind: ResourceQuota, metadata: {{name: quotient, namespace: {namespace}{labels}}},
              spec: {{hard: {{requests.cpu: 3}}}}}}\n---\n"
        )
    };
    let text = [
        quota("labeled", ", labels: {app.kubernetes.io/managed-by: quotient}"),
        quota("other-label", ", labels: {app: x}"),
        quota("plain", ""),
        quota("somebody-elses", ", labels: {app.kubernetes.io/managed-by: Helm}"),
    ];
    let cluster = read(&[("a.yaml", &text.concat())]).unwrap();
    let ours: Vec<_> = cluster
        .snapshot
        .namespaces
        .iter()
        .map(|(name, state)| (name.as_str(), state.quota.as_ref().is_some_and(|quota| quota.ours)))
        .collect();
    assert_eq!(ours, [("labeled", true), ("other-label", true), ("plain", true), ("somebody-elses", false)]);
}

/// Such as the renewal of a certificate in a dump of all kinds.
#[test]
fn times_of_other_kinds_do_not_count() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n, creationTimestamp: 2026-01-01T00:00:00Z}}";
    let other = "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c}, status: {renewalTime: 2027-01-01T00:00:00Z}}";
    let cluster = read(&[("a.yaml", node), ("b.yaml", other)]).unwrap();
    assert_eq!(cluster.snapshot.now, Timestamp::from_seconds(1_767_225_600));
}

#[test]
fn the_time_may_be_given() {
    let later = Timestamp::from_seconds(2_000_000_000);
    let cluster = manifests::read(&[example("newcomer")], Some(later)).unwrap();
    assert_eq!(cluster.snapshot.now, later);
}

#[test]
fn files_and_directories_are_read_in_the_order_given() {
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: quotient}, spec: {hard: {}}}";
    let directory = directory(&[("quota.yaml", quota)]);
    let paths = [example("two-queues"), directory.path().join("quota.yaml"), directory.path().to_path_buf()];
    assert_eq!(manifests::read(&paths[..2], None).unwrap().snapshot.namespaces.len(), 3);
    // The same file twice is a slip of the user's.
    let twice = manifests::read(&paths, None).unwrap_err().to_string();
    assert!(twice.contains("ResourceQuota quotient: it stands in"), "{twice}");
}
