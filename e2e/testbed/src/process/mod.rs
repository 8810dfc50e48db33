//! Processes that cannot outlive their owner.

mod group;
mod managed;
mod spec;
mod supervisor;

use std::path::PathBuf;
use std::process::ExitStatus;

use rustix::process::{Pid, kill_process};

pub use managed::ManagedProcess;
pub use rustix::process::Signal;
pub use spec::ProcessSpec;
pub use supervisor::Supervisor;

/// Sends a signal to a process that is not ours to wait for. The caller knows that the id is still that process's.
pub fn send_signal(pid: u32, signal: Signal) -> std::io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| std::io::Error::other("this is no process id"))?;
    Ok(kill_process(pid, signal)?)
}

/// What went wrong with a process.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The watchdog could not be started.
    #[error("starting the watchdog with /bin/sh: {source}")]
    Watchdog {
        /// What the system said.
        source: std::io::Error,
    },
    /// The program could not be started.
    #[error("starting {name} ({program}): {source}", program = program.display())]
    Start {
        /// The process's name in the test bed.
        name: String,
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A log or pid file could not be written.
    #[error("starting {name}: cannot write {path}: {source}", path = path.display())]
    File {
        /// The process's name in the test bed.
        name: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The process ended although it was needed.
    #[error("{name} ended with {status}; the end of its log {log}:\n{tail}", log = log.display())]
    Ended {
        /// The process's name in the test bed.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// Its log file.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },
    /// The process is still running although it should have ended.
    #[error("waiting for {name} (pid {pid}) to end: still running after {seconds} s; its log is {log}", log = log.display())]
    StillRunning {
        /// The process's name in the test bed.
        name: String,
        /// Its process id.
        pid: u32,
        /// How long it was waited for.
        seconds: u64,
        /// Its log file.
        log: PathBuf,
    },
    /// A signal could not be sent, or the process not waited for.
    #[error("{action} {name} (pid {pid}): {source}")]
    Signal {
        /// What was attempted.
        action: &'static str,
        /// The process's name in the test bed.
        name: String,
        /// Its process id.
        pid: u32,
        /// What the system said.
        source: std::io::Error,
    },
}
