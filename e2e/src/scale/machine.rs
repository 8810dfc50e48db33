//! The machine that the numbers are from.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::demo::Narrator;

/// A machine is quiet when it had less than a tenth of its time to do anything with for so long.
const QUIET: Duration = Duration::from_secs(3);
/// How long that is waited for.
const PATIENCE: Duration = Duration::from_secs(180);

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

/// Waits until the machine has nothing to do, or says that it has.
pub(super) async fn until_quiet(narrator: &Narrator) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        let before = Times::now()?;
        tokio::time::sleep(QUIET).await;
        let busy = Times::now()?.busy_since(before);
        if busy < 10 {
            narrator.done("the machine is quiet", begun);
            return Ok(());
        }
        if begun.elapsed() >= PATIENCE {
            narrator.line(&format!("     the machine is busy for {busy} % of its time with something else, and so may the figures be"));
            return Ok(());
        }
    }
}

/// How all processors together have spent their time, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    idle: u64,
    all: u64,
}

impl Times {
    fn now() -> anyhow::Result<Self> {
        let text = std::fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
        Self::read(&text).context("reading the times of all processors in /proc/stat")
    }

    /// User, nice, system, idle, iowait, irq, softirq, steal; what guests take is in the first two already.
    fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let times: Vec<u64> = line.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
        Some(Self { idle: times.get(3)?.saturating_add(*times.get(4)?), all: times.iter().sum() })
    }

    /// For how much of the time they had something to do, in percent.
    fn busy_since(self, before: Self) -> u64 {
        let all = self.all.saturating_sub(before.all);
        let busy = all.saturating_sub(self.idle.saturating_sub(before.idle));
        busy.saturating_mul(100).checked_div(all).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_busy_the_processors_are() {
        let before = Times::read("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1 2 3 4 5 6 7 8 9 10").unwrap();
        let after = Times::read("cpu  40 0 20 120 20 0 0 0 9 0\n").unwrap();
        assert_eq!(before, Times { idle: 80, all: 100 });
        assert_eq!(after.busy_since(before), 40);
        assert_eq!(before.busy_since(before), 0);
        assert_eq!(Times::read("intr 1 2 3"), None);
    }
}
