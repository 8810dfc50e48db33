//! Every call by which a stolen token of the operator changes something: tried, printed and compared with SECURITY.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::authorization::v1::SelfSubjectRulesReview;
use kube::api::PostParams;
use kube::{Api, Client};
use quotient_e2e::quotient::{ALL_RIGHTS, PATIENCE, RELEASE, SYSTEM_NAMESPACE, helm_arguments};
use quotient_e2e::testbed::{Options, TestBed, eventually};
use serde_json::{Value, json};

/// The namespaces in which everything is tried, and how the list names them.
const NAMESPACES: [(&str, &str); 4] =
    [("team-a", "managed"), ("other", "unmanaged"), ("kube-system", "protected"), (SYSTEM_NAMESPACE, "own")];

/// The heading in SECURITY.md below which the list is.
const HEADING: &str = "### Every call that changes something";

/// One attempt.
struct Attempt {
    /// The right that RBAC needs for it: the verb and the resource.
    right: (&'static str, &'static str),
    /// What is special about it; empty for any object.
    what: &'static str,
    method: &'static str,
    /// The path below the group, with the namespace as `NS`.
    path: &'static str,
    body: Value,
}

impl Attempt {
    fn title(&self) -> String {
        let (verb, resource) = self.right;
        format!("{verb} {resource} {}", self.what).trim_end().to_owned()
    }
}

fn attempt(
    right: (&'static str, &'static str),
    what: &'static str,
    method: &'static str,
    path: &'static str,
    body: Value,
) -> Attempt {
    Attempt { right, what, method, path, body }
}

/// Attempts to write what the operator keeps itself: quotas, LimitRanges, its ledger, its Lease and events.
fn own_objects() -> Vec<Attempt> {
    let quotas = "/api/v1/namespaces/NS/resourcequotas";
    let ranges = "/api/v1/namespaces/NS/limitranges";
    let maps = "/api/v1/namespaces/NS/configmaps";
    let leases = "/apis/coordination.k8s.io/v1/namespaces/NS/leases";
    let named = |name: &str| json!({"metadata": {"name": name}});
    let versioned = |name: &str| json!({"metadata": {"name": name, "resourceVersion": "VERSION"}});
    let quota = |name: &str| json!({"metadata": {"name": name}, "spec": {"hard": {"pods": "0"}}});
    let range = |name: &str, keeper: &str| json!({"metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": keeper}}, "spec": {"limits": []}});
    let hard = json!({"spec": {"hard": {"pods": "0"}}});
    let event = |controller: &str| {
        json!({"metadata": {"generateName": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": controller, "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "pod", "namespace": "NS"}})
    };
    let events = "/apis/events.k8s.io/v1/namespaces/NS/events";
    vec![
        attempt(("create", "resourcequotas"), "quotient", "POST", quotas, quota("quotient")),
        attempt(("create", "resourcequotas"), "with another name", "POST", quotas, quota("other")),
        attempt(
            ("patch", "resourcequotas"),
            "quotient",
            "PATCH",
            "/api/v1/namespaces/NS/resourcequotas/quotient",
            hard,
        ),
        attempt(("create", "limitranges"), "quotient", "POST", ranges, range("quotient", "quotient")),
        attempt(
            ("create", "limitranges"),
            "quotient of another keeper",
            "POST",
            ranges,
            range("quotient", "other"),
        ),
        attempt(("create", "limitranges"), "with another name", "POST", ranges, range("other", "quotient")),
        attempt(
            ("patch", "limitranges"),
            "quotient",
            "PATCH",
            "/api/v1/namespaces/NS/limitranges/quotient",
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1m"}}]}}),
        ),
        attempt(
            ("delete", "limitranges"),
            "quotient",
            "DELETE",
            "/api/v1/namespaces/NS/limitranges/quotient",
            json!({}),
        ),
        attempt(("create", "configmaps"), "quotient-ledger", "POST", maps, named("quotient-ledger")),
        attempt(("create", "configmaps"), "with another name", "POST", maps, named("other")),
        attempt(
            ("update", "configmaps"),
            "quotient-ledger",
            "PUT",
            "/api/v1/namespaces/NS/configmaps/quotient-ledger",
            versioned("quotient-ledger"),
        ),
        attempt(
            ("create", "coordination.k8s.io/leases"),
            "quotient-operator",
            "POST",
            leases,
            named("quotient-operator"),
        ),
        attempt(
            ("create", "coordination.k8s.io/leases"),
            "with another name",
            "POST",
            leases,
            named("other"),
        ),
        attempt(
            ("update", "coordination.k8s.io/leases"),
            "quotient-operator",
            "PUT",
            "/apis/coordination.k8s.io/v1/namespaces/NS/leases/quotient-operator",
            versioned("quotient-operator"),
        ),
        attempt(
            ("create", "events.k8s.io/events"),
            "by quotient.dev/operator",
            "POST",
            events,
            event("quotient.dev/operator"),
        ),
        attempt(
            ("create", "events.k8s.io/events"),
            "by another controller",
            "POST",
            events,
            event("example.org/other"),
        ),
    ]
}

