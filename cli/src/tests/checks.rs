//! `check`: a sound cluster has no findings, and every check has a cluster in which it fails.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use expect_test::expect;
use json_patch::merge;
use quotient_operator::rights::Feature;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{directory, observed_yaml};
use crate::commands::check::{CHECKS, Facts, Report, Rights, check};
use crate::manifests::Cluster;
use crate::output::Screen;

const HEALTHY: &str = include_str!("clusters/healthy.yaml");
const FINDINGS: &str = include_str!("clusters/findings.yaml");

/// The page that explains every check.
const PAGE: &str = include_str!("../../../docs/reference/checks.md");

/// The changes with which one check finds something.
fn finding(id: &str) -> Vec<Value> {
    let mut all: BTreeMap<String, Vec<Value>> = serde_yaml_ng::from_str(FINDINGS).unwrap();
    all.remove(id).unwrap()
}

fn facts() -> Facts {
    let crds = quotient_crds::manifests().unwrap();
    let crds = crds.iter().map(|manifest| serde_yaml_ng::from_str::<Value>(&manifest.text).unwrap());
    Facts {
        version: Some((1, 36)),
        full_version: "1.36.3".to_owned(),
        crds: Some(crds.collect()),
        policies: Some(["quotient-operator", "quotient-quotas"].map(str::to_owned).to_vec()),
        rights: Some(Ok(Rights { needed: 41, ..Rights::default() })),
        monitors: Some(1),
        quota_latency: Some(Duration::from_millis(14)),
        metrics: None,
    }
}

/// The healthy cluster after these objects are merged into it, or added.
pub(super) fn cluster(changes: &[Value]) -> Cluster {
    let text = HEALTHY.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    let mut objects: Vec<Value> = documents.map(|document| Value::deserialize(document).unwrap()).collect();
    for change in changes {
        let key = |object: &Value| [&object["kind"], &object["metadata"]["name"]].map(Value::clone);
        match objects.iter_mut().find(|object| key(object) == key(change)) {
            Some(object) => merge(object, change),
            None => objects.push(change.clone()),
        }
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    Cluster::of(&observed_yaml(&list.to_string(), "2026-11-24T14:00:00Z"), None).unwrap()
}

/// What is found in the healthy cluster after these changes.
fn report(changes: &[Value], facts: &Facts) -> Report {
    check(&cluster(changes), Some(facts), None, false)
}

fn ids(report: &Report) -> BTreeSet<&'static str> {
    report.results.iter().filter(|one| one.found.is_some()).map(|one| one.id).collect()
}

