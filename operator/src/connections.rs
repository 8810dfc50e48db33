//! A listener with few connections at a time, each of which serves one request and ends soon.
//!
//! Any pod that reaches the port may open connections and say nothing. So the number of connections is bounded, which bounds
//! memory and file descriptors, and a new connection replaces the oldest one: a kubelet that asks now is answered, whatever
//! else is open. The time in which a client agrees on encryption counts, too.
//!
//! By hand, because the crates for it bound nothing: `axum::serve` keeps every connection for as long as its client likes, and
//! `tls-listener` and `axum-server` every handshake.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;

use crate::certificate::Certificates;
use crate::failed::Failed;

/// The most connections of one listener. Kubelets and a few scrapers ask, each for moments; hyper may keep 400 kB of the
/// headers of each, and 32 of them fit into the memory that the chart grants.
const MOST: usize = 32;

/// How long a connection may last. A scrape that the API server has to review twice takes at most half of it; each connection
/// serves one request.
const LONGEST: Duration = Duration::from_secs(30);

/// How long to wait after the system could not accept a connection, for want of files perhaps.
const ACCEPT_BACKOFF: Duration = Duration::from_secs(1);

/// Opens a listener; done before anything else, so that a taken port is noticed at once. `attempt` begins the error.
pub(crate) async fn listen(attempt: &str, address: SocketAddr) -> Result<TcpListener, Failed> {
    TcpListener::bind(address).await.map_err(Failed::to(format!("{attempt} {address}")))
}

/// Serves until `stop`; encrypted if there are certificates.
pub(crate) async fn serve(
    listener: TcpListener,
    mut certificates: Option<Certificates>,
    router: Router,
    stop: CancellationToken,
) {
    // The oldest first. A connection ends when it is dropped.
    let mut open: VecDeque<AbortOnDropHandle<()>> = VecDeque::new();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let (stream, address) = match accepted {
            Ok(connection) => connection,
            Err(error) => {
                debug!(%error, "a connection was not accepted");
                // Else a client that resets its connections would delay the others.
                if !matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) {
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
                continue;
            }
        };
        let tls = match &mut certificates {
            Some(certificates) => Some(TlsAcceptor::from(certificates.current().await)),
            None => None,
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MOST {
            open.pop_front();
        }
        let router = router.clone();
        open.push_back(AbortOnDropHandle::new(tokio::spawn(async move {
            match timeout(LONGEST, connected(stream, tls, router)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => debug!(%error, %address, "a connection failed"),
                Err(_) => debug!(%address, "a connection lasted for too long"),
            }
        })));
    }
}

async fn connected(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) -> io::Result<()> {
    match tls {
        Some(tls) => answered(tls.accept(stream).await?, router).await,
        None => answered(stream, router).await,
    }
}

/// Answers one request, and closes the connection: a later request could be cut off.
async fn answered(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router) -> io::Result<()> {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    connection.await.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A server on loopback, and where it is.
    async fn serve(certificates: Option<Certificates>) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "ok" }));
        tokio::spawn(super::serve(listener, certificates, router, CancellationToken::new()));
        address
    }

    /// Many connections that say nothing.
    async fn idle(address: SocketAddr) -> Vec<TcpStream> {
        let mut idle = Vec::new();
        for _ in 0..300 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        idle
    }

    /// How many of them the server has closed.
    async fn closed(idle: Vec<TcpStream>) -> usize {
        let mut closed: usize = 0;
        for mut stream in idle {
            let mut byte = [0];
            let end = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut byte)).await;
            closed = closed.saturating_add(usize::from(end.is_ok()));
        }
        closed
    }

    async fn asked(stream: &mut TcpStream) -> String {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn idle_connections_are_replaced_and_delay_no_client() {
        let address = serve(None).await;
        let idle = idle(address).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(10), asked(&mut stream)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
        assert_eq!(closed(idle).await, 300 - MOST + 1);
    }

    #[tokio::test]
    async fn clients_that_do_not_agree_on_encryption_are_replaced() {
        let address = serve(Some(Certificates::load(None).await.unwrap())).await;
        let idle = idle(address).await;
        assert_eq!(closed(idle).await, 300 - MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_says_nothing_ends() {
        let address = serve(None).await;
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
        let begun = tokio::time::Instant::now();
        let mut answer = Vec::new();
        let _ = slow.read_to_end(&mut answer).await;
        let lasted = begun.elapsed();
        assert!(lasted <= LONGEST.saturating_add(Duration::from_secs(1)), "{lasted:?}");
    }
}
