//! What may be evicted: a pod, or all that a gang cannot do without.

use std::rc::Rc;

use crate::amounts::{Amount, Amounts, Resource};
use crate::plan::Stage;
use crate::snapshot::{Phase, Pod};
use crate::total::total;
use crate::tree::BranchId;

/// A pod that may be evicted, or pods that go together.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    /// The leaf that would lose it.
    pub(crate) leaf: BranchId,
    /// The pod; of a gang the member that would go last.
    pub(crate) pod: &'a Pod,
    /// What the pod requests: looked at more often than the pod, which lies elsewhere in memory.
    pub(crate) alone: &'a Amounts,
    /// What goes together, if it is more than the pod.
    pub(crate) together: Option<Rc<Together<'a>>>,
    /// Whether it goes only when nothing unprotected is left.
    pub(crate) protected: bool,
    pub(crate) stage: Stage,
    /// Its place among the candidates of its leaf, least protected first; the first is 1.
    pub(crate) rank: u32,
}

/// Pods that go together or not at all, and those that go with them.
#[derive(Clone, Debug)]
pub(crate) struct Together<'a> {
    pub(crate) bond: Bond,
    /// Of a gang the members without which it is of no use.
    pub(crate) pods: Rc<[&'a Pod]>,
    /// The pods that go with these, and how many of them: of a gang the members beyond its minimum, which are of no use without
    /// it; of an owner those that its controller removes before.
    pub(crate) followers: (Rc<[&'a Pod]>, usize),
    /// What the pods request.
    pub(crate) requests: Amounts,
}

/// Why pods go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bond {
    /// A gang. It goes after single pods of its stage, because that undoes the work of all its members.
    Gang,
    /// A gang that yields to others of its queue, in the order of priorities.
    YieldingGang,
    /// The order in which a controller removes pods.
    Removal,
}

impl<'a> Candidate<'a> {
    /// `pod` by itself, of the leaf at `leaf`; it has no place among others yet.
    pub(crate) fn of(leaf: BranchId, pod: &'a Pod, protected: bool) -> Self {
        let stage = if pod.phase == Phase::Running { Stage::Committed } else { Stage::NotRunning };
        Self { leaf, pod, alone: pod.requests(), together: None, protected, stage, rank: 0 }
    }

    /// What it frees.
    pub(crate) fn requests(&self) -> &Amounts {
        self.together.as_ref().map_or(self.alone, |together| &together.requests)
    }

    /// `pod` as one that goes with this.
    pub(crate) fn follower(&self, pod: &'a Pod) -> Self {
        Self { stage: Stage::Surplus, rank: self.rank, ..Self::of(self.leaf, pod, false) }
    }

    /// Whether it is a gang as a whole.
    pub(crate) fn is_gang(&self) -> bool {
        self.together.as_ref().is_some_and(|together| together.bond != Bond::Removal)
    }

    /// Whether it goes after single pods of its stage.
    pub(crate) fn goes_after_single_pods(&self) -> bool {
        self.together.as_ref().is_some_and(|together| together.bond == Bond::Gang)
    }

    /// Everything that its pods request, wherever they are.
    pub(crate) fn all_requests(&self) -> Amounts {
        total(self.pods().iter().map(|pod| pod.requests()))
    }

    /// The same of one resource.
    pub(crate) fn all_requests_of(&self, one: &Resource) -> Amount {
        let Some(together) = &self.together else { return self.alone.get(one) };
        together.pods.iter().map(|pod| pod.requests().get(one)).sum()
    }

    /// Its pods, and those that go with them.
    pub(crate) fn everything(&self) -> impl Iterator<Item = &'a Pod> {
        self.pods().iter().chain(self.followers()).copied()
    }

    /// The pods that go with it.
    pub(crate) fn followers(&self) -> &[&'a Pod] {
        let Some(together) = &self.together else { return &[] };
        together.followers.0.get(..together.followers.1).unwrap_or_default()
    }

    /// The pods that go.
    pub(crate) fn pods(&self) -> &[&'a Pod] {
        self.together.as_ref().map_or(std::slice::from_ref(&self.pod), |together| &together.pods)
    }
}

/// Everything that `candidates` request.
pub(crate) fn sum(candidates: &[Candidate<'_>]) -> Amounts {
    total(candidates.iter().map(Candidate::requests))
}
