//! Disruption budgets: what evictions cost, and what running pods restore.
//!
//! A budget says how many of its pods may go *now*. Every eviction of a running pod costs one; at the end of a step
//! it changes by as many pods as are healthy more, or fewer, than at its beginning. That is the disruption
//! controller's own rule (allowed = healthy − desired) as long as the desired number stays what it was and allowed
//! was not cut off at nothing: a workload that loses more pods than the budget allows, other than by eviction, is allowed
//! disruptions again too early.

use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_engine::Budgets;
use quotient_engine::names::PodUid;
use quotient_engine::snapshot::{Budget, NamespaceState, Phase, Pod, Snapshot};

/// Which of the pods `asked` go, and which ones a budget protects, as the API server judges one after the other.
pub(super) fn decide(state: &NamespaceState, asked: &[&PodUid]) -> (BTreeSet<PodUid>, BTreeSet<PodUid>) {
    if asked.is_empty() || state.budgets.is_empty() {
        return (asked.iter().map(|uid| (*uid).clone()).collect(), BTreeSet::new());
    }
    let mut budgets = Budgets::of(state);
    let goes =
        |uid: &PodUid| state.pods.iter().find(|pod| pod.uid == *uid).is_none_or(|pod| budgets.take(pod));
    asked.iter().map(|uid| (*uid).clone()).partition(goes)
}

/// Recomputes what every budget allows at the end of a step that began with `before`.
pub(super) fn recover(snapshot: &mut Snapshot, before: &Snapshot) {
    for (name, state) in &mut snapshot.namespaces {
        let Some(before) = before.namespaces.get(name).filter(|before| !before.budgets.is_empty()) else {
            continue;
        };
        let recovered = |budget: &Budget| {
            let (then, now) = (healthy(budget, &before.pods), healthy(budget, &state.pods));
            Budget { allowed: budget.allowed.saturating_add(now).saturating_sub(then), ..budget.clone() }
        };
        let budgets: Vec<Budget> = before.budgets.iter().map(recovered).collect();
        if state.budgets != budgets {
            Arc::make_mut(state).budgets = budgets;
        }
    }
}

/// How many pods of `budget` run and are Ready.
fn healthy(budget: &Budget, pods: &[Pod]) -> u32 {
    let is_healthy = |pod: &&Pod| pod.is_live() && pod.phase == Phase::Running && pod.stuck.is_none();
    let healthy = pods.iter().filter(is_healthy).filter(|pod| budget.selector.matches(&pod.metadata.labels));
    u32::try_from(healthy.count()).unwrap_or(u32::MAX)
}
