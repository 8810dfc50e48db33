//! What the kernel says of a process: its memory and its time on the processors.

use std::fmt;
use std::time::Duration;

use anyhow::Context as _;

/// Milliseconds of the tick in which `/proc` counts: a hundredth of a second, whatever the kernel's own is.
const TICK: u64 = 10;

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
        let read = |name: &str| {
            let path = format!("/proc/{pid}/{name}");
            std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))
        };
        Ok(Self { memory: memory(&read("status")?)?, cpu: cpu(&read("stat")?)? })
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

fn memory(status: &str) -> anyhow::Result<ResidentMemory> {
    let field = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = value.and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok());
        number.with_context(|| format!("finding {name} in the status of the process"))
    };
    Ok(ResidentMemory { now: field("VmRSS")?, peak: field("VmHWM")? })
}

/// Fields 14 and 15. The second one, the program's name, is in parentheses and may contain anything.
fn cpu(stat: &str) -> anyhow::Result<Duration> {
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
    let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    let [user, kernel] = ticks.as_slice() else { anyhow::bail!("finding the processor time in {stat:?}") };
    Ok(Duration::from_millis(user.saturating_add(*kernel).saturating_mul(TICK)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_shown() {
        let seen = memory("Name:\tx\nVmHWM:\t   70656 kB\nVmRSS:\t   69274 kB\nThreads:\t3\n").unwrap();
        assert_eq!(seen.to_string(), "67.6 MiB, at most 69.0 so far");
        assert!(memory("Name:\tgone\n").is_err());
    }

    #[test]
    fn processor_time_is_read_whatever_the_program_is_called() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 9 0 0 0 151 49 0 0 20 0 3 0 100 1 2 3";
        assert_eq!(cpu(stat).unwrap(), Duration::from_secs(2));
        assert!(cpu("42 (x) S 1").is_err());
    }

    #[test]
    fn this_process_has_numbers() {
        let numbers = ProcessNumbers::of(std::process::id()).unwrap();
        assert!(numbers.memory.now > 1024 && numbers.memory.peak >= numbers.memory.now, "{numbers:?}");
    }
}
