//! The operator as a process under the test bed.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use http::Request;
use kube::client::Body;

use super::identity::{OPERATOR_GROUP, OPERATOR_USER, SYSTEM_NAMESPACE};
use super::{Programs, install_chart, installed};
use crate::testbed::proxy::Proxy;
use crate::testbed::{ManagedProcess, PATIENCE, TestBed, client_of, eventually, ports, until_is};

/// A running operator.
#[derive(Debug)]
pub struct Operator {
    process: ManagedProcess,
    health: SocketAddr,
    metrics: SocketAddr,
}

/// The flag that says where metrics are served.
const METRICS_LISTEN: &str = "--metrics-listen";

/// A Lease that is over soon, so that a test waits for no dead leader, and that a busy machine keeps all the same.
pub const SHORT_LEASE: [&str; 6] = [
    "--lease-duration-seconds=6",
    "--lease-renew-deadline-seconds=4",
    "--lease-retry-seconds=1",
    "--resync-seconds=5",
    "--status-interval-seconds=1",
    "--log-level=info",
];

impl Operator {
    /// Installs the chart, starts the operator and waits until it is ready.
    pub async fn start(bed: &TestBed, programs: &Programs) -> anyhow::Result<Self> {
        Self::start_with(bed, &programs.operator, &[]).await
    }

    /// Starts the operator with further arguments and waits until it is ready.
    pub async fn start_with(bed: &TestBed, program: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let kubeconfig = bed.user_kubeconfig(OPERATOR_USER, Some(OPERATOR_GROUP))?;
        Self::start_as(bed, program, &kubeconfig, arguments).await
    }

    /// Starts the operator behind a proxy, with [`SHORT_LEASE`], and waits until it is ready.
    pub async fn start_behind(proxy: &Proxy, bed: &TestBed, program: &Path) -> anyhow::Result<Self> {
        Self::start_as(bed, program, proxy.kubeconfig(), &SHORT_LEASE).await
    }

    /// Starts the operator with a kubeconfig of its own, that of a proxy perhaps, and waits until it is ready.
    pub async fn start_as(
        bed: &TestBed,
        program: &Path,
        kubeconfig: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        install_chart(bed).await?;
        Self::start_with_kubeconfig(bed, program, kubeconfig, arguments).await
    }

    /// Starts the operator with all rights, as the README runs it outside of a cluster: no chart, and so no Helm. The kinds
    /// and the operator's namespace have to be there.
    pub async fn start_as_admin(bed: &TestBed, program: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_with_kubeconfig(bed, program, &bed.kubeconfig_path(), arguments).await
    }

    async fn start_with_kubeconfig(
        bed: &TestBed,
        program: &Path,
        kubeconfig: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        // The nodes of a test bed do not flap.
        let own = ["--lease-namespace", SYSTEM_NAMESPACE, "--node-ready-seconds", "0"];
        Self::spawn(bed, program, kubeconfig, &[&own, arguments].concat()).await
    }

    /// Starts the operator as the installed chart would: its arguments, its account's token. Only where it listens and
    /// where the cluster is, which a pod is told otherwise, are ours.
    pub async fn start_as_installed(bed: &TestBed, program: &Path) -> anyhow::Result<Self> {
        let (account, arguments) = installed(bed).await?;
        let kubeconfig = bed.service_account_kubeconfig(SYSTEM_NAMESPACE, &account).await?;
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments
            .retain(|argument| !argument.starts_with("--listen=") && !argument.starts_with(METRICS_LISTEN));
        Self::spawn(bed, program, &kubeconfig, &arguments).await
    }

    async fn spawn(
        bed: &TestBed,
        program: &Path,
        kubeconfig: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        let health = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
        let metrics = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
        let mut command = Command::new(program);
        command.arg("--kubeconfig").arg(kubeconfig).arg(format!("--listen={health}")).args(arguments);
        if !arguments.iter().any(|argument| argument.starts_with(METRICS_LISTEN)) {
            command.arg(format!("{METRICS_LISTEN}={metrics}"));
        }
        let operator = Self { process: bed.spawn("quotient-operator", command)?, health, metrics };
        operator.wait_until_ready().await?;
        Ok(operator)
    }

    /// The process, to be signalled, and its log.
    pub fn process(&self) -> &ManagedProcess {
        &self.process
    }

    /// Where it serves /metrics, to every client on this machine, unless its arguments said otherwise.
    pub fn metrics(&self) -> SocketAddr {
        self.metrics
    }

    /// What the operator answers on `path`, such as `/metrics`: status code and body.
    pub async fn get(&self, path: &str) -> anyhow::Result<(u16, String)> {
        let (code, body) = self.get_bytes(path).await?;
        Ok((code, String::from_utf8(body)?))
    }

    /// The same of a body that is no text.
    pub async fn get_bytes(&self, path: &str) -> anyhow::Result<(u16, Vec<u8>)> {
        let is_guarded = ["/metrics", "/decisions"].iter().any(|root| path.starts_with(root));
        let address = if is_guarded { self.metrics } else { self.health };
        let client = client_of(&format!("http://{address}"))?;
        let answer =
            client.send(Request::get(path).body(Body::empty())?).await.context("asking the operator")?;
        let code = answer.status().as_u16();
        Ok((code, answer.into_body().collect_bytes().await?.to_vec()))
    }

    /// The value of one series, such as `quotient_leader` or `quotient_reclaims_held{reason="…"}`; 0 if it is not there yet.
    pub async fn metric(&self, series: &str) -> anyhow::Result<f64> {
        let (_, metrics) = self.get("/metrics").await?;
        let value = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        Ok(value.map(str::parse).transpose()?.unwrap_or_default())
    }

    /// Ends the operator as Kubernetes would, and waits for it. It must have run until then, and no thread of it panicked.
    ///
    /// Its rights have to have been enough until then: see [`nothing_forbidden`](super::nothing_forbidden).
    pub async fn stop(self) -> anyhow::Result<()> {
        self.process.must_run()?;
        self.process.terminate(PATIENCE).await?;
        let log = self.process.log();
        ensure!(!log.contains("panicked"), "the operator panicked:\n{log}");
        Ok(())
    }

    /// Waits until this replica leads.
    pub async fn until_it_leads(&self) -> anyhow::Result<()> {
        until_is("the operator leads", 1.0, async || self.metric("quotient_leader").await).await
    }

    async fn wait_until_ready(&self) -> anyhow::Result<()> {
        eventually("the operator is ready", PATIENCE, async || {
            self.process.must_run()?;
            match self.get("/readyz").await? {
                (200, _) => Ok(()),
                (code, body) => bail!("{code}: {body}"),
            }
        })
        .await
    }
}
