//! `check`: a sound cluster has no findings, and every check has a cluster in which it fails.

use std::collections::BTreeSet;
use std::time::Duration;

use expect_test::expect;
use quotient_operator::rights::Feature;
use serde_json::Value;

use super::{directory, observed_at};
use crate::commands::check::{CHECKS, Facts, Report, Rights, check};
use crate::manifests::Cluster;
use crate::output::Screen;

const HEALTHY: &str = include_str!("clusters/healthy.yaml");

/// The page that explains every check.
const PAGE: &str = include_str!("../../../docs/reference/checks.md");

fn facts() -> Facts {
    let crds = quotient_crds::manifests().unwrap();
    let crds = crds.iter().map(|manifest| serde_yaml_ng::from_str::<Value>(&manifest.text).unwrap());
    Facts {
        version: Some((1, 36)),
        full_version: "1.36.3".to_owned(),
        crds: Some(crds.collect()),
        policies: Some(["quotient-operator", "quotient-quotas"].map(str::to_owned).to_vec()),
        rights: Some(Rights { needed: 41, missing: Vec::new(), optional: Vec::new() }),
        monitors: Some(1),
        quota_latency: Some(Duration::from_millis(14)),
        metrics: None,
    }
}

/// What is found in the healthy cluster after these replacements, with more documents.
fn report(replaced: &[(&str, &str)], more: &str, facts: &Facts) -> Report {
    let mut text = HEALTHY.replace("VERSION", env!("CARGO_PKG_VERSION"));
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let directory = directory(&[("a.yaml", &format!("{text}---\n{more}"))]);
    let snapshot = observed_at(&directory.path().join("a.yaml"), "2026-11-24T14:00:00Z");
    check(&Cluster::of(&snapshot, None).unwrap(), Some(facts), None, false)
}

fn ids(report: &Report) -> BTreeSet<&'static str> {
    report.results.iter().filter(|one| one.found.is_some()).map(|one| one.id).collect()
}

#[test]
fn a_sound_cluster_has_no_findings_and_every_check_looks() {
    let report = report(&[], "", &Facts { metrics: Some(Ok(312)), ..facts() });
    assert_eq!(ids(&report), BTreeSet::new(), "{}", report.text(false, Screen::plain()));
    expect![[r#"
        cluster      √ Kubernetes 1.36.3 (supported 1.34 to 1.36)  √ kinds match 0.1.0     √ admission policies
                     √ crd-missing                                 √ no-capacity           √ nodes-not-ready
                     √ kueue
        operator     √ 2 of 2 replicas                             √ leader found          √ 41 permissions
                     √ 312 series of metrics                       √ operator-missing      √ operator-one-replica
                     √ operator-flags                              √ operator-version      √ operator-mode
                     √ operator-optional-rights                    √ operator-priority     √ operator-not-scraped
        queues       √ queue-stalled                               √ queue-not-ready       √ queue-starved
                     √ guarantee-unmeetable                        √ queue-without-status  √ queue-status-outdated
                     √ queue-deleting                              √ queue-paused          √ standing-claim
                     √ parent-without-children                     √ several-queues        √ queue-in-protected-namespace
                     √ never-evicted-above-share                   √ gates-unsupported
        namespaces   √ quota controller answers in 14 ms           √ missing-requests      √ unmanaged
                     √ foreign-quota                               √ quota-of-others       √ orphaned-quota
                     √ quota-not-enforced                          √ limit-range-conflict
        autoscaling  √ autoscaler                                  √ ceiling-below-nodes
        workloads    √ pods-rejected                               √ pod-above-share       √ no-node-fits
                     √ set-aside                                   √ no-surge-room         √ job-retries
                     √ budget-zero                                 √ bare-pods             √ long-grace
                     √ stuck-terminating                           √ kubevirt              √ device-claims
        55 ok, 0 warnings, 0 errors
    "#]].assert_eq(&report.text(true, Screen::plain()));
}

const CONDITIONS: &str = "conditions: [{type: Ready, status: \"True\", reason: Reconciled, message: \"\", lastTransitionTime: \"2026-11-01T00:00:00Z\"}]";

fn condition(kind: &str, status: &str, reason: &str) -> String {
    format!(
        "conditions: [{{type: {kind}, status: \"{status}\", reason: {reason}, message: told, lastTransitionTime: \"2026-11-01T00:00:00Z\"}}]"
    )
}

/// Replacements in, and documents added to, the healthy cluster.
type Case = (&'static str, Vec<(&'static str, String)>, String);

fn case(id: &'static str, replaced: &[(&'static str, &str)], more: &str) -> Case {
    (id, replaced.iter().map(|(from, to)| (*from, (*to).to_owned())).collect(), more.to_owned())
}

