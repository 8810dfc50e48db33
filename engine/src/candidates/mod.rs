//! Which pods of a queue may be evicted, which of them only when nothing else is left, and the fewest that cover a need.

mod candidate;
mod exact_cover;
mod gangs;
mod greedy_cover;
mod minimums;
mod order;
mod select;

pub(crate) use candidate::{Bond, Candidate, Together, sum};
pub(crate) use greedy_cover::part;
pub(crate) use minimums::GangMinimums;
pub(crate) use order::{Turn, class, rank, turn};
pub(crate) use select::{select, select_together};

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::amounts::{Amount, Amounts, Resource};
use crate::keyed::KeyedMap;
use crate::names::OwnerUid;
use crate::reasons::KeptReason;
use crate::snapshot::{EvictionRules, GangPolicy, LastReplica, NamespaceState, Pod, PodMetadata, Snapshot};
use crate::time::Timestamp;
use crate::tree::BranchId;

/// The pods of a queue, sorted into those that may be evicted and those that a rule protects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates<'a> {
    /// Those that may go, least protected first.
    pub(crate) may_go: Vec<Candidate<'a>>,
    /// Those that may not, each with the rule that protects it.
    pub(crate) never: Vec<(&'a Pod, KeptReason)>,
    /// Whether all that may go request the same.
    pub(crate) are_alike: bool,
}

impl<'a> Candidates<'a> {
    /// The fewest that cover `needed`.
    pub(crate) fn fewest(&self, needed: &Amounts, scale: &Amounts) -> Cow<'_, [Candidate<'a>]> {
        match self.first_to_cover(needed) {
            Some(count) => self.may_go.get(..count).unwrap_or(&self.may_go).into(),
            None => select(self.may_go.clone(), needed, scale).into(),
        }
    }

    /// How many of the first that may go cover `needed`, as far as they can; none if they do not all request the same.
    pub(crate) fn first_to_cover(&self, needed: &Amounts) -> Option<usize> {
        let first = self.may_go.first().filter(|_| self.are_alike)?;
        let part = |(one, amount): (&Resource, Amount)| {
            let each = first.requests().get(one).units();
            let all = amount.units().saturating_add(each).saturating_sub(1).checked_div(each).unwrap_or(0);
            usize::try_from(all).unwrap_or(usize::MAX)
        };
        Some(needed.iter().map(part).max().unwrap_or(0))
    }
}

/// Sorts `pods`: the live ones in the namespace of the leaf at `at` that some node could run.
///
/// Never: mirror pods, last replicas and gangs where the queue says so, and pods whose eviction was refused a short while
/// ago. Terminating pods are neither: they reduce the need already.
/// Last, once they have started: pods that ask to be left alone, that run for less than the queue's minimum, that
/// would not be recreated, pods of DaemonSets, and the last replica of an owner in each pool of nodes (S-MCM).
pub(crate) fn candidates<'a>(
    at: BranchId,
    pods: impl Iterator<Item = &'a Pod>,
    (state, minimums): (&'a NamespaceState, &GangMinimums<'a>),
    rules: EvictionRules,
    snapshot: &'a Snapshot,
) -> Candidates<'a> {
    let mut all = Vec::with_capacity(state.pods.len());
    all.extend(pods.map(|pod| Candidate::of(at, pod, is_protected(pod, rules, snapshot))));
    let floors = gangs::sort_into_stages(&mut all, &state.owners, minimums);
    let last = last_replicas(&all, snapshot);
    for (candidate, last) in all.iter_mut().zip(&last) {
        candidate.protected |= *last;
    }
    let in_floor: FxHashSet<usize> = floors.iter().flat_map(|(floor, _)| floor).copied().collect();

    let mut sorted = Candidates::default();
    sorted.may_go.reserve(all.len());
    let never = |pod: &Pod, last: bool| -> Option<KeptReason> {
        let kept = rules.last_replica == Some(LastReplica::Never) && last;
        pod.kept
            .or_else(|| kept.then_some(KeptReason::LastReplica))
            .or_else(|| state.refused.contains(&pod.uid).then_some(KeptReason::EvictionRefused))
    };
    for (floor, others) in &floors {
        let Some(whole) = gangs::as_a_whole(&all, floor, others) else { continue };
        let members = floor.iter().filter_map(|at| Some((all.get(*at)?, last.get(*at)?)));
        let rule = if rules.gangs == Some(GangPolicy::Never) {
            Some(KeptReason::GangFloor)
        } else {
            members.into_iter().find_map(|(member, last)| never(member.pod, *last))
        };
        match rule {
            Some(rule) => sorted.never.extend(whole.pods().iter().map(|pod| (*pod, rule))),
            None => sorted.may_go.push(whole),
        }
    }
    for (at, (candidate, last)) in all.into_iter().zip(last).enumerate() {
        match never(candidate.pod, last) {
            _ if in_floor.contains(&at) => {}
            Some(rule) => sorted.never.push((candidate.pod, rule)),
            None => sorted.may_go.push(candidate),
        }
    }
    sorted.may_go.sort_by_cached_key(|candidate| (class(candidate), turn(candidate.pod)));
    for (candidate, rank) in sorted.may_go.iter_mut().zip(1_u32..) {
        candidate.rank = rank;
    }
    sorted.are_alike = are_alike(&sorted.may_go);
    sorted
}

