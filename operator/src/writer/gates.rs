//! What became of removals of scheduling gates.

use quotient_engine::plan::PodId;
use tracing::{debug, warn};

use crate::executor::{Completed, Outcome};

/// Takes note of what became of the gate of `pod`.
pub(super) fn settle(pod: &PodId, Completed { outcome, why, .. }: &Completed) {
    let named = format!("{}/{}", pod.namespace, pod.name);
    match outcome {
        Outcome::Done => debug!(pod = named, "removed the scheduling gate of a pod"),
        Outcome::Skipped => {}
        Outcome::Stale(_) => debug!(pod = named, why, "the gate of a pod is not there any more"),
        Outcome::Refused(_) => warn!(pod = named, error = why, "the gate of a pod was not removed"),
        Outcome::Unknown(_) => {
            warn!(pod = named, error = why, "whether the gate of a pod was removed is not known");
        }
    }
}
