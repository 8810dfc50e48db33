//! Every call by which a stolen token of the operator changes something: tried, printed and compared with SECURITY.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::authorization::v1::SelfSubjectRulesReview;
use kube::api::PostParams;
use kube::{Api, Client};
use quotient_e2e::quotient::{ALL_RIGHTS, PATIENCE, RELEASE, SYSTEM_NAMESPACE, helm_arguments};
use quotient_e2e::testbed::objects::workload;
use quotient_e2e::testbed::{Options, TestBed, eventually, until_is};
use serde_json::{Value, json};

/// The namespaces in which everything is tried, and how the list names them.
const NAMESPACES: [(&str, &str); 4] =
    [("team-a", "managed"), ("other", "unmanaged"), ("kube-system", "protected"), (SYSTEM_NAMESPACE, "own")];

/// The heading in SECURITY.md below which the list is.
const HEADING: &str = "### Every call that changes something";

/// Where what a policy refuses is tried: in namespaces of teams, and in protected ones.
const TEAMS: [&str; 2] = ["managed", "unmanaged"];
const SYSTEM: [&str; 2] = ["protected", "own"];

/// The group of each resource that is not in the core, with its version.
const GROUPS: [(&str, &str); 5] = [
    ("apps", "v1"),
    ("batch", "v1"),
    ("coordination.k8s.io", "v1"),
    ("events.k8s.io", "v1"),
    ("quotient.dev", "v1alpha1"),
];

/// One attempt.
struct Attempt {
    /// The right that RBAC needs for it: the verb and the resource.
    right: &'static str,
    /// What is special about it; empty for any object.
    what: String,
    /// The object; empty if it is created.
    name: &'static str,
    /// `null` for none.
    body: Value,
    /// Where it is refused, and a part of the reason.
    refused: Option<([&'static str; 2], &'static str)>,
}

impl Attempt {
    fn title(&self) -> String {
        format!("{} {}", self.right, self.what).trim_end().to_owned()
    }

