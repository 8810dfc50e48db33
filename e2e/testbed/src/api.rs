//! The client of the tests.

use std::path::Path;

use http::header::{HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::TestBedError;

/// A client for the user of a kubeconfig.
pub(super) async fn client(kubeconfig: &Path) -> Result<Client, TestBedError> {
    let of = |reason: String| TestBedError::Client { path: kubeconfig.to_owned(), reason };
    let parsed = Kubeconfig::read_from(kubeconfig).map_err(|error| of(error.to_string()))?;
    let mut config = Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
        .await
        .map_err(|error| of(error.to_string()))?;
    // Tests want to see the 429 and 503 that the default would wait out for minutes.
    config.default_retry = false;
    config.proxy_url = None;
    config.headers.push((USER_AGENT, HeaderValue::from_static("quotient-testbed")));
    Client::try_from(config).map_err(|error| of(error.to_string()))
}
