//! What may be evicted: a pod, or all that a gang cannot do without.

use std::rc::Rc;

use crate::amounts::Amounts;
use crate::plan::Stage;
use crate::snapshot::Pod;

/// A pod that may be evicted, or the members of a gang that go together or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    /// The pod; of a gang the member that would go last.
    pub(crate) pod: &'a Pod,
    /// The gang, if it goes as a whole.
    pub(crate) gang: Option<Rc<WholeGang<'a>>>,
    /// Whether it goes only when nothing unprotected is left.
    pub(crate) protected: bool,
    pub(crate) stage: Stage,
}

/// A gang that is taken as a whole.
#[derive(Debug)]
pub(crate) struct WholeGang<'a> {
    /// The members without which it is of no use.
    pub(crate) floor: Vec<&'a Pod>,
    /// The members beyond these: they go with it, for they are of no use without it.
    pub(crate) surplus: Vec<&'a Pod>,
    /// What the floor requests.
    pub(crate) requests: Amounts,
}

impl<'a> Candidate<'a> {
    /// What it frees.
    pub(crate) fn requests(&self) -> &Amounts {
        self.gang.as_ref().map_or_else(|| self.pod.requests(), |gang| &gang.requests)
    }

    /// A pod of a gang beyond what the gang needs.
    pub(crate) fn surplus(pod: &'a Pod) -> Self {
        Self { pod, gang: None, protected: false, stage: Stage::Surplus }
    }

    /// Everything that its pods request, wherever they are.
    pub(crate) fn all_requests(&self) -> Amounts {
        let mut all = Amounts::new();
        for pod in self.pods() {
            all.add_all(pod.requests());
        }
        all
    }

    /// Its pods, and those that go with them.
    pub(crate) fn everything(&self) -> impl Iterator<Item = &'a Pod> {
        self.pods().iter().chain(self.followers()).copied()
    }

    /// The pods that go with it: of a gang those beyond what it needs.
    pub(crate) fn followers(&self) -> &[&'a Pod] {
        self.gang.as_ref().map_or(&[], |gang| &gang.surplus)
    }

    /// The pods that go.
    pub(crate) fn pods(&self) -> &[&'a Pod] {
        self.gang.as_ref().map_or(std::slice::from_ref(&self.pod), |gang| &gang.floor)
    }
}

/// Everything that `candidates` request.
pub(crate) fn sum(candidates: &[Candidate<'_>]) -> Amounts {
    let mut sum = Amounts::new();
    for candidate in candidates {
        sum.add_all(candidate.requests());
    }
    sum
}
