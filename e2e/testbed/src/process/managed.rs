//! One running process.

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A process of the test bed: killed when dropped, and with the test bed.
///
/// A signal is only sent while the process has not been waited for, so it can never reach a stranger that was given
/// the same id.
#[derive(Debug)]
pub struct ManagedProcess {
    name: String,
    pid: Pid,
    child: Mutex<Child>,
    log: PathBuf,
}

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

impl ManagedProcess {
    pub(super) fn new(name: String, child: Child, log: PathBuf) -> Self {
        Self { name, pid: Pid::from_child(&child), child: Mutex::new(child), log }
    }

    /// Its name in the test bed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// The file with everything it printed.
    pub fn log_path(&self) -> &Path {
        &self.log
    }

    /// Everything it printed so far; empty if that cannot be read.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// How it ended, if it has.
    pub fn status(&self) -> anyhow::Result<Option<ExitStatus>> {
        self.child().try_wait().with_context(|| format!("looking after {}", self.title()))
    }

    /// An error with the end of its log, if it has ended: for those who wait for something that it does.
    pub fn must_run(&self) -> anyhow::Result<()> {
        let Some(status) = self.status()? else { return Ok(()) };
        let (log, tail) = (self.log.display(), self.tail());
        bail!("{} ended with {status}; the end of its log {log}:\n{tail}", self.name)
    }

    /// Sends a signal; a process that has ended is left in peace.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let signalling = || format!("signalling {}", self.title());
        let mut child = self.child();
        if child.try_wait().with_context(signalling)?.is_none() {
            kill_process(self.pid, signal).with_context(signalling)?;
        }
        Ok(())
    }

    /// Stops it where it stands (`SIGSTOP`): its connections stay open without an answer.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on after [`pause`](Self::pause).
    pub fn resume(&self) -> anyhow::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Kills it at once (`SIGKILL`, paused or not) and waits until it is gone.
    pub fn kill(&self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::KILL)?;
        self.child().wait().with_context(|| format!("waiting for the end of {}", self.title()))
    }

    /// Asks it to end (`SIGTERM`) and waits for that; an error if it takes longer than `timeout`.
    pub async fn terminate(&self, timeout: Duration) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.wait(timeout).await
    }

    /// Waits for its end; an error if it takes longer than `timeout`.
    pub async fn wait(&self, timeout: Duration) -> anyhow::Result<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            if started.elapsed() >= timeout {
                let (seconds, log) = (timeout.as_secs(), self.log.display());
                bail!("{} still runs after {seconds} s; its log is {log}", self.title());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The last lines of its log, for error messages.
    pub fn tail(&self) -> String {
        let log = self.log();
        let skipped = log.lines().count().saturating_sub(15);
        log.lines().skip(skipped).collect::<Vec<_>>().join("\n")
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        // A thread that panicked between two calls of the system has broken nothing here.
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As messages name it.
    fn title(&self) -> String {
        format!("{} (pid {})", self.name, self.pid())
    }
}

impl Drop for ManagedProcess {
    fn drop(&mut self) {
        // What cannot be killed here is killed by the watchdog.
        let _ = self.kill();
    }
}
