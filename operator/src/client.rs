//! The connection to the API server.

use http::header::{HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::args::Args;

/// How the operator names itself to the API server; audit logs and flow control see it.
const NAME: &str = concat!("quotient-operator/", env!("CARGO_PKG_VERSION"));

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read or has no such context.
    #[error("read kubeconfig {file}: {source}")]
    Kubeconfig {
        /// The file, or where it was looked for.
        file: String,
        /// What is wrong with it.
        source: kube::config::KubeconfigError,
    },
    /// There is neither a kubeconfig nor a service account.
    #[error("find a cluster: {0}")]
    Infer(#[source] kube::config::InferConfigError),
    /// What was found cannot be used.
    #[error("set up the connection to {address}: {source}")]
    Client {
        /// The API server.
        address: String,
        /// Why not.
        source: kube::Error,
    },
}

/// A client of the cluster that `args` names, or the one that kubectl would use, or the one that this pod is in.
///
/// It never repeats a request by itself: whoever asks knows whether asking twice is harmless, and a refused
/// eviction would otherwise be repeated for six minutes. It also has no timeout of its own, because a watch may
/// rightly be silent for long: every other call is bounded by [`ask`](crate::answer::ask).
pub async fn connect(args: &Args) -> Result<Client, ConnectError> {
    let mut config = configuration(args).await?;
    config.default_retry = false;
    config.headers.push((USER_AGENT, HeaderValue::from_static(NAME)));
    let address = config.cluster_url.to_string();
    Client::try_from(config).map_err(|source| ConnectError::Client { address, source })
}

async fn configuration(args: &Args) -> Result<Config, ConnectError> {
    if args.kubeconfig.is_none() && args.context.is_none() {
        return Config::infer().await.map_err(ConnectError::Infer);
    }
    let file =
        args.kubeconfig.as_ref().map_or_else(|| "of kubectl".to_owned(), |file| file.display().to_string());
    let failed = |source| ConnectError::Kubeconfig { file: file.clone(), source };
    let options = KubeConfigOptions { context: args.context.clone(), ..KubeConfigOptions::default() };
    match &args.kubeconfig {
        Some(path) => {
            let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)
        }
        None => Config::from_kubeconfig(&options).await.map_err(failed),
    }
}