    fn refused(self, places: [&'static str; 2], why: &'static str) -> Self {
        Self { refused: Some((places, why)), ..self }
    }

    /// Method and path of the call.
    fn call(&self, namespace: &str) -> Result<(&'static str, String)> {
        let (verb, resource) = self.right.split_once(' ').context("a right is a verb and a resource")?;
        let methods = [("create", "POST"), ("update", "PUT"), ("patch", "PATCH"), ("delete", "DELETE")];
        let method = methods.into_iter().find_map(|(name, method)| (name == verb).then_some(method));
        let in_group = GROUPS.iter().find_map(|(group, version)| {
            Some((format!("/apis/{group}/{version}"), resource.strip_prefix(group)?.strip_prefix('/')?))
        });
        let (root, resource) = in_group.unwrap_or_else(|| ("/api/v1".to_owned(), resource));
        let (plural, below) = resource.split_once('/').unwrap_or((resource, ""));
        let path = format!("{root}/namespaces/{namespace}/{plural}/{}/{below}", self.name);
        Ok((method.context("no such verb")?, path.trim_end_matches('/').to_owned()))
    }
}

fn attempt(right: &'static str, what: &str, name: &'static str, body: Value) -> Attempt {
    Attempt { right, what: what.to_owned(), name, body, refused: None }
}

/// Attempts to write what the operator keeps itself: quotas, LimitRanges, its ledger, its Lease and events.
fn own_objects() -> Vec<Attempt> {
    let named = |name: &str| json!({"metadata": {"name": name}});
    let versioned = |name: &str| json!({"metadata": {"name": name, "resourceVersion": "VERSION"}});
    let quota = |name: &str| json!({"metadata": {"name": name}, "spec": {"hard": {"pods": "0"}}});
    let range = |name: &str, keeper: &str| json!({"metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": keeper}}, "spec": {"limits": []}});
    let limits = json!([{"type": "Container", "max": {"cpu": "1m"}}]);
    let event = |controller: &str| {
        json!({"metadata": {"generateName": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": controller, "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "pod", "namespace": "NS"}})
    };
    let ranges = "of LimitRanges Quotient writes those";
    vec![
        attempt("create resourcequotas", "quotient", "", quota("quotient"))
            .refused(SYSTEM, "none in protected namespaces"),
        attempt("create resourcequotas", "with another name", "", quota("other"))
            .refused(TEAMS, "writes those named \"quotient\""),
        attempt("patch resourcequotas", "quotient", "quotient", json!({"spec": {"hard": {"pods": "0"}}})),
        attempt("create limitranges", "quotient", "", range("quotient", "quotient")).refused(SYSTEM, ranges),
        attempt("create limitranges", "quotient of another keeper", "", range("quotient", "other"))
            .refused(TEAMS, ranges),
        attempt("create limitranges", "with another name", "", range("other", "quotient"))
            .refused(TEAMS, ranges),
        attempt("patch limitranges", "quotient", "quotient", json!({"spec": {"limits": limits}})),
        attempt("delete limitranges", "quotient", "quotient", Value::Null),
        attempt("create configmaps", "quotient-ledger", "", named("quotient-ledger")),
        attempt("create configmaps", "with another name", "", named("other"))
            .refused(["own"; 2], "of ConfigMaps Quotient writes its ledger"),
        attempt("update configmaps", "quotient-ledger", "quotient-ledger", versioned("quotient-ledger")),
        attempt("create coordination.k8s.io/leases", "quotient-operator", "", named("quotient-operator")),
        attempt("create coordination.k8s.io/leases", "with another name", "", named("other")),
        attempt(
            "update coordination.k8s.io/leases",
            "quotient-operator",
            "quotient-operator",
            versioned("quotient-operator"),
        ),
        attempt(
            "create events.k8s.io/events",
            "by quotient.dev/operator",
            "",
            event("quotient.dev/operator"),
        ),
        attempt("create events.k8s.io/events", "by another controller", "", event("example.org/other")),
    ]
}

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// A patch of one annotation.
fn annotated(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

/// Attempts to stop pods and to change them.
fn pods() -> Vec<Attempt> {
    let evict = "create pods/eviction";
    let eviction = |grace: Option<i64>| {
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "pod", "namespace": "NS"},
            "deleteOptions": {"gracePeriodSeconds": grace, "dryRun": ["All"]}})
    };
    let patch = "patch pods";
    let lowest = annotated(DELETION_COST, "-2147483648");
    let (label, deadline) =
        (json!({"metadata": {"labels": {"a": "b"}}}), json!({"spec": {"activeDeadlineSeconds": 1}}));
    let (nothing, one) = ("changes nothing of a pod but its deletion cost", "sets one annotation of a pod");
    vec![
        attempt(evict, "with the grace of the pod", "pod", eviction(None))
            .refused(SYSTEM, "evicts no pod in protected namespaces"),
        attempt(evict, "with the grace of the Queue", "pod", eviction(Some(30))),
        attempt(evict, "with less grace", "pod", eviction(Some(0))),
        attempt(evict, "with more grace", "pod", eviction(Some(90_000))),
        attempt(patch, "to the lowest deletion cost", "pod", lowest)
            .refused(SYSTEM, "marks no pods in protected"),
        attempt(patch, "to another deletion cost", "pod", annotated(DELETION_COST, "7")).refused(TEAMS, one),
        attempt(patch, "in another annotation", "pod", annotated("example.org/a", "b")).refused(TEAMS, one),
        attempt(patch, "in a label", "pod", label).refused(TEAMS, nothing),
        attempt(patch, "in the spec", "pod", deadline).refused(TEAMS, nothing),
    ]
}

/// A patch of a size, with what is remembered beside it.
fn sized(field: &str, size: u32, before: Option<&str>, lowered_to: Option<&str>) -> Value {
    let remembered =
        json!({"quotient.dev/replicas-before": before, "quotient.dev/replicas-lowered-to": lowered_to});
    json!({"metadata": {"annotations": remembered}, "spec": {field: size}})
}

const SIZE: &str = "lowers the size of a workload only with";