/// Whether all of `candidates` request the same, as most beside each other do.
pub(crate) fn are_alike(candidates: &[Candidate<'_>]) -> bool {
    candidates.windows(2).all(|pair| match pair {
        [one, next] => std::ptr::eq(one.requests(), next.requests()) || one.requests() == next.requests(),
        _ => true,
    })
}

pub(crate) fn is_protected(pod: &Pod, rules: EvictionRules, snapshot: &Snapshot) -> bool {
    let Some(started) = pod.started else { return false };
    let minimum = rules.min_runtime_seconds();
    let is_young = minimum > 0 && snapshot.now < started.plus_seconds(minimum);
    pod.do_not_disrupt || pod.owner().is_none() || pod.is_of_daemon_set() || is_young
}

/// When the next pod will have run for its queue's minimum, which makes it as good a victim as others; also of those on
/// their way out, for others are chosen as if these were still there.
pub(crate) fn next_unprotected(
    state: &NamespaceState,
    rules: EvictionRules,
    now: Timestamp,
) -> Option<Timestamp> {
    let minimum = rules.min_runtime_seconds();
    if minimum == 0 {
        return None;
    }
    let started = state.pods.iter().filter(|pod| pod.is_charged()).filter_map(|pod| pod.started);
    started.map(|started| started.plus_seconds(minimum)).filter(|until| *until > now).min()
}

/// An owner, and the pool of nodes that a pod of it is in, if pools are told apart.
pub(crate) type Replicas<'a> = (&'a OwnerUid, Option<&'a str>);

pub(crate) fn replicas<'a>(pod: &'a Pod, snapshot: &'a Snapshot) -> Option<Replicas<'a>> {
    let pool = snapshot.settings.pool_label.as_ref().and_then(|label| {
        let node = snapshot.nodes.get(pod.node.as_ref()?)?;
        node.labels.get(label)
    });
    Some((pod.owner()?, pool))
}

/// Which of `candidates` have started and would go last of their owner's in their pool.
fn last_replicas(candidates: &[Candidate<'_>], snapshot: &Snapshot) -> Vec<bool> {
    let mut groups: KeyedMap<Replicas<'_>, usize> = KeyedMap::default();
    let mut kept: Vec<(usize, &Candidate<'_>)> = Vec::new();
    // Pods of an owner stand together as a rule, and share their metadata.
    let mut before: Option<(&Arc<PodMetadata>, Option<&str>, usize)> = None;
    for (at, candidate) in candidates.iter().enumerate() {
        let pod = candidate.pod;
        let Some(of) = replicas(pod, snapshot) else { continue };
        let same = before.filter(|(metadata, pool, _)| Arc::ptr_eq(metadata, &pod.metadata) && *pool == of.1);
        let group = same.map_or_else(
            || {
                *groups.entry(of).or_insert_with(|| {
                    kept.push((at, candidate));
                    kept.len().saturating_sub(1)
                })
            },
            |(_, _, group)| group,
        );
        before = Some((&pod.metadata, of.1, group));
        if let Some(kept) = kept.get_mut(group).filter(|(_, kept)| rank(candidate, kept).is_gt()) {
            *kept = (at, candidate);
        }
    }
    let mut last = vec![false; candidates.len()];
    for (at, candidate) in kept {
        if let Some(last) = last.get_mut(at) {
            *last = candidate.pod.started.is_some();
        }
    }
    last
}
