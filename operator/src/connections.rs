//! A listener with few connections at a time, each of which ends soon.
//!
//! Any pod that reaches the port may open connections and say nothing. So the number of connections is bounded, which bounds
//! memory and file descriptors, and a new connection replaces the oldest one: a kubelet that asks now is answered, whatever
//! else is open.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Response, header};
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::failed::Failed;

/// The most connections of one listener. Kubelets and a few scrapers ask, each for moments; hyper may keep 400 kB of the
/// headers of each, and 32 of them fit into the memory that the chart grants.
const MOST: usize = 32;

/// How long a connection may last. A scrape that the API server has to review twice takes at most half of it; each connection
/// serves one request.
const LONGEST: Duration = Duration::from_secs(30);

/// Opens a listener; done before anything else, so that a taken port is noticed at once. `attempt` begins the error.
pub(crate) async fn listen(attempt: &str, address: SocketAddr) -> Result<TcpListener, Failed> {
    TcpListener::bind(address).await.map_err(Failed::to(format!("{attempt} {address}")))
}

/// Serves until `stop`. `attempt` begins the error.
pub(crate) async fn serve<L: Listener<Addr: fmt::Debug>>(
    attempt: &str,
    listener: L,
    router: Router,
    stop: CancellationToken,
) -> Result<(), Failed> {
    axum::serve(Connections::of(listener), router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(Failed::to(attempt))
}

/// The connections of a listener.
pub(crate) struct Connections<L> {
    listener: L,
    /// Those that may still be open, the oldest first.
    open: VecDeque<Weak<CancellationToken>>,
}

impl<L> Connections<L> {
    /// Bounds what `listener` accepts.
    pub(crate) const fn of(listener: L) -> Self {
        Self { listener, open: VecDeque::new() }
    }

    /// Makes room for one more.
    fn replace_oldest(&mut self) {
        self.open.retain(|end| end.strong_count() > 0);
        while self.open.len() >= MOST {
            if let Some(end) = self.open.pop_front().and_then(|end| end.upgrade()) {
                end.cancel();
            }
        }
    }
}

impl<L: Listener> Listener for Connections<L> {
    type Io = Connection<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = self.listener.accept().await;
        self.replace_oldest();
        let end = Arc::new(CancellationToken::new());
        self.open.push_back(Arc::downgrade(&end));
        (Connection::of(stream, end), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// One connection, which fails once it has lasted for too long or is replaced.
pub(crate) struct Connection<S> {
    stream: S,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_ended: bool,
    /// Held for as long as the connection is open.
    _token: Arc<CancellationToken>,
}

impl<S> Connection<S> {
    fn of(stream: S, token: Arc<CancellationToken>) -> Self {
        let replaced = (*token).clone().cancelled_owned();
        let end = Box::pin(async move { drop(tokio::time::timeout(LONGEST, replaced).await) });
        Self { stream, end, is_ended: false, _token: token }
    }

    /// Fails if the connection has to end, and has the task woken when it does.
    fn lasts(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        self.is_ended = self.is_ended || self.end.as_mut().poll(context).is_ready();
        if self.is_ended { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Has the connection closed after this answer, so that a later request cannot be cut off.
pub(crate) async fn only_answer<B>(mut response: Response<B>) -> Response<B> {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::map_response;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// A server on loopback, and where it is.
    async fn serve() -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "ok" })).layer(map_response(only_answer));
        tokio::spawn(axum::serve(Connections::of(listener), router).into_future());
        address
    }

    async fn asked(stream: &mut TcpStream) -> String {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn idle_connections_are_replaced_and_delay_no_client() {
        let address = serve().await;
        let mut idle = Vec::new();
        for _ in 0..300 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(10), asked(&mut stream)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
        let mut closed: usize = 0;
        for stream in &mut idle {
            let mut byte = [0];
            let end = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut byte)).await;
            closed = closed.saturating_add(usize::from(end.is_ok()));
        }
        assert_eq!(closed, 300 - MOST + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_says_nothing_ends() {
        let address = serve().await;
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
        let begun = tokio::time::Instant::now();
        let mut answer = Vec::new();
        let _ = slow.read_to_end(&mut answer).await;
        let lasted = begun.elapsed();
        assert!(lasted <= LONGEST.saturating_add(Duration::from_secs(1)), "{lasted:?}");
    }
}
