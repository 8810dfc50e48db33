//! The snapshot without gated pods, and the pods that were taken out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::keyed::{KeyedMap, KeyedSet};
use crate::names::{Namespace, OwnerUid};
use crate::snapshot::{
    Admission, GATED_PODS, Gang, NamespaceState, Owner, OwnerKind, Pod, Quota, Shape, Snapshot,
};
use crate::tree::{Branch, Tree};

/// The namespaces in Gate mode.
#[derive(Default)]
pub(crate) struct GatedNamespaces<'a>(BTreeMap<&'a Namespace, &'a NamespaceState>);

impl<'a> GatedNamespaces<'a> {
    /// Those of the queues that have a share, as far as Quotient may write there.
    pub(crate) fn of(snapshot: &'a Snapshot, tree: &Tree<'a>) -> Self {
        let is_gated = |branch: &&Branch<'a>| {
            branch.is_leaf() && branch.queue.admission == Admission::Gate && branch.reach.writes_quotas()
        };
        let namespace = |branch: &Branch<'a>| {
            let (name, state) = snapshot.namespaces.get_key_value(&branch.name.namespace)?;
            Some((name, &**state))
        };
        Self(tree.branches.values().filter(is_gated).filter_map(namespace).collect())
    }

    /// The namespace of this name, if it is in Gate mode.
    pub(crate) fn get(&self, namespace: &Namespace) -> Option<&'a NamespaceState> {
        self.0.get(namespace).copied()
    }

    /// `snapshot` as every other step reads it. Copies the namespaces in Gate mode, and nothing where there is none.
    pub(crate) fn taken_out_of(&self, snapshot: &'a Snapshot) -> Cow<'a, Snapshot> {
        if self.0.is_empty() {
            return Cow::Borrowed(snapshot);
        }
        let mut without = snapshot.clone();
        for (name, state) in &self.0 {
            without.namespaces.insert((*name).clone(), Arc::new(without_gated_pods(state)));
        }
        Cow::Owned(without)
    }
}

/// A namespace as every other step reads it.
fn without_gated_pods(state: &NamespaceState) -> NamespaceState {
    let known: KeyedSet<&OwnerUid> = state.owners.iter().map(|owner| &owner.uid).collect();
    let is_own = |pod: &&Pod| pod.owner().is_none_or(|owner| !known.contains(owner));
    let mut own: Vec<&Pod> = state.gated_pods().filter(is_own).collect();
    own.sort_by(|a, b| Pod::by_age(a, b));
    let owners = state.owners.iter().cloned().chain(asking_for_themselves(&own));
    NamespaceState {
        labels: state.labels.clone(),
        queues: state.queues.clone(),
        vacant: state.vacant,
        terminating: state.terminating,
        quota: ledger_as_quota(state),
        pods: state.pods.iter().filter(|pod| !pod.is_gated()).cloned().collect(),
        owners: owners.collect(),
        queue_jobs: state.queue_jobs.clone(),
        budgets: state.budgets.clone(),
        foreign_quotas: state.foreign_quotas.clone(),
        refused: state.refused.clone(),
    }
}

/// What the ledger granted, as a quota that is enforced: the operator removes no gate above it.
///
/// Only the operator writes it, and no write of it can be late.
fn ledger_as_quota(state: &NamespaceState) -> Option<Quota> {
    let quota = state.quota.as_ref()?;
    let granted = quota.granted.clone()?;
    Some(Quota {
        hard: granted.clone(),
        enforced: granted.clone(),
        ours: true,
        granted: Some(granted),
        owed: quota.owed.clone(),
        owner: state.governing().map(|queue| queue.uid.clone()),
        ..Quota::default()
    })
}

/// What alike pods have in common that count as their own demand.
type Alike<'a> = (Option<&'a OwnerUid>, &'a Shape, i32, Option<&'a Gang>);

/// Owners that want exactly these pods, one for alike ones, in the order of the first of each.
fn asking_for_themselves(pods: &[&Pod]) -> Vec<Owner> {
    let mut owners: Vec<Owner> = Vec::new();
    let mut known: KeyedMap<Alike<'_>, usize> = KeyedMap::default();
    for pod in pods {
        let alike = (pod.owner(), &*pod.shape, pod.priority, pod.gang());
        let at = *known.entry(alike).or_insert(owners.len());
        if let Some(owner) = owners.get_mut(at) {
            owner.wanted = owner.wanted.saturating_add(1);
            continue;
        }
        owners.push(Owner {
            uid: OwnerUid::new(pod.uid.as_str()),
            kind: OwnerKind::Configured(&GATED_PODS),
            name: pod.name.as_str().into(),
            created: pod.created,
            wanted: 1,
            shape: Arc::clone(&pod.shape),
            gang: pod.gang().cloned(),
            priority: pod.priority,
            controller: pod.metadata.owner.clone().map(Arc::new),
            ..Owner::default()
        });
    }
    owners
}
