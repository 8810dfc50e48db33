//! Putting Quotient on an API server, the way its documentation says.

use std::ffi::OsStr;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::Api;
use tokio::sync::OnceCell;

use super::identity::{RELEASE, SYSTEM_NAMESPACE};
use super::{ALL_RIGHTS, helm_arguments, workspace_root};
use crate::testbed::{Helm, TestBed};

/// The chart as scenarios need it, rendered once a process.
static RENDERED: OnceCell<String> = OnceCell::const_new();

/// Applies the generated CRDs with plain `kubectl apply` and waits until they are served.
pub async fn install_crds(bed: &TestBed) -> anyhow::Result<()> {
    let directory = workspace_root().join("crds/yaml");
    bed.kubectl(["apply".as_ref(), "-f".as_ref(), directory.as_os_str()])
        .await
        .context("applying the CRDs")?;
    until_served(bed).await
}

/// Applies all of the chart for mode Full, with [`ALL_RIGHTS`]: kinds, account, roles and admission policies; does nothing where
/// that was done before.
///
/// Its Deployment has no replicas, because the operator is a process of ours.
pub async fn install_chart(bed: &TestBed) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(bed.client());
    if namespaces.get_opt(SYSTEM_NAMESPACE).await?.is_none() {
        bed.create_namespace(SYSTEM_NAMESPACE).await?;
    }
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    if accounts.get_opt(RELEASE).await?.is_some() {
        return Ok(());
    }
    let rendered =
        RENDERED.get_or_try_init(async || render(&[]).await).await.context("rendering the chart")?;
    apply(bed, rendered).await
}

/// Applies the chart again with further values, such as `config.resources={cpu}`.
pub async fn upgrade_chart(bed: &TestBed, values: &[&str]) -> anyhow::Result<()> {
    apply(bed, &render(values).await.context("rendering the chart")?).await
}

async fn apply(bed: &TestBed, rendered: &str) -> anyhow::Result<()> {
    let apply = ["apply", "--server-side", "--force-conflicts", "--namespace", SYSTEM_NAMESPACE, "-f", "-"];
    bed.kubectl_with_input(apply, rendered).await.context("applying the chart")?;
    until_served(bed).await
}

/// Renders the chart for what the test bed serves.
const TEMPLATE: [&str; 4] =
    ["template", "--skip-tests", "--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"];

async fn render(more: &[&str]) -> anyhow::Result<String> {
    let values = [&["replicaCount=0", "config.mode=Full"], &ALL_RIGHTS[..], more].concat();
    Helm::find().await?.run(helm_arguments(&TEMPLATE, &values)).await
}

async fn until_served(bed: &TestBed) -> anyhow::Result<()> {
    let directory = workspace_root().join("crds/yaml");
    let wait = ["wait", "--for=condition=Established", "--timeout=30s", "-f"].map(OsStr::new);
    let waited = bed.kubectl(wait.into_iter().chain([directory.as_os_str()])).await;
    waited.map(drop).context("waiting for the CRDs to be served")
}
