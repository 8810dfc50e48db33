//! What the chart renders for each set of values, against what is committed: `UPDATE_EXPECT=1` writes it anew, and the
//! difference is read before it is committed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use dissimilar::Chunk;
use expect_test::expect_file;
use quotient_e2e::quotient::{
    GATE_MODE, IMAGE_REGISTRY, RELEASE, chart, helm_arguments, value_sets, workspace_root,
};
use quotient_e2e::testbed::Helm;
use serde::Deserialize as _;
use serde_yaml_ng::{Deserializer, Value};

/// What a cluster with all optional kinds serves.
const SERVED: [&str; 6] = [
    "--api-versions",
    "monitoring.coreos.com/v1",
    "--api-versions",
    "quotient.dev/v1alpha1/Queue",
    "--api-versions",
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
];

/// Kinds whose content has its own tests and would only fill the page.
const ELSEWHERE: [&str; 2] = ["CustomResourceDefinition", "PrometheusRule"];

/// `ConfigMap`s of which the same is true: dashboards and runbooks.
const LONG: [&str; 2] = ["grafana_dashboard", "name: quotient-runbooks"];

#[tokio::test(flavor = "multi_thread")]
async fn every_set_of_values_renders_what_is_committed() -> Result<()> {
    let helm = Helm::find().await?;
    let mut rendered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, file) in value_sets()? {
        let file = file.to_string_lossy().into_owned();
        let command: Vec<&str> = ["template", "--values", &file].into_iter().chain(SERVED).collect();
        rendered.insert(name, shortened(&helm.run(helm_arguments(&command, &[])).await?));
    }
    assert!(rendered.len() >= 5, "{:?}", rendered.keys());
    let default = rendered.get("default").context("no default values")?;
    for (name, documents) in &rendered {
        let shown = |document: &String| match name.as_str() {
            "default" => Ok(document.clone()),
            _ => beside(default, document),
        };
        let page = documents.iter().map(shown).collect::<Result<Vec<_>>>()?.join("---\n");
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/chart/{name}.yaml"));
        expect_file![golden].assert_eq(&page);
    }
    Ok(())
}

/// A document, or how it differs from that of its kind and name among `others`.
fn beside(others: &[String], document: &str) -> Result<String> {
    let name = name_of(document)?;
    for other in others {
        if name_of(other)? == name {
            return Ok(format!("# as in default: {name}\n{}", difference(other, document)));
        }
    }
    Ok(document.to_owned())
}

fn name_of(document: &str) -> Result<String> {
    let object: Value = serde_yaml_ng::from_str(document)?;
    Ok(format!("{} {}", text(&object, &["kind"]), text(&object, &["metadata", "name"])))
}

/// The lines of `before` that `after` lacks, with `-`, those that it adds, with `+`, and the line that is above these.
fn difference(before: &str, after: &str) -> String {
    // The library compares characters, so each line is one for private use.
    let mut lines: Vec<&str> = before.lines().chain(after.lines()).collect();
    lines.sort_unstable();
    lines.dedup();
    let numbers: BTreeMap<&str, char> = lines.iter().copied().zip('\u{e000}'..).collect();
    let shortened = |text: &str| text.lines().filter_map(|line| numbers.get(line)).collect::<String>();
    let line = |number: char| lines.iter().find(|line| numbers.get(*line) == Some(&number)).copied();
    let mut printed = String::new();
    let mut above = None;
    for chunk in dissimilar::diff(&shortened(before), &shortened(after)) {
        let (sign, numbers) = match chunk {
            Chunk::Equal(same) => {
                above = same.chars().last();
                continue;
            }
            Chunk::Delete(gone) => ('-', gone),
            Chunk::Insert(new) => ('+', new),
        };
        let above = above.take().and_then(line).map(|line| format!("  {line}\n"));
        let changed = numbers.chars().filter_map(line).map(|line| format!("{sign} {line}\n"));
        printed.extend(above.into_iter().chain(changed));
    }
    printed
}

/// The objects of the chart for these arguments of `helm template`.
async fn objects(arguments: &[&str], values: &[&str]) -> Result<Vec<Value>> {
    let command: Vec<&str> = ["template"].iter().chain(arguments).copied().chain(SERVED).collect();
    documents(&Helm::find().await?.run(helm_arguments(&command, values)).await?)
}