/// Attempts to change workloads of each kind.
fn workloads() -> Vec<Attempt> {
    let kinds = [
        ("patch apps/daemonsets", "web", None),
        ("patch apps/deployments", "web", Some("replicas")),
        ("patch apps/replicasets", "bare", Some("replicas")),
        ("patch apps/statefulsets", "web", Some("replicas")),
        ("patch batch/jobs", "plain", Some("parallelism")),
    ];
    let (one, beside) = ("sets one annotation", "changes nothing in the spec of a workload but its size");
    let mut all = Vec::new();
    for (right, name, size) in kinds {
        let try_to = |what, body| attempt(right, what, name, body);
        let template = json!({"spec": {"template": {"spec": {"priorityClassName": "system-node-critical"}}}});
        let (label, finalizer) = (
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {"finalizers": ["example.org/never"]}}),
        );
        all.extend([
            try_to(
                "in the annotation quotient.dev/requeued-at",
                annotated("quotient.dev/requeued-at", "now"),
            ),
            try_to("in another annotation", annotated("example.org/other", "now")).refused(TEAMS, one),
            try_to("in the template", template),
            try_to("in a label", label).refused(TEAMS, "changes no labels"),
            try_to("in a finalizer", finalizer).refused(TEAMS, "changes no labels, finalizers"),
        ]);
        let Some(size) = size else { continue };
        all.extend([
            try_to("to a lower size, with the size before", sized(size, 0, Some("2"), Some("0"))),
            try_to("to a lower size, with another size before", sized(size, 0, Some("9"), Some("0")))
                .refused(TEAMS, SIZE),
            try_to("to a lower size, with another size after", sized(size, 0, Some("2"), Some("1")))
                .refused(TEAMS, SIZE),
            try_to("to a lower size", json!({"spec": {size: 0}})).refused(TEAMS, SIZE),
            try_to("to a higher size", json!({"spec": {size: 9}})).refused(TEAMS, SIZE),
            try_to("in the size before", annotated("quotient.dev/replicas-before", "9")).refused(TEAMS, one),
        ]);
    }
    let selector = |says: bool| json!({"spec": {"manualSelector": says}});
    let (starts, five) =
        (json!({"spec": {"suspend": false}}), json!({"spec": {"parallelism": 5, "suspend": false}}));
    let ready = json!({"spec": {"minReadySeconds": 9}});
    let job = "patch batch/jobs";
    all.extend([
        attempt("patch apps/replicasets", "in minReadySeconds", "bare", ready).refused(TEAMS, beside),
        attempt(job, "in manualSelector, from absent to false", "plain", selector(false)),
        attempt(job, "in manualSelector, to true", "plain", selector(true))
            .refused(TEAMS, "manualSelector of a Job only between absent and false"),
        attempt(job, "to start", "plain", starts).refused(TEAMS, beside),
        attempt(job, "of a QueueJob to another size", "owned", five)
            .refused(SYSTEM, "no workloads in protected namespaces"),
    ]);
    all
}

/// A pod that does nothing.
fn pod_spec() -> Value {
    json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]})
}

/// An owner that a thief claims for a Job; nothing checks that it exists.
fn owner(kind: &str, version: &str, controller: bool) -> Value {
    json!([{"kind": kind, "apiVersion": version, "name": "it", "uid": "1", "controller": controller}])
}

/// An attempt to start a Job of this owner, with these fields in the spec of its pods.
fn job_of(owners: &Value, what: &str, more: Value) -> Attempt {
    let mut pod = pod_spec();
    if let (Value::Object(pod), Value::Object(more)) = (&mut pod, more) {
        pod.extend(more);
    }
    let spec = json!({"template": {"spec": pod}});
    let body = json!({"metadata": {"generateName": "stolen-", "ownerReferences": owners}, "spec": spec});
    attempt("create batch/jobs", what, "", body)
}

/// The same of a QueueJob.
fn job_of_queue_job(what: &str, more: Value) -> Attempt {
    job_of(&owner("QueueJob", "quotient.dev/v1alpha1", true), what, more)
}

