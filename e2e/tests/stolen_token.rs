//! Every call by which a stolen token of the operator changes something: tried, printed and compared with SECURITY.md.
//!
//! What is tried stands in `stolen_token/attempts.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::authorization::v1::SelfSubjectRulesReview;
use kube::api::PostParams;
use kube::{Api, Client};
use quotient_e2e::quotient::{ALL_RIGHTS, PATIENCE, RELEASE, SYSTEM_NAMESPACE, helm_arguments};
use quotient_e2e::testbed::objects::{list, workload};
use quotient_e2e::testbed::{Options, TestBed, eventually, until_is};
use serde::Deserialize;
use serde_json::{Value, json};

/// The namespaces in which everything is tried, and how the list names them.
const NAMESPACES: [(&str, &str); 4] =
    [("team-a", "managed"), ("other", "unmanaged"), ("kube-system", "protected"), (SYSTEM_NAMESPACE, "own")];

/// The heading in SECURITY.md below which the list is.
const HEADING: &str = "### Every call that changes something";

/// The group of each resource that is not in the core, with its version.
const GROUPS: [(&str, &str); 5] = [
    ("apps", "v1"),
    ("batch", "v1"),
    ("coordination.k8s.io", "v1"),
    ("events.k8s.io", "v1"),
    ("quotient.dev", "v1alpha1"),
];

/// One attempt, as `stolen_token/attempts.yaml` has it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Attempt {
    /// The right that RBAC needs for it: the verb and the resource.
    right: String,
    /// What is special about it; empty for any object.
    what: String,
    /// The object; empty if it is created.
    name: String,
    /// `null` for none.
    body: Value,
    /// Where it is refused.
    refused: Vec<String>,
    /// A part of the reason.
    because: String,
}

/// A workload on which attempts are made.
#[derive(Deserialize)]
struct Kind {
    right: String,
    name: String,
    size: Option<String>,
}

/// The file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    objects: Vec<Value>,
    owned: Value,
    attempts: Vec<Attempt>,
    kinds: Vec<Kind>,
    on_each: Vec<Attempt>,
    on_each_size: Vec<Attempt>,
    in_turn: Vec<Attempt>,
    of_another_keeper: Attempt,
    as_robot: Attempt,
}

impl File {
    fn read() -> Result<Self> {
        Ok(serde_yaml_ng::from_str(include_str!("stolen_token/attempts.yaml"))?)
    }

    /// All that is tried without an effect.
    fn tried(&self) -> Result<Vec<Attempt>> {
        let mut all = self.attempts.clone();
        for Kind { right, name, size } in &self.kinds {
            let of_size = size.iter().flat_map(|_| &self.on_each_size);
            for attempt in self.on_each.iter().chain(of_size) {
                let body = attempt.body.to_string().replace("SIZE", size.as_deref().unwrap_or_default());
                let body = serde_json::from_str(&body)?;
                all.push(Attempt { right: right.clone(), name: name.clone(), body, ..attempt.clone() });
            }
        }
        Ok(all)
    }
}

