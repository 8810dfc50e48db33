//! Which pods of a queue may be evicted, and which of them only when nothing else is left.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::gangs;
use super::order::rank;
use crate::amounts::Amounts;
use crate::names::OwnerUid;
use crate::plan::Stage;
use crate::reason::Reason;
use crate::snapshot::{GangPolicy, Immunity, LastReplica, NamespaceState, Phase, Pod, Queue, Snapshot};

/// The pods of a queue, sorted into those that may be evicted and those that a rule protects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates<'a> {
    /// Those that may go, least protected first.
    pub(crate) may_go: Vec<Candidate<'a>>,
    /// Those that may not, each with the rule that protects it.
    pub(crate) never: Vec<(&'a Pod, Reason)>,
}

/// Sorts the pods of a namespace.
///
/// Never: mirror and DaemonSet pods, system-critical priorities, last replicas and gangs where the queue says so,
/// and pods whose eviction was refused a short while ago. Terminating pods are neither: they reduce the need already.
/// Last, once they have started: pods that ask to be left alone, that run for less than the queue's minimum, that
/// nobody would recreate, and the last replica of an owner in each pool of nodes (S-MCM).
pub(crate) fn candidates<'a>(
    state: &'a NamespaceState,
    queue: &Queue,
    snapshot: &'a Snapshot,
) -> Candidates<'a> {
    let mut all = staying(state, queue, snapshot);
    let floors = gangs::sort_into_stages(&mut all, &state.owners);
    let last = last_replicas(&all, snapshot);
    for candidate in &mut all {
        candidate.protected |= is_last(&last, candidate.pod, snapshot);
    }
    let wholes: Vec<Candidate<'a>> =
        floors.iter().filter_map(|(_, floor)| gangs::as_a_whole(&all, floor)).collect();
    let mut in_floor = vec![false; all.len()];
    for at in floors.iter().flat_map(|(_, floor)| floor) {
        if let Some(entry) = in_floor.get_mut(*at) {
            *entry = true;
        }
    }

    let mut sorted = Candidates::default();
    let never = |pod: &Pod| -> Option<Reason> {
        let kept = queue.last_replica == LastReplica::Never && is_last(&last, pod, snapshot);
        immunity(pod)
            .or_else(|| kept.then_some(Reason::LastReplica))
            .or_else(|| state.refused.contains(&pod.uid).then_some(Reason::EvictionRefused))
    };
    for whole in wholes {
        let rule = if queue.gang == GangPolicy::Never {
            Some(Reason::GangFloor)
        } else {
            whole.pods().iter().find_map(|pod| never(pod))
        };
        match rule {
            Some(rule) => sorted.never.extend(whole.pods().iter().map(|pod| (*pod, rule))),
            None => sorted.may_go.push(whole),
        }
    }
    for (candidate, in_floor) in all.into_iter().zip(in_floor) {
        match never(candidate.pod) {
            _ if in_floor => {}
            Some(rule) => sorted.never.push((candidate.pod, rule)),
            None => sorted.may_go.push(candidate),
        }
    }
    sorted.may_go.sort_by(rank);
    sorted
}

fn immunity(pod: &Pod) -> Option<Reason> {
    pod.immunity.map(|immunity| match immunity {
        Immunity::Mirror => Reason::MirrorPod,
        Immunity::DaemonSet => Reason::DaemonSetPod,
        Immunity::SystemCritical => Reason::SystemCritical,
    })
}

/// What pods of a namespace hold that is never taken although they are not immune: the last replica of each owner,
/// and what gangs cannot do without, where the queue says so.
pub(crate) fn never_taken(state: &NamespaceState, queue: &Queue, snapshot: &Snapshot) -> Amounts {
    let mut sum = Amounts::new();
    if queue.last_replica != LastReplica::Never && queue.gang != GangPolicy::Never {
        return sum;
    }
    for (pod, rule) in candidates(state, queue, snapshot).never {
        if matches!(rule, Reason::LastReplica | Reason::GangFloor) && snapshot.frees_room(pod) {
            sum.add_all(pod.requests());
        }
    }
    sum
}

/// The pods that hold something and are not on their way out.
fn staying<'a>(state: &'a NamespaceState, queue: &Queue, snapshot: &Snapshot) -> Vec<Candidate<'a>> {
    let candidate = |pod| Candidate {
        pod,
        gang: None,
        protected: is_protected(pod, queue, snapshot),
        stage: if pod.phase == Phase::Running { Stage::Committed } else { Stage::NotRunning },
    };
    state.pods.iter().filter(|pod| pod.is_live()).map(candidate).collect()
}

fn is_protected(pod: &Pod, queue: &Queue, snapshot: &Snapshot) -> bool {
    let Some(started) = pod.started else { return false };
    let minimum = i64::from(queue.min_runtime_seconds).saturating_mul(1000);
    pod.reluctant || pod.owner().is_none() || snapshot.now.millis_since(started) < minimum
}

/// An owner, and the pool of nodes that a pod of it is in, if pools are told apart.
type Replicas<'a> = (&'a OwnerUid, Option<&'a str>);

fn replicas<'a>(pod: &'a Pod, snapshot: &'a Snapshot) -> Option<Replicas<'a>> {
    let pool = snapshot.settings.pool_label.as_ref().and_then(|label| {
        let node = snapshot.nodes.get(pod.node.as_ref()?)?;
        node.labels.get(label)
    });
    Some((pod.owner()?, pool))
}

/// Of every owner in every pool the pod that would go last.
fn last_replicas<'a>(
    candidates: &[Candidate<'a>],
    snapshot: &'a Snapshot,
) -> HashMap<Replicas<'a>, Candidate<'a>> {
    let mut last: HashMap<Replicas<'_>, Candidate<'_>> = HashMap::new();
    for candidate in candidates {
        let Some(of) = replicas(candidate.pod, snapshot) else { continue };
        last.entry(of)
            .and_modify(|kept| {
                if rank(candidate, kept).is_gt() {
                    *kept = candidate.clone();
                }
            })
            .or_insert_with(|| candidate.clone());
    }
    last
}

fn is_last<'a>(last: &HashMap<Replicas<'a>, Candidate<'a>>, pod: &'a Pod, snapshot: &'a Snapshot) -> bool {
    let kept = || last.get(&replicas(pod, snapshot)?);
    pod.started.is_some() && kept().is_some_and(|kept| kept.pod.uid == pod.uid)
}
