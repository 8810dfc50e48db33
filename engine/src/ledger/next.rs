//! The ledger after a plan.

use std::collections::BTreeMap;

use super::{Entry, Ledger, REQUEST_LIFE_SECONDS};
use crate::amounts::Bounds;
use crate::names::Namespace;
use crate::plan::{Orphan, Plan};
use crate::snapshot::{Growth, Quota, Snapshot};

impl Ledger {
    /// The ledger that has to be written before anything of `plan`, which was made from `snapshot`; none if this one
    /// says it all.
    pub fn next(&self, plan: &Plan, snapshot: &Snapshot) -> Option<Self> {
        let generation = self.generation.next();
        let over = |(name, entry): &(&Namespace, &Entry)| is_over(name, entry, plan, snapshot);
        let over: Vec<&Namespace> =
            self.entries.iter().filter(over).map(|(namespace, _)| namespace).collect();
        let mut changed: Vec<(&Namespace, Entry)> = Vec::new();
        for (namespace, granted) in grants(plan) {
            let is_fenced = quota(snapshot, namespace).is_some_and(Quota::is_fenced);
            let entry = match self.entries.get(namespace) {
                Some(kept) => kept.changed(&granted, is_fenced, generation, snapshot.now),
                None => Some(Entry::first(granted, generation, snapshot.now)),
            };
            changed.extend(entry.map(|entry| (namespace, entry)));
        }
        if over.is_empty() && changed.is_empty() {
            return None;
        }
        let mut entries = self.entries.clone();
        for namespace in over {
            entries.remove(namespace);
        }
        entries.extend(changed.into_iter().map(|(namespace, entry)| (namespace.clone(), entry)));
        let rebuilt = self.rebuilt.filter(|_| snapshot.growth == Growth::Held);
        Some(Self { generation, entries, rebuilt, inherited: self.inherited })
    }
}

/// What `plan` grants, by namespace.
fn grants(plan: &Plan) -> BTreeMap<&Namespace, Bounds> {
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    let shares = leaves.map(|(name, queue)| (&name.namespace, plan.bounds(&queue.allocated)));
    let left = plan.orphans.iter().filter_map(|(namespace, orphan)| match orphan {
        Orphan::Lower(hard) | Orphan::Renew(hard) => Some((namespace, hard.clone())),
        Orphan::Remove => None,
    });
    left.chain(shares).collect()
}

/// Whether nothing that was granted there can come into force any more.
fn is_over(namespace: &Namespace, entry: &Entry, plan: &Plan, snapshot: &Snapshot) -> bool {
    // The namespace itself is gone, and nothing can be written to it.
    let Some(state) = snapshot.namespaces.get(namespace) else { return true };
    if plan.orphans.get(namespace) == Some(&Orphan::Remove) {
        return state.quota.as_ref().is_some_and(Quota::is_fenced);
    }
    state.queues.is_empty()
        && !state.quota.as_ref().is_some_and(Quota::is_seen)
        && snapshot.now >= entry.changed.plus_seconds(REQUEST_LIFE_SECONDS)
}

fn quota<'a>(snapshot: &'a Snapshot, namespace: &Namespace) -> Option<&'a Quota> {
    snapshot.namespaces.get(namespace)?.quota.as_ref()
}
