//! A pod that may be evicted, and what several of them request.

use crate::amounts::Amounts;
use crate::plan::Stage;
use crate::snapshot::Pod;

/// A pod that may be evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) pod: &'a Pod,
    /// Whether it goes only when nothing unprotected is left.
    pub(crate) protected: bool,
    pub(crate) stage: Stage,
}

/// Everything that `candidates` request.
pub(crate) fn sum(candidates: &[Candidate<'_>]) -> Amounts {
    let mut sum = Amounts::new();
    for candidate in candidates {
        sum.add_all(candidate.pod.requests());
    }
    sum
}