/// What shows that a pod runs a virtual machine.
const MACHINE: &str = ", labels: {kubevirt.io: virt-launcher}, ownerReferences: [{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, name: vm, uid: vm, controller: true}]";

fn pod(metadata: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: x, namespace: a, uid: p-x{metadata}}}, \
         spec: {{nodeName: n1{spec}, containers: [{{name: main, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}}, status: {{phase: Running}}}}"
    )
}

fn unmet(reason: &str) -> String {
    format!("unmet: [{{kind: Job, name: train, pods: 1, reason: {reason}, message: told}}]")
}

fn cases() -> Vec<Case> {
    [of_cluster_and_operator(), of_queues(), of_namespaces(), of_workloads()].concat()
}

fn of_cluster_and_operator() -> Vec<Case> {
    vec![
        case(
            "no-capacity",
            &[
                (
                    "type: Ready, status: \"True\", lastTransitionTime: \"2026-11-01T00:00:00Z\"}]\n---",
                    "type: Ready, status: \"False\", lastTransitionTime: \"2026-11-01T00:00:00Z\"}]\n---",
                ),
                ("nodeName: n1, ", ""),
            ],
            "",
        ),
        case(
            "nodes-not-ready",
            &[(
                "{type: Ready, status: \"True\", lastTransitionTime",
                "{type: Ready, status: \"Unknown\", lastTransitionTime",
            )],
            "",
        ),
        case(
            "autoscaler",
            &[("{name: n1, uid", "{name: n1, labels: {karpenter.sh/nodepool: default}, uid")],
            "",
        ),
        case("ceiling-below-nodes", &[("--mode=Full", "--mode=Full, --capacity=cpu=4")], ""),
        case(
            "kueue",
            &[(
                "{name: web, namespace: a",
                "{name: web, labels: {kueue.x-k8s.io/queue-name: x}, namespace: a",
            )],
            "",
        ),
        case(
            "operator-missing",
            &[
                ("app.kubernetes.io/part-of: quotient", "x: y"),
                ("app.kubernetes.io/name: quotient, x: y", "x: y"),
            ],
            "",
        ),
        case("operator-not-ready", &[("readyReplicas: 2", "readyReplicas: 1")], ""),
        case("operator-one-replica", &[("replicas: 2\n", "replicas: 1\n")], ""),
        case("operator-no-leader", &[("T13:59:58", "T13:50:00")], ""),
        case("operator-flags", &[("--mode=Full", "--mode=Fast")], ""),
        case("operator-version", &[("app.kubernetes.io/version: ", "app.kubernetes.io/version: 9.")], ""),
        case("operator-mode", &[("--mode=Full", "--mode=Observe")], ""),
        case(
            "operator-priority",
            &[("priorityClassName: system-cluster-critical", "priorityClassName: \"\"")],
            "",
        ),
    ]
}

