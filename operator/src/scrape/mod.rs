//! Which clients may read the metrics and the last decisions: on loopback all of them, elsewhere over TLS those that the API
//! server vouches for.
//!
//! Shares and names of teams are not for every pod of the cluster. So there is no way to serve them openly beyond this
//! machine (or pod): either they are bound to loopback, for a sidecar that knows who may read, or every scrape brings a
//! bearer token, which the API server reviews.
//!
//! RBAC, only for the second way: `tokenreviews` and `subjectaccessreviews` create. A scraper needs the verb `get` on the
//! non-resource URL `/metrics`. A decision names the pods and workloads of all teams, which no metric does. So a record needs
//! the right to list all pods besides; without it, the list of decisions leaves these names out.

mod access;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Router;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kube::Client;
use prometheus::{Encoder as _, Registry, TextEncoder};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::certificate::Certificates;
use crate::connections;
use crate::decisions::{Decision, Decisions};
use crate::failed::Failed;
use access::{Access, Gate, Right};

/// Where metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScrapeSettings {
    /// The address: loopback for every client that can reach it, any other for clients with a token.
    pub listen: SocketAddr,
    /// The directory with `tls.crt` and `tls.key`; a certificate made at the start if there is none.
    pub certificate: Option<PathBuf>,
}

/// Serves the metrics of one registry.
#[derive(Debug)]
pub struct Scrapes {
    listener: TcpListener,
    certificates: Option<Certificates>,
}

impl Scrapes {
    /// Opens the listener; done before anything else, so that a taken port is noticed at once.
    pub async fn open(settings: &ScrapeSettings) -> Result<Self, Failed> {
        let address = settings.listen;
        let listener = connections::listen("serve metrics on", address).await?;
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
    pub async fn serve(self, served: Served, client: Client, stop: CancellationToken) {
        let Self { listener, certificates } = self;
        let gate = certificates.is_some().then(|| Gate::new(client));
        connections::serve(listener, certificates, router(served, gate), stop).await;
    }
}

/// What clients may read.
#[derive(Clone, Debug)]
pub struct Served {
    /// The metrics.
    pub registry: Registry,
    /// The last decisions that acted.
    pub decisions: Decisions,
}

/// The path that scrapers ask for.
const METRICS: &str = "/metrics";

fn router(served: Served, gate: Option<Gate>) -> Router {
    Router::new()
        .route(METRICS, get(metrics))
        .route("/decisions", get(decisions))
        .route("/decisions/{number}", get(decision))
        .with_state(served)
        .layer(from_fn_with_state(gate, only_readers))
}

/// Whether a client may list all pods; where not, the answer for it.
#[derive(Clone, Debug)]
struct SeesPods(Result<(), String>);

async fn only_readers(State(gate): State<Option<Gate>>, mut request: Request, next: Next) -> Response {
    let mut sees_pods = SeesPods(Ok(()));
    if let Some(gate) = &gate {
        let token = bearer(request.headers());
        let access = gate.ask(token, Right::ReadMetrics).await;
        if access != Access::Granted {
            return refusal(&access, Right::ReadMetrics);
        }
        if request.uri().path() != METRICS {
            match gate.ask(token, Right::ListPods).await {
                Access::Granted => {}
                Access::Denied(user) => sees_pods = SeesPods(Err(user)),
                unclear => return refusal(&unclear, Right::ListPods),
            }
        }
    }
    request.extensions_mut().insert(sees_pods);
    next.run(request).await
}

/// What each decision is about, the newest first.
async fn decisions(State(served): State<Served>, Extension(sees_pods): Extension<SeesPods>) -> Response {
    let mut list = served.decisions.list();
    if sees_pods.0.is_err() {
        list.iter_mut().for_each(Decision::hide_pods);
    }
    encoded("decisions", "application/json", serde_json::to_vec(&list))
}

/// One decision as `kubectl quotient replay` reads it; `latest` for the newest.
async fn decision(
    State(served): State<Served>,
    Extension(sees_pods): Extension<SeesPods>,
    Path(number): Path<String>,
) -> Response {
    if let Err(user) = sees_pods.0 {
        return refusal(&Access::Denied(user), Right::ListPods);
    }
    let wanted = if number == "latest" { Ok(None) } else { number.parse().map(Some) };
    match wanted.ok().and_then(|number| served.decisions.file(number)) {
        Some(file) => ([(header::CONTENT_TYPE, "application/octet-stream")], file).into_response(),
        None => (StatusCode::NOT_FOUND, format!("decision {number} is not kept: see /decisions\n"))
            .into_response(),
    }
}

async fn metrics(State(served): State<Served>) -> Response {
    let encoder = TextEncoder::new();
    let mut text = Vec::new();
    let encoding = encoder.encode(&served.registry.gather(), &mut text);
    encoded("metrics", encoder.format_type(), encoding.map(|()| text))
}

fn encoded<E: fmt::Display>(what: &str, content_type: &str, encoding: Result<Vec<u8>, E>) -> Response {
    match encoding {
        Ok(text) => ([(header::CONTENT_TYPE, content_type)], text).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("encode {what}: {error}\n")).into_response()
        }
    }
}

/// The token of `Authorization: Bearer TOKEN`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

fn refusal(access: &Access, right: Right) -> Response {
    match access {
        Access::Granted => StatusCode::OK.into_response(),
        Access::Unknown => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            "send a bearer token that the API server accepts\n",
        )
            .into_response(),
        Access::Denied(user) => (StatusCode::FORBIDDEN, format!("{user} needs {right}\n")).into_response(),
        Access::Unclear(why) => {
            let message = format!("cannot ask the API server whether you may read metrics: {why}\n");
            (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
    }
}

#[cfg(test)]
mod tests;
