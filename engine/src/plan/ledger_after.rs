//! The ledger after a plan.

use std::collections::BTreeMap;

use super::Plan;
use crate::amounts::{Amounts, Bounds};
use crate::ledger::{Entry, Ledger, REQUEST_LIFE_SECONDS};
use crate::names::Namespace;
use crate::snapshot::{GrantGate, Quota, Snapshot};

impl Plan {
    /// The ledger that has to be written before anything of this plan, which was made from `snapshot`; none if `ledger` says
    /// it all.
    pub fn ledger_after(&self, ledger: &Ledger, snapshot: &Snapshot) -> Option<Ledger> {
        let generation = ledger.generation.next();
        let over = |(name, entry): &(&Namespace, &Entry)| is_over(name, entry, snapshot);
        let over: Vec<&Namespace> =
            ledger.entries.iter().filter(over).map(|(namespace, _)| namespace).collect();
        let mut changed: Vec<(&Namespace, Entry)> = Vec::new();
        for (namespace, (granted, owed)) in grants(self) {
            // In Gate mode amounts are enforced by this very write.
            let is_fenced = snapshot.namespaces.get(namespace).is_some_and(|state| {
                state.is_in_gate_mode() || state.quota.as_ref().is_some_and(Quota::is_fenced)
            });
            let entry = match ledger.entries.get(namespace) {
                Some(kept) => kept.changed(&granted, &owed, is_fenced, generation, snapshot.now),
                None => Some(Entry::first(granted, owed, generation, snapshot.now)),
            };
            changed.extend(entry.map(|entry| (namespace, entry)));
        }
        // Targets are kept before any pod goes for them; by themselves they are worth no write.
        let takes = !self.evictions.is_empty() || !self.shortened.is_empty();
        let is_other = ledger.targets != self.targets && takes;
        if over.is_empty() && changed.is_empty() && !is_other {
            return None;
        }
        let mut entries = ledger.entries.clone();
        for namespace in over {
            entries.remove(namespace);
        }
        entries.extend(changed.into_iter().map(|(namespace, entry)| (namespace.clone(), entry)));
        let rebuilt = ledger.rebuilt.filter(|_| snapshot.grant_gate == GrantGate::Held);
        let targets = self.targets.clone();
        Some(Ledger { generation, entries, targets, rebuilt, inherited: ledger.inherited })
    }
}

/// What `plan` grants and owes, by namespace.
fn grants(plan: &Plan) -> BTreeMap<&Namespace, (Bounds, Amounts)> {
    let leaves = plan.leaves().filter(|(_, queue)| queue.is_granted());
    let shares = leaves
        .map(|(name, queue)| (&name.namespace, (plan.bounds(&queue.allocated), queue.preempting.clone())));
    let retained =
        plan.retained.iter().map(|(name, write)| (&name.namespace, (write.hard.clone(), Amounts::new())));
    retained.chain(shares).collect()
}

/// Whether the Queue that the entry was granted to is gone.
///
/// That a Queue is not seen proves nothing: the view may be older than the ledger, or a list too short. Without a
/// confirmation the entry ends when the view can no longer be as old as the entry. In either case its quota has to be collected:
/// until then a Queue that is created again has what it lets in.
///
/// A write for the former Queue that lands later does no harm. An update fails, because its quota is gone. A create names an
/// owner that is gone, so garbage collection deletes that quota again; until then it restricts a namespace that nothing else
/// restricts.
fn is_over(namespace: &Namespace, entry: &Entry, snapshot: &Snapshot) -> bool {
    // The view shows every namespace with an entry, those that are gone included.
    let Some(state) = snapshot.namespaces.get(namespace) else { return false };
    let is_recent = || snapshot.now < entry.changed.plus_seconds(REQUEST_LIFE_SECONDS);
    let is_owned = state.quota.as_ref().is_some_and(|quota| quota.owner.is_some());
    state.governing().is_none() && !is_owned && (state.vacant || !is_recent())
}
