//! The flags of the connection, named as kubectl names them.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use jiff::SignedDuration;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::proxy;
use crate::exit::ClusterError;

/// How the cluster is reached.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// The kubeconfig to use instead of the one that kubectl would use.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig; its current one if left out.
    #[arg(long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) context: Option<String>,

    /// The namespace; that of the context if left out.
    #[arg(short = 'n', long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) namespace: Option<String>,

    /// Ask the API server as this user.
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) impersonate: Option<String>,

    /// How long one request may take, such as 90s or 5m.
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s", value_parser = timeout)]
    pub(crate) request_timeout: Duration,
}

/// `30`, `30s` or `1m`, as kubectl takes it.
fn timeout(text: &str) -> Result<Duration, String> {
    let span = || text.parse::<SignedDuration>().ok().and_then(|span| u64::try_from(span.as_secs()).ok());
    let seconds = text.parse::<u64>().ok().or_else(span).filter(|seconds| (1..=3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "write a duration from 1s to 1h".to_owned())
}

/// How the command names itself to the API server.
const NAME: &str = concat!("kubectl-quotient/", env!("CARGO_PKG_VERSION"));

/// Certificates for a kubeconfig that names none: those of the system. A system without any, such as the image, has those of
/// Mozilla.
fn built_in_certificates() -> Option<Vec<Vec<u8>>> {
    if cfg!(not(target_os = "linux")) || !rustls_native_certs::load_native_certs().certs.is_empty() {
        return None;
    }
    Some(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(|certificate| certificate.to_vec()).collect())
}

impl ConnectionArgs {
    /// A client and the namespace that commands are about.
    pub(super) async fn client(&self) -> Result<(Client, String, String), ClusterError> {
        let mut config = self.config().await?;
        config.auth_info.impersonate = self.impersonate.clone().or(config.auth_info.impersonate);
        config.read_timeout = Some(self.request_timeout);
        config.connect_timeout = Some(self.connect_timeout());
        if config.root_cert.is_none() && config.root_cert_file.is_none() {
            config.root_cert = built_in_certificates();
        }
        config.headers.push((http::header::USER_AGENT, http::header::HeaderValue::from_static(NAME)));
        let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let address = config.cluster_url.host().unwrap_or("cluster").to_owned();
        proxy::bypass(&mut config);
        let client = Client::try_from(config).map_err(ClusterError::config)?;
        Ok((client, namespace, address))
    }

    /// The namespace of what names none: that of `-n`, else that of the context.
    pub(crate) async fn default_namespace(&self) -> Result<String, ClusterError> {
        match &self.namespace {
            Some(namespace) => Ok(namespace.clone()),
            None => Ok(self.config().await?.default_namespace),
        }
    }

    fn connect_timeout(&self) -> Duration {
        self.request_timeout.min(Duration::from_secs(10))
    }

    async fn config(&self) -> Result<Config, ClusterError> {
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let files = self.kubeconfig.clone().map_or_else(files_of_environment, |file| vec![file]);
        if !files.is_empty() {
            let read = files.iter().try_fold(Kubeconfig::default(), |read, file| {
                Kubeconfig::read_from(file).and_then(|next| read.merge(next))
            });
            let kubeconfig = read.map_err(ClusterError::config)?;
            return Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(ClusterError::config);
        }
        if self.context.is_some() {
            return Config::from_kubeconfig(&options).await.map_err(ClusterError::config);
        }
        Config::infer().await.map_err(|error| {
            let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            ClusterError::config(format_args!("{cause}; set KUBECONFIG or --kubeconfig"))
        })
    }

    /// What a server beside the API server returns to the user of the kubeconfig.
    ///
    /// The request has the user's token, so the connection is encrypted and the certificate of the server is verified. Neither
    /// matters where only this machine or the cluster can answer: the operator makes its own certificate if it is given none.
    pub(crate) async fn fetch(&self, url: &str) -> Result<Vec<u8>, ClusterError> {
        let url: http::Uri =
            url.parse().map_err(|error| ClusterError::config(format_args!("{url}: {error}")))?;
        let is_near = url.host().is_some_and(is_near);
        if !is_near && url.scheme() != Some(&http::uri::Scheme::HTTPS) {
            return Err(ClusterError::Other(format!(
                "get {url}: the request has your token, so it goes to another machine only by https"
            )));
        }
        let mut config = self.config().await?;
        config.accept_invalid_certs = is_near;
        config.read_timeout = Some(self.request_timeout);
        config.connect_timeout = Some(self.connect_timeout());
        config.root_cert = built_in_certificates();
        (config.root_cert_file, config.tls_server_name) = (None, None);
        let mut server = url.clone().into_parts();
        server.path_and_query = Some(http::uri::PathAndQuery::from_static("/"));
        config.cluster_url = http::Uri::from_parts(server).map_err(ClusterError::config)?;
        proxy::bypass(&mut config);
        let client = Client::try_from(config).map_err(ClusterError::config)?;
        let failed = |error| ClusterError::of(error, "get", &url.to_string(), None);
        let request = http::Request::get(url.path()).body(kube::client::Body::empty());
        let response =
            client.send(request.map_err(kube::Error::HttpError).map_err(failed)?).await.map_err(failed)?;
        let (is_fine, status) = (response.status().is_success(), response.status());
        let body = response.into_body().collect_bytes().await.map_err(failed)?.to_vec();
        let said = || String::from_utf8_lossy(&body).trim().to_owned();
        if is_fine { Ok(body) } else { Err(ClusterError::Other(format!("get {url}: {status}: {}", said()))) }
    }
}

/// The files that `KUBECONFIG` lists and that exist: as with kubectl, one of several may be missing.
fn files_of_environment() -> Vec<PathBuf> {
    let listed = std::env::var_os("KUBECONFIG").unwrap_or_default();
    std::env::split_paths(&listed).filter(|file| file.exists()).collect()
}

/// Whether `host` is this machine, or a Service by the name that it has inside the cluster alone.
fn is_near(host: &str) -> bool {
    let is_service = [".svc", ".svc.cluster.local"].into_iter().any(|end| host.ends_with(end));
    is_service || matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_no_unverified_server_elsewhere() {
        for near in ["localhost", "127.0.0.1", "[::1]", "quotient-metrics.quotient-system.svc"] {
            assert!(is_near(near), "{near}");
        }
        for elsewhere in ["metrics.example.com", "a.svc.example.com", "svc", "10.0.0.1"] {
            assert!(!is_near(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn a_request_may_take_as_long_as_with_kubectl() {
        let seconds = |text| timeout(text).map(|duration| duration.as_secs());
        assert_eq!([seconds("30"), seconds("90s"), seconds("1m30s")], [Ok(30), Ok(90), Ok(90)]);
        for wrong in ["0", "", "s", "-1m", "2h", "1.5"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_token_leaves_this_machine_only_encrypted() {
        let connection =
            ConnectionArgs { kubeconfig: Some("/nonexistent".into()), ..ConnectionArgs::default() };
        let refused = async |url| connection.fetch(url).await.unwrap_err().to_string();
        for url in ["http://metrics.example.com/decisions/latest", "http://10.0.0.1:8443/metrics"] {
            let said = refused(url).await;
            assert_eq!(
                said,
                format!("get {url}: the request has your token, so it goes to another machine only by https")
            );
        }
        for url in ["https://metrics.example.com/metrics", "http://localhost:8080/metrics"] {
            let said = refused(url).await;
            assert!(said.starts_with("find the cluster: "), "{said}");
        }
    }
}
