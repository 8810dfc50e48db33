//! The operator as a process under the test bed.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Programs, install_crds};
use crate::testbed::{ManagedProcess, ProcessSpec, TestBed, eventually, ports};

/// The user that the operator is for the API server, so that the audit log can tell its writes.
pub const OPERATOR_USER: &str = "quotient-operator";
/// The operator's own namespace.
pub const SYSTEM_NAMESPACE: &str = "quotient-system";

/// A running operator.
#[derive(Debug)]
pub struct Operator {
    process: ManagedProcess,
    listen: SocketAddr,
}

impl Operator {
    /// Installs the CRDs, starts the operator and waits until it is ready.
    pub async fn start(bed: &TestBed, programs: &Programs) -> anyhow::Result<Self> {
        install_crds(bed).await?;
        Self::start_with(bed, &programs.operator, &[]).await
    }

    /// Starts the operator with further arguments and waits until it is ready.
    pub async fn start_with(bed: &TestBed, program: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let namespaces: Api<Namespace> = Api::all(bed.client());
        if namespaces.get_opt(SYSTEM_NAMESPACE).await?.is_none() {
            bed.create_namespace(SYSTEM_NAMESPACE).await?;
        }
        let kubeconfig = bed.user_kubeconfig(OPERATOR_USER, Some("system:masters"))?;
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
        let spec = ProcessSpec::new("quotient-operator", program)
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .args(["--listen", &listen.to_string()])
            .args(["--lease-namespace", SYSTEM_NAMESPACE])
            // The nodes of a test bed do not flap.
            .args(["--node-ready-seconds", "0"])
            .args(arguments);
        let operator = Self { process: bed.spawn(&spec)?, listen };
        operator.wait_until_ready().await?;
        Ok(operator)
    }

    /// The process, to be signalled, and its log.
    pub fn process(&self) -> &ManagedProcess {
        &self.process
    }

    /// Where it serves /healthz, /readyz and /metrics.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// What the operator answers on `path`, such as `/metrics`: status code and body.
    pub async fn get(&self, path: &str) -> anyhow::Result<(u16, String)> {
        let mut stream = TcpStream::connect(self.listen).await.context("connecting to the operator")?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.listen);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, body) = answer.split_once("\r\n\r\n").context("the answer is no HTTP")?;
        let code = head.split_whitespace().nth(1).and_then(|code| code.parse().ok());
        Ok((code.context("the answer has no status code")?, body.to_owned()))
    }

    /// Ends the operator as Kubernetes would, and waits for it.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.process.terminate(Duration::from_secs(20)).await?;
        Ok(())
    }

    async fn wait_until_ready(&self) -> anyhow::Result<()> {
        let ready = eventually("the operator is ready", Duration::from_secs(30), async || {
            self.process.must_run()?;
            match self.get("/readyz").await? {
                (200, _) => Ok(()),
                (code, body) => bail!("{code}: {body}"),
            }
        });
        Ok(ready.await?)
    }
}
