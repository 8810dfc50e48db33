//! The chart, as a user has it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;

use super::identity::{RELEASE, SYSTEM_NAMESPACE};
use super::workspace_root;
use crate::testbed::TestBed;

/// The chart's folder.
pub fn chart() -> PathBuf {
    workspace_root().join("charts/quotient")
}

/// The sets of values that it is tried with, by name: `ci/NAME-values.yaml`, and `values-ha.yaml`.
pub fn value_sets() -> std::io::Result<BTreeMap<String, PathBuf>> {
    let mut sets = BTreeMap::from([("ha".to_owned(), chart().join("values-ha.yaml"))]);
    for entry in std::fs::read_dir(chart().join("ci"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sets.insert(name.trim_end_matches("-values").to_owned(), path);
    }
    Ok(sets)
}

/// A registry for the image, which the chart has no default for. The test bed's kubelets pull nothing.
pub const IMAGE_REGISTRY: &str = "image.registry=registry.example.org";

/// The rights that the chart leaves out until they are used.
pub const ALL_RIGHTS: [&str; 3] = ["rbac.createJobs=true", "rbac.scaleWorkloads=true", "rbac.patchPods=true"];

/// The policies that gate the pods of Queues in Gate mode.
pub const GATE_MODE: &str = "gateMode.enabled=true";

/// Values under which simulated kubelets and nodes are enough: the chart's own pods run on a node of their own
/// ([`add_infra_node`]), which is not shared out, and nodes count at once.
pub const ON_INFRA_NODE: [&str; 4] = [
    "config.nodeSelector=pool!=infra",
    "config.nodeReadySeconds=0",
    "tolerations[0].key=infra",
    "tolerations[0].operator=Exists",
];

/// Adds the node of [`ON_INFRA_NODE`].
pub async fn add_infra_node(bed: &TestBed) -> anyhow::Result<()> {
    bed.add_node("infra", &[("cpu", "2"), ("memory", "4Gi")]).await?;
    bed.kubectl(["label", "node/infra", "pool=infra", "kubernetes.io/os=linux"]).await?;
    bed.kubectl(["taint", "node", "infra", "infra=:NoSchedule"]).await?;
    Ok(())
}

/// The arguments of `helm COMMAND RELEASE CHART` in the operator's namespace, with [`IMAGE_REGISTRY`] and these values
/// (`--set`).
pub fn helm_arguments(command: &[&str], values: &[&str]) -> Vec<String> {
    let chart = chart().to_string_lossy().into_owned();
    let first = command.iter().map(|word| (*word).to_owned());
    let rest = [RELEASE.to_owned(), chart, "--namespace".to_owned(), SYSTEM_NAMESPACE.to_owned()];
    let values = [IMAGE_REGISTRY].iter().chain(values);
    let values = values.flat_map(|value| ["--set".to_owned(), (*value).to_owned()]);
    first.chain(rest).chain(values).collect()
}

/// What the installed Deployment would start: the account's name and the operator's arguments.
pub async fn installed(bed: &TestBed) -> anyhow::Result<(String, Vec<String>)> {
    let deployments: Api<Deployment> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    let deployment = deployments.get(RELEASE).await.context("reading the Deployment of the chart")?;
    let pod = deployment.spec.and_then(|spec| spec.template.spec).context("the Deployment has no pods")?;
    let container = pod.containers.into_iter().next().context("its pods have no containers")?;
    let account = pod.service_account_name.context("its pods have no service account")?;
    Ok((account, container.args.context("its container has no arguments")?))
}
