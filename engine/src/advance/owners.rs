//! Owners bring their pods to the number that they want, as far as quotas admit.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::names::{Namespace, PodName, PodUid};
use crate::snapshot::{NamespaceState, Owner, OwnerKind, Pod, Snapshot, Ties};
use crate::time::Timestamp;

/// How many pods an owner creates in one step, as its controller does in one go: a manifest may ask for two thousand
/// million.
const MOST_AT_ONCE: u32 = 500;

/// Deletes what owners have too many of, and creates what they lack, oldest owner first.
///
/// `before` is the world at the beginning of the step: new pods take after those that the owner had then.
pub(super) fn reconcile(snapshot: &mut Snapshot, before: &Snapshot) {
    let now = snapshot.now;
    for (name, state) in &mut snapshot.namespaces {
        if state.owners.is_empty() {
            continue;
        }
        let surplus = surplus(state);
        if !surplus.is_empty() {
            Arc::make_mut(state).pods.retain(|pod| !surplus.contains(&pod.uid));
        }
        let siblings = before.namespaces.get(name).map(|before| before.pods.as_slice()).unwrap_or_default();
        let created = created(name, state, siblings, now);
        if !created.is_empty() {
            Arc::make_mut(state).pods.extend(created);
        }
    }
}

/// The pods that owners have too many of: those that are furthest from being of use, then the youngest.
fn surplus(state: &NamespaceState) -> BTreeSet<PodUid> {
    let mut surplus = BTreeSet::new();
    for owner in &state.owners {
        let mut live: Vec<&Pod> =
            state.pods.iter().filter(|pod| pod.is_live() && pod.owner() == Some(&owner.uid)).collect();
        let too_many = live.len().saturating_sub(usize::try_from(owner.wanted).unwrap_or(usize::MAX));
        if too_many > 0 {
            live.sort_by_key(|pod| {
                (
                    pod.node.is_some(),
                    pod.phase,
                    pod.stuck.is_none(),
                    Reverse((pod.created, &pod.name, &pod.uid)),
                )
            });
            surplus.extend(live.into_iter().take(too_many).map(|pod| pod.uid.clone()));
        }
    }
    surplus
}

/// The pods that owners create now.
///
/// The number in their names is the time and their place among all that the namespace creates then, so no name is
/// ever used twice.
fn created(namespace: &Namespace, state: &NamespaceState, siblings: &[Pod], now: Timestamp) -> Vec<Pod> {
    let mut owners: Vec<&Owner> = state.owners.iter().collect();
    owners.sort_by_key(|owner| (owner.created, owner.kind, &owner.name, &owner.uid));
    let mut charged = Amounts::new();
    state.pods.iter().filter(|pod| pod.is_charged()).for_each(|pod| charged.add_all(pod.requests()));
    let mut created = Vec::new();
    for owner in owners {
        let missing = owner.wanted.saturating_sub(standing(owner, &state.pods)).min(MOST_AT_ONCE);
        for _ in 0..missing {
            if !admits(state, &charged, &owner.shape.requests) {
                break;
            }
            charged.add_all(&owner.shape.requests);
            created.push(new_pod(namespace, owner, siblings, now, created.len()));
        }
    }
    created
}

/// How many of its pods an owner counts. A StatefulSet waits until a pod is gone before it creates it anew.
fn standing(owner: &Owner, pods: &[Pod]) -> u32 {
    let counts = |pod: &&Pod| {
        let there = if owner.kind == OwnerKind::StatefulSet { pod.is_charged() } else { pod.is_live() };
        there && pod.owner() == Some(&owner.uid)
    };
    u32::try_from(pods.iter().filter(counts).count()).unwrap_or(u32::MAX)
}

/// Whether quota admission lets a pod in: of everything that it requests, there has to be room in every quota.
fn admits(state: &NamespaceState, charged: &Amounts, requests: &Amounts) -> bool {
    requests.iter().all(|(resource, requested)| {
        let ours = state.quota.as_ref().and_then(|quota| quota.enforced.get(resource));
        let bounds = [ours, state.foreign_quotas.get(resource)];
        bounds.into_iter().flatten().all(|bound| charged.get(resource) + requested <= bound)
    })
}

/// A pod as `owner` creates it. The owner's template is known by its shape only; what else its pods have in common
/// is taken from one of them.
fn new_pod(namespace: &Namespace, owner: &Owner, siblings: &[Pod], now: Timestamp, number: usize) -> Pod {
    let of_owner = siblings.iter().filter(|pod| pod.owner() == Some(&owner.uid));
    let sibling = of_owner.min_by_key(|pod| &pod.uid);
    let ties = Ties {
        owner: Some(owner.uid.clone()),
        gang: owner.gang.clone(),
        labels: sibling.map(|pod| pod.ties.labels.clone()).unwrap_or_default(),
    };
    let shared = sibling.map(|pod| &pod.ties).filter(|shared| ***shared == ties);
    let name = format!("{}-r{}-{number}", owner.name, now.millis().div_euclid(1000));
    Pod {
        uid: PodUid::new(format!("{namespace}/{name}")),
        name: PodName::new(name),
        shape: Arc::clone(&owner.shape),
        ties: shared.map_or_else(|| Arc::new(ties), Arc::clone),
        priority: owner.priority,
        created: now,
        reluctant: sibling.is_some_and(|pod| pod.reluctant),
        ..Pod::default()
    }
}
