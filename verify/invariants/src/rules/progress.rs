//! Progress: what waits for the operator comes about within stated bounds, all the time and not only in the end.
//!
//! A bound counts from when something began to wait, or from the last disturbance after that: a fault, or a change by a user.

use std::collections::BTreeMap;

use super::{gated, rest};
use crate::cluster_state::{ClusterState, Restraint};
use crate::violation::Invariant;

/// How long each may wait, in milliseconds.
const BOUNDS: [(Invariant, i64); 4] = [
    // Refused writes are repeated after a minute at the latest.
    (Invariant::QuotasFollow, 75_000),
    // Statuses are written at most every 15 s.
    (Invariant::ReasonsFollow, 75_000),
    // Victims have a grace of 30 s, hang for a minute before that is told, and refused evictions are repeated after a minute.
    (Invariant::ReclaimsEnd, 240_000),
    (Invariant::GatesOpen, 75_000),
];

/// For how long nothing grows in Gate mode after a change of leaders, at most, in milliseconds.
const AFTER_HAND_OVER: i64 = 600_000;

/// How often it is looked, in milliseconds.
const POLL_MILLIS: i64 = 1_000;

/// The reasons for a starved queue that promise that its share is on its way.
const ON_ITS_WAY: [&str; 3] = ["WaitingForPreemption", "WaitingForQuota", ""];

/// What waits, in which namespace and since when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    waiting: BTreeMap<(Invariant, String), i64>,
    disturbed: i64,
    /// When another process began to lead, if not the first.
    handed_over: Option<i64>,
    looked: i64,
}

impl Progress {
    /// Something happened that the operator has to deal with first.
    pub(crate) fn disturb(&mut self, at: i64) {
        self.disturbed = self.disturbed.max(at);
    }

    /// Another process leads than the one that wrote the ledger.
    pub(crate) fn hand_over(&mut self, at: i64) {
        self.handed_over = Some(at);
    }

    /// What has waited for too long; `date` is the same time since 1970.
    pub(crate) fn check(&mut self, cluster: &ClusterState, at: i64, date: i64) -> Vec<(Invariant, String)> {
        if at.saturating_sub(self.looked) < POLL_MILLIS {
            return Vec::new();
        }
        self.looked = at;
        let now = waits(cluster, date);
        self.waiting.retain(|what, _| now.contains_key(what));
        let mut late = Vec::new();
        for (what, message) in now {
            let (invariant, namespace) = what.clone();
            let since = self.waiting.entry(what).or_insert(at);
            let bound = BOUNDS.iter().find(|(of, _)| *of == invariant).map_or(0, |(_, bound)| *bound);
            let calm = match (invariant, self.handed_over) {
                (Invariant::GatesOpen, Some(handed_over)) => handed_over.saturating_add(AFTER_HAND_OVER),
                _ => self.disturbed,
            };
            let waited = at.saturating_sub((*since).max(calm).max(self.disturbed));
            if waited > bound {
                *since = at;
                late.push((invariant, format!("{namespace}: {message}, for {} s", waited / 1000)));
            }
        }
        late
    }
}

/// What waits now, by namespace.
fn waits(cluster: &ClusterState, date: i64) -> BTreeMap<(Invariant, String), String> {
    let mut found = BTreeMap::new();
    for (namespace, place) in &cluster.places {
        let Some((_, queue)) = place.leaf() else { continue };
        let is_stalled = queue.conditions.iter().any(|condition| condition == "Stalled");
        let restraint = cluster.restraint(namespace, date);
        if is_stalled || restraint.is_some_and(Restraint::keeps_quota) {
            continue;
        }
        let mut add = |invariant, message| found.insert((invariant, namespace.clone()), message);
        let entry = cluster.ledger.as_ref().and_then(|ledger| ledger.entries.get(namespace));
        let hard = place.quota.as_ref().map(|quota| quota.hard.clone()).unwrap_or_default();
        if let Some(entry) = entry.filter(|entry| !place.is_in_gate_mode() && entry.granted != hard) {
            add(Invariant::QuotasFollow, format!("{} is granted, and the quota says {hard}", entry.granted));
        }
        if let Some(deserved) = &queue.deserved {
            let target = cluster.target(namespace).unwrap_or(deserved);
            if let Some(lacking) = rest::lacking_without_reason(place, queue, deserved, target) {
                add(Invariant::ReasonsFollow, format!("{lacking} is missing and nothing says why"));
            }
        }
        let owed = entry.map(|entry| entry.owed.clone()).unwrap_or_default();
        let reason = queue.starved.as_deref().unwrap_or_default();
        if !owed.is_empty() && ON_ITS_WAY.contains(&reason) && restraint.is_some_and(Restraint::evicts) {
            add(Invariant::ReclaimsEnd, format!("{owed} is owed"));
        }
        if let Some((_, message)) = gated::waits_with_room(cluster, namespace, place) {
            add(Invariant::GatesOpen, message);
        }
    }
    found
}
