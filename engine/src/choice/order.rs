//! In which order pods are evicted: least intrusive first (S-MCM, S-PREEMPT §Future work).

use std::cmp::Ordering;

use super::candidate::Candidate;
use crate::plan::Stage;

/// The class of a candidate; no pod of a later class goes while an earlier class suffices.
///
/// Whole gangs go after single pods of the same stage: taking one undoes the work of all its members.
pub(crate) fn class(candidate: &Candidate<'_>) -> (bool, Stage, bool, i32) {
    (candidate.protected, candidate.stage, candidate.goes_after_single_pods(), candidate.pod.priority)
}

/// Inside a class: most recently started, then most recently created, then the higher name.
///
/// Ends in the uid, so that no two pods are equal.
pub(crate) fn preference(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    let key = |candidate: &Candidate<'_>| (candidate.pod.started, candidate.pod.created);
    key(b).cmp(&key(a)).then_with(|| b.pod.name.cmp(&a.pod.name)).then_with(|| b.pod.uid.cmp(&a.pod.uid))
}

/// Class, then preference: the order in which pods go.
pub(crate) fn rank(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    class(a).cmp(&class(b)).then_with(|| preference(a, b))
}
