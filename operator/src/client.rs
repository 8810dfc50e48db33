//! The connection to the API server.

use std::time::Duration;

use http::Request;
use http::header::{HeaderValue, USER_AGENT};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tokio::time::Instant;
use tower::service_fn;

use crate::args::Args;
use crate::failed::Failed;
use crate::metrics::StandardMetrics;
use crate::settings::stated;

/// How much longer than a watch a connection may be silent.
const BEYOND_WATCH: Duration = Duration::from_secs(15);

/// How the operator names itself to the API server; audit logs and flow control see it.
const NAME: &str = concat!("quotient-operator/", env!("CARGO_PKG_VERSION"));

/// A client of the cluster that `args` names, or the one that kubectl would use, or the one that this pod is in.
///
/// It never repeats a request by itself: the caller knows whether a second request is harmless, and a refused
/// eviction would otherwise be repeated for six minutes. Its own timeout is a long one, because a watch may rightly
/// be silent for minutes; it is there for lists. Every other call is bounded by [`ask`](crate::answer::ask).
pub async fn connect(args: &Args) -> Result<Client, Failed> {
    let mut config = configuration(args).await?;
    config.default_retry = false;
    // Counted from when a request is sent, not from when its connection went idle.
    config.reset_reader_on_write = true;
    config.read_timeout = Some(args.watch.timeout.saturating_add(BEYOND_WATCH));
    config.headers.push((USER_AGENT, HeaderValue::from_static(NAME)));
    let address = config.cluster_url.to_string();
    Client::try_from(config).map_err(Failed::to(format!("set up the connection to {address}")))
}

/// A client like `client` that counts and times its requests. Of an answer only the beginning is waited for.
pub(crate) fn measured(client: &Client, metrics: &StandardMetrics) -> Client {
    let namespace = client.default_namespace().to_owned();
    let (client, metrics) = (client.clone(), metrics.clone());
    let service = service_fn(move |request: Request<Body>| {
        let (client, metrics) = (client.clone(), metrics.clone());
        async move {
            let method = request.method().clone();
            let began = Instant::now();
            let answer = client.send(request).await;
            let code = answer.as_ref().ok().map(|response| response.status().as_u16());
            metrics.requested(method.as_str(), code, began.elapsed());
            answer
        }
    });
    Client::new(service, namespace)
}

async fn configuration(args: &Args) -> Result<Config, Failed> {
    let path = args.kubeconfig.as_ref().filter(|path| !path.as_os_str().is_empty());
    let context = stated(args.context.as_deref()).map(ToOwned::to_owned);
    if path.is_none() && context.is_none() {
        return Config::infer().await.map_err(Failed::to("find a cluster"));
    }
    let file = path.map_or_else(|| "of kubectl".to_owned(), |path| path.display().to_string());
    let failed = |error: KubeconfigError| Failed::to(format!("read kubeconfig {file}"))(error);
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    match path {
        Some(path) => {
            let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)
        }
        None => Config::from_kubeconfig(&options).await.map_err(failed),
    }
}
