//! Telling owners whose pods were refused that there is room again.
//!
//! The controller of a ReplicaSet, a StatefulSet, a DaemonSet or a Job whose pods a quota refused retries with backoff, up
//! to many minutes. When the quota has risen, a patch of the owner makes its controller look at once
//! ([`requeues`](crate::operations)).
//!
//! What admission has charged may be more than there is: while it tries again to write what it charges, because the quota
//! was written meanwhile, it charges pods that it has refused already. The quota controller corrects that after five minutes if
//! no pod goes, and a requeue is of no use before. So where only that keeps an owner's pods out, the quota is to be counted
//! anew.
//!
//! A requeue that was not carried out is due again. Nothing depends on it but time. What is remembered here saves requests; a
//! process that is new takes every quota as just risen, for its predecessor may have ended between the rise and the requeue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::plan::{IncompleteGang, Plan, Preemptor, Resolution, Unmet};
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{NamespaceState, Owner, OwnerKind, Preemption, Queue, Quota, Snapshot};
use tokio::time::Instant;

use super::lacking::{Room, lacking};
use crate::alarm::Alarm;
use crate::executor::{Outcome, Requeue};

/// How long one owner is left alone. Its controller looks within milliseconds, and creates pods until one is rejected.
const REQUEUE_INTERVAL: Duration = Duration::from_millis(500);

/// For how long owners are watched after their quota's rise is in force. An owner without room by then waits for the next.
const FOLLOWED: Duration = Duration::from_secs(30);

/// How long nothing has to move before a quota is counted anew; twice as long every further time after the same rise.
const RESYNC_DELAY: Duration = Duration::from_secs(1);

/// How often a quota is counted anew after one rise.
const MOST_USAGE_RESYNCS: u32 = 5;

/// The most owners that one cycle requeues; the rest waits for the next.
const MOST: usize = 64;

/// Decides which controllers to requeue, and remembers which were.
#[derive(Debug, Default)]
pub(super) struct Requeuer {
    /// Whether the quotas that stand have been taken as risen.
    begun: bool,
    rises: BTreeMap<Namespace, QuotaIncrease>,
    promised: BTreeMap<Namespace, Promises>,
    /// The owners that were requeued, and until when each is left alone.
    requeued: BTreeMap<OwnerUid, Instant>,
    /// Where admission is to count anew.
    usage_resyncs: BTreeSet<Namespace>,
    alarm: Alarm,
}

/// Owners that wait for pods of their own queue to go, by kind and name.
type Promises = BTreeMap<(OwnerKind, Arc<str>), YieldsTo>;

/// What the pods that go make room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YieldsTo {
    /// Pods of a higher priority.
    Priority,
    /// So many pods, which complete a gang.
    Gang(u32),
}

/// The owner that waits for pods of its own queue, if that is what `unmet` says.
fn promise(unmet: &Unmet) -> Option<((OwnerKind, Arc<str>), YieldsTo)> {
    let to = match (unmet.incomplete_gang.as_deref(), unmet.reason) {
        (Some(IncompleteGang { gang, resolution: Resolution::IsCompleted, .. }), _) => {
            YieldsTo::Gang(gang.minimum.saturating_sub(gang.members))
        }
        (_, ShortReason::WaitingForPreemption) => YieldsTo::Priority,
        _ => return None,
    };
    match &unmet.preemptor {
        Preemptor::Owner(kind, name) => Some(((*kind, Arc::clone(name)), to)),
        Preemptor::Pod(_) => None,
    }
}

/// A quota that rose.
#[derive(Debug, Default)]
struct QuotaIncrease {
    /// Since when it has been in force.
    in_force: Option<Instant>,
    /// The owners that lacked pods until it was, and still do.
    owners: BTreeMap<OwnerUid, Notified>,
    /// What keeps owners out that have room by what is seen of pods.
    miscount: Option<Miscount>,
    /// How often it was counted anew.
    usage_resyncs: u32,
}

/// Whether an owner was requeued since its quota has risen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notified {
    Not,
    Once,
}

/// Pods that admission charges and no watch shows.
#[derive(Debug, PartialEq, Eq)]
struct Miscount {
    /// Since when nothing has moved.
    since: Instant,
    /// What is charged.
    charged: Bounds,
    /// How many pods are lacking.
    missing: u32,
}

impl Requeuer {
    /// The quotas of these namespaces allow more now, or will once they are in force.
    pub(super) fn risen(&mut self, namespaces: BTreeSet<Namespace>) {
        for namespace in namespaces {
            let rise = self.rises.entry(namespace).or_default();
            *rise = QuotaIncrease { owners: std::mem::take(&mut rise.owners), ..QuotaIncrease::default() };
        }
    }

