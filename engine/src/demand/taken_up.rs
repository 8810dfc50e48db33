//! Demand that is not taken up: pods that no node takes, owners none of whose pods gets Ready.
//!
//! It does not count until the owner is changed or one of its pods gets Ready. It is remembered by owner, so
//! that new pods in place of the old ones do not bring it back.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::earliest;
use crate::amounts::Amounts;
use crate::census::Census;
use crate::names::{Namespace, OwnerUid};
use crate::snapshot::{NamespaceState, NotTakenUp, Owner, Pod, Settings, Snapshot};
use crate::time::Timestamp;

/// How long a pod may be unschedulable.
const UNSCHEDULABLE_SECONDS: i64 = 60;
/// How long it may be where a node may be added for it: autoscalers need minutes.
const WITHOUT_NODE_SECONDS: i64 = 600;
/// How long an owner may have pods and none of them Ready.
const NOT_READY_SECONDS: i64 = 300;

/// What is not taken up in one namespace.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    pub(super) entries: BTreeMap<OwnerUid, NotTakenUp>,
    /// When the next pod's or owner's time is up.
    pub(super) next_change: Option<Timestamp>,
}

/// Whether a pod serves: it has a node, and nobody says that it does not get on there.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    pod.node.is_some() && pod.stuck.is_none()
}

/// Until when an autoscaler may still add a node for `pod`; none if it is not waiting for one, or has been for too
/// long.
pub(crate) fn node_patience(pod: &Pod, settings: &Settings, now: Timestamp) -> Option<Timestamp> {
    let stuck = pod.stuck.filter(|_| pod.node.is_none() && pod.is_live())?;
    let until = stuck.plus_seconds(WITHOUT_NODE_SECONDS);
    (until > now && waits_for_nodes(pod.requests(), settings)).then_some(until)
}

/// Until when the first pod that waits for a node that an autoscaler may add is waited for; none if no pod does.
pub(crate) fn first_patience(snapshot: &Snapshot, census: &Census<'_>) -> Option<Timestamp> {
    if snapshot.settings.expandable.is_empty() {
        return None;
    }
    let is_stuck = |name: &Namespace| census.namespaces.get(name).is_some_and(|headcount| headcount.stuck);
    let pods =
        snapshot.namespaces.iter().filter(|(name, _)| is_stuck(name)).flat_map(|(_, state)| &state.pods);
    pods.filter_map(|pod| node_patience(pod, &snapshot.settings, snapshot.now)).min()
}

fn waits_for_nodes(requests: &Amounts, settings: &Settings) -> bool {
    requests.overlaps(&settings.expandable)
}

/// What the pods of one owner show.
#[derive(Debug, Default)]
struct Signs {
    live: u32,
    ready: u32,
    /// When the last of the Ready ones started.
    ready_since: Option<Timestamp>,
    /// When the first of those without a node has waited long enough.
    gives_up: Option<Timestamp>,
    /// When the last of all has not been Ready for too long; none if one may still get there.
    fails: Option<Timestamp>,
    /// Whether one of them is Ready, or nothing is known of it yet.
    hopeful: bool,
    /// Whether one that does not get on is on its way out.
    trouble_leaves: bool,
}

impl Signs {
    fn add(&mut self, pod: &Pod, settings: &Settings) {
        if pod.is_terminating() {
            // Nothing new is said of its owner before it is gone.
            self.trouble_leaves |= pod.stuck.is_some();
        } else {
            self.live = self.live.saturating_add(1);
            if is_ready(pod) {
                self.ready = self.ready.saturating_add(1);
                self.ready_since = self.ready_since.max(Some(pod.started.unwrap_or(pod.created)));
            }
        }
        match pod.stuck {
            None => self.hopeful = true,
            Some(stuck) => {
                let patience = if waits_for_nodes(pod.requests(), settings) {
                    WITHOUT_NODE_SECONDS
                } else {
                    UNSCHEDULABLE_SECONDS
                };
                if pod.node.is_none() {
                    self.gives_up = earliest(self.gives_up, Some(stuck.plus_seconds(patience)));
                    // A pod that waits for a node that may still come is no reason to give up on its owner.
                    self.fails = self.fails.max(Some(stuck.plus_seconds(patience.max(NOT_READY_SECONDS))));
                } else {
                    self.fails = self.fails.max(Some(stuck.plus_seconds(NOT_READY_SECONDS)));
                }
            }
        }
    }

