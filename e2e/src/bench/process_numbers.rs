//! What the kernel says of a process: its memory and its time on the processors.

use std::fmt;
use std::time::Duration;

use anyhow::Context as _;
use procfs::process::Process;

/// Memory that is really there, not only promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentMemory {
    /// Now, in kibibytes (`VmRSS`).
    pub now: u64,
    /// At most so far, in kibibytes (`VmHWM`).
    pub peak: u64,
}

/// Memory and processor time of a process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessNumbers {
    /// Resident memory.
    pub memory: ResidentMemory,
    /// Time on the processors since its start, of all threads, in user code and in the kernel.
    pub cpu: Duration,
}

impl ProcessNumbers {
    /// Those of a running process.
    pub fn of(pid: u32) -> anyhow::Result<Self> {
        let process = Process::new(i32::try_from(pid)?)?;
        let (status, stat) = (process.status()?, process.stat()?);
        let memory = status.vmrss.zip(status.vmhwm).map(|(now, peak)| ResidentMemory { now, peak });
        let ticks = stat.utime.saturating_add(stat.stime);
        let millis = ticks.saturating_mul(1000).checked_div(procfs::ticks_per_second()).unwrap_or_default();
        Ok(Self { memory: memory.context("the process has no memory")?, cpu: Duration::from_millis(millis) })
    }
}

impl fmt::Display for ResidentMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} MiB, at most {} so far", mebibytes(self.now), mebibytes(self.peak))
    }
}

/// With one digit after the point, cut off.
fn mebibytes(kibibytes: u64) -> String {
    format!("{}.{}", kibibytes / 1024, (kibibytes % 1024).saturating_mul(10) / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shown() {
        let seen = ResidentMemory { now: 69_274, peak: 70_656 };
        assert_eq!(seen.to_string(), "67.6 MiB, at most 69.0 so far");
    }

    #[test]
    fn this_process_has_numbers() {
        let numbers = ProcessNumbers::of(std::process::id()).unwrap();
        assert!(numbers.memory.now > 1024 && numbers.memory.peak >= numbers.memory.now, "{numbers:?}");
    }
}
