//! Gates: in Gate mode none is removed above what the ledger grants, and none of a gang that lacks pods.

use std::collections::VecDeque;

use crate::amounts::Amounts;

use crate::checker::InvariantChecker;
use crate::cluster_state::{ClusterState, PodFacts};
use crate::violation::Invariant;
use crate::write::Write;

/// What was decided while a removal may have been under way: by another leader, or by a later plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnderWay {
    recent: VecDeque<Recent>,
}

#[derive(Clone, Debug)]
struct Recent {
    at: i64,
    namespace: String,
    /// What pods were let in for.
    let_in: Amounts,
    /// What the ledger granted until then.
    granted: Amounts,
}

impl UnderWay {
    /// Forgets what no removal can have been under way with.
    pub(crate) fn forget_before(&mut self, at: i64) {
        while self.recent.front().is_some_and(|recent| recent.at < at) {
            self.recent.pop_front();
        }
    }

    /// The gate of a pod was removed.
    pub(crate) fn let_in(&mut self, write: &Write<'_>, pod: &PodFacts) {
        let namespace = write.namespace.to_owned();
        let recent =
            Recent { at: write.at, namespace, let_in: pod.requests.clone(), granted: Amounts::new() };
        self.recent.push_back(recent);
    }

    /// The ledger is about to be replaced.
    pub(crate) fn grants(&mut self, cluster: &ClusterState, at: i64) {
        for (namespace, entry) in cluster.ledger.iter().flat_map(|ledger| &ledger.entries) {
            let (namespace, granted) = (namespace.clone(), entry.granted.clone());
            self.recent.push_back(Recent { at, namespace, let_in: Amounts::new(), granted });
        }
    }

    fn of(&self, namespace: &str) -> impl Iterator<Item = &Recent> {
        self.recent.iter().filter(move |recent| recent.namespace == namespace)
    }
}

/// The promises that the removal of a gate breaks; the pod is as it is after it.
pub(crate) fn broken(checker: &InvariantChecker, write: &Write<'_>) -> Vec<(Invariant, String)> {
    let place = checker.cluster.places.get(write.namespace).filter(|place| place.is_in_gate_mode());
    let Some((place, pod)) = place.and_then(|place| Some((place, place.pods.get(write.name)?))) else {
        return Vec::new();
    };
    // The mode may have changed since the operator decided.
    if checker.changes.of_queues_above(&checker.cluster, write.namespace) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut granted = checker.cluster.enforced(write.namespace, place).cloned().unwrap_or_default();
    // What others took a moment ago the operator may not have seen.
    let mut used = place.charged().less(&checker.changes.squeeze());
    for recent in checker.under_way.of(write.namespace) {
        used = used.less(&recent.let_in);
        granted = granted.max(&recent.granted);
    }
    let above = pod.requests.iter().find(|(resource, _)| used.get(resource) > granted.get(resource));
    if let Some((resource, _)) = above {
        let (used, granted) = (resource.format(used.get(resource)), resource.format(granted.get(resource)));
        let message = format!(
            "{}/{} ({}): of {resource} {used} are in use, {granted} granted",
            write.namespace, write.name, pod.requests
        );
        found.push((Invariant::GatesWithinShare, message));
    }
    // Its other pods may have ended a moment ago.
    let is_settled = checker.changes.given_up(write.namespace).is_empty();
    if let Some(gang) = pod.gang.as_ref().filter(|_| is_settled) {
        let members = place.gang(&gang.name);
        if members.all < gang.minimum {
            let message = format!(
                "{}/{}: the gang {} has {} of {} pods",
                write.namespace, write.name, gang.name, members.all, gang.minimum
            );
            found.push((Invariant::GangsWhole, message));
        }
    }
    found
}
