//! The watchdog and the process group that it guards.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Pid;

use super::group::until_none_runs;
use super::{ManagedProcess, ProcessError, ProcessSpec};

/// The watchdog: waits until the other end of its standard input closes, removes the scratch directory and kills
/// its process group, itself included.
///
/// A shell, because every other way to tie a child's life to its parent's needs unsafe code between fork and
/// exec, or a helper program that each test binary would have to find first. It ignores what a terminal or a
/// polite `kill` may send, for it must be the last to go.
const WATCHDOG: &str = "\
trap '' HUP INT TERM
while read -r line; do :; done
rm -rf -- \"$1\"
kill -s KILL 0
";

/// How long a process that the watchdog has killed may take to end.
const LAST_BREATH: Duration = Duration::from_secs(10);

/// Starts processes in one process group, led by a watchdog that kills all of them as soon as the owner is gone:
/// the kernel closes the owner's end of the pipe however the owner ends.
///
/// The processes join the group before they run a single instruction of their program, so that there is no moment
/// at which one could be left behind. A process that leaves the group (`setsid`, a shell with job control) is on
/// its own.
#[derive(Debug)]
pub struct Supervisor {
    watchdog: Child,
    logs: PathBuf,
    pids: PathBuf,
}

impl Supervisor {
    /// Starts the watchdog. Logs go to `logs`, process ids to `pids`; `scratch` is removed at the end.
    pub fn start(scratch: &Path, logs: &Path, pids: &Path) -> Result<Self, ProcessError> {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "testbed-watchdog"])
            .arg(scratch)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| ProcessError::Watchdog { source })?;
        Ok(Self { watchdog, logs: logs.to_owned(), pids: pids.to_owned() })
    }

    /// Starts a process. What it prints is appended to `NAME.log`; its id is in the file `NAME`.
    pub fn spawn(&self, spec: &ProcessSpec) -> Result<ManagedProcess, ProcessError> {
        let name = &spec.name;
        let log_path = self.logs.join(format!("{name}.log"));
        let in_file =
            |path: &Path, source| ProcessError::File { name: name.clone(), path: path.into(), source };
        let log = File::options()
            .create(true)
            .append(true)
            .open(&log_path)
            .map_err(|source| in_file(&log_path, source))?;
        let log_too = log.try_clone().map_err(|source| in_file(&log_path, source))?;
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.arguments)
            .envs(spec.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(log_too)
            .process_group(Pid::from_child(&self.watchdog).as_raw_nonzero().get());
        if let Some(directory) = &spec.directory {
            command.current_dir(directory);
        }
        let child = command.spawn().map_err(|source| ProcessError::Start {
            name: name.clone(),
            program: spec.program.clone(),
            source,
        })?;
        let pid_path = self.pids.join(name);
        let process = ManagedProcess::new(name.clone(), child, log_path);
        fs::write(&pid_path, process.pid().to_string()).map_err(|source| in_file(&pid_path, source))?;
        Ok(process)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let group = Pid::from_child(&self.watchdog);
        // It ends with its own signal; there is nothing to learn from its status.
        let _ = self.watchdog.wait();
        until_none_runs(group, LAST_BREATH);
    }
}
