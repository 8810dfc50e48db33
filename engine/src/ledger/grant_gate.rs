//! When nothing may grow, because what was granted, or what is there, is not known well enough.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ledger, REQUEST_LIFE_SECONDS};
use crate::names::Namespace;
use crate::snapshot::{GrantGate, NamespaceState};
use crate::time::Timestamp;

impl Ledger {
    /// Whether anything may grow.
    ///
    /// After a rebuild nobody knows which amounts a write on its way carries. What is on its way fails once every quota
    /// bears a stamp of this ledger, and is over when no request can have lived for so long.
    ///
    /// After somebody else has written the ledger and until all quotas are seen as it says, the view may be older than
    /// the ledger, and with it the pods: some that it does not show may fill a quota that has been lowered since.
    pub fn grant_gate(
        &self,
        namespaces: &BTreeMap<Namespace, Arc<NamespaceState>>,
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
        if is_made_up || is_behind { GrantGate::Held } else { GrantGate::Allowed }
    }
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
