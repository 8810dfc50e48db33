//! A bad line: an HTTP proxy between one client and the API server that loses, delays, refuses and cuts by rule.
//!
//! The client speaks plain HTTP to a port of loopback and needs no credential; the proxy passes its requests on as the
//! user that it was made for. Whatever no rule is about passes unchanged, watches included.

mod call;
mod rule;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};

pub use call::Call;
pub use rule::{Fault, Rule};

use super::TestBed;
use super::kubeconfig;

/// A running proxy. It ends when it is dropped.
pub struct Proxy {
    kubeconfig: PathBuf,
    shared: Arc<Shared>,
    held: UnboundedReceiver<Call>,
    server: JoinHandle<()>,
}

struct Shared {
    upstream: Client,
    rules: Mutex<Vec<Rule>>,
    held: UnboundedSender<Call>,
}

/// Why a request got no answer: the connection is cut.
#[derive(Debug, thiserror::Error)]
#[error("the proxy cuts the connection")]
struct Cut;

impl TestBed {
    /// Starts a proxy whose client is `user`, in `group` if one is given, for the API server.
    pub async fn proxy(&self, user: &str, group: Option<&str>) -> anyhow::Result<Proxy> {
        let upstream = self.client_for(&self.user_kubeconfig(user, group)?).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let kubeconfig = self.layout.kubeconfig(&format!("proxy-{}", address.port()));
        let cluster = json!({"server": format!("http://{address}")});
        kubeconfig::write(&kubeconfig, &cluster, "anonymous", &json!({}))?;
        let (sender, held) = unbounded_channel();
        let shared = Arc::new(Shared { upstream, rules: Mutex::default(), held: sender });
        let server = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Proxy { kubeconfig, shared, held, server })
    }
}

impl Proxy {
    /// The kubeconfig of its client.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// From now on these rules hold, each counting from zero, and no others. The first that strikes decides.
    pub fn obey(&self, rules: Vec<Rule>) {
        *self.shared.rules() = rules;
    }

    /// Waits for a request that a rule holds ([`Fault::HoldBefore`], [`Fault::HoldAfter`]).
    pub async fn held(&mut self) -> Call {
        match self.held.recv().await {
            Some(call) => call,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        // A task that panicked with the lock had only counted.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens to this request, if anything.
    fn fault(&self, call: &Call) -> Option<Fault> {
        self.rules().iter_mut().find_map(|rule| rule.strikes(call))
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
        let call = Call::of(&request);
        match self.fault(&call) {
            None => self.pass_on(request).await,
            Some(Fault::Delay(time)) => {
                tokio::time::sleep(time).await;
                self.pass_on(request).await
            }
            Some(Fault::Refuse { code, retry_after }) => Ok(refusal(code, retry_after)),
            Some(Fault::CutBefore) => Err(Cut),
            Some(Fault::CutAfter) => {
                drop(self.pass_on(request).await);
                Err(Cut)
            }
            Some(Fault::HoldBefore) => self.hold(call).await,
            Some(Fault::HoldAfter) => {
                drop(self.pass_on(request).await);
                self.hold(call).await
            }
        }
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
        let (mut head, body) = request.into_parts();
        // What belongs only to the connection to the proxy.
        head.headers.remove(header::HOST);
        head.headers.remove(header::CONNECTION);
        let body = body.collect().await.map_err(|_| Cut)?.to_bytes().to_vec();
        self.upstream.send(Request::from_parts(head, Body::from(body))).await.map_err(|_| Cut)
    }

    async fn hold(&self, call: Call) -> Result<Response<Body>, Cut> {
        // Without a receiver nothing acts on it either.
        let _ = self.held.send(call);
        std::future::pending().await
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    // Aborted with the set, when the proxy ends.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _client)) = accepted {
                    connections.spawn(serve(stream, Arc::clone(&shared)));
                }
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.answer(request).await }
    });
    // How a connection ends is its client's concern.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An answer as the API server words it.
fn refusal(code: u16, retry_after: Option<u32>) -> Response<Body> {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "reason": "Injected",
        "message": "the proxy of the test refuses this request",
        "code": code,
    });
    let mut response = Response::new(Body::from(status.to_string().into_bytes()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
