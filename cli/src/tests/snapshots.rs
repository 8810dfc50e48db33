//! Snapshot files: what is written is read back, and redacted ones decide the same.

use quotient_advance::settle;

use super::{example, observed, observed_yaml};
use crate::manifests::{self, Cluster};
use crate::snapshot::{Snapshot, is_snapshot, read_file, redact, write_file};

fn through_a_file(snapshot: &Snapshot) -> Snapshot {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json.gz");
    write_file(snapshot, &path).unwrap();
    assert!(is_snapshot(&path));
    read_file(&path).unwrap()
}

#[test]
fn what_is_written_decides_the_same() {
    let examples = std::fs::read_dir(example("")).unwrap().map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for path in examples.filter(|path| path.is_dir()) {
        let snapshot = manifests::read_snapshot(std::slice::from_ref(&path), None).unwrap();
        let mut redacted = snapshot.clone();
        redact(&mut redacted);
        let cluster = Cluster::of(&snapshot, None).unwrap();
        assert!(cluster.warnings.is_empty(), "{:?}", cluster.warnings);
        let expected = cluster.snapshot;
        for stored in [through_a_file(&snapshot), through_a_file(&redacted)] {
            let found = Cluster::of(&stored, None).unwrap().snapshot;
            assert_eq!(settle(&found).1, settle(&expected).1, "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// The flags decide, and so do the variables that stand for them.
#[test]
fn a_redacted_file_has_the_settings_of_the_operator() {
    const OPERATOR: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: quotient, namespace: quotient-system, labels: {app.kubernetes.io/part-of: quotient}}
spec:
  selector: {matchLabels: {app: quotient}}
  template:
    spec:
      serviceAccountName: quotient-operator
      volumes: [{name: v}]
      containers:
        - name: operator
          image: quotient:0.2.0
          args: [--mode=Observe, --capacity=cpu=500]
          env: [{name: QUOTIENT_STATUS_INTERVAL_SECONDS, value: '7'}, {name: PASSWORD, value: secret}]
";
    let snapshot = observed_yaml(OPERATOR, "2026-11-24T14:00:00Z");
    let mut redacted = snapshot.clone();
    redact(&mut redacted);
    let facts = |snapshot| Cluster::of(snapshot, None).unwrap().operator.unwrap();
    let (before, after) = (facts(&snapshot), facts(&redacted));
    assert_eq!(format!("{:?}", after.settings), format!("{:?}", before.settings));
    assert_eq!(after.settings.unwrap().mode(), quotient_engine::snapshot::Mode::Observe);
    assert_eq!(after.service_account, "quotient-operator");
    let text = redacted.entries[0].json().unwrap().to_string();
    assert!(!["secret", "0.2.0", "volumes"].iter().any(|gone| text.contains(gone)), "{text}");
}

#[test]
fn time_source_and_missing_lists_are_kept() {
    let mut snapshot = observed("ml.yaml", "2026-11-24T14:02:00Z");
    let missing = crate::snapshot::Missing { resource: "nodes".to_owned(), namespace: None };
    snapshot.missing.push(missing.clone());
    let stored = through_a_file(&snapshot);
    assert_eq!(stored.as_of, snapshot.as_of);
    assert_eq!(stored.source, "cluster prod-eu, snapshot of 2026-11-24T14:02:00Z");
    assert_eq!(stored.missing, [missing]);
    assert!(!Cluster::of(&stored, None).unwrap().is_complete());
}

#[test]
fn another_file_is_no_snapshot() {
    let path = example("newcomer");
    assert!(!is_snapshot(&path));
    let directory = super::directory(&[("a.json", "{\"kind\": \"List\", \"items\": []}")]);
    let error = read_file(&directory.path().join("a.json")).unwrap_err();
    assert!(error.contains("it is no snapshot; write one with: kubectl quotient snapshot"), "{error}");
}

#[test]
fn workloads_that_only_the_operator_s_settings_know_are_demand() {
    const CLUSTER: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: quotient, namespace: quotient-system, labels: {app.kubernetes.io/part-of: quotient}}
spec:
  selector: {matchLabels: {app: quotient}}
  template:
    spec:
      containers:
        - name: operator
          args:
            - '--workload-kinds=[{"group": "example.org", "version": "v1", "kind": "Farm", "plural": "farms", "replicasPath": "spec.size", "templatePath": "spec.template"}]'
---
apiVersion: v1
kind: Node
metadata: {name: n1, creationTimestamp: "2026-11-01T00:00:00Z"}
status: {allocatable: {cpu: 8}, conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z"}]}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a, uid: q-a}, spec: {}}
---
apiVersion: example.org/v1
kind: Farm
metadata: {name: crawl, namespace: a, uid: f-1, generation: 1}
spec: {size: 3, template: {spec: {containers: [{name: main, resources: {requests: {cpu: 1}}}]}}}
"#;
    let cluster = Cluster::of(&observed_yaml(CLUSTER, "2026-11-24T14:00:00Z"), None).unwrap();
    assert!(cluster.warnings.is_empty(), "{:?}", cluster.warnings);
    let plan = settle(&cluster.snapshot).1;
    let demand: Vec<String> = plan.queues.values().map(|queue| queue.demand.to_string()).collect();
    assert_eq!(demand, ["cpu 3, memory 384Mi"]);
}

#[test]
fn an_object_that_cannot_be_read_is_skipped_and_named() {
    const CLUSTER: &str = "
{apiVersion: v1, kind: Pod, metadata: {name: odd, namespace: a}, spec: 7}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: a}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: odd, namespace: a}, spec: {replicas: many}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: a}, spec: {}, status: {unmet: 3}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: b, namespace: b}, spec: {weight: 2, later: true}}
";
    let cluster = Cluster::of(&observed_yaml(CLUSTER, "2026-11-24T14:00:00Z"), None).unwrap();
    let warnings = cluster.warnings.join("\n");
    for name in ["Pod a/odd", "Pod is skipped", "Deployment a/odd", "Queue a/a"] {
        assert!(warnings.contains(name), "not {name}:\n{warnings}");
    }
    // A field of a newer version is no mistake of the cluster.
    assert_eq!(settle(&cluster.snapshot).1.queues.len(), 1);
}
