//! A listener whose connections are encrypted before the first HTTP request.
//!
//! By hand, because the crates for it would let any pod that reaches the port do harm: `tls-listener` and `axum-server` bound no
//! handshakes, and the first logs each one that fails as an error.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::debug;

use super::certificate::Certificates;

/// How long a client may take to agree on encryption.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How many clients may be at that at the same time.
const AT_ONCE: usize = 16;

/// How long to wait after the system could not accept a connection, for want of files perhaps.
const ACCEPT_BACKOFF: Duration = Duration::from_secs(1);

/// Hands out connections once they are encrypted, so that a slow client delays no other client.
pub(super) struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    /// Ends with the listener.
    _accepting: JoinSet<()>,
}

impl TlsListener {
    pub(super) fn start(listener: TcpListener, certificates: Certificates) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(AT_ONCE);
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, certificates, sender));
        Ok(Self { address, ready, _accepting: accepting })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}

async fn accept(
    listener: TcpListener,
    mut certificates: Certificates,
    sender: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, address) = match listener.accept().await {
            Ok(connection) => connection,
            Err(error) => {
                debug!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        let acceptor = TlsAcceptor::from(certificates.current().await);
        let sender = sender.clone();
        tokio::spawn(async move {
            let _place = place;
            match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                // Only fails once the server has ended.
                Ok(Ok(stream)) => drop(sender.send((stream, address)).await),
                Ok(Err(error)) => debug!(%error, %address, "no encryption was agreed on"),
                Err(_) => debug!(%address, "no encryption was agreed on in time"),
            }
        });
    }
}
