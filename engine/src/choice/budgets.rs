//! Disruption budgets: no plan goes beyond what they allow.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::candidates::Candidate;
use crate::keyed::{KeyedMap, counts};
use crate::pod_set::PodSet;
use crate::snapshot::{Budget, NamespaceState, Phase, Pod, PodMetadata};

/// The budgets of one namespace, and what they still allow while victims are chosen.
#[derive(Clone, Debug)]
pub struct Budgets<'a> {
    state: &'a NamespaceState,
    left: Vec<u32>,
    by_label: ByLabel<'a>,
    /// Which budgets protect the pods of an owner; pods that share their metadata share the answer.
    matched: FxHashMap<*const PodMetadata, CountsIn>,
}

/// The budgets that a pod counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountsIn {
    None,
    One(usize),
    /// It can never be evicted: the API server refuses to decide which one counts.
    Several,
}

/// Budgets by a label that their pods have, so that a pod is compared with few of many.
#[derive(Clone, Debug, Default)]
struct ByLabel<'a> {
    labeled: KeyedMap<(&'a str, &'a str), Vec<usize>>,
    others: Vec<usize>,
}

impl<'a> ByLabel<'a> {
    /// Every budget stands by the label that the fewest others ask for.
    fn of(budgets: &'a [Budget]) -> Self {
        let labels = budgets.iter().flat_map(|budget| budget.selector.required());
        let labels = labels.flat_map(|(key, values)| values.iter().map(move |value| (key, &**value)));
        let frequency = counts(labels);
        let mut by_label = Self::default();
        for (at, budget) in budgets.iter().enumerate() {
            let often = |(key, values): &(&str, &[String])| {
                let times = values.iter().filter_map(|value| frequency.get(&(*key, &**value)));
                times.copied().fold(0, u32::saturating_add)
            };
            match budget.selector.required().min_by_key(often) {
                None => by_label.others.push(at),
                Some((key, values)) => {
                    // A value that is named twice is one value.
                    for value in values.iter().collect::<BTreeSet<_>>() {
                        by_label.labeled.entry((key, value)).or_default().push(at);
                    }
                }
            }
        }
        by_label
    }

    fn counts_in(&self, budgets: &[Budget], metadata: &PodMetadata) -> CountsIn {
        let labeled = metadata.labels.iter().filter_map(|label| self.labeled.get(&label)).flatten();
        let matches =
            |at: &&usize| budgets.get(**at).is_some_and(|budget| budget.selector.matches(&metadata.labels));
        let mut all = labeled.chain(&self.others).filter(matches);
        match (all.next(), all.next()) {
            (None, _) => CountsIn::None,
            (Some(one), None) => CountsIn::One(*one),
            (Some(_), Some(_)) => CountsIn::Several,
        }
    }
}

impl<'a> Budgets<'a> {
    /// Those of `state`, as the disruption controller last computed them.
    pub fn of(state: &'a NamespaceState) -> Self {
        let left = state.budgets.iter().map(|budget| budget.allowed).collect();
        Self { state, left, by_label: ByLabel::of(&state.budgets), matched: FxHashMap::default() }
    }

    /// The budgets that `pod` counts in. A pod that has not started counts in none: its eviction disrupts nothing. Some budgets
    /// say the same of pods that are not Ready.
    fn of_pod(&mut self, pod: &Pod) -> CountsIn {
        if self.left.is_empty() || pod.phase != Phase::Running {
            return CountsIn::None;
        }
        let counts_in = || self.by_label.counts_in(&self.state.budgets, &pod.metadata);
        let counts_in = *self.matched.entry(Arc::as_ptr(&pod.metadata)).or_insert_with(counts_in);
        let lets_go = |at: usize| self.state.budgets.get(at).is_some_and(|budget| budget.lets_unready_go);
        match counts_in {
            CountsIn::One(at) if pod.stuck.is_some() && lets_go(at) => CountsIn::None,
            _ => counts_in,
        }
    }

    /// How many of `victims`, in order, may go.
    ///
    /// Those of `chosen` are in the books already: what follows a gang may have been chosen by itself.
    pub(crate) fn allow(&mut self, victims: &[Candidate<'a>], chosen: &PodSet) -> Vec<bool> {
        if self.left.is_empty() {
            return vec![true; victims.len()];
        }
        let mut used = Vec::new();
        let mut counted = PodSet::default();
        let allowed = victims.iter().map(|victim| {
            let before = used.len();
            let pods = victim.everything().filter(|pod| !chosen.contains(pod));
            let all = pods.filter(|pod| counted.insert(pod)).all(|pod| self.takes(pod, &mut used));
            if !all {
                self.give_back(used.split_off(before));
            }
            all
        });
        let allowed = allowed.collect();
        self.give_back(used);
        allowed
    }

    /// Whether the API server lets `pod` go; takes out what it uses up.
    pub fn take(&mut self, pod: &Pod) -> bool {
        self.takes(pod, &mut Vec::new())
    }

    /// The same; notes the budget that it used up.
    fn takes(&mut self, pod: &Pod, used: &mut Vec<usize>) -> bool {
        let one = match self.of_pod(pod) {
            CountsIn::None => return true,
            CountsIn::Several => return false,
            CountsIn::One(one) => one,
        };
        let Some(left) = self.left.get_mut(one).filter(|left| **left > 0) else { return false };
        *left = left.saturating_sub(1);
        used.push(one);
        true
    }

    fn give_back(&mut self, budgets: impl IntoIterator<Item = usize>) {
        for budget in budgets {
            if let Some(left) = self.left.get_mut(budget) {
                *left = left.saturating_add(1);
            }
        }
    }

    /// Books what `victim` uses up.
    pub(crate) fn book(&mut self, victim: &Candidate<'a>) {
        for pod in victim.pods() {
            self.take(pod);
        }
    }

    /// Gives back what `victim` used up: it stays.
    pub(crate) fn unbook(&mut self, victim: &Candidate<'a>) {
        for pod in victim.pods() {
            if let CountsIn::One(one) = self.of_pod(pod) {
                self.give_back([one]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::{Requirement, Selector};

    /// Otherwise a tenant could make pods immune to eviction.
    #[test]
    fn a_budget_that_names_a_value_twice_counts_once() {
        let values = vec!["web".to_owned(), "web".to_owned()];
        let budgets = [Budget {
            name: "budget".into(),
            selector: Selector::new([Requirement::In("app".to_owned(), values)]),
            allowed: 1,
            ..Budget::default()
        }];
        let metadata =
            PodMetadata { labels: [("app", "web")].into_iter().collect(), ..PodMetadata::default() };
        assert_eq!(ByLabel::of(&budgets).counts_in(&budgets, &metadata), CountsIn::One(0));
    }
}
