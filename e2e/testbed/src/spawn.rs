//! Programs that are tested on the test bed.

use super::process::{ManagedProcess, ProcessSpec};
use super::{TestBed, TestBedError};

impl TestBed {
    /// Starts a program as part of the test bed: its log is beside the others, and it cannot outlive the test bed.
    /// It is killed when the returned value is dropped.
    ///
    /// Programs with the same name append to the same log.
    ///
    /// ```no_run
    /// # use quotient_testbed::{ProcessSpec, TestBed, TestBedError};
    /// # async fn example(bed: &TestBed) -> Result<(), TestBedError> {
    /// let kubeconfig = bed.service_account_kubeconfig("quotient-system", "quotient").await?;
    /// let operator = bed.spawn(
    ///     &ProcessSpec::new("operator", "target/fast/quotient-operator")
    ///         .args(["--metrics-port", "0"])
    ///         .env("KUBECONFIG", &kubeconfig),
    /// )?;
    /// operator.kill()?; // SIGKILL; see also `pause`, `resume`, `terminate` and `signal`
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, process: &ProcessSpec) -> Result<ManagedProcess, TestBedError> {
        Ok(self.supervisor.spawn(process)?)
    }
}