/// Attempts to start Jobs, and to delete Jobs and QueueJobs.
fn jobs() -> Vec<Attempt> {
    let privileged = json!([{"name": "main", "image": "main", "securityContext": {"privileged": true}}]);
    let first = json!([{"name": "first", "image": "main", "securityContext": {"privileged": true}}]);
    let secret = json!([{"name": "s", "secret": {"secretName": "any"}}]);
    let host = json!([{"name": "host", "hostPath": {"path": "/"}}]);
    let system_class = json!({"priorityClassName": "system-node-critical"});
    let of_queue_job = [
        (
            "as another service account",
            json!({"serviceAccountName": "robot"}),
            "run as the service account default",
        ),
        (
            "as another serviceAccount",
            json!({"serviceAccount": "robot"}),
            "run as the service account default",
        ),
        ("with a hostPath", json!({"volumes": host}), "mount no hostPath volumes"),
        ("with hostNetwork", json!({"hostNetwork": true}), "use no host namespaces"),
        ("with hostPID", json!({"hostPID": true}), "use no host namespaces"),
        ("with hostIPC", json!({"hostIPC": true}), "use no host namespaces"),
        ("privileged", json!({"containers": privileged}), "no privileged containers"),
        ("privileged at first", json!({"initContainers": first}), "no privileged containers"),
        ("on a node", json!({"nodeName": "node-1"}), "name no node"),
        ("with a system priority class", system_class, "no system priority class"),
    ]
    .map(|(how, pod, why)| job_of_queue_job(&format!("of a QueueJob, {how}"), pod).refused(TEAMS, why));
    let of_others = "creates and deletes no Jobs but those of QueueJobs";
    let protected = "no Jobs in protected namespaces";
    let no_controller = owner("QueueJob", "quotient.dev/v1alpha1", false);
    let (delete, delete_queue_job) = ("delete batch/jobs", "delete quotient.dev/queuejobs");
    let status = json!({"status": {}});
    let mut all = vec![
        job_of_queue_job("of a QueueJob", json!({})).refused(SYSTEM, protected),
        job_of_queue_job("of a QueueJob, with a Secret as a volume", json!({"volumes": secret})),
        job_of(&json!([]), "of no QueueJob", json!({})).refused(TEAMS, of_others),
        job_of(&owner("CronJob", "batch/v1", true), "of a CronJob", json!({})).refused(TEAMS, of_others),
        job_of(&owner("QueueJob", "example.org/v1", true), "of a QueueJob of another group", json!({}))
            .refused(TEAMS, of_others),
        job_of(&no_controller, "of a QueueJob that does not control it", json!({})).refused(TEAMS, of_others),
        attempt(delete, "of a QueueJob", "owned", Value::Null).refused(SYSTEM, protected),
        attempt(delete, "of no QueueJob", "plain", Value::Null).refused(TEAMS, of_others),
        attempt(delete_queue_job, "that has ended and has a TTL", "ended", Value::Null),
        attempt(delete_queue_job, "that waits or runs", "waiting", Value::Null),
        attempt(delete_queue_job, "that has ended and has no TTL", "kept", Value::Null),
        attempt("patch quotient.dev/queues/status", "", "team-a", status.clone()),
        attempt("patch quotient.dev/queuejobs/status", "", "waiting", status),
        attempt("create pods", "", "", json!({"metadata": {"name": "mine"}, "spec": pod_spec()}))
            .refused(SYSTEM, "is forbidden"),
        attempt("delete pods", "", "pod", Value::Null).refused(SYSTEM, "is forbidden"),
    ];
    all.extend(of_queue_job);
    all
}

/// Reviews, which change nothing: every account may ask about itself, and the operator about the readers of its metrics.
const REVIEWS: [&str; 5] = [
    "create authentication.k8s.io/selfsubjectreviews",
    "create authentication.k8s.io/tokenreviews",
    "create authorization.k8s.io/selfsubjectaccessreviews",
    "create authorization.k8s.io/selfsubjectrulesreviews",
    "create authorization.k8s.io/subjectaccessreviews",
];

/// Objects for the attempts, in one namespace. Quotas leave room for them.
fn objects(namespace: &str) -> String {
    let sized = |kind: &str, name: &str| workload(kind, namespace, name, 2, &json!({}));
    let job = json!({"suspend": true, "parallelism": 2, "completions": 4, "template": {"spec": pod_spec()}});
    let queue_job = |name: &str, ttl: Option<u32>| {
        json!({"apiVersion": "quotient.dev/v1alpha1", "kind": "QueueJob", "metadata": {"name": name},
            "spec": {"ttlSecondsAfterFinished": ttl, "tasks": [{"name": "w", "template": {"spec": {"containers": [{"name": "main", "image": "main"}]}}}]}})
    };
    let items: Vec<Value> = [
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quotient"}, "spec": {"hard": {"pods": "100"}}}),
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "quotient", "labels": {"app.kubernetes.io/managed-by": "quotient"}}, "spec": {"limits": []}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "quotient-ledger"}}),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "quotient-operator"}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": pod_spec()}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "plain"}, "spec": job}),
        sized("Deployment", "web"),
        sized("ReplicaSet", "bare"),
        sized("StatefulSet", "web"),
        sized("DaemonSet", "web"),
        queue_job("waiting", Some(5)),
        queue_job("ended", Some(5)),
        queue_job("kept", None),
    ]
    .into_iter()
    .map(|mut object| {
        object["metadata"]["namespace"] = namespace.into();
        object
    })
    .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The objects that need a uid or a status of another one.
