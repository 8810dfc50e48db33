//! What a mode or a pause withholds, in words.

use quotient_engine::plan::{Pause, QueuePlan, Reach, Withheld};
use quotient_engine::snapshot::Mode;

/// `queue team-a is in mode Quota`.
pub fn cause(withheld: &Withheld) -> String {
    match withheld {
        Withheld::OperatorMode(mode) => format!("the operator runs in mode {mode}"),
        Withheld::QueueMode(queue, mode) => format!("queue {} is in mode {mode}", queue.in_words()),
        Withheld::Pause(pause) => paused(pause),
    }
}

/// `queue team-a is paused until 2026-12-01T08:00:00Z`.
fn paused(pause: &Pause) -> String {
    let until = jiff::Timestamp::from_millisecond(pause.until.millis()).unwrap_or_default();
    format!("queue {} is paused until {until}", pause.of.in_words())
}

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

/// Why the quota stays as it is.
pub(super) fn kept_quota(pause: &Pause) -> String {
    format!(
        "Quotient leaves the quota as it is because {}. Quotient writes the quota again after that",
        paused(pause)
    )
}
