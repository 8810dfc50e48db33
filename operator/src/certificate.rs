//! The certificate that metrics are served with: one from files, read again when they change, or one made at the start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::CertifiedKey;
use tokio::time::Instant;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem};
use tokio_rustls::rustls::{self, ServerConfig};
use tracing::warn;

use crate::failed::Failed;

/// How often files are read again: certificates are renewed long before they end.
const REREAD: Duration = Duration::from_secs(60);

/// The name in a certificate of our own. No client can check it; it only encrypts the connection.
const OWN_NAME: &str = "quotient-operator";

/// What fails where certificate and key do not fit, or are of a kind that is not supported.
const USE: &str = "use the certificate for metrics";

/// The certificate in use.
#[derive(Debug)]
pub(crate) struct Certificates {
    directory: Option<PathBuf>,
    current: Arc<ServerConfig>,
    read: Instant,
}

impl Certificates {
    /// Reads `tls.crt` and `tls.key` in `directory`, or makes a certificate if there is none.
    pub(crate) async fn load(directory: Option<PathBuf>) -> Result<Self, Failed> {
        let current = Arc::new(match &directory {
            Some(directory) => read(directory.clone()).await?,
            None => made()?,
        });
        Ok(Self { directory, current, read: Instant::now() })
    }

    /// The one to use now. What cannot be read any more stays in use as it was.
    pub(crate) async fn current(&mut self) -> Arc<ServerConfig> {
        if let Some(directory) = self.directory.clone().filter(|_| self.read.elapsed() >= REREAD) {
            self.read = Instant::now();
            match read(directory).await {
                Ok(config) => self.current = Arc::new(config),
                Err(error) => warn!(%error, "the former certificate for metrics stays in use"),
            }
        }
        Arc::clone(&self.current)
    }
}

/// Reads files on a thread of its own.
async fn read(directory: PathBuf) -> Result<ServerConfig, Failed> {
    let read = tokio::task::spawn_blocking(move || from_files(&directory)).await;
    read.unwrap_or_else(|error| Err(Failed::to(USE)(rustls::Error::General(error.to_string()))))
}

fn from_files(directory: &Path) -> Result<ServerConfig, Failed> {
    let file = directory.join("tls.crt");
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&file).and_then(Iterator::collect);
    let chain = chain.map_err(unread(&file))?;
    let file = directory.join("tls.key");
    let key = PrivateKeyDer::from_pem_file(&file).map_err(unread(&file))?;
    server(chain, key)
}

fn unread(file: &Path) -> impl FnOnce(pem::Error) -> Failed {
    Failed::to(format!("read {} for --metrics-certificate", file.display()))
}

fn made() -> Result<ServerConfig, Failed> {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([OWN_NAME.to_owned()])
        .map_err(Failed::to("make a certificate for metrics"))?;
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    server(vec![cert.der().clone()], key.into())
}

fn server(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<ServerConfig, Failed> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(Failed::to(USE))?;
    let config = builder.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.map_err(Failed::to(USE))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_read_and_what_is_wrong_with_them_is_named() {
        let directory = std::env::temp_dir().join(format!("quotient-certificate-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let error = Certificates::load(Some(directory.clone())).await.unwrap_err().to_string();
        assert!(error.contains("tls.crt"), "{error}");
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["scrape".to_owned()]).unwrap();
        std::fs::write(directory.join("tls.crt"), cert.pem()).unwrap();
        std::fs::write(directory.join("tls.key"), signing_key.serialize_pem()).unwrap();
        assert!(Certificates::load(Some(directory.clone())).await.is_ok());
        std::fs::write(directory.join("tls.key"), "nonsense").unwrap();
        let error = Certificates::load(Some(directory.clone())).await.unwrap_err().to_string();
        assert!(error.contains("tls.key"), "{error}");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
