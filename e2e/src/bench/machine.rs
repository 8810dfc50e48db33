//! The machine that the numbers are from.

use std::fmt;
use std::time::{Duration, Instant};

use procfs::{Current as _, CurrentSI as _, KernelStats, Meminfo};

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
        Ok(Self { cores, memory: Meminfo::current()?.mem_total.div_ceil(1 << 30) })
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
        let all = KernelStats::current()?.total;
        let idle = all.idle.saturating_add(all.iowait.unwrap_or_default());
        // What guests take is in the first two already.
        let busy = [Some(all.user), Some(all.nice), Some(all.system), all.irq, all.softirq, all.steal];
        Ok(Self { idle, all: busy.into_iter().flatten().fold(idle, u64::saturating_add) })
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
        let (before, after) = (Times { idle: 80, all: 100 }, Times { idle: 140, all: 200 });
        assert_eq!(after.busy_since(before), 40);
        assert_eq!(before.busy_since(before), 0);
        assert!(Times::now().unwrap().all > 0);
    }
}
