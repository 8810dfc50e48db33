//! Kubeconfig files: who one is and where the API server is.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::pki::CertificateFiles;

/// How the bearer of a kubeconfig proves who it is.
#[derive(Debug)]
pub(super) enum Credential<'a> {
    /// By a client certificate.
    Certificate(&'a CertificateFiles),
    /// By the token of a service account.
    Token(&'a str),
}

/// Writes a kubeconfig for `user`. It is JSON, which is YAML.
pub(super) fn write(
    path: &Path,
    server: &str,
    authority: &Path,
    user: &str,
    credential: &Credential<'_>,
) -> anyhow::Result<()> {
    let proof = match credential {
        Credential::Certificate(files) => json!({
            "client-certificate": files.certificate,
            "client-key": files.key,
        }),
        Credential::Token(token) => json!({"token": token}),
    };
    save(path, &json!({"server": server, "certificate-authority": authority}), user, &proof)
}

/// Writes a kubeconfig for a server without authentication, over plain HTTP.
pub(super) fn write_plain(path: &Path, server: &str) -> anyhow::Result<()> {
    save(path, &json!({"server": server}), "anonymous", &json!({}))
}

fn save(path: &Path, cluster: &Value, user: &str, proof: &Value) -> anyhow::Result<()> {
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
