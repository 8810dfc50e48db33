//! Disruption budgets: no plan goes beyond what they allow.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::Candidate;
use crate::names::PodUid;
use crate::snapshot::{Budget, NamespaceState, Phase, Pod, Ties};

/// The budgets of one namespace, and what they still allow while victims are chosen.
#[derive(Clone, Debug)]
pub(crate) struct Budgets<'a> {
    state: &'a NamespaceState,
    left: Vec<u32>,
    /// Which budgets protect the pods of an owner; pods that share their ties share the answer.
    matched: FxHashMap<*const Ties, Vec<usize>>,
}

impl<'a> Budgets<'a> {
    pub(crate) fn of(state: &'a NamespaceState) -> Self {
        let left = state.budgets.iter().map(|budget| budget.allowed).collect();
        Self { state, left, matched: FxHashMap::default() }
    }

    /// The budgets that `pod` counts in. A pod that has not started counts in none: its eviction disrupts nothing.
    fn of_pod(&mut self, pod: &'a Pod) -> &[usize] {
        if self.left.is_empty() || pod.phase != Phase::Running {
            return &[];
        }
        let budgets = &self.state.budgets;
        self.matched.entry(Arc::as_ptr(&pod.ties)).or_insert_with(|| {
            let matches =
                |(at, budget): (usize, &Budget)| budget.selector.matches(&pod.ties.labels).then_some(at);
            budgets.iter().enumerate().filter_map(matches).collect()
        })
    }

    /// How many of `victims`, in order, may go.
    ///
    /// A pod of several budgets can never be evicted: the API server refuses to decide which one counts. Those of `chosen`
    /// are in the books already: what follows a gang may have been chosen by itself.
    pub(crate) fn allow(&mut self, victims: &[Candidate<'a>], chosen: &FxHashSet<&PodUid>) -> Vec<bool> {
        if self.left.is_empty() {
            return vec![true; victims.len()];
        }
        let mut left = self.left.clone();
        let mut counted: FxHashSet<&PodUid> = FxHashSet::default();
        let allowed = victims.iter().map(|victim| {
            let before = left.clone();
            let mut pods = victim.everything().filter(|pod| !chosen.contains(&pod.uid));
            let all =
                pods.by_ref().filter(|pod| counted.insert(&pod.uid)).all(|pod| self.takes(pod, &mut left));
            if !all {
                left = before;
            }
            all
        });
        allowed.collect()
    }

    fn takes(&mut self, pod: &'a Pod, left: &mut [u32]) -> bool {
        match self.of_pod(pod) {
            [] => true,
            [one] => left.get_mut(*one).is_some_and(|left| match left.checked_sub(1) {
                Some(less) => {
                    *left = less;
                    true
                }
                None => false,
            }),
            _ => false,
        }
    }

    /// Books what `victim` uses up.
    pub(crate) fn book(&mut self, victim: &Candidate<'a>) {
        let mut left = self.left.clone();
        for pod in victim.pods() {
            self.takes(pod, &mut left);
        }
        self.left = left;
    }

    /// Gives back what `victim` used up: it stays.
    pub(crate) fn unbook(&mut self, victim: &Candidate<'a>) {
        for pod in victim.pods() {
            let of = self.of_pod(pod).to_vec();
            if let [one] = of[..]
                && let Some(left) = self.left.get_mut(one)
            {
                *left = left.saturating_add(1);
            }
        }
    }
}
