//! What a mode or a pause withholds, in words.

use quotient_engine::plan::{Pause, QueuePlan, Reach};
use quotient_engine::snapshot::Mode;
use quotient_index::{cause, paused};

/// What withholds the evictions for `queue`: the end of a sentence after "because".
pub(super) fn evictions(queue: &QueuePlan) -> Option<String> {
    let withheld = queue.withheld.clone().or_else(|| queue.reach.withheld())?;
    Some(cause(&withheld))
}

/// Why no quota is written, if none is.
pub(super) fn quota_writes(reach: &Reach) -> Option<String> {
    let withheld = reach.withheld().filter(|_| reach.mode == Mode::Observe)?;
    Some(format!("Quotient writes no quota here because {}", cause(&withheld)))
}

/// What a pause means for the queue, and how it ends.
pub(super) fn pause(pause: &Pause) -> String {
    format!(
        "Quotient lowers no quota and evicts no pod here because {}. The pause ends by itself. To end it now, remove \
         spec.pausedUntil of that queue",
        paused(pause)
    )
}

/// Why the quota stays as a person left it.
pub(super) fn kept_quota(pause: &Pause) -> String {
    format!(
        "Quotient leaves the quota as it is because {}. Quotient writes the quota again after that",
        paused(pause)
    )
}
