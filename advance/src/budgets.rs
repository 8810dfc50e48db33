//! Disruption budgets: what evictions cost, and what running pods restore.
//!
//! A budget says how many of its pods may go *now*. Every eviction of a running pod costs one; at the end of a step
//! it changes by as many pods as are healthy more, or fewer, than at its beginning. That is the disruption
//! controller's own rule (allowed = healthy − desired) as long as the desired number stays what it was and allowed
//! was not cut off at nothing: a workload that loses more pods than the budget allows, other than by eviction, is allowed
//! disruptions again too early.

use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_engine::names::PodUid;
use quotient_engine::snapshot::{Budget, NamespaceState, Phase, Pod, Snapshot};

/// What the API server says to some evictions.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The pods that go.
    pub(super) granted: BTreeSet<PodUid>,
    /// The pods that a budget protects.
    pub(super) refused: BTreeSet<PodUid>,
}

/// Judges the evictions of the pods `asked`, one after the other.
///
/// As in the Eviction API, a pod that has not started costs nothing, nor does one that is not Ready where its budget says so; and
/// one that several budgets protect is never evicted.
pub(super) fn decide(state: &NamespaceState, asked: &[&PodUid]) -> Verdict {
    let mut verdict = Verdict::default();
    if asked.is_empty() {
        return verdict;
    }
    if state.budgets.is_empty() {
        verdict.granted = asked.iter().map(|uid| (*uid).clone()).collect();
        return verdict;
    }
    let mut left: Vec<u32> = state.budgets.iter().map(|budget| budget.allowed).collect();
    for uid in asked {
        let pod = state.pods.iter().find(|pod| pod.uid == **uid);
        let protects = |budget: &Budget| {
            pod.is_some_and(|pod| {
                pod.phase == Phase::Running
                    && !(pod.stuck.is_some() && budget.lets_unready_go)
                    && budget.selector.matches(&pod.metadata.labels)
            })
        };
        let mut protecting = left.iter_mut().zip(&state.budgets).filter(|(_, budget)| protects(budget));
        let granted = match (protecting.next(), protecting.next()) {
            (None, _) => true,
            (Some((left, _)), None) => {
                let less = left.checked_sub(1);
                *left = less.unwrap_or(0);
                less.is_some()
            }
            (Some(_), Some(_)) => false,
        };
        if granted { &mut verdict.granted } else { &mut verdict.refused }.insert((*uid).clone());
    }
    verdict
}

/// Recomputes what every budget allows at the end of a step that began with `before`.
pub(super) fn recover(snapshot: &mut Snapshot, before: &Snapshot) {
    for (name, state) in &mut snapshot.namespaces {
        let Some(before) = before.namespaces.get(name).filter(|before| !before.budgets.is_empty()) else {
            continue;
        };
        let allowed: Vec<u32> = before
            .budgets
            .iter()
            .map(|budget| {
                let (then, now) = (healthy(budget, &before.pods), healthy(budget, &state.pods));
                budget.allowed.saturating_add(now).saturating_sub(then)
            })
            .collect();
        if state.budgets.iter().map(|budget| budget.allowed).ne(allowed.iter().copied()) {
            for (budget, allowed) in Arc::make_mut(state).budgets.iter_mut().zip(allowed) {
                budget.allowed = allowed;
            }
        }
    }
}

/// How many pods of `budget` run and are Ready.
fn healthy(budget: &Budget, pods: &[Pod]) -> u32 {
    let is_healthy = |pod: &&Pod| pod.is_live() && pod.phase == Phase::Running && pod.stuck.is_none();
    let healthy = pods.iter().filter(is_healthy).filter(|pod| budget.selector.matches(&pod.metadata.labels));
    u32::try_from(healthy.count()).unwrap_or(u32::MAX)
}