    /// Where admission is to count anew, since this was asked last.
    pub(super) fn take_usage_resyncs(&mut self) -> BTreeSet<Namespace> {
        std::mem::take(&mut self.usage_resyncs)
    }

    /// The last plan has pods of their own queue go for some owners: these are requeued as soon as there is room.
    pub(super) fn promised(&mut self, plan: &Plan) {
        for (queue, decided) in &plan.queues {
            let owners: Promises = decided.unmet.iter().filter_map(promise).collect();
            if !owners.is_empty() {
                self.promised.entry(queue.namespace.clone()).or_default().extend(owners);
            }
        }
    }

    /// When a controller is to be requeued that has to be left alone until then.
    pub(super) fn next(&self) -> Option<Instant> {
        self.alarm.0
    }

    /// The controllers to requeue: the owners that lacked pods when their quota rose, still do, and have room for one more, by
    /// what is seen of pods and by what admission has `charged` in their namespace. Each is due once for each rise, and again
    /// only if it was not carried out ([`Requeuer::settle`]).
    pub(super) fn due(
        &mut self,
        snapshot: &Snapshot,
        charged: impl Fn(&Namespace) -> Bounds,
        now: Instant,
    ) -> Vec<Requeue> {
        if !self.begun {
            self.begun = true;
            // In Gate mode no pod is rejected.
            let ours = |state: &NamespaceState| {
                !state.is_in_gate_mode() && state.quota.as_ref().is_some_and(|quota| quota.ours)
            };
            let standing = snapshot.namespaces.iter().filter(|(_, state)| ours(state));
            self.risen(standing.map(|(namespace, _)| namespace.clone()).collect());
        }
        self.requeued.retain(|_, until| now < *until);
        self.alarm = Alarm::default();
        let mut requeues = Vec::new();
        let mut rises = std::mem::take(&mut self.rises);
        rises.retain(|namespace, rise| {
            let Some(state) = snapshot.namespaces.get(namespace) else { return false };
            let Some(quota) = state.quota.as_ref().filter(|_| !state.queues.is_empty()) else { return false };
            self.follow((namespace, state, quota), &charged(namespace), rise, now, &mut requeues);
            let since = rise.in_force.map(|since| now.duration_since(since));
            let is_followed = since.is_none_or(|since| since < FOLLOWED && !rise.owners.is_empty());
            is_followed || rise.miscount.is_some()
        });
        self.rises = rises;
        self.keep_promises(snapshot, charged, now, &mut requeues);
        requeues
    }

    /// Finds those among the promised that have room by now.
    fn keep_promises(
        &mut self,
        snapshot: &Snapshot,
        charged: impl Fn(&Namespace) -> Bounds,
        now: Instant,
        requeues: &mut Vec<Requeue>,
    ) {
        let mut promised = std::mem::take(&mut self.promised);
        promised.retain(|namespace, owners| {
            let Some(state) = snapshot.namespaces.get(namespace) else { return false };
            let yields = |queue: &Queue| queue.preemption == Preemption::LowerPriority;
            let yields = state.queues.iter().any(yields);
            owners.retain(|_, to| yields || matches!(to, YieldsTo::Gang(_)));
            let Some(quota) = state.quota.as_ref().filter(|_| !owners.is_empty()) else { return false };
            let mut room = Room::of(state, quota).within_admission(quota, &charged(namespace));
            let lacking = lacking(state);
            let key = |owner: &Owner| (owner.kind, Arc::clone(&owner.name));
            let known: BTreeSet<_> = lacking.iter().map(|(owner, _)| key(owner)).collect();
            owners.retain(|owner, _| known.contains(owner));
            for (owner, missing) in lacking {
                // Of a part of what a gang lacks its controller would be refused again, and wait longer.
                let together = owners.get(&key(owner)).map(|to| match to {
                    YieldsTo::Priority => 1,
                    YieldsTo::Gang(lacking) => missing.min(*lacking),
                });
                let has_room = |pods: u32| room.has(&owner.shape.requests.times(pods));
                if together.is_some_and(has_room) {
                    self.requeue((namespace, owner), now, requeues);
                    room.take(&owner.shape.requests, missing);
                }
            }
            !owners.is_empty()
        });
        self.promised = promised;
    }

