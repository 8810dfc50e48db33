//! The disruption budgets that statuses name, looked up while the snapshot of a plan is at hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::names::PodUid;
use quotient_engine::plan::{PassedOver, Plan};
use quotient_engine::reasons::{KeptReason, ShortReason};
use quotient_engine::snapshot::{NamespaceState, Snapshot};

/// The names of the budgets that protect a pod which was passed over, for the few pods that a sentence may name. A plan leaves
/// them out because no decision depends on them.
pub(crate) type ProtectingBudgets = BTreeMap<PodUid, Vec<Arc<str>>>;

/// Looks up what `plan`, which was made from `snapshot`, leaves out.
pub(crate) fn protecting_budgets(plan: &Plan, snapshot: &Snapshot) -> ProtectingBudgets {
    if plan.queues.values().all(|queue| queue.starved != Some(ShortReason::Blocked)) {
        return ProtectingBudgets::new();
    }
    let budgets = examples(plan).map(|PassedOver { pod, .. }| {
        let state = snapshot.namespaces.get(&pod.namespace);
        (pod.uid.clone(), state.map(|state| protecting(state, &pod.uid)).unwrap_or_default())
    });
    budgets.collect()
}

/// The pods that a budget, or the API server for another reason, keeps where something was to be taken.
pub(crate) fn kept(plan: &Plan) -> impl Iterator<Item = &PassedOver> {
    plan.passed_over
        .iter()
        .filter(|passed| matches!(passed.reason, KeptReason::Budget | KeptReason::EvictionRefused))
}

/// Those of them that a sentence may name: the first, and the first of another queue, for a queue's own pods are
/// nothing that it waits for.
fn examples(plan: &Plan) -> impl Iterator<Item = &PassedOver> {
    let first = kept(plan).next();
    let other = first.and_then(|first| kept(plan).find(|passed| passed.queue != first.queue));
    first.into_iter().chain(other)
}

fn protecting(state: &NamespaceState, uid: &PodUid) -> Vec<Arc<str>> {
    let Some(pod) = state.pods.iter().find(|pod| pod.uid == *uid) else { return Vec::new() };
    let protects = state.budgets.iter().filter(|budget| budget.selector.matches(&pod.metadata.labels));
    protects.map(|budget| budget.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::labels::{Requirement, Selector};
    use quotient_engine::names::QueueName;
    use quotient_engine::plan::{PodId, QueuePlan};
    use quotient_engine::snapshot::{Budget, Pod, PodMetadata};

    fn pod(name: &str, app: &str) -> Pod {
        let metadata = PodMetadata { labels: [("app", app)].into_iter().collect(), ..PodMetadata::default() };
        Pod { uid: name.into(), name: name.into(), metadata: Arc::new(metadata), ..Pod::default() }
    }

    fn budget(name: &str, app: &str) -> Budget {
        let selector = Selector::new([Requirement::In("app".to_owned(), vec![app.to_owned()])]);
        Budget { name: name.into(), selector, allowed: 0, lets_unready_go: false }
    }

    fn snapshot() -> Snapshot {
        let state = NamespaceState {
            pods: vec![pod("bare", "x"), pod("web-0", "web")],
            budgets: vec![budget("web", "web"), budget("other", "other")],
            ..NamespaceState::default()
        };
        Snapshot { namespaces: [("a".into(), Arc::new(state))].into(), ..Snapshot::default() }
    }

    #[test]
    fn the_budgets_of_the_first_pods_are_named_while_evictions_are_blocked() {
        let passed = |pod: &str, queue: &str, reason| PassedOver {
            pod: PodId { namespace: "a".into(), name: pod.into(), uid: pod.into() },
            queue: QueueName::new("a", queue),
            reason,
        };
        let passed_over = vec![
            passed("bare", "team", KeptReason::LastReplica),
            passed("web-0", "team", KeptReason::Budget),
            passed("bare", "team", KeptReason::Budget),
        ];
        let starved = QueuePlan { starved: Some(ShortReason::Blocked), ..QueuePlan::default() };
        let plan = Plan { passed_over, ..Plan::default() };
        assert_eq!(protecting_budgets(&plan, &snapshot()), ProtectingBudgets::default());
        let plan = Plan { queues: [(QueueName::new("b", "batch"), starved)].into(), ..plan };
        let budgets = protecting_budgets(&plan, &snapshot());
        assert_eq!(budgets, [("web-0".into(), vec![Arc::from("web")])].into());
    }
}