fn of_queues() -> Vec<Case> {
    let other = |namespace: &str, spec: &str| {
        let metadata = format!("{{name: b, namespace: {namespace}, uid: q-b}}");
        format!("{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {metadata}, spec: {spec}}}")
    };
    vec![
        case("queue-stalled", &[(CONDITIONS, &condition("Stalled", "True", "ParentNotFound"))], ""),
        case("queue-not-ready", &[(CONDITIONS, &condition("Ready", "False", "WriteRefused"))], ""),
        case(
            "queue-starved",
            &[(
                CONDITIONS,
                &format!(
                    "shortSince: \"2026-11-24T13:55:00Z\"\n  {}",
                    condition("Starved", "True", "Blocked")
                ),
            )],
            "",
        ),
        case(
            "guarantee-unmeetable",
            &[(CONDITIONS, &condition("GuaranteeUnmeetable", "True", "GuaranteesExceedCapacity"))],
            "",
        ),
        case("queue-without-status", &[], &other("b", "{}")),
        case(
            "queue-status-outdated",
            &[(
                "generation: 1, creationTimestamp: \"2026-11-01T00:00:00Z\"}\nspec: {weight: 1}",
                "generation: 2, creationTimestamp: \"2026-11-01T00:00:00Z\"}\nspec: {weight: 1}",
            )],
            "",
        ),
        case(
            "queue-deleting",
            &[("uid: q-a, generation", "uid: q-a, deletionTimestamp: \"2026-11-24T13:00:00Z\", generation")],
            "",
        ),
        case("queue-paused", &[("{weight: 1}", "{weight: 1, pausedUntil: \"2026-12-01T00:00:00Z\"}")], ""),
        case("standing-claim", &[], &other("b", "{request: {cpu: 1}}")),
        case("parent-without-children", &[], &other("b", "{children: {}}")),
        case("several-queues", &[], &other("a", "{}")),
        case("queue-in-protected-namespace", &[], &other("kube-system", "{}")),
        case(
            "never-evicted-above-share",
            &[
                ("{weight: 1}", "{weight: 1, eviction: {policy: Never}}"),
                ("used: {cpu: \"1\"}", "used: {cpu: \"9\"}"),
            ],
            "",
        ),
        case("gates-unsupported", &[("{weight: 1}", "{weight: 1, admission: Gate}")], ""),
    ]
}

fn of_namespaces() -> Vec<Case> {
    let web_requests =
        "spec: {containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n---";
    vec![
        case(
            "missing-requests",
            &[
                (web_requests, "spec: {containers: [{name: main}]}\n---"),
                ("{weight: 1}", "{weight: 1, defaultRequests: {}}"),
            ],
            "",
        ),
        case("unmanaged", &[], &pod("", "").replace("namespace: a", "namespace: c")),
        case(
            "foreign-quota",
            &[],
            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: own, namespace: a}, spec: {hard: {requests.cpu: 4}}, status: {hard: {requests.cpu: 4}}}",
        ),
        case(
            "quota-of-others",
            &[("{app.kubernetes.io/managed-by: quotient}", "{app.kubernetes.io/managed-by: x}")],
            "",
        ),
        case(
            "orphaned-quota",
            &[(
                "ownerReferences: [{apiVersion: quotient.dev/v1alpha1, kind: Queue, name: a, uid: q-a}]",
                "annotations: {}",
            )],
            "",
        ),
        case(
            "quota-not-enforced",
            &[("status: {hard: {requests.cpu: \"8\"}}", "status: {hard: {requests.cpu: \"7\"}}")],
            "",
        ),
        case(
            "limit-range-conflict",
            &[],
            "{apiVersion: v1, kind: LimitRange, metadata: {name: own, namespace: a}, spec: {limits: [{type: Container, min: {cpu: 200m}}]}}",
        ),
    ]
}

fn of_workloads() -> Vec<Case> {
    vec![
        case("pods-rejected", &[("unmet: []", &unmet("PodsRejected"))], ""),
        case("pod-above-share", &[("unmet: []", &unmet("UnitAboveShare"))], ""),
        case("no-node-fits", &[("unmet: []", &unmet("NoNodeFits"))], ""),
        case(
            "set-aside",
            &[(
                "unmet: []",
                "setAside: [{kind: Job, name: train, uid: x, revision: 1, since: \"2026-11-24T13:59:00Z\", times: 2, nodes: 1, lackedRoom: false}]",
            )],
            "",
        ),
        case("no-surge-room", &[("  replicas: 4\n", "  replicas: 3\n")], ""),
        case(
            "job-retries",
            &[],
            "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: a, uid: j-1}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}}",
        ),
        case(
            "budget-zero",
            &[],
            "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: a}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1}}",
        ),
        case("bare-pods", &[], &pod("", "")),
        case(
            "long-grace",
            &[("terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 3600")],
            "",
        ),
        case("stuck-terminating", &[], &pod(", deletionTimestamp: \"2026-11-24T13:00:00Z\"", "")),
        case("kubevirt", &[], &pod(MACHINE, "")),
        case("device-claims", &[], &pod("", ", resourceClaims: [{name: gpu, resourceClaimName: x}]")),
    ]
}