#[test]
fn a_sound_cluster_has_no_findings_and_every_check_looks() {
    let report = report(&[], &Facts { metrics: Some(Ok(312)), ..facts() });
    assert_eq!(ids(&report), BTreeSet::new(), "{}", report.text(false, Screen::plain()));
    expect![[r#"
        cluster      √ Kubernetes 1.36.3 (supported 1.34 to 1.36)  √ kinds match 0.1.0     √ admission policies
                     √ crd-missing                                 √ no-capacity           √ kueue
        operator     √ 2 of 2 replicas                             √ leader found          √ 41 permissions
                     √ 312 series of metrics                       √ operator-missing      √ operator-one-replica
                     √ operator-flags                              √ operator-version      √ operator-mode
                     √ operator-optional-rights                    √ operator-priority     √ operator-not-scraped
        queues       √ queue-stalled                               √ queue-not-ready       √ queue-starved
                     √ guarantee-unmeetable                        √ queue-without-status  √ queue-paused
                     √ standing-claim                              √ gates-unsupported
        namespaces   √ quota controller answers in 14 ms           √ missing-requests      √ unmanaged
                     √ foreign-quota                               √ quota-of-others       √ orphaned-quota
                     √ quota-not-enforced
        autoscaling  √ autoscaler
        workloads    √ pods-rejected                               √ pod-above-share       √ no-node-fits
                     √ set-aside                                   √ no-surge-room         √ job-retries
                     √ budget-zero                                 √ bare-pods             √ stuck-terminating
                     √ kubevirt                                    √ device-claims
        45 ok, 0 warnings, 0 errors
    "#]].assert_eq(&report.text(true, Screen::plain()));
}

/// What only the API server knows.
fn cases_of_facts() -> Vec<(&'static str, Facts)> {
    let mut outdated = facts();
    if let Some(crd) = outdated.crds.as_mut().and_then(|crds| crds.first_mut()) {
        let pointer = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
        crd.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap().remove("pausedUntil").unwrap();
    }
    let with_rights = |rights| Facts { rights: Some(rights), ..facts() };
    vec![
        ("kubernetes-version", Facts { version: Some((1, 29)), ..facts() }),
        ("crd-missing", Facts { crds: Some(Vec::new()), ..facts() }),
        ("crd-outdated", outdated),
        ("admission-policies", Facts { policies: Some(Vec::new()), ..facts() }),
        ("operator-not-scraped", Facts { monitors: Some(0), ..facts() }),
        ("quota-latency", Facts { quota_latency: Some(Duration::from_millis(1001)), ..facts() }),
        (
            "operator-rights",
            with_rights(Ok(Rights { missing: vec!["list pods".to_owned()], ..Rights::default() })),
        ),
        ("operator-rights", with_rights(Err("the API server does not answer".to_owned()))),
        (
            "operator-optional-rights",
            with_rights(Ok(Rights { optional: vec![Feature::CreateJobs.is_off()], ..Rights::default() })),
        ),
        ("operator-metrics", Facts { metrics: Some(Err("403 Forbidden".to_owned())), ..facts() }),
    ]
}

#[test]
fn every_check_fails_where_it_should() {
    let mut failed = BTreeSet::new();
    let objects: BTreeMap<String, Vec<Value>> = serde_yaml_ng::from_str(FINDINGS).unwrap();
    for (id, changes) in objects {
        let report = report(&changes, &facts());
        assert!(ids(&report).contains(&*id), "{id} finds nothing:\n{}", report.text(true, Screen::plain()));
        failed.insert(id);
    }
    for (id, facts) in cases_of_facts() {
        assert!(ids(&report(&[], &facts)).contains(id), "{id} finds nothing");
        failed.insert(id.to_owned());
    }
    let all: BTreeSet<String> = CHECKS.iter().map(|check| check.id.to_owned()).collect();
    assert_eq!(all.len(), CHECKS.len(), "two checks have one id");
    assert_eq!(failed, all);
}

/// Fields of fields, of the objects of a list and of a map count, too.
#[test]
fn every_field_that_an_installed_kind_lacks_is_named() {
    let without = |object: &str, field: &str| {
        let mut facts = facts();
        let queues = facts.crds.as_mut().and_then(|crds| crds.first_mut()).unwrap();
        let place = format!("/spec/versions/0/schema/openAPIV3Schema/properties/{object}/properties");
        queues.pointer_mut(&place).and_then(Value::as_object_mut).unwrap().remove(field).unwrap();
        report(&[], &facts).text(false, Screen::plain())
    };
    for (object, field, path) in [
        ("spec", "eviction", "spec.eviction"),
        ("spec/properties/eviction", "gangs", "spec.eviction.gangs"),
        ("status/properties/recentReclaims/items", "rank", "status.recentReclaims[].rank"),
        ("status/properties/windows/additionalProperties", "size", "status.windows.*.size"),
    ] {
        let (said, named) = (without(object, field), format!("the kind queues.quotient.dev lacks {path}\n"));
        assert!(said.contains(&named), "{named} is not in\n{said}");
    }
}

#[test]
fn the_page_explains_every_check() {
    let explained: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let ids: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    assert_eq!(explained, ids);
}

/// The operator without the label of its version, as manifests of one's own may have it.
fn operator_of(image: &str) -> Value {
    let args = ["--mode=Full", "--lease-namespace=quotient-system"];
    let container = json!({"name": "operator", "args": args, "image": image});
    json!({
        "kind": "Deployment",
        "metadata": {"name": "quotient", "labels": {"app.kubernetes.io/version": null}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    })
}

#[test]
fn what_only_looks_like_a_finding_is_none() {
    for change in [
        // A rollout that takes an older pod first, or waits.
        json!({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": 3, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}},
        }}),
        json!({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3, "paused": true}}),
        // A Job that has failed already.
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "failed", "namespace": "a", "uid": "j-f"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                {"name": "main", "resources": {"requests": {"cpu": 1, "memory": "1Gi"}}},
            ]}}},
            "status": {"conditions": [{"type": "Failed", "status": "True"}]},
        }),
        // Images that name no version, and this one.
        operator_of("registry:5000/quotient"),
        operator_of("registry:5000/quotient@sha256:0a1b"),
        operator_of(&format!("registry:5000/quotient:v{}@sha256:0a1b", env!("CARGO_PKG_VERSION"))),
        // A quota with scopes.
        json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "own", "namespace": "a"},
            "spec": {"hard": {"requests.cpu": 4}, "scopes": ["BestEffort"]},
        }),
    ] {
        assert_eq!(ids(&report(std::slice::from_ref(&change), &facts())), BTreeSet::new(), "{change}");
    }
}

#[test]
fn findings_are_told_with_fix_and_page() {
    let changes = ["operator-not-ready", "no-surge-room", "bare-pods"].map(finding).concat();
    let report = report(&changes, &facts());
    expect![[r#"
        cluster      √ Kubernetes 1.36.3 (supported 1.34 to 1.36)  √ kinds match 0.1.0  √ admission policies
                     √ 3 more checks
        operator     √ leader found                                √ 41 permissions     √ 8 more checks
                     × 1 of 2 replicas are ready
                       fix: look at its pods: kubectl -n quotient-system describe pods
                       (docs/reference/checks.md#operator-not-ready)
        queues       √ 8 checks
        namespaces   √ quota controller answers in 14 ms           √ 6 more checks
        autoscaling  √ 1 check
        workloads    √ 9 checks
                     ‼ Deployment a/web cannot roll out at its full share: maxUnavailable is 0 pods
                       fix: set maxUnavailable to at least 1                              docs/reference/checks.md#no-surge-room
                     · Pod a/x has no controller
                       fix: use a Job or a Deployment: nothing creates an evicted bare pod again
                       (docs/reference/checks.md#bare-pods)
        41 ok, 1 warning, 1 error, 1 remark
    "#]]
    .assert_eq(&report.text(false, Screen::plain()));
    assert!(
        super::PAGE.contains(&report.text(false, Screen::plain())),
        "docs/reference/cli.md shows something else"
    );
}

#[test]
fn files_are_checked_as_far_as_they_go() {
    let directory = directory(&[("a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}")]);
    let path = directory.path().to_path_buf();
    let cluster = crate::manifests::read(std::slice::from_ref(&path), None).unwrap();
    let report = check(&cluster, None, None, true);
    let text = report.text(false, Screen::plain());
    assert!(text.contains("not looked at") && text.contains("no-capacity"), "{text}");
}
