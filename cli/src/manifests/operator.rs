//! The operator of a cluster, as its Deployment describes it.

use std::sync::Arc;

use clap::Parser as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Container;
use quotient_engine::time::Timestamp;
use quotient_index::WorkloadKind;
use quotient_operator::args::Args;
use quotient_operator::settings::Settings;

use serde_json::Value;

use crate::objects::{Object, PART_OF, VARIABLES, decoded, find_text, text, time};

/// What is known of the operator.
#[derive(Debug)]
pub(crate) struct OperatorFacts {
    /// The namespace of its Deployment.
    pub(crate) namespace: String,
    /// The name of its Deployment.
    pub(crate) name: String,
    /// The Helm release that it belongs to.
    pub(crate) release: String,
    /// The version that labels or the image name.
    pub(crate) version: Option<String>,
    /// The account of its pods.
    pub(crate) service_account: String,
    /// The priority class of its pods.
    pub(crate) priority_class: Option<String>,
    /// How many replicas there should be.
    pub(crate) replicas: i32,
    /// How many are ready.
    pub(crate) ready: i32,
    /// Whether Leases were read.
    pub(crate) has_leases: bool,
    /// The replica that leads, and when it renewed its Lease last.
    pub(crate) leader: Option<(String, Option<Timestamp>)>,
    /// What its flags say; else what is wrong with them.
    pub(crate) settings: Result<Box<Settings>, String>,
}

/// The label of the chart that names the version.
const VERSION: &str = "app.kubernetes.io/version";

/// The label of the chart that names the release.
const RELEASE: &str = "app.kubernetes.io/instance";

/// The name of the container.
const CONTAINER: &str = "operator";

/// The operator whose Deployment is among `objects`; of several the first by name. Its Lease is among `others`.
pub(super) fn find_operator(objects: &[Object], others: &[Arc<Value>]) -> Option<OperatorFacts> {
    let deployments = objects.iter().filter_map(Object::get).filter_map(facts);
    let first =
        deployments.min_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
    let leases = || others.iter().filter(|object| text(object, "/kind") == "Lease");
    first.map(|operator| OperatorFacts {
        has_leases: leases().next().is_some(),
        leader: leader(&operator, leases().map(AsRef::as_ref)),
        ..operator
    })
}

/// The further kinds of workloads that the flags of this Deployment name.
pub(crate) fn workload_kinds(deployment: &Value) -> Vec<WorkloadKind> {
    let settings = decoded(deployment).and_then(|deployment| facts(&deployment)?.settings.ok());
    settings.map(|settings| settings.workload_kinds).unwrap_or_default()
}

/// The holder of the Lease that the operator's flags name.
fn leader<'l>(
    operator: &OperatorFacts,
    mut leases: impl Iterator<Item = &'l Value>,
) -> Option<(String, Option<Timestamp>)> {
    let wanted = operator.settings.as_ref().ok()?.lease.as_ref()?;
    let lease = leases.find(|lease| {
        text(lease, "/metadata/name") == wanted.name && text(lease, "/metadata/namespace") == wanted.namespace
    })?;
    let holder = find_text(lease, "/spec/holderIdentity").filter(|holder| !holder.is_empty())?;
    Some((holder.to_owned(), time(text(lease, "/spec/renewTime")).ok()))
}

fn facts(deployment: &Deployment) -> Option<OperatorFacts> {
    let metadata = &deployment.metadata;
    let label = |name: &str| metadata.labels.as_ref().and_then(|labels| labels.get(name)).map(String::as_str);
    if label(PART_OF.0) != Some(PART_OF.1) {
        return None;
    }
    let spec = deployment.spec.as_ref()?;
    let pod = spec.template.spec.as_ref()?;
    let containers = &pod.containers;
    let container = containers.iter().find(|container| container.name == CONTAINER)?;
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let name = metadata.name.clone().unwrap_or_default();
    Some(OperatorFacts {
        has_leases: false,
        leader: None,
        settings: settings(container, &namespace).map(Box::new),
        namespace,
        release: label(RELEASE).unwrap_or(&name).to_owned(),
        name,
        version: label(VERSION).or_else(|| tag(container.image.as_deref()?)).map(str::to_owned),
        service_account: pod.service_account_name.clone().unwrap_or_else(|| "default".to_owned()),
        priority_class: pod.priority_class_name.clone().filter(|class| !class.is_empty()),
        replicas: spec.replicas.unwrap_or(1),
        ready: deployment.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default(),
    })
}

/// `v1` of `registry:5000/quotient:v1@sha256:0a1b`.
fn tag(image: &str) -> Option<&str> {
    let (name, _digest) = image.split_once('@').unwrap_or((image, ""));
    name.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| !tag.contains('/'))
}

/// What flags and variables of the container say. A flag wins over its variable.
fn settings(container: &Container, namespace: &str) -> Result<Settings, String> {
    let args: Vec<String> = container.args.clone().unwrap_or_default();
    let is_given = |flag: &str| args.iter().any(|arg| arg == flag || arg.starts_with(&format!("{flag}=")));
    let variables = container.env.iter().flatten().filter_map(|variable| {
        let name = variable.name.strip_prefix(VARIABLES)?.to_lowercase().replace('_', "-");
        let flag = format!("--{name}");
        let value = variable.value.as_deref()?;
        (!is_given(&flag)).then(|| format!("{flag}={value}"))
    });
    let line: Vec<String> = std::iter::once("quotient-operator".to_owned())
        .chain(variables)
        .chain(args.iter().cloned())
        .collect();
    let first_line = |error: clap::Error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    let parsed = Args::try_parse_from(line).map_err(first_line)?;
    Settings::from_args(&parsed, namespace).map_err(|error| error.to_string())
}