/// What only the API server knows.
fn cases_of_facts() -> Vec<(&'static str, Facts)> {
    let mut outdated = facts();
    if let Some(crd) = outdated.crds.as_mut().and_then(|crds| crds.first_mut()) {
        let pointer = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
        crd.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap().remove("pausedUntil").unwrap();
    }
    vec![
        ("kubernetes-version", Facts { version: Some((1, 29)), ..facts() }),
        ("crd-missing", Facts { crds: Some(Vec::new()), ..facts() }),
        ("crd-outdated", outdated),
        ("admission-policies", Facts { policies: Some(Vec::new()), ..facts() }),
        ("operator-not-scraped", Facts { monitors: Some(0), ..facts() }),
        ("quota-latency", Facts { quota_latency: Some(Duration::from_millis(1001)), ..facts() }),
        (
            "operator-rights",
            Facts {
                rights: Some(Rights {
                    needed: 1,
                    missing: vec!["list pods".to_owned()],
                    ..Rights::default()
                }),
                ..facts()
            },
        ),
        (
            "operator-optional-rights",
            Facts {
                rights: Some(Rights {
                    needed: 1,
                    optional: vec![Feature::CreateJobs.is_off()],
                    ..Rights::default()
                }),
                ..facts()
            },
        ),
        ("operator-metrics", Facts { metrics: Some(Err("403 Forbidden".to_owned())), ..facts() }),
    ]
}

#[test]
fn every_check_fails_where_it_should() {
    let mut failed = BTreeSet::new();
    for (id, replaced, more) in cases() {
        let replaced: Vec<(&str, &str)> = replaced.iter().map(|(from, to)| (*from, to.as_str())).collect();
        let report = report(&replaced, &more, &facts());
        assert!(ids(&report).contains(id), "{id} finds nothing:\n{}", report.text(true, Screen::plain()));
        failed.insert(id);
    }
    for (id, facts) in cases_of_facts() {
        assert!(ids(&report(&[], "", &facts)).contains(id), "{id} finds nothing");
        failed.insert(id);
    }
    let all: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
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
        report(&[], "", &facts).text(false, Screen::plain())
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

#[test]
fn a_rollout_that_takes_an_older_pod_first_or_waits_is_no_finding() {
    let one_less = "  replicas: 3\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 10%}}\n";
    for spec in [one_less, "  replicas: 3\n  paused: true\n"] {
        assert!(
            !ids(&report(&[("  replicas: 4\n", spec)], "", &facts())).contains("no-surge-room"),
            "{spec}"
        );
    }
}

#[test]
fn a_quota_with_scopes_is_no_finding() {
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: own, namespace: a}, spec: {hard: {requests.cpu: 4}, scopes: [BestEffort]}}";
    assert_eq!(ids(&report(&[], quota, &facts())), BTreeSet::new());
}

#[test]
fn findings_are_told_with_fix_and_page() {
    let replaced = [("readyReplicas: 2", "readyReplicas: 1"), ("  replicas: 4\n", "  replicas: 3\n")];
    let report = report(&replaced, &pod("", ""), &facts());
    expect![[r#"
        cluster      √ Kubernetes 1.36.3 (supported 1.34 to 1.36)  √ kinds match 0.1.0  √ admission policies
                     √ 4 more checks
        operator     √ leader found                                √ 41 permissions     √ 8 more checks
                     × 1 of 2 replicas are ready
                       fix: look at its pods: kubectl -n quotient-system describe pods
                       (docs/reference/checks.md#operator-not-ready)
        queues       √ 14 checks
        namespaces   √ quota controller answers in 14 ms           √ 7 more checks
        autoscaling  √ 2 checks
        workloads    √ 10 checks
                     ‼ Deployment a/web cannot roll out at its full share: maxUnavailable is 0 pods
                       fix: set maxUnavailable to at least 1                              docs/reference/checks.md#no-surge-room
                     · Pod a/x has no controller
                       fix: use a Job or a Deployment: nothing creates an evicted bare pod again
                       (docs/reference/checks.md#bare-pods)
        51 ok, 1 warning, 1 error, 1 remark
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
