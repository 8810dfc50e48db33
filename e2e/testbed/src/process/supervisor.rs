//! The watchdog and the process group that it guards.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use procfs::process::Stat;
use rustix::process::Pid;

use super::ManagedProcess;

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
    pub fn start(scratch: &Path, logs: &Path, pids: &Path) -> anyhow::Result<Self> {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "testbed-watchdog"])
            .arg(scratch)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting the watchdog with /bin/sh")?;
        Ok(Self { watchdog, logs: logs.to_owned(), pids: pids.to_owned() })
    }

    /// Starts a process. What it prints is appended to `NAME.log`; its id is in the file `NAME`.
    pub fn spawn(&self, name: &str, mut command: Command) -> anyhow::Result<ManagedProcess> {
        let log_path = self.logs.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(&log_path);
        let log = log.with_context(|| format!("starting {name}: writing {}", log_path.display()))?;
        let log_too = log.try_clone()?;
        command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(log_too)
            .process_group(Pid::from_child(&self.watchdog).as_raw_nonzero().get());
        let child = command.spawn();
        let child =
            child.with_context(|| format!("starting {name} ({})", command.get_program().display()))?;
        let pid_path = self.pids.join(name);
        let process = ManagedProcess::new(name.to_owned(), child, log_path);
        fs::write(&pid_path, process.pid().to_string())
            .with_context(|| format!("starting {name}: writing {}", pid_path.display()))?;
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

/// How often a group is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Waits until no process of the group runs any more. A killed process may take a moment to end.
///
/// After `patience` it is left at that: a process that the kernel cannot end (it waits for a disk, say) would be
/// waited for for ever. Who has ended and was not waited for by its parent does not run.
fn until_none_runs(group: Pid, patience: Duration) {
    let started = Instant::now();
    let is_of_it = |stat: &Stat| stat.pgrp == group.as_raw_nonzero().get();
    let any_runs = || running().any(|stat| is_of_it(&stat));
    while any_runs() && started.elapsed() < patience {
        std::thread::sleep(POLL);
    }
}

/// What the kernel says of every process that has not ended.
pub fn running() -> impl Iterator<Item = Stat> {
    let all = procfs::process::all_processes().into_iter().flatten();
    let stats = all.filter_map(|process| process.ok()?.stat().ok());
    stats.filter(|stat| !matches!(stat.state, 'Z' | 'X'))
}
