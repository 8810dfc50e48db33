//! Identities: kubeconfigs for others than the test itself, so that RBAC is tested and the audit log can tell who
//! did what.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use http::header::{HeaderValue, USER_AGENT};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

use super::TestBed;
use super::pki::file_name;

impl TestBed {
    /// A kubeconfig for the user `user`, in `group` if one is given, by client certificate. The user has the rights
    /// that RBAC gives to it: none, to begin with. The group `system:masters` has all.
    pub fn user_kubeconfig(&self, user: &str, group: Option<&str>) -> anyhow::Result<PathBuf> {
        let path = self.layout.kubeconfig(&format!("user-{}", file_name(user)));
        self.layout.user_kubeconfig(&path, user, group)?;
        Ok(path)
    }

    /// A kubeconfig for an existing service account, by a token that is valid for a day.
    pub async fn service_account_kubeconfig(&self, namespace: &str, name: &str) -> anyhow::Result<PathBuf> {
        let user = format!("system:serviceaccount:{namespace}:{name}");
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let request = TokenRequest {
            spec: Some(TokenRequestSpec { expiration_seconds: Some(86_400), ..TokenRequestSpec::default() }),
            ..TokenRequest::default()
        };
        let answer = accounts
            .create_token_request(name, &PostParams::default(), &request)
            .await
            .with_context(|| format!("asking for a token of {user}"))?;
        let token = answer.status.and_then(|status| status.token).unwrap_or_default();
        let path = self.layout.kubeconfig(&format!("serviceaccount-{namespace}-{}", file_name(name)));
        self.layout.write_kubeconfig(&path, &user, &json!({"token": token}))?;
        Ok(path)
    }

    /// A kubeconfig for the user `name` with this `ClusterRole`, in one namespace or in the whole cluster, and no other right.
    pub async fn user_with_role(
        &self,
        name: &str,
        role: &str,
        namespace: Option<&str>,
    ) -> anyhow::Result<PathBuf> {
        let kind = if namespace.is_some() { "rolebinding" } else { "clusterrolebinding" };
        let (role, user) = (format!("--clusterrole={role}"), format!("--user={name}"));
        let place = namespace.map(|namespace| format!("--namespace={namespace}"));
        self.kubectl(["create", kind, name, &role, &user].into_iter().chain(place.as_deref())).await?;
        self.user_kubeconfig(name, None)
    }

    /// A client for the user of a kubeconfig; like [`TestBed::client`], it repeats nothing by itself.
    pub async fn client_for(&self, kubeconfig: &Path) -> anyhow::Result<Client> {
        client(kubeconfig).await
    }
}

/// A client of a server that speaks plain HTTP, such as `http://127.0.0.1:8080`. It repeats nothing by itself.
pub fn client_of(server: &str) -> anyhow::Result<Client> {
    let mut config = Config::new(server.parse()?);
    // The certificates of this machine would be read for nothing.
    config.root_cert = Some(Vec::new());
    config.default_retry = false;
    config.proxy_url = None;
    Ok(Client::try_from(config)?)
}

/// A client for the user of a kubeconfig.
pub(super) async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let parsed = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await?;
    // Tests want to see the 429 and 503 that the default would wait out for minutes.
    config.default_retry = false;
    config.proxy_url = None;
    config.headers.push((USER_AGENT, HeaderValue::from_static("quotient-testbed")));
    Ok(Client::try_from(config)?)
}
