//! Kubeconfig files: who one is and where the API server is.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::pki::CertificateFiles;

/// Why a kubeconfig could not be written.
#[derive(Debug, thiserror::Error)]
#[error("writing the kubeconfig {path}: {source}", path = path.display())]
pub struct KubeconfigError {
    path: PathBuf,
    source: std::io::Error,
}

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
) -> Result<(), KubeconfigError> {
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
pub(super) fn write_plain(path: &Path, server: &str) -> Result<(), KubeconfigError> {
    save(path, &json!({"server": server}), "anonymous", &json!({}))
}

fn save(path: &Path, cluster: &Value, user: &str, proof: &Value) -> Result<(), KubeconfigError> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": cluster}],
        "users": [{"name": user, "user": proof}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
        "current-context": "testbed",
    });
    std::fs::write(path, format!("{config:#}\n"))
        .map_err(|source| KubeconfigError { path: path.to_owned(), source })
}
