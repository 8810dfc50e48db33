//! How much work something is, whatever else the machine is doing.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time that this thread has been on a processor.
fn on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default())
        + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}

/// What `work` took: the least of `times` tries, and their median.
pub(crate) fn measure<T>(times: usize, mut work: impl FnMut() -> T) -> (Duration, Duration) {
    let mut all: Vec<Duration> = (0..times)
        .map(|_| {
            let begun = on_processor();
            let done = black_box(work());
            let taken = on_processor().saturating_sub(begun);
            drop(done);
            taken
        })
        .collect();
    all.sort();
    (all[0], all[times / 2])
}

/// Some work of the kind that planning is made of: texts that are looked up, sorted and counted.
pub(crate) fn calibration() -> usize {
    let mut state = 1u64;
    let mut texts: Vec<(u64, String)> = (0..60_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40, format!("node-{}", state >> 50))
        })
        .collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut counted = std::collections::BTreeMap::new();
    for (number, text) in &texts {
        *counted.entry((number % 1_000, text)).or_insert(0usize) += 1;
    }
    counted.values().filter(|count| **count > 1).count()
}
