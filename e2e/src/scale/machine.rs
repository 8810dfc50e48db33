//! The machine that the numbers are from.

use std::fmt;

/// What a reader needs to judge the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Processors that this process may use.
    pub cores: usize,
    /// Memory in gibibytes, rounded up: firmware and kernel keep some to themselves.
    pub memory: u64,
}

impl Machine {
    /// This one.
    pub fn this() -> anyhow::Result<Self> {
        let cores = std::thread::available_parallelism()?.get();
        let text = std::fs::read_to_string("/proc/meminfo")?;
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
        let kibibytes: u64 = total.and_then(|number| number.trim().parse().ok()).unwrap_or_default();
        Ok(Self { cores, memory: kibibytes.div_ceil(1024 * 1024) })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} cores and {} GiB of memory", self.cores, self.memory)
    }
}