fn documents(rendered: &str) -> Result<Vec<Value>> {
    let documents = Deserializer::from_str(rendered).map(|document| Ok(Value::deserialize(document)?));
    let objects: Result<Vec<Value>> = documents.collect();
    Ok(objects?.into_iter().filter(Value::is_mapping).collect())
}

fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    path.iter().try_fold(object, |value, name| value.get(*name)).and_then(Value::as_str).unwrap_or_default()
}

/// The labels that Kubernetes and Helm recommend.
const LABELS: &str = r#"    app.kubernetes.io/name: quotient
    app.kubernetes.io/instance: quotient
    app.kubernetes.io/version: "0.1.0"
    app.kubernetes.io/managed-by: Helm
    app.kubernetes.io/part-of: quotient
    helm.sh/chart: quotient-0.1.0
"#;

/// The label and the annotation that `everything` gives to all objects.
const TEAM: &str = "    team: platform\n";
const CONTACT: &str = "    contact: platform\n";

/// A rendered document without these lines of a mapping in its metadata, and without the mapping if nothing else is in it.
fn without(document: &str, mapping: &str, lines: &str) -> String {
    match document.split_once(&format!("\n  {mapping}:\n{lines}")) {
        Some((before, after)) if after.starts_with("    ") => format!("{before}\n  {mapping}:\n{after}"),
        Some((before, after)) => format!("{before}\n{after}"),
        None => document.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_object_has_the_labels() -> Result<()> {
    let values = value_sets()?.remove("everything").context("no values")?;
    let mut seen = 0;
    for object in objects(&["--values", &values.to_string_lossy()], &[]).await? {
        let name = text(&object, &["metadata", "name"]);
        // That of `extraObjects` is the user's own.
        if name == "more" {
            continue;
        }
        let (kind, labels) = (text(&object, &["kind"]), &object["metadata"]["labels"]);
        for line in LABELS.lines().chain(TEAM.lines()) {
            let (label, value) = line.trim().split_once(": ").context("a label")?;
            // No Service selects the pod of `helm test`.
            let is_named_apart = kind == "Pod" && label == "app.kubernetes.io/name";
            let value = if is_named_apart { "quotient-check" } else { value.trim_matches('"') };
            ensure!(text(labels, &[label]) == value, "{kind} {name}: {labels:?}");
        }
        let contact = text(&object, &["metadata", "annotations", "contact"]);
        ensure!(contact == "platform", "{kind} {name}: annotated with {contact:?}");
        seen += 1;
    }
    ensure!(seen > 40, "{seen}");
    Ok(())
}

/// A label and the name of a Service have at most 63 characters, other names 253.
#[tokio::test(flavor = "multi_thread")]
async fn long_names_are_cut() -> Result<()> {
    let release = "r".repeat(53);
    let folder = chart().to_string_lossy().into_owned();
    let values = value_sets()?.remove("everything").context("no values")?;
    let command = ["template", &release, &folder, "--values", &values.to_string_lossy()];
    let command: Vec<&str> = command.into_iter().chain(SERVED).collect();
    let rendered = Helm::find().await?.run(command).await?;
    for object in documents(&rendered)? {
        let name = text(&object, &["metadata", "name"]);
        let kind = text(&object, &["kind"]);
        ensure!(name.len() <= if kind == "Service" { 63 } else { 253 }, "{kind} {name}");
        let labels = object["metadata"]["labels"].as_mapping().into_iter().flatten();
        for value in labels.filter_map(|(_, value)| value.as_str()) {
            ensure!(value.len() <= 63, "{name}: {value}");
        }
    }
    Ok(())
}

/// The notes say what a user may have overlooked.
#[tokio::test(flavor = "multi_thread")]
async fn the_notes_warn() -> Result<()> {
    let helm = Helm::find().await?;
    let notes = async |values: &[&str]| -> Result<String> {
        let said = helm.run(helm_arguments(&["install", "--dry-run=client"], values)).await?;
        Ok(said.split_once("NOTES:").context("no notes")?.1.to_owned())
    };
    let first = notes(&[]).await?;
    for sentence in ["mode Observe", "One replica", "A quota rejects containers without requests"] {
        ensure!(first.contains(sentence), "{sentence:?} is not in {first}");
    }
    ensure!(!first.contains("WARNING"), "{first}");
    let two = notes(&["replicaCount=2", "config.mode=Full"]).await?;
    ensure!(!two.contains("One replica") && two.contains("Some rights of the operator are off"), "{two}");
    ensure!(two.contains("rbac.createJobs=true") && !two.contains("stolen token"), "{two}");
    for (value, sentence) in [
        ("serviceMonitor.enabled=true", "this cluster has no monitoring.coreos.com/v1"),
        ("crds.install=false", "crds.install is false"),
        (GATE_MODE, NO_GATE_MODE),
        ("queues.team-a.weight=2", "The next upgrade creates the Queues"),
        ("admission.confineOperator=false", "only roles limit a stolen token of the operator"),
        ("replicaCount=0", "so the operator does not run"),
    ] {
        let said = notes(&["config.mode=Full", value]).await?;
        ensure!(said.contains(sentence), "{value}: {said}");
    }
    Ok(())
}

/// The alerts of the `PrometheusRule`s, by name.
fn alerts(objects: &[Value]) -> BTreeMap<String, Value> {
    let rules = objects.iter().filter(|object| object["kind"] == "PrometheusRule");
    let groups = rules.flat_map(|object| object["spec"]["groups"].as_sequence().into_iter().flatten());
    let all = groups.flat_map(|group| group["rules"].as_sequence().into_iter().flatten());
    all.filter_map(|rule| Some((rule["alert"].as_str()?.to_owned(), rule.clone()))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_alerts_are_as_the_values_say() -> Result<()> {
    let all = alerts(&objects(&[], &["prometheusRule.enabled=true"]).await?);
    ensure!(all.len() > 20 && all.values().all(|alert| alert["annotations"]["runbook_url"].is_null()));
    let changed = [
        "prometheusRule.enabled=true",
        "prometheusRule.excludeAlerts={QuotientUnmanagedPods}",
        "prometheusRule.alerts.QuotientCycleSlow.for=30m",
        "prometheusRule.alerts.QuotientCycleSlow.severity=ticket",
        "prometheusRule.alerts.QuotientNoLeader.expr=max(quotient_leader) < 1",
        "prometheusRule.runbookUrlBase=https://docs.example.org/runbooks/",
    ];
    let tuned = alerts(&objects(&[], &changed).await?);
    assert_eq!(tuned.len(), all.len() - 1);
    let slow = tuned.get("QuotientCycleSlow").context("an alert")?;
    assert_eq!((text(slow, &["for"]), text(slow, &["labels", "severity"])), ("30m", "ticket"));
    assert_eq!(
        text(tuned.get("QuotientNoLeader").context("an alert")?, &["expr"]),
        "max(quotient_leader) < 1"
    );
    for (name, alert) in &tuned {
        let url = format!("https://docs.example.org/runbooks/{name}.md");
        assert_eq!(text(alert, &["annotations", "runbook_url"]), url);
    }
    Ok(())
}

/// A chart that names its repository links each alert to a page that is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_published_chart_links_to_runbooks_that_exist() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("quotient");
    let copied = std::process::Command::new("cp").arg("-r").arg(chart()).arg(&copy).status()?;
    ensure!(copied.success(), "copying the chart");
    let manifest = copy.join("Chart.yaml");
    let named = std::fs::read_to_string(&manifest)? + "sources: [https://git.example.org/quotient]\n";
    std::fs::write(&manifest, named)?;
    let copy = copy.to_string_lossy().into_owned();
    let command =
        ["template", RELEASE, &copy, "--set", IMAGE_REGISTRY, "--set", "prometheusRule.enabled=true"];
    let command: Vec<&str> = command.into_iter().chain(SERVED).collect();
    let alerts = alerts(&documents(&Helm::find().await?.run(command).await?)?);
    ensure!(alerts.len() > 20, "{}", alerts.len());
    for (name, alert) in alerts {
        let url = text(&alert, &["annotations", "runbook_url"]);
        let path = url.strip_prefix("https://git.example.org/quotient/blob/v0.1.0/").context(name)?;
        ensure!(workspace_root().join(path).is_file(), "{path} is not there");
    }
    Ok(())
}

/// The policy that protects namespaces does not depend on what installs the CRDs.
#[tokio::test(flavor = "multi_thread")]
async fn protected_namespaces_need_no_crds_of_the_chart() -> Result<()> {
    let objects = objects(&[], &["crds.install=false"]).await?;
    ensure!(!objects.iter().any(|object| object["kind"] == "CustomResourceDefinition"));
    let of_queues = objects.iter().filter(|object| text(object, &["metadata", "name"]) == "quotient-queues");
    assert_eq!(of_queues.count(), 2, "a policy and its binding");
    Ok(())
}

/// With the network of the node a pod takes ports of it, so no second pod starts beside it.
#[tokio::test(flavor = "multi_thread")]
async fn with_the_ports_of_the_node_the_old_pod_ends_first() -> Result<()> {
    let strategy = async |values: &[&str]| -> Result<Value> {
        let objects = objects(&[], values).await?;
        let deployment = objects.into_iter().find(|object| object["kind"] == "Deployment");
        Ok(deployment.context("a Deployment")?["spec"]["strategy"].clone())
    };
    let one_less: Value =
        serde_yaml_ng::from_str("{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}")?;
    assert_eq!(strategy(&["hostNetwork=true"]).await?, one_less);
    assert_eq!(strategy(&[]).await?, Value::Null);
    Ok(())
}

/// `kubectl create secret tls` makes no `ca.crt`, and a Secret from a public authority needs none.
#[tokio::test(flavor = "multi_thread")]
async fn prometheus_trusts_the_key_of_the_secret_that_is_named() -> Result<()> {
    let authority = async |values: &[&str]| -> Result<Value> {
        let given = ["serviceMonitor.enabled=true", "metrics.certificateSecret=certificate"];
        let objects = objects(&[], &[&given[..], values].concat()).await?;
        let monitor = objects.into_iter().find(|object| object["kind"] == "ServiceMonitor");
        let tls = monitor.context("a ServiceMonitor")?["spec"]["endpoints"][0]["tlsConfig"].clone();
        assert_eq!(text(&tls, &["serverName"]), "quotient-metrics.quotient-system.svc");
        Ok(tls["ca"].clone())
    };
    for (values, key) in [(&[][..], "tls.crt"), (&["serviceMonitor.authorityKey=ca.crt"], "ca.crt")] {
        let named = authority(values).await?;
        assert_eq!(text(&named, &["secret", "name"]), "certificate");
        assert_eq!(text(&named, &["secret", "key"]), key);
    }
    assert_eq!(authority(&["serviceMonitor.authorityKey="]).await?, Value::Null);
    Ok(())
}

/// What the notes say where the API server serves no `MutatingAdmissionPolicy`.
const NO_GATE_MODE: &str = "gateMode.enabled has no effect, because this cluster has no MutatingAdmissionPolicy v1 (Kubernetes 1.36).";

/// Where the API server serves no `MutatingAdmissionPolicy`, both policies and the operator's flag are left out.
#[tokio::test(flavor = "multi_thread")]
async fn gate_mode_is_off_with_a_sentence_where_its_policies_are_not_served() -> Result<()> {
    let helm = Helm::find().await?;
    let values = [GATE_MODE, "config.mode=Full"];
    let rendered = async |command: &[&str]| helm.run(helm_arguments(command, &values)).await;
    let is_on = |rendered: &str| {
        let kinds =
            ["kind: MutatingAdmissionPolicy\n", "kind: MutatingAdmissionPolicyBinding\n", "--gate-mode=true"];
        let found = kinds.map(|text| rendered.contains(text));
        // The policy that reserves the removal is named like the other one.
        let reserved =
            rendered.contains("kind: ValidatingAdmissionPolicy\nmetadata:\n  name: quotient-gates");
        ([found[0], found[1], found[2], reserved] == [true; 4], found.contains(&true) || reserved)
    };
    let served = rendered(&[&["template"], &SERVED[..]].concat()).await?;
    assert_eq!(is_on(&served), (true, true));
    let not_served = rendered(&["template"]).await?;
    assert_eq!(is_on(&not_served), (false, false));
    Ok(())
}

/// The documents without what has its own tests: schemas, alerts, dashboards, runbooks, and what all objects have.
fn shortened(rendered: &str) -> Vec<String> {
    let documents = rendered.split("\n---\n").map(|document| {
        let lines = document.trim_start_matches("---\n").lines();
        let kind = document.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
        let is_elsewhere = ELSEWHERE.contains(&kind) || LONG.iter().any(|name| document.contains(name));
        let shown = lines.take_while(|line| !is_elsewhere || !["spec:", "data:"].contains(line));
        let shown: String = shown.flat_map(|line| [line.trim_end(), "\n"]).collect();
        let shown = without(&without(&shown, "labels", LABELS), "labels", TEAM);
        without(&shown, "annotations", CONTACT)
    });
    documents.collect()
}
