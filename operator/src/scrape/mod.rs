//! Who may read the metrics, and how: on loopback anybody, elsewhere whom the API server vouches for, over TLS.
//!
//! Shares and names of teams are not for every pod of the cluster. So there is no way to serve them openly beyond this
//! machine (or pod): either they are bound to loopback, for a sidecar that knows who may read, or every scrape brings a
//! bearer token, which the API server reviews.
//!
//! RBAC, only for the second way: `tokenreviews` and `subjectaccessreviews` create. Who scrapes needs the verb `get` on
//! the non-resource URL `/metrics`.

mod access;
mod certificate;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kube::Client;
use prometheus::{Encoder as _, Registry, TextEncoder};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections::{Connections, only_answer};
use access::{Access, Gate};
pub use certificate::CertificateError;
use certificate::Certificates;
use tls::TlsListener;

/// Where metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScrapeSettings {
    /// The address: loopback for anybody who can reach it, any other for those with a token.
    pub listen: SocketAddr,
    /// The directory with `tls.crt` and `tls.key`; a certificate made at the start if there is none.
    pub certificate: Option<PathBuf>,
}

/// Why metrics are not served.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    /// The address is taken or not ours.
    #[error("serve metrics on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// There is no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// It failed later.
    #[error("serve metrics: {0}")]
    Serve(#[source] io::Error),
}

/// Serves the metrics of one registry.
#[derive(Debug)]
pub struct Scrapes {
    listener: TcpListener,
    certificates: Option<Certificates>,
}

impl Scrapes {
    /// Opens the listener; done before anything else, so that a taken port is noticed at once.
    pub async fn open(settings: &ScrapeSettings) -> Result<Self, ScrapeError> {
        let address = settings.listen;
        let listener =
            TcpListener::bind(address).await.map_err(|source| ScrapeError::Listen { address, source })?;
        let open = address.ip().is_loopback();
        let certificates =
            if open { None } else { Some(Certificates::load(settings.certificate.clone()).await?) };
        Ok(Self { listener, certificates })
    }

    /// Where it listens, as a URL.
    pub fn url(&self) -> Option<String> {
        let scheme = if self.certificates.is_some() { "https" } else { "http" };
        self.listener.local_addr().ok().map(|address| format!("{scheme}://{address}/metrics"))
    }

    /// Serves until `stop`.
    pub async fn serve(
        self,
        registry: Registry,
        client: Client,
        stop: CancellationToken,
    ) -> Result<(), ScrapeError> {
        let served = match self.certificates {
            None => {
                let router = router(registry, None);
                axum::serve(Connections::of(self.listener), router)
                    .with_graceful_shutdown(stop.cancelled_owned())
                    .await
            }
            Some(certificates) => {
                let router = router(registry, Some(Gate::new(client)));
                let listener = TlsListener::start(self.listener, certificates).map_err(ScrapeError::Serve)?;
                axum::serve(Connections::of(listener), router)
                    .with_graceful_shutdown(stop.cancelled_owned())
                    .await
            }
        };
        served.map_err(ScrapeError::Serve)
    }
}

#[derive(Clone)]
struct Shelf {
    registry: Registry,
    gate: Option<Gate>,
}

fn router(registry: Registry, gate: Option<Gate>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .with_state(Shelf { registry, gate })
        .layer(map_response(only_answer))
}

async fn metrics(State(shelf): State<Shelf>, headers: HeaderMap) -> Response {
    if let Some(gate) = &shelf.gate {
        let access = gate.ask(bearer(&headers)).await;
        if access != Access::Granted {
            return refusal(&access);
        }
    }
    let encoder = TextEncoder::new();
    let mut text = Vec::new();
    match encoder.encode(&shelf.registry.gather(), &mut text) {
        Ok(()) => ([(header::CONTENT_TYPE, encoder.format_type().to_owned())], text).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("encode metrics: {error}\n")).into_response()
        }
    }
}

/// The token of `Authorization: Bearer TOKEN`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

fn refusal(access: &Access) -> Response {
    match access {
        Access::Granted => StatusCode::OK.into_response(),
        Access::Unknown => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            "metrics are served to those who bring a bearer token that the API server knows\n",
        )
            .into_response(),
        Access::Denied(user) => {
            let message = format!("{user} needs the verb get on the non-resource URL /metrics\n");
            (StatusCode::FORBIDDEN, message).into_response()
        }
        Access::Unclear(why) => {
            let message = format!("cannot ask the API server whether you may read metrics: {why}\n");
            (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
    }
}

#[cfg(test)]
mod tests;
