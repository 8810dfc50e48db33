//! Kubeconfig files: the credentials and the address of the API server.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

/// Writes a kubeconfig for `user`, which shows the server this proof. It is JSON, which is YAML.
pub(super) fn write(path: &Path, cluster: &Value, user: &str, proof: &Value) -> anyhow::Result<()> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": cluster}],
        "users": [{"name": user, "user": proof}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
        "current-context": "testbed",
    });
    std::fs::write(path, format!("{config:#}\n")).with_context(|| format!("writing {}", path.display()))
}
