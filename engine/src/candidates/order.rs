//! In which order pods are evicted: least intrusive first (S-MCM, S-PREEMPT §Future work).

use std::cmp::{Ordering, Reverse};

use super::candidate::Candidate;
use crate::names::{PodName, PodUid};
use crate::plan::Stage;
use crate::snapshot::Pod;
use crate::time::Timestamp;

/// The class of a candidate; no pod of a later class goes while an earlier class suffices.
///
/// Whole gangs go after single pods of the same stage: taking one undoes the work of all its members.
pub(crate) fn class(candidate: &Candidate<'_>) -> (bool, Stage, bool, i32) {
    (candidate.protected, candidate.stage, candidate.goes_after_single_pods(), candidate.pod.priority)
}

/// When a pod goes among those of its class: the lower deletion cost; then before it has started, else most recently started;
/// then most recently created, then the higher name.
///
/// Ends in the uid, so that no two pods are equal.
pub(crate) type Turn<'a> =
    (i32, bool, Reverse<Option<Timestamp>>, Reverse<Timestamp>, Reverse<&'a PodName>, Reverse<&'a PodUid>);

pub(crate) fn turn(pod: &Pod) -> Turn<'_> {
    let Pod { deletion_cost, started, created, name, uid, .. } = pod;
    (*deletion_cost, started.is_some(), Reverse(*started), Reverse(*created), Reverse(name), Reverse(uid))
}

/// Class, then turn: the order in which pods go.
pub(crate) fn rank(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    class(a).cmp(&class(b)).then_with(|| turn(a.pod).cmp(&turn(b.pod)))
}
