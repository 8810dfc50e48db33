//! The client of the tests.

use std::path::Path;

use http::header::{HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

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
