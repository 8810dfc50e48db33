//! The disruption controller: how many pods of each budget may go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::snapshot::{Budget, NamespaceState, Phase, Pod, Snapshot};

use crate::objects::{Bound, Object, Share};

/// What the disruption controller goes by.
#[derive(Debug)]
pub(super) struct Disruptions {
    budgets: BTreeMap<(Namespace, Arc<str>), Rule>,
    scales: BTreeMap<OwnerUid, Scale>,
}

#[derive(Debug)]
struct Rule {
    bound: Bound,
    /// Whether the manifest says what is allowed at the beginning.
    is_counted: bool,
}

/// How many pods there should be of those that an owner controls.
#[derive(Debug)]
enum Scale {
    /// So many of the top controller: of a Deployment rather than of its ReplicaSets.
    Of(OwnerUid, u32),
    /// Its kind cannot be scaled, so the size is unknown, as for a DaemonSet or a Job.
    Unknown,
}

impl Disruptions {
    pub(super) fn of(objects: &[Object]) -> Self {
        let deployments: BTreeMap<&str, u32> = objects.iter().filter_map(deployment).collect();
        let scale = |object: &Object| Some((uid_of(object)?, scale_of(object, &deployments)?));
        Self {
            budgets: objects.iter().filter_map(rule).collect(),
            scales: objects.iter().filter_map(scale).collect(),
        }
    }

    /// Counts every budget, or only those of which the manifest does not say what they allow.
    pub(super) fn count(&self, snapshot: &mut Snapshot, only_new: bool) {
        for (namespace, state) in &mut snapshot.namespaces {
            let allowed: Vec<u32> = state
                .budgets
                .iter()
                .map(|budget| match self.budgets.get(&(namespace.clone(), Arc::clone(&budget.name))) {
                    Some(rule) if !(only_new && rule.is_counted) => self.allowed(rule.bound, budget, state),
                    _ => budget.allowed,
                })
                .collect();
            if state.budgets.iter().map(|budget| budget.allowed).ne(allowed.iter().copied()) {
                for (budget, allowed) in Arc::make_mut(state).budgets.iter_mut().zip(allowed) {
                    budget.allowed = allowed;
                }
            }
        }
    }

    /// What the disruption controller writes as `disruptionsAllowed`: what is healthy beyond what has to be.
    fn allowed(&self, bound: Bound, budget: &Budget, state: &NamespaceState) -> u32 {
        let pods: Vec<&Pod> =
            state.pods.iter().filter(|pod| budget.selector.matches(&pod.metadata.labels)).collect();
        let is_healthy = |pod: &&&Pod| pod.is_live() && pod.phase == Phase::Running && pod.stuck.is_none();
        let healthy = count(pods.iter().filter(is_healthy).count());
        // Where it does not know how many there should be, it allows nothing, and neither where there are none.
        let (expected, kept) = match bound {
            Bound::Kept(share @ Share::Pods(_)) => (count(pods.len()), share.of(0)),
            Bound::Kept(share) => match self.expected(&pods, state) {
                Some(expected) => (expected, share.of(expected)),
                None => return 0,
            },
            Bound::Missing(share) => match self.expected(&pods, state) {
                Some(expected) => (expected, expected.saturating_sub(share.of(expected))),
                None => return 0,
            },
            Bound::Unstated => return 0,
        };
        if expected == 0 { 0 } else { healthy.saturating_sub(kept) }
    }

    /// How many pods the owners of `pods` want together; bare ones are not expected. None if it is unknown.
    fn expected(&self, pods: &[&Pod], state: &NamespaceState) -> Option<u32> {
        let mut wanted: BTreeMap<&OwnerUid, u32> = BTreeMap::new();
        let owners: BTreeSet<&OwnerUid> = pods.iter().filter_map(|pod| pod.owner()).collect();
        for owner in owners {
            match self.scales.get(owner) {
                Some(Scale::Of(controller, scale)) => wanted.insert(controller, *scale),
                Some(Scale::Unknown) => return None,
                // No manifest describes it, so it has the pods that it wants.
                None => {
                    let is_its = |pod: &&Pod| pod.is_live() && pod.owner() == Some(owner);
                    wanted.insert(owner, count(state.pods.iter().filter(is_its).count()))
                }
            };
        }
        Some(wanted.into_values().fold(0, u32::saturating_add))
    }
}

fn rule(object: &Object) -> Option<((Namespace, Arc<str>), Rule)> {
    let Object::PodDisruptionBudget(budget) = object else { return None };
    let metadata = &budget.metadata;
    let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
    let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
    let is_counted = budget.status.as_ref().is_some_and(|status| status.disruptions_allowed.is_some());
    Some(((namespace, name), Rule { bound: Bound::of(budget).ok()?, is_counted }))
}

fn deployment(object: &Object) -> Option<(&str, u32)> {
    let Object::Deployment(deployment) = object else { return None };
    Some((deployment.metadata.uid.as_deref()?, pods(deployment.spec.as_ref()?.replicas)))
}

fn uid_of(object: &Object) -> Option<OwnerUid> {
    object.metadata().uid.as_deref().map(OwnerUid::new)
}

fn scale_of(object: &Object, deployments: &BTreeMap<&str, u32>) -> Option<Scale> {
    match object {
        Object::ReplicaSet(set) => {
            let controller = object.controller().map(|owner| owner.uid.as_str());
            let deployment = controller.and_then(|uid| deployments.get_key_value(uid));
            Some(match deployment {
                Some((uid, replicas)) => Scale::Of(OwnerUid::new(*uid), *replicas),
                None => Scale::Of(uid_of(object)?, pods(set.spec.as_ref()?.replicas)),
            })
        }
        Object::StatefulSet(set) => Some(Scale::Of(uid_of(object)?, pods(set.spec.as_ref()?.replicas))),
        Object::DaemonSet(_) | Object::Job(_) => Some(Scale::Unknown),
        _ => None,
    }
}

fn pods(written: Option<i32>) -> u32 {
    u32::try_from(written.unwrap_or(1)).unwrap_or_default()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
