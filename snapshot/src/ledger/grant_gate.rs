//! When nothing may grow, because what was granted, or what is there, is not known well enough.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ledger, REQUEST_LIFE_SECONDS};
use crate::names::Namespace;
use crate::time::Timestamp;
use crate::{GrantGate, NamespaceState};

/// How old the pods are that are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeenPods {
    /// Every pod that another leader may have let in under the ledger is seen.
    #[default]
    UpToLedger,
    /// The pods are as they were before the ledger was written.
    Older,
}

impl Ledger {
    /// Whether anything may grow.
    ///
    /// After a rebuild the amounts of a write in flight are unknown. What is on its way fails once every quota
    /// bears a stamp of this ledger, and is over when no request can have lived for so long.
    ///
    /// After another writer has written the ledger and until all quotas are seen as it says, the view may be older than
    /// the ledger, and with it the pods: some that it does not show may fill a quota that has been lowered since. In Gate
    /// mode no quota tells of them, so `pods` have to be seen up to the ledger.
    pub fn grant_gate(
        &self,
        namespaces: &BTreeMap<Namespace, Arc<NamespaceState>>,
        pods: SeenPods,
        now: Timestamp,
    ) -> GrantGate {
        let is_recent = |at: Timestamp| now < at.plus_seconds(REQUEST_LIFE_SECONDS);
        let is_made_up =
            self.rebuilt.is_some_and(is_recent) && !namespaces.values().all(|state| is_settled(state));
        let is_behind = self.inherited.is_some_and(|inherited| {
            self.entries.iter().any(|(namespace, entry)| {
                entry.generation <= inherited
                    && is_recent(entry.changed)
                    && namespaces.get(namespace).is_some_and(|state| is_to_be_written(state))
            })
        });
        let hides_pods = pods == SeenPods::Older
            && self.entries.keys().any(|namespace| may_be_in_gate_mode(namespaces.get(namespace)));
        if is_made_up || is_behind || hides_pods { GrantGate::Held } else { GrantGate::Allowed }
    }
}

/// Whether only the ledger may bound the pods of a namespace. Its Queue may be newer than the view.
fn may_be_in_gate_mode(state: Option<&Arc<NamespaceState>>) -> bool {
    state.is_some_and(|state| state.is_in_gate_mode() || (state.governing().is_none() && !state.vacant))
}

/// Whether the quota of a Queue does not bear the stamp of its entry yet. In Gate mode none has to.
fn is_to_be_written(state: &NamespaceState) -> bool {
    state.governing().is_some()
        && !state.is_in_gate_mode()
        && state.quota.as_ref().is_some_and(|quota| quota.unstamped)
}

/// Whether no write from before the rebuild can land in the quota of a Queue, seen or not.
fn is_settled(state: &NamespaceState) -> bool {
    match &state.quota {
        // A gate that is removed late is a loan, whatever was granted.
        _ if state.is_in_gate_mode() => true,
        Some(quota) if quota.ours && quota.is_fenced() => true,
        Some(quota) if quota.owner.is_some() => false,
        _ => state.governing().is_none(),
    }
}
