//! Which pods of a queue may be evicted, and which of them only when nothing else is left.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::order::rank;
use crate::amounts::Amounts;
use crate::names::OwnerUid;
use crate::plan::Stage;
use crate::snapshot::{LastReplica, NamespaceState, Phase, Pod, Queue, Snapshot};
use crate::time::Timestamp;

/// The pods of a namespace that may be evicted and would help with `ask`, least protected first.
///
/// Never: finished pods (they hold nothing), terminating ones (they reduce the need already), mirror and
/// DaemonSet pods, system-critical priorities, and what `may_go` excludes. Last, once they have started: pods that
/// ask to be left alone, that run for less than the queue's minimum, that nobody would recreate, and the last
/// replica of an owner (S-MCM).
pub(crate) fn candidates<'a>(
    state: &'a NamespaceState,
    queue: &Queue,
    now: Timestamp,
    ask: &Amounts,
    may_go: impl Fn(&Pod) -> bool,
) -> Vec<Candidate<'a>> {
    let mut all = staying(state, queue, now);
    let last = last_replicas(&all);
    all.retain_mut(|candidate| {
        let pod = candidate.pod;
        let is_last = pod.started.is_some() && pod.owner().is_some_and(|owner| is_it(&last, owner, pod));
        candidate.protected |= is_last;
        let helps = ask.resources().any(|resource| pod.requests().get(resource).is_positive());
        let never = is_last && queue.last_replica == LastReplica::Never;
        helps && !never && pod.immunity.is_none() && may_go(pod)
    });
    all.sort_by(rank);
    all
}

/// What pods of a namespace hold that is never taken although they are not immune: the last replica of each owner,
/// where the queue says so.
pub(crate) fn never_taken(state: &NamespaceState, queue: &Queue, snapshot: &Snapshot) -> Amounts {
    let mut sum = Amounts::new();
    if queue.last_replica == LastReplica::Never {
        for last in last_replicas(&staying(state, queue, snapshot.now)).values() {
            let pod = last.pod;
            if pod.started.is_some() && pod.immunity.is_none() && snapshot.frees_room(pod) {
                sum.add_all(pod.requests());
            }
        }
    }
    sum
}

/// The pods that hold something and are not on their way out.
fn staying<'a>(state: &'a NamespaceState, queue: &Queue, now: Timestamp) -> Vec<Candidate<'a>> {
    let stays = |pod: &&Pod| pod.is_charged() && !pod.is_terminating();
    let candidate = |pod| Candidate { pod, protected: is_protected(pod, queue, now), stage: stage(pod) };
    state.pods.iter().filter(stays).map(candidate).collect()
}

fn is_protected(pod: &Pod, queue: &Queue, now: Timestamp) -> bool {
    let Some(started) = pod.started else { return false };
    let minimum = i64::from(queue.min_runtime_seconds).saturating_mul(1000);
    pod.reluctant || pod.owner().is_none() || now.millis_since(started) < minimum
}

fn stage(pod: &Pod) -> Stage {
    if pod.phase == Phase::Running { Stage::Committed } else { Stage::NotRunning }
}

/// Of every owner the pod that would go last.
fn last_replicas<'a>(candidates: &[Candidate<'a>]) -> HashMap<&'a OwnerUid, Candidate<'a>> {
    let mut last: HashMap<&OwnerUid, Candidate<'_>> = HashMap::new();
    for candidate in candidates {
        let Some(owner) = candidate.pod.owner() else { continue };
        last.entry(owner)
            .and_modify(|kept| {
                if rank(candidate, kept).is_gt() {
                    *kept = *candidate;
                }
            })
            .or_insert(*candidate);
    }
    last
}

fn is_it(last: &HashMap<&OwnerUid, Candidate<'_>>, owner: &OwnerUid, pod: &Pod) -> bool {
    last.get(owner).is_some_and(|kept| kept.pod.uid == pod.uid)
}