/// Attempts to stop pods and to change them.
fn pods() -> Vec<Attempt> {
    let path = "/api/v1/namespaces/NS/pods/pod";
    let evict = "/api/v1/namespaces/NS/pods/pod/eviction";
    let eviction = |grace: Option<i64>| {
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "pod", "namespace": "NS"},
            "deleteOptions": {"gracePeriodSeconds": grace, "dryRun": ["All"]}})
    };
    let annotated = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
    vec![
        attempt(("create", "pods/eviction"), "with the grace of the pod", "POST", evict, eviction(None)),
        attempt(
            ("create", "pods/eviction"),
            "with the grace of the Queue",
            "POST",
            evict,
            eviction(Some(30)),
        ),
        attempt(("create", "pods/eviction"), "with less grace", "POST", evict, eviction(Some(0))),
        attempt(("create", "pods/eviction"), "with more grace", "POST", evict, eviction(Some(90_000))),
        attempt(
            ("patch", "pods"),
            "to the lowest deletion cost",
            "PATCH",
            path,
            annotated("controller.kubernetes.io/pod-deletion-cost", "-2147483648"),
        ),
        attempt(
            ("patch", "pods"),
            "to another deletion cost",
            "PATCH",
            path,
            annotated("controller.kubernetes.io/pod-deletion-cost", "7"),
        ),
        attempt(("patch", "pods"), "in another annotation", "PATCH", path, annotated("example.org/a", "b")),
        attempt(("patch", "pods"), "in a label", "PATCH", path, json!({"metadata": {"labels": {"a": "b"}}})),
        attempt(
            ("patch", "pods"),
            "in the spec",
            "PATCH",
            path,
            json!({"spec": {"activeDeadlineSeconds": 1}}),
        ),
    ]
}

/// Attempts to change workloads of each kind.
fn workloads() -> Vec<Attempt> {
    let kinds = [
        (("patch", "apps/daemonsets"), "/apis/apps/v1/namespaces/NS/daemonsets/web", None),
        (("patch", "apps/deployments"), "/apis/apps/v1/namespaces/NS/deployments/web", Some("replicas")),
        (("patch", "apps/replicasets"), "/apis/apps/v1/namespaces/NS/replicasets/bare", Some("replicas")),
        (("patch", "apps/statefulsets"), "/apis/apps/v1/namespaces/NS/statefulsets/web", Some("replicas")),
        (("patch", "batch/jobs"), "/apis/batch/v1/namespaces/NS/jobs/plain", Some("parallelism")),
    ];
    let mut all = Vec::new();
    for (right, path, size) in kinds {
        let requeue = json!({"metadata": {"annotations": {"quotient.dev/requeued-at": "now"}}});
        all.push(attempt(right, "in the annotation quotient.dev/requeued-at", "PATCH", path, requeue));
        let other = json!({"metadata": {"annotations": {"example.org/other": "now"}}});
        all.push(attempt(right, "in another annotation", "PATCH", path, other));
        let template = json!({"spec": {"template": {"spec": {"priorityClassName": "system-node-critical"}}}});
        all.push(attempt(right, "in the template", "PATCH", path, template));
        let Some(size) = size else { continue };
        let remembered =
            json!({"quotient.dev/replicas-before": "2", "quotient.dev/replicas-lowered-to": "0"});
        let lower = json!({"metadata": {"annotations": remembered}, "spec": {size: 0}});
        all.push(attempt(right, "to a lower size, with the size before", "PATCH", path, lower));
        all.push(attempt(right, "to a lower size", "PATCH", path, json!({"spec": {size: 0}})));
        all.push(attempt(right, "to a higher size", "PATCH", path, json!({"spec": {size: 9}})));
    }
    let plain = "/apis/batch/v1/namespaces/NS/jobs/plain";
    for (what, says) in
        [("in manualSelector, from absent to false", false), ("in manualSelector, to true", true)]
    {
        let selector = json!({"spec": {"manualSelector": says}});
        all.push(attempt(("patch", "batch/jobs"), what, "PATCH", plain, selector));
    }
    let owned = "/apis/batch/v1/namespaces/NS/jobs/owned";
    all.push(attempt(
        ("patch", "batch/jobs"),
        "of a QueueJob to another size",
        "PATCH",
        owned,
        json!({"spec": {"parallelism": 5, "suspend": false}}),
    ));
    all
}