    /// Requeues an owner, unless it was a moment ago: then it is seen first what came of that. Says whether it is on its way to
    /// take the room that there is; not if this cycle requeues no more.
    fn requeue(
        &mut self,
        (namespace, owner): (&Namespace, &Owner),
        now: Instant,
        requeues: &mut Vec<Requeue>,
    ) -> bool {
        let until = match self.requeued.get(&owner.uid) {
            Some(until) => *until,
            None if requeues.len() < MOST => {
                let until = now.checked_add(REQUEUE_INTERVAL).unwrap_or(now);
                self.requeued.insert(owner.uid.clone(), until);
                requeues.push(Requeue::of(namespace, owner));
                until
            }
            None => now,
        };
        self.alarm.set(until);
        now < until
    }

    /// Finds those to requeue in one namespace.
    fn follow(
        &mut self,
        (namespace, state, quota): (&Namespace, &NamespaceState, &Quota),
        charged: &Bounds,
        rise: &mut QuotaIncrease,
        now: Instant,
        requeues: &mut Vec<Requeue>,
    ) {
        let lacking = lacking(state);
        let uids: BTreeSet<&OwnerUid> = lacking.iter().map(|(owner, _)| &owner.uid).collect();
        rise.owners.retain(|uid, _| uids.contains(uid));
        if rise.in_force.is_none() {
            // A controller that retries before it is enforced may be rejected again.
            rise.owners.extend(uids.into_iter().map(|uid| (uid.clone(), Notified::Not)));
            let in_force = quota.unconfirmed.is_empty() && quota.enforced == quota.hard;
            rise.in_force = in_force.then_some(now);
        }
        let mut seen = Room::of(state, quota);
        let mut room = seen.clone().within_admission(quota, charged);
        let mut kept_out = 0_u32;
        for (owner, missing) in lacking {
            let requests = &owner.shape.requests;
            if !room.has(requests) {
                kept_out = kept_out.saturating_add(if seen.has(requests) { missing } else { 0 });
                continue;
            }
            let waits = rise.owners.get(&owner.uid) == Some(&Notified::Not);
            // Else no quota rejected it, or it was requeued and does not come: other pods may use the room.
            let is_called = waits || self.requeued.contains_key(&owner.uid);
            if !is_called || !self.requeue((namespace, owner), now, requeues) {
                continue;
            }
            seen.take(requests, missing);
            room.take(requests, missing);
        }
        if rise.in_force.is_some() {
            self.watch_count(namespace, rise, charged, kept_out, now);
        }
    }

    /// Has a quota counted anew by which so many pods are `kept_out` for pods that no watch shows, while nothing moves any more.
    fn watch_count(
        &mut self,
        namespace: &Namespace,
        rise: &mut QuotaIncrease,
        charged: &Bounds,
        kept_out: u32,
        now: Instant,
    ) {
        if kept_out == 0 || rise.usage_resyncs >= MOST_USAGE_RESYNCS {
            rise.miscount = None;
            return;
        }
        let still = rise.miscount.take().filter(|was| was.charged == *charged && was.missing == kept_out);
        let mut since = still.map_or(now, |was| was.since);
        if now >= still_until(since, rise.usage_resyncs) {
            rise.usage_resyncs = rise.usage_resyncs.saturating_add(1);
            rise.in_force = Some(now);
            rise.owners.values_mut().for_each(|notified| *notified = Notified::Not);
            self.usage_resyncs.insert(namespace.clone());
            since = now;
        }
        if rise.usage_resyncs < MOST_USAGE_RESYNCS {
            self.alarm.set(still_until(since, rise.usage_resyncs));
        }
        rise.miscount = Some(Miscount { since, charged: charged.clone(), missing: kept_out });
    }

    /// Takes note of what became of a requeue.
    pub(super) fn settle(&mut self, requeue: &Requeue, outcome: &Outcome) {
        let Requeue { namespace, kind, name, .. } = requeue;
        match outcome {
            Outcome::Refused(status) if status.code == 429 => return,
            Outcome::Done | Outcome::Refused(_) | Outcome::Stale(_) => {}
            Outcome::Skipped | Outcome::Unknown(_) => return,
        }
        if let Some(rise) = self.rises.get_mut(namespace) {
            rise.owners.entry(requeue.uid.clone()).and_modify(|notified| *notified = Notified::Once);
        }
        if let Some(owners) = self.promised.get_mut(namespace) {
            owners.remove(&(*kind, Arc::clone(name)));
        }
    }
}

/// How long nothing has to have moved `since` then for another count after so many.
fn still_until(since: Instant, usage_resyncs: u32) -> Instant {
    since.checked_add(RESYNC_DELAY.saturating_mul(1 << usage_resyncs)).unwrap_or(since)
}