async fn owned_and_ended(bed: &TestBed, namespace: &str) -> Result<()> {
    let place = format!("--namespace={namespace}");
    let uid = bed.kubectl(["get", "queuejob/waiting", &place, "-o=jsonpath={.metadata.uid}"]).await?;
    let job = json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "owned", "namespace": namespace, "ownerReferences": [
            {"kind": "QueueJob", "apiVersion": "quotient.dev/v1alpha1", "name": "waiting", "uid": uid, "controller": true},
        ]},
        "spec": {"suspend": true, "parallelism": 2, "completions": 4, "template": {"spec": pod_spec()}}});
    bed.apply(&job.to_string()).await?;
    let ended = json!({"status": {"conditions": [{"type": "Complete", "status": "True", "reason": "a", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    for name in ["queuejob/ended", "queuejob/kept"] {
        let patch = format!("-p={ended}");
        bed.kubectl(["patch", name, &place, "--subresource=status", "--type=merge", &patch]).await?;
    }
    Ok(())
}

/// The chart with all rights, and every object that is attempted in every namespace.
async fn bed() -> Result<TestBed> {
    let bed = TestBed::start(Options::default()).await?;
    let values = [&["replicaCount=0", "config.mode=Full"], &ALL_RIGHTS[..]].concat();
    bed.helm(helm_arguments(&["install", "--create-namespace"], &values)).await?;
    bed.create_namespace("team-a").await?;
    bed.create_namespace("other").await?;
    let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: team-a, namespace: team-a}, \
                 spec: {weight: 1, eviction: {maxGraceSeconds: 30}}}";
    bed.apply(queue).await?;
    for (namespace, _) in NAMESPACES {
        bed.apply(&objects(namespace)).await?;
        owned_and_ended(&bed, namespace).await?;
    }
    Ok(bed)
}

/// The holder of a token of the operator.
struct Thief {
    client: Client,
    /// Reads versions for the attempts that have to name one.
    administrator: Client,
}

async fn as_operator(bed: &TestBed) -> Result<Thief> {
    let kubeconfig = bed.service_account_kubeconfig(SYSTEM_NAMESPACE, RELEASE).await?;
    Ok(Thief { client: bed.client_for(&kubeconfig).await?, administrator: bed.client() })
}

/// Verbs that write, on resources, by RBAC.
async fn written_by_rbac(client: &Client, namespace: &str) -> Result<BTreeSet<String>> {
    let reviews: Api<SelfSubjectRulesReview> = Api::all(client.clone());
    let review = serde_json::from_value(json!({"metadata": {}, "spec": {"namespace": namespace}}))?;
    let status = reviews.create(&PostParams::default(), &review).await?.status.context("no status")?;
    ensure!(!status.incomplete, "the list of rights is incomplete");
    let mut rights = BTreeSet::new();
    for rule in status.resource_rules {
        let verbs: Vec<&String> =
            rule.verbs.iter().filter(|verb| !["get", "list", "watch"].contains(&verb.as_str())).collect();
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                let group = if group.is_empty() { String::new() } else { format!("{group}/") };
                rights.extend(verbs.iter().map(|verb| format!("{verb} {group}{resource}")));
            }
        }
    }
    Ok(rights)
}

