//! Taking: scope after scope, source after source, the pods that cover what is missing.

use std::collections::{BTreeSet, HashSet};

use super::Party;
use super::balance::Balance;
use super::candidate::Candidate;
use super::candidates::candidates;
use super::scope::{Scope, missing};
use super::select::select;
use super::sources::sources;
use crate::amounts::{Amounts, Resource};
use crate::names::{PodUid, QueueName};
use crate::plan::{Eviction, PodId};
use crate::reason::Reason;
use crate::snapshot::{Pod, Snapshot};
use crate::tree::{Index, Tree};

/// What is to be taken.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The pods to evict, in order, each with whether its queue's lowered quota is in force already.
    pub(crate) evictions: Vec<(Eviction, bool)>,
    /// The leaves that lack something which only queues outside their fence hold.
    pub(crate) fenced: BTreeSet<Index>,
}

/// Everything that stays the same while victims are chosen.
struct Case<'a> {
    snapshot: &'a Snapshot,
    tree: &'a Tree<'a>,
    parties: &'a [Option<Party<'a>>],
    /// The governed resources of which there is any.
    resources: Vec<&'a Resource>,
    /// Those of which more is held than there is, whatever is promised: a race, or an edited quota.
    exceeded: Vec<&'a Resource>,
}

/// The pods to evict.
///
/// Per resource, pods leave as far as somebody is short: what is promised plus what everybody holds once things
/// have settled, minus the capacity. Where what is held alone exceeds the capacity, or a queue is above its limit,
/// overuse leaves wholly (S-PREEMPT §Preprocess stage).
pub(crate) fn evictions(
    snapshot: &Snapshot,
    tree: &Tree<'_>,
    parties: &[Option<Party<'_>>],
    capacity: &Amounts,
    resources: &[Resource],
) -> Taken {
    let resources: Vec<&Resource> =
        resources.iter().filter(|resource| capacity.get(resource).is_positive()).collect();
    let mut balance = Balance::new(tree, parties, &resources);
    let held = Balance::everywhere(tree, &balance.settled);
    let is_exceeded = |resource: &&&Resource| held.get(resource) > capacity.get(resource);
    let exceeded = resources.iter().filter(is_exceeded).copied().collect();
    let case = Case { snapshot, tree, parties, resources, exceeded };

    let mut taken = Taken::default();
    let mut chosen = HashSet::new();
    let unfenced = sum(&case.shortages(Scope::Cluster));
    for scope in Scope::all(tree) {
        let mut shortages = case.shortages(scope);
        let promised = sum(&shortages);
        let mut need = missing(scope, tree, &balance, &promised, &unfenced, capacity, &case.resources);
        for at in sources(parties, &balance, &case.resources, capacity) {
            if scope.contains(tree, at) {
                let victims = case.take_from(at, scope, &mut need, &mut balance, &mut shortages, &mut chosen);
                taken.evictions.extend(victims);
            }
        }
        if let Scope::Fence(_) = scope {
            // What could not be had inside stays short, and is not taken outside.
            if !need.is_empty() {
                let lacks = |(at, _, missing): &(Index, _, Amounts)| missing.overlaps(&need).then_some(*at);
                taken.fenced.extend(shortages.iter().filter_map(lacks));
            }
        }
    }
    taken
}

type Shortage<'a> = (Index, &'a QueueName, Amounts);

fn sum(shortages: &[Shortage<'_>]) -> Amounts {
    let mut sum = Amounts::new();
    for (_, _, missing) in shortages {
        sum.add_all(missing);
    }
    sum
}

impl Case<'_> {
    /// The leaves that take from `scope`, and what each lacks.
    fn shortages(&self, scope: Scope) -> Vec<Shortage<'_>> {
        let parties = self.parties.iter().enumerate().filter_map(|(at, party)| Some((at, party.as_ref()?)));
        parties
            .filter(|(at, _)| scope.serves(self.tree, *at))
            .map(|(at, party)| {
                let missing =
                    self.resources.iter().map(|resource| ((*resource).clone(), party.promised(resource)));
                (at, party.name, missing.collect())
            })
            .filter(|(_, _, missing): &Shortage<'_>| !missing.is_empty())
            .collect()
    }

    /// The victims among the pods of the leaf at `at`.
    fn take_from(
        &self,
        at: Index,
        scope: Scope,
        need: &mut Amounts,
        balance: &mut Balance,
        shortages: &mut [Shortage<'_>],
        chosen: &mut HashSet<PodUid>,
    ) -> Vec<(Eviction, bool)> {
        let Some(party) = self.parties.get(at).and_then(Option::as_ref) else { return Vec::new() };
        let overuse = balance.overuse.get(at).cloned().unwrap_or_default();
        let mut above_limit = Amounts::new();
        let mut ask = Amounts::new();
        for resource in &self.resources {
            let wholly = scope == Scope::Cluster && self.exceeded.contains(resource);
            let part =
                if wholly { overuse.get(resource) } else { overuse.get(resource).min(need.get(resource)) };
            // A queue's own limit is nobody's scope: it is settled once, with the cluster's.
            if scope == Scope::Cluster {
                let already = party.overuse(resource) - overuse.get(resource);
                above_limit.set(resource, party.above_limit(resource).less(already));
            }
            ask.set(resource, part.max(above_limit.get(resource)));
        }
        if ask.is_empty() {
            return Vec::new();
        }
        let may_go = |pod: &Pod| {
            !chosen.contains(&pod.uid) && (!above_limit.is_empty() || self.snapshot.frees_room(pod))
        };
        let candidates = candidates(party.state, party.queue, self.snapshot.now, &ask, may_go);
        let in_force = party.is_fenced(ask.resources());
        let victims = select(candidates, &ask);
        let mut evictions = Vec::new();
        for victim in victims {
            chosen.insert(victim.pod.uid.clone());
            let freed = balance.evict(self.tree, at, victim.pod.requests());
            *need = need.less(&freed);
            let beneficiary = attribute(shortages, victim.pod.requests());
            evictions.push((eviction(party, &victim, beneficiary), in_force));
        }
        evictions
    }
}

/// The first queue that is short of something the victim holds; its shortage shrinks by it.
fn attribute(shortages: &mut [Shortage<'_>], requests: &Amounts) -> Option<QueueName> {
    let (_, name, missing) = shortages.iter_mut().find(|(_, _, missing)| missing.overlaps(requests))?;
    *missing = missing.less(requests);
    Some((*name).clone())
}

fn eviction(party: &Party<'_>, victim: &Candidate<'_>, beneficiary: Option<QueueName>) -> Eviction {
    Eviction {
        pod: PodId {
            namespace: party.name.namespace.clone(),
            name: victim.pod.name.clone(),
            uid: victim.pod.uid.clone(),
        },
        queue: party.name.clone(),
        reason: if beneficiary.is_some() { Reason::Reclaimed } else { Reason::Overcommitted },
        beneficiary,
        stage: victim.stage,
        priority: victim.pod.priority,
        requests: victim.pod.requests().clone(),
        used: party.headcount.charged.clone(),
        deserved: party.deserved.clone(),
        grace_seconds: party.queue.grace_seconds,
    }
}