/// A pod that does nothing.
fn pod_spec() -> Value {
    json!({"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]})
}

/// The owner that a thief claims for a Job; nothing checks that it exists.
fn forged_owner() -> Value {
    json!([{"kind": "QueueJob", "apiVersion": "quotient.dev/v1alpha1", "name": "it", "uid": "1", "controller": true}])
}

/// Attempts to start Jobs, and to delete Jobs and QueueJobs.
fn jobs() -> Vec<Attempt> {
    let create = ("create", "batch/jobs");
    let path = "/apis/batch/v1/namespaces/NS/jobs";
    let job = |owners: Value, more: Value| {
        let mut pod = pod_spec();
        if let (Value::Object(pod), Value::Object(more)) = (&mut pod, more) {
            pod.extend(more);
        }
        json!({"metadata": {"generateName": "stolen-", "ownerReferences": owners}, "spec": {"template": {"spec": pod}}})
    };
    let forged = |more: Value| job(forged_owner(), more);
    let privileged = json!([{"name": "main", "image": "main", "securityContext": {"privileged": true}}]);
    let secret = json!([{"name": "s", "secret": {"secretName": "any"}}]);
    let host = json!([{"name": "host", "hostPath": {"path": "/"}}]);
    vec![
        attempt(create, "of a QueueJob", "POST", path, forged(json!({}))),
        attempt(
            create,
            "of a QueueJob, with a Secret as a volume",
            "POST",
            path,
            forged(json!({"volumes": secret})),
        ),
        attempt(
            create,
            "of a QueueJob, as another service account",
            "POST",
            path,
            forged(json!({"serviceAccountName": "robot"})),
        ),
        attempt(create, "of a QueueJob, with a hostPath", "POST", path, forged(json!({"volumes": host}))),
        attempt(
            create,
            "of a QueueJob, with hostNetwork",
            "POST",
            path,
            forged(json!({"hostNetwork": true})),
        ),
        attempt(create, "of a QueueJob, privileged", "POST", path, forged(json!({"containers": privileged}))),
        attempt(create, "of a QueueJob, on a node", "POST", path, forged(json!({"nodeName": "node-1"}))),
        attempt(
            create,
            "of a QueueJob, with a system priority class",
            "POST",
            path,
            forged(json!({"priorityClassName": "system-node-critical"})),
        ),
        attempt(create, "of no QueueJob", "POST", path, job(json!([]), json!({}))),
        attempt(
            ("delete", "batch/jobs"),
            "of a QueueJob",
            "DELETE",
            "/apis/batch/v1/namespaces/NS/jobs/owned",
            json!({}),
        ),
        attempt(
            ("delete", "batch/jobs"),
            "of no QueueJob",
            "DELETE",
            "/apis/batch/v1/namespaces/NS/jobs/plain",
            json!({}),
        ),
        attempt(
            ("delete", "quotient.dev/queuejobs"),
            "that has ended and has a TTL",
            "DELETE",
            "/apis/quotient.dev/v1alpha1/namespaces/NS/queuejobs/ended",
            json!({}),
        ),
        attempt(
            ("delete", "quotient.dev/queuejobs"),
            "that waits or runs",
            "DELETE",
            "/apis/quotient.dev/v1alpha1/namespaces/NS/queuejobs/waiting",
            json!({}),
        ),
        attempt(
            ("delete", "quotient.dev/queuejobs"),
            "that has ended and has no TTL",
            "DELETE",
            "/apis/quotient.dev/v1alpha1/namespaces/NS/queuejobs/kept",
            json!({}),
        ),
        attempt(
            ("patch", "quotient.dev/queues/status"),
            "",
            "PATCH",
            "/apis/quotient.dev/v1alpha1/namespaces/NS/queues/team-a/status",
            json!({"status": {}}),
        ),
        attempt(
            ("patch", "quotient.dev/queuejobs/status"),
            "",
            "PATCH",
            "/apis/quotient.dev/v1alpha1/namespaces/NS/queuejobs/waiting/status",
            json!({"status": {}}),
        ),
    ]
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
    let template = json!({"metadata": {"labels": {"of": "web"}}, "spec": {"containers": [{"name": "main", "image": "main"}]}});
    let selector = json!({"matchLabels": {"of": "web"}});
    let sized = |kind: &str, name: &str, more: Value| {
        let mut spec = json!({"selector": selector, "template": template});
        if let (Value::Object(spec), Value::Object(more)) = (&mut spec, more) {
            spec.extend(more);
        }
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
    };
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
        sized("Deployment", "web", json!({"replicas": 2})),
        sized("ReplicaSet", "bare", json!({"replicas": 2})),
        sized("StatefulSet", "web", json!({"replicas": 2, "serviceName": "none"})),
        sized("DaemonSet", "web", json!({})),
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

/// Whether the API server would do it. Nothing is done: each is a dry run.
async fn succeeds(thief: &Thief, attempt: &Attempt, namespace: &str) -> Result<bool> {
    let uri = format!("{}?dryRun=All", attempt.path.replace("NS", namespace));
    let mut body = attempt.body.to_string().replace("\"NS\"", &format!("\"{namespace}\""));
    if attempt.method == "PUT" {
        let read = http::Request::get(attempt.path.replace("NS", namespace)).body(Vec::new())?;
        let found: Value = thief.administrator.request(read).await?;
        body = body.replace("\"VERSION\"", &found["metadata"]["resourceVersion"].to_string());
    }
    let kind = if attempt.method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder().method(attempt.method).uri(uri).header("content-type", kind);
    match thief.client.request_text(request.body(body.into_bytes())?).await {
        Ok(_) => Ok(true),
        // Admission has passed: only the name is taken.
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(true),
        Err(kube::Error::Api(status)) => {
            let is_expected =
                [403, 404].contains(&status.code) || status.message.contains("field is immutable");
            ensure!(is_expected, "{}: {} {}", attempt.title(), status.code, status.message);
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
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
    let tried: BTreeSet<String> =
        attempts.iter().map(|attempt| format!("{} {}", attempt.right.0, attempt.right.1)).collect();
    for (namespace, _) in NAMESPACES {
        let granted = written_by_rbac(&thief.client, namespace).await?;
        let untried: Vec<_> = granted
            .iter()
            .filter(|right| !tried.contains(*right) && !REVIEWS.contains(&right.as_str()))
            .collect();
        assert!(untried.is_empty(), "granted in {namespace} and not tried: {untried:?}");
    }
    let outside = attempts.iter().find(|attempt| attempt.title() == "create configmaps with another name");
    let outside = outside.context("no such attempt")?;
    eventually("the policies are in force", PATIENCE, async || {
        ensure!(!succeeds(&thief, outside, "team-a").await?, "not yet");
        ensure!(!succeeds(&thief, outside, SYSTEM_NAMESPACE).await?, "not yet");
        Ok(())
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
    others_are_not_confined(&bed).await?;
    only_where_the_label_is(&bed, &thief, &attempts).await?;
    bed.stop().await
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