/// Why the API server refuses it, if it does.
async fn refusal(thief: &Thief, attempt: &Attempt, namespace: &str, query: &str) -> Result<Option<String>> {
    let (method, path) = attempt.call(namespace)?;
    let mut body = attempt.body.to_string().replace("\"NS\"", &format!("\"{namespace}\""));
    if attempt.body.is_null() {
        // Beside options in a body, those in the query do not count.
        body.clear();
    }
    if method == "PUT" {
        let read = http::Request::get(&path).body(Vec::new())?;
        let found: Value = thief.administrator.request(read).await?;
        body = body.replace("\"VERSION\"", &found["metadata"]["resourceVersion"].to_string());
    }
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder().method(method).uri(path + query).header("content-type", kind);
    match thief.client.request_text(request.body(body.into_bytes())?).await {
        Ok(_) => Ok(None),
        // Admission has passed: only the name is taken.
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(None),
        Err(kube::Error::Api(status)) => {
            let is_expected =
                [403, 404].contains(&status.code) || status.message.contains("field is immutable");
            ensure!(is_expected, "{}: {} {}", attempt.title(), status.code, status.message);
            Ok(Some(status.message.clone()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the API server would do it. Nothing is done: each is a dry run.
async fn succeeds(thief: &Thief, attempt: &Attempt, namespace: &str) -> Result<bool> {
    Ok(refusal(thief, attempt, namespace, "?dryRun=All").await?.is_none())
}

/// Where each attempt succeeds, by what it is.
async fn successes(thief: &Thief, attempts: &[Attempt]) -> Result<BTreeMap<String, Vec<&'static str>>> {
    let mut found: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for attempt in attempts {
        for (namespace, name) in NAMESPACES {
            if succeeds(thief, attempt, namespace).await? {
                found.entry(attempt.title()).or_default().push(name);
            }
        }
    }
    Ok(found)
}

/// What is refused is refused for the reason that belongs to it.
async fn refusals_name_the_reason(thief: &Thief, attempts: &[Attempt]) -> Result<()> {
    for attempt in attempts {
        let Some((places, why)) = attempt.refused else { continue };
        for (namespace, _) in NAMESPACES.iter().filter(|(_, name)| places.contains(name)) {
            let said = refusal(thief, attempt, namespace, "?dryRun=All").await?.unwrap_or_default();
            ensure!(said.contains(why), "{} in {namespace}: {said:?} instead of {why:?}", attempt.title());
        }
    }
    Ok(())
}

fn page() -> PathBuf {
    quotient_e2e::quotient::workspace_root().join("SECURITY.md")
}

/// The page with `list` in the block below its heading.
fn with_list(page: &str, list: &str) -> Result<String> {
    let (before, after) = page.split_once(HEADING).context("the heading is missing")?;
    let (intro, rest) = after.split_once("```text\n").context("the block is missing")?;
    let (_, rest) = rest.split_once("```").context("the block does not end")?;
    Ok(format!("{before}{HEADING}{intro}```text\n{list}```{rest}"))
}

/// All that the operator's account can change beyond reads is what SECURITY.md lists.
#[tokio::test(flavor = "multi_thread")]
async fn every_call_that_changes_something_is_documented() -> Result<()> {
    let bed = bed().await?;
    let thief = as_operator(&bed).await?;
    let attempts: Vec<Attempt> = [own_objects(), pods(), workloads(), jobs()].into_iter().flatten().collect();
    // What RBAC does not grant needs no attempt, and what it grants has one.
    let tried: BTreeSet<String> = attempts.iter().map(|attempt| attempt.right.to_owned()).collect();
    for (namespace, _) in NAMESPACES {
        let granted = written_by_rbac(&thief.client, namespace).await?;
        let untried: Vec<_> = granted
            .iter()
            .filter(|right| !tried.contains(*right) && !REVIEWS.contains(&right.as_str()))
            .collect();
        assert!(untried.is_empty(), "granted in {namespace} and not tried: {untried:?}");
    }
    eventually("the policies are in force", PATIENCE, async || {
        refusals_name_the_reason(&thief, &attempts).await
    })
    .await?;
    let found = successes(&thief, &attempts).await?;
    let lines: Vec<String> =
        found.iter().map(|(call, places)| format!("{call}: {}\n", places.join(", "))).collect();
    let list = lines.concat();
    println!("{list}");
    let written = std::fs::read_to_string(page())?;
    let expected = with_list(&written, &list)?;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page(), &expected)?;
    } else {
        assert!(written == expected, "SECURITY.md lists other calls than succeed:\n{list}");
    }
    what_was_written_before_counts(&bed, &thief).await?;
    others_are_not_confined(&bed).await?;
    only_where_the_label_is(&bed, &thief, &attempts).await?;
    bed.stop().await
}

/// What depends on what was written before is no dry run, all of it in the managed namespace.
async fn what_was_written_before_counts(bed: &TestBed, thief: &Thief) -> Result<()> {
    let (set, pod, job) = ("patch apps/replicasets", "patch pods", "patch batch/jobs");
    let resize = |size, before, lowered_to| {
        attempt(set, "in turn", "bare", sized("replicas", size, before, lowered_to))
    };
    let select =
        |says: Option<bool>| attempt(job, "in turn", "plain", json!({"spec": {"manualSelector": says}}));
    let cost = |cost: Option<&str>| {
        attempt(pod, "in turn", "pod", json!({"metadata": {"annotations": {DELETION_COST: cost}}}))
    };
    for attempt in [
        // What it lowers it may raise to what it was, no further.
        resize(1, Some("2"), Some("1")),
        resize(0, Some("2"), Some("0")),
        resize(1, Some("2"), Some("1")),
        resize(3, None, None).refused(TEAMS, SIZE),
        resize(2, None, None),
        select(Some(false)),
        select(None),
        cost(Some("-2147483648")),
        cost(None),
    ] {
        let said = refusal(thief, &attempt, "team-a", "").await?;
        let is_expected = match (&said, attempt.refused) {
            (Some(said), Some((_, why))) => said.contains(why),
            (said, why) => said.is_none() && why.is_none(),
        };
        ensure!(is_expected, "{}: {said:?}", attempt.title());
    }
    let keeper = async |name: &str| {
        let label = format!("app.kubernetes.io/managed-by={name}");
        bed.kubectl(["label", "limitrange/quotient", "--namespace=team-a", "--overwrite", &label]).await
    };
    keeper("other").await?;
    let delete = attempt("delete limitranges", "quotient of another keeper", "quotient", Value::Null);
    let said = refusal(thief, &delete, "team-a", "")
        .await?
        .context("it deletes the LimitRange of another keeper")?;
    ensure!(said.contains("of LimitRanges Quotient writes those"), "{said}");
    keeper("quotient").await?;
    // An administrator names the further service accounts that pods of QueueJobs may run as.
    let names = "quotient.dev/queue-job-service-accounts=trainer, robot";
    bed.kubectl(["annotate", "namespace", "team-a", names]).await?;
    let of_robot = job_of_queue_job("as another account", json!({"serviceAccountName": "robot"}));
    until_is("the account is allowed", true, async || succeeds(thief, &of_robot, "team-a").await).await
}

/// The policies are about the operator alone, also those with parameters.
async fn others_are_not_confined(bed: &TestBed) -> Result<()> {
    let administrator = Thief { client: bed.client(), administrator: bed.client() };
    for attempt in pods() {
        for (namespace, _) in NAMESPACES {
            ensure!(
                succeeds(&administrator, &attempt, namespace).await?,
                "{} in {namespace}",
                attempt.title()
            );
        }
    }
    Ok(())
}

/// With `admission.namespaceLabel` nothing but events is left in namespaces without the label.
async fn only_where_the_label_is(bed: &TestBed, thief: &Thief, attempts: &[Attempt]) -> Result<()> {
    let label = ["admission.namespaceLabel=quotient.dev/managed"];
    let values = [&["replicaCount=0", "config.mode=Full"], &ALL_RIGHTS[..], &label].concat();
    bed.helm(helm_arguments(&["upgrade"], &values)).await?;
    bed.kubectl(["label", "namespace", "team-a", "quotient.dev/managed=true"]).await?;
    eventually("nothing is written without the label", PATIENCE, async || {
        let found = successes(thief, attempts).await?;
        let outside = found.iter().filter(|(_, places)| places.contains(&"unmanaged"));
        let outside: Vec<&str> = outside.map(|(call, _)| call.as_str()).collect();
        let expected =
            ["create events.k8s.io/events by quotient.dev/operator", "patch quotient.dev/queuejobs/status"];
        ensure!(outside == expected, "{outside:?}");
        ensure!(found.values().any(|places| places.contains(&"managed")), "nothing is left");
        Ok(())
    })
    .await?;
    bed.create_namespace("unlabeled").await?;
    let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: unlabeled}, spec: {}}";
    let refused = bed.apply(queue).await.err().context("a Queue manages a namespace without the label")?;
    ensure!(
        refused.to_string().contains("kubectl label namespace unlabeled quotient.dev/managed=true"),
        "{refused}"
    );
    Ok(())
}
