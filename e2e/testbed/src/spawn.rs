//! Programs that are tested on the test bed.

use std::process::Command;

use super::TestBed;
use super::process::ManagedProcess;

impl TestBed {
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
}