    /// When it is no longer waited for, whether that has come or not.
    fn time_is_up(&self) -> Option<Timestamp> {
        earliest(self.gives_up, self.fails.filter(|_| !self.hopeful))
    }

    /// Whether an entry made at `since` has been disproved.
    fn recovered(&self, since: Timestamp, wanted: u32) -> bool {
        let new_one = self.ready_since.is_some_and(|ready| ready > since);
        let all_of_them =
            !self.trouble_leaves && self.ready > 0 && self.ready == self.live && self.live >= wanted;
        new_one || all_of_them
    }
}

/// What is not taken up now, given what was not before.
pub(super) fn look(
    state: &NamespaceState,
    before: &BTreeMap<OwnerUid, NotTakenUp>,
    settings: &Settings,
    now: Timestamp,
) -> Idleness {
    let mut signs: FxHashMap<OwnerUid, Signs> = FxHashMap::default();
    for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
        // A pod without an owner is its own; of those only the ones in trouble matter.
        let key = match pod.owner() {
            Some(owner) => owner.clone(),
            None if pod.stuck.is_some() || !before.is_empty() => own_key(pod),
            None => continue,
        };
        signs.entry(key).or_default().add(pod, settings);
    }
    let owners: FxHashMap<&OwnerUid, &Owner> = state.owners.iter().map(|owner| (&owner.uid, owner)).collect();
    let mut idleness = Idleness::default();
    for (uid, signs) in &signs {
        let owner = owners.get(uid);
        let generation = owner.map_or(0, |owner| owner.generation);
        let wanted = owner.map_or(0, |owner| owner.wanted);
        let kept = before
            .get(uid)
            .filter(|entry| entry.generation == generation && !signs.recovered(entry.since, wanted));
        if let Some(entry) = kept {
            idleness.entries.insert(uid.clone(), *entry);
            continue;
        }
        match signs.time_is_up() {
            Some(up) if up <= now => {
                idleness
                    .entries
                    .insert(uid.clone(), NotTakenUp { generation, since: now, not_created: false });
            }
            up => idleness.next_change = earliest(idleness.next_change, up),
        }
    }
    // An owner whose pods are all refused is what it was.
    for (uid, entry) in before.iter().filter(|(uid, _)| !signs.contains_key(*uid)) {
        if owners.get(uid).is_some_and(|owner| owner.generation == entry.generation) {
            idleness.entries.insert(uid.clone(), *entry);
        }
    }
    idleness
}

/// Whether what `pod` requests does not count: it is not Ready, and nothing came of its owner's pods.
///
/// One that has a node and may get Ready in time counts, unless it stands for one that did not.
pub(crate) fn is_ignored(pod: &Pod, entries: &BTreeMap<OwnerUid, NotTakenUp>, now: Timestamp) -> bool {
    ignored_from(pod, entries).is_some_and(|from| from <= now)
}

/// From when on what `pod` requests does not count, if that will be so.
pub(super) fn ignored_from(pod: &Pod, entries: &BTreeMap<OwnerUid, NotTakenUp>) -> Option<Timestamp> {
    let entry = match pod.owner() {
        Some(owner) => entries.get(owner),
        None => entries.get(&own_key(pod)),
    };
    let entry = entry.filter(|_| !is_ready(pod))?;
    if pod.node.is_none() || pod.created > entry.since {
        return Some(Timestamp::from_millis(i64::MIN));
    }
    pod.stuck.map(|stuck| stuck.plus_seconds(NOT_READY_SECONDS))
}

fn own_key(pod: &Pod) -> OwnerUid {
    OwnerUid::from(pod.uid.as_str())
}
