//! Putting Quotient's kinds on an API server, the way its documentation says.

use std::time::Duration;

use anyhow::Context as _;

use super::workspace_root;
use crate::testbed::TestBed;

/// Applies the generated CRDs with plain `kubectl apply` and waits until they are served.
pub async fn install_crds(bed: &TestBed) -> anyhow::Result<()> {
    let directory = workspace_root().join("crds/yaml");
    let directory = directory.to_str().context("the workspace's path is no text")?;
    bed.kubectl(["apply", "-f", directory]).await.context("applying the CRDs")?;
    let timeout = format!("--timeout={}s", Duration::from_secs(30).as_secs());
    bed.kubectl(["wait", "--for=condition=Established", &timeout, "-f", directory])
        .await
        .context("waiting for the CRDs to be served")?;
    Ok(())
}
