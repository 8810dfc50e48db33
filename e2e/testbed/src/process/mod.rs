//! Processes that cannot outlive their owner.

mod managed;
mod supervisor;

use rustix::process::{Pid, kill_process};

pub use managed::ManagedProcess;
pub use rustix::process::Signal;
pub use supervisor::{Supervisor, running};

/// Sends a signal to a process that is not ours to wait for. The caller knows that the id is still that process's.
pub fn send_signal(pid: u32, signal: Signal) -> std::io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| std::io::Error::other("this is no process id"))?;
    Ok(kill_process(pid, signal)?)
}
