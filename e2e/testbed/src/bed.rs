//! The test bed itself: what it holds and how it ends.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use kube::Client;

use super::binaries::kubernetes_version;
use super::layout::Layout;
use super::process::{ManagedProcess, Supervisor};
use super::run_directory::RunDirectory;
use super::{AuditLog, Component};

/// A running control plane. [`TestBed::start`] makes one.
///
/// End a test with [`TestBed::stop`]. A test bed that is dropped without it (because the test panicked or returned
/// an error) ends as well, but leaves its directory with the logs and prints where it is.
pub struct TestBed {
    pub(super) client: Client,
    pub(super) layout: Layout,
    pub(super) processes: Mutex<BTreeMap<Component, ManagedProcess>>,
    pub(super) supervisor: Supervisor,
    pub(super) end: End,
}

/// What happens to the directory at the end. The last field of a test bed, so that it is dropped last: when nothing
/// writes there any more.
#[derive(Debug)]
pub(super) struct End(pub(super) Option<RunDirectory>);

impl TestBed {
    /// A client with all rights that does not repeat a refused request by itself: an eviction that is answered
    /// with 429 fails with 429. Its user agent is `quotient-testbed`.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A kubeconfig with all rights.
    pub fn kubeconfig_path(&self) -> PathBuf {
        self.layout.admin_kubeconfig()
    }

    /// The URL of the API server.
    pub fn server(&self) -> String {
        self.layout.server()
    }

    /// The version of Kubernetes, such as `v1.36.3`.
    pub fn version(&self) -> &'static str {
        kubernetes_version()
    }

    /// What the API server noted about every request.
    pub fn audit(&self) -> AuditLog {
        AuditLog::new(self.layout.audit_log())
    }

    /// The directory with the logs of all processes and the audit log.
    pub fn logs_directory(&self) -> PathBuf {
        self.layout.logs()
    }

    /// The test bed's own directory; free for a test's files too.
    pub fn directory(&self) -> &Path {
        &self.layout.directory
    }

    /// The directory with the programs, `kubectl` among them: fit for `PATH`.
    pub fn programs_directory(&self) -> &Path {
        self.layout.binaries.directory()
    }

    /// The name of the test bed.
    pub fn name(&self) -> &str {
        self.end.0.as_ref().map(RunDirectory::name).unwrap_or_default()
    }

    /// Starts a program as part of the test bed: its log is beside the others, and it cannot outlive the test bed.
    /// It is killed when the returned value is dropped.
    ///
    /// Programs with the same name append to the same log.
    ///
    /// ```no_run
    /// # use quotient_testbed::TestBed;
    /// # async fn example(bed: &TestBed) -> anyhow::Result<()> {
    /// let kubeconfig = bed.service_account_kubeconfig("quotient-system", "quotient").await?;
    /// let mut command = std::process::Command::new("target/fast/quotient-operator");
    /// command.args(["--metrics-port", "0"]).env("KUBECONFIG", &kubeconfig);
    /// let operator = bed.spawn("operator", command)?;
    /// operator.kill()?; // SIGKILL; see also `pause`, `resume`, `terminate` and `signal`
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, name: &str, command: Command) -> anyhow::Result<ManagedProcess> {
        self.supervisor.spawn(name, command)
    }

    /// Ends everything and removes the directory. Whatever it was for has succeeded.
    // Nothing waits inside, yet it belongs among the awaited calls of a test, and may wait one day.
    #[expect(clippy::unused_async, reason = "part of the asynchronous interface")]
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let directory = self.end.0.take();
        drop(self);
        directory.map_or(Ok(()), RunDirectory::remove)
    }
}

impl fmt::Debug for TestBed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TestBed").field("directory", &self.layout.directory).finish_non_exhaustive()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(directory) = &self.0 {
            let why = if std::thread::panicking() { "the test failed" } else { "it ended without success" };
            let path = directory.path().join("logs");
            // Past the capture of the test harness, like the progress of builds.
            let _ = writeln!(std::io::stderr().lock(), "testbed: logs kept in {} ({why})", path.display());
        }
    }
}