impl Attempt {
    fn title(&self) -> String {
        format!("{} {}", self.right, self.what).trim_end().to_owned()
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

/// Reviews, which change nothing: every account may ask about itself, and the operator about the readers of its metrics.
const REVIEWS: [&str; 5] = [
    "create authentication.k8s.io/selfsubjectreviews",
    "create authentication.k8s.io/tokenreviews",
    "create authorization.k8s.io/selfsubjectaccessreviews",
    "create authorization.k8s.io/selfsubjectrulesreviews",
    "create authorization.k8s.io/subjectaccessreviews",
];

/// Makes the objects of the attempts in a namespace, and those that need a uid or a status of another one.
async fn make_objects(bed: &TestBed, file: &File, namespace: &str) -> Result<()> {
    let workloads = ["Deployment web", "ReplicaSet bare", "StatefulSet web", "DaemonSet web"];
    let workloads = workloads.iter().filter_map(|named| named.split_once(' '));
    let workloads = workloads.map(|(kind, name)| workload(kind, namespace, name, 2, &json!({})));
    let objects = file.objects.iter().cloned().chain(workloads).map(|mut object| {
        object["metadata"]["namespace"] = namespace.into();
        object
    });
    bed.apply(&list(objects).to_string()).await?;
    let place = format!("--namespace={namespace}");
    let uid = bed.kubectl(["get", "queuejob/waiting", &place, "-o=jsonpath={.metadata.uid}"]).await?;
    bed.apply(&file.owned.to_string().replace("UID", &uid).replace("NS", namespace)).await?;
    let ended = json!({"status": {"conditions": [{"type": "Complete", "status": "True", "reason": "a", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    for name in ["queuejob/ended", "queuejob/kept"] {
        let patch = format!("-p={ended}");
        bed.kubectl(["patch", name, &place, "--subresource=status", "--type=merge", &patch]).await?;
    }
    Ok(())
}

/// The chart with all rights, and every object that is attempted in every namespace.
async fn bed(file: &File) -> Result<TestBed> {
    let bed = TestBed::start(Options::default()).await?;
    let values = [&["replicaCount=0", "config.mode=Full"], &ALL_RIGHTS[..]].concat();
    bed.helm(helm_arguments(&["install", "--create-namespace"], &values)).await?;
    bed.create_namespace("team-a").await?;
    bed.create_namespace("other").await?;
    let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: team-a, namespace: team-a}, \
                 spec: {weight: 1, eviction: {maxGraceSeconds: 30}}}";
    bed.apply(queue).await?;
    for (namespace, _) in NAMESPACES {
        make_objects(&bed, file, namespace).await?;
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
        let refused = |name: &str| attempt.refused.iter().any(|place| place == name);
        for (namespace, _) in NAMESPACES.iter().filter(|(_, name)| refused(name)) {
            let said = refusal(thief, attempt, namespace, "?dryRun=All").await?.unwrap_or_default();
            let why = &attempt.because;
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
    let file = File::read()?;
    let attempts = file.tried()?;
    let bed = bed(&file).await?;
    let thief = as_operator(&bed).await?;
    // What RBAC does not grant needs no attempt, and what it grants has one.
    let tried: BTreeSet<String> = attempts.iter().map(|attempt| attempt.right.clone()).collect();
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
    what_was_written_before_counts(&bed, &thief, &file).await?;
    others_are_not_confined(&bed, &attempts).await?;
    only_where_the_label_is(&bed, &thief, &attempts).await?;
    bed.stop().await
}

/// What depends on what was written before is no dry run, all of it in the managed namespace.
async fn what_was_written_before_counts(bed: &TestBed, thief: &Thief, file: &File) -> Result<()> {
    for attempt in &file.in_turn {
        let said = refusal(thief, attempt, "team-a", "").await?;
        let is_expected = match &said {
            Some(said) => !attempt.refused.is_empty() && said.contains(&attempt.because),
            None => attempt.refused.is_empty(),
        };
        ensure!(is_expected, "{} {}: {said:?}", attempt.right, attempt.body);
    }
    let keeper = async |name: &str| {
        let label = format!("app.kubernetes.io/managed-by={name}");
        bed.kubectl(["label", "limitrange/quotient", "--namespace=team-a", "--overwrite", &label]).await
    };
    keeper("other").await?;
    refusals_name_the_reason(thief, std::slice::from_ref(&file.of_another_keeper)).await?;
    keeper("quotient").await?;
    // An administrator names the further service accounts that pods of QueueJobs may run as.
    let names = "quotient.dev/queue-job-service-accounts=trainer, robot";
    bed.kubectl(["annotate", "namespace", "team-a", names]).await?;
    until_is("the account is allowed", true, async || succeeds(thief, &file.as_robot, "team-a").await).await
}

/// The policies are about the operator alone, also those with parameters.
async fn others_are_not_confined(bed: &TestBed, attempts: &[Attempt]) -> Result<()> {
    let administrator = Thief { client: bed.client(), administrator: bed.client() };
    let on_pods = ["create pods/eviction", "patch pods"];
    for attempt in attempts.iter().filter(|attempt| on_pods.contains(&attempt.right.as_str())) {
        for (namespace, _) in NAMESPACES {
            let succeeds = succeeds(&administrator, attempt, namespace).await?;
            ensure!(succeeds, "{} in {namespace}", attempt.title());
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
    let left =
        ["create events.k8s.io/events by quotient.dev/operator", "patch quotient.dev/queuejobs/status"];
    eventually("nothing is written without the label", PATIENCE, async || {
        for attempt in attempts {
            let (title, succeeds) = (attempt.title(), succeeds(thief, attempt, "other").await?);
            ensure!(succeeds == left.contains(&title.as_str()), "{title}: {succeeds}");
        }
        Ok(())
    })
    .await?;
    ensure!(succeeds(thief, &attempts[0], "team-a").await?, "nothing is left: {}", attempts[0].title());
    bed.create_namespace("unlabeled").await?;
    let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: a, namespace: unlabeled}, spec: {}}";
    let refused = bed.apply(queue).await.err().context("a Queue manages a namespace without the label")?;
    ensure!(
        refused.to_string().contains("kubectl label namespace unlabeled quotient.dev/managed=true"),
        "{refused}"
    );
    Ok(())
}
