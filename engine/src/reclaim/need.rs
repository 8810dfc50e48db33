//! How much has to leave by eviction, and which queue gives it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidates::candidates;
use super::select::select;
use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Headcount;
use crate::names::{NodeName, QueueName};
use crate::plan::{Eviction, PodId};
use crate::reason::Reason;
use crate::snapshot::{NamespaceState, Node, Pod, Queue};

/// One queue, after grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party<'a> {
    pub(crate) name: &'a QueueName,
    pub(crate) queue: &'a Queue,
    pub(crate) state: &'a NamespaceState,
    pub(crate) headcount: &'a Headcount,
    pub(crate) deserved: &'a Amounts,
    pub(crate) allocated: &'a Amounts,
    pub(crate) nodes: &'a BTreeMap<NodeName, Arc<Node>>,
}

impl Party<'_> {
    /// What it is promised and does not have yet.
    fn preempting(&self, resource: &Resource) -> Amount {
        self.deserved.get(resource).less(self.allocated.get(resource))
    }

    /// What it occupies once every lowered quota is in force and everything on its way out is gone.
    fn settled(&self, resource: &Resource) -> Amount {
        self.allocated.get(resource).max(self.headcount.staying(resource))
    }

    /// What its pods hold above its share and are not about to give back.
    fn overuse(&self, resource: &Resource) -> Amount {
        self.headcount.staying(resource).less(self.deserved.get(resource).max(self.allocated.get(resource)))
    }

    /// Whether others could use what `pod` leaves behind.
    ///
    /// The capacity of a node that does not count leaves with its pods, so evicting them frees nothing.
    fn frees_room(&self, pod: &Pod) -> bool {
        pod.node.as_ref().is_none_or(|node| self.nodes.get(node).is_some_and(|node| node.counts))
    }

    /// What its pods hold above its limit and are not about to give back.
    fn above_limit(&self, resource: &Resource) -> Amount {
        self.queue
            .limit
            .get(resource)
            .map(|limit| self.headcount.staying(resource).less(limit))
            .unwrap_or_default()
    }
}

/// The pods to evict, in order, each with whether its queue's lowered quota is in force already.
///
/// Per resource, pods leave as far as somebody is short: what is promised plus what everybody holds once things
/// have settled, minus the capacity. Where what is held alone exceeds the capacity (a race, an edited quota), or
/// a queue is above its limit, overuse leaves wholly (S-PREEMPT §Preprocess stage).
pub(crate) fn evictions(
    parties: &[Party<'_>],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<(Eviction, bool)> {
    let governed: Vec<&Resource> =
        resources.iter().filter(|resource| capacity.get(resource).is_positive()).collect();
    let mut need = Amounts::new();
    let mut exceeded = Vec::new();
    for resource in &governed {
        let held: Amount = parties.iter().map(|party| party.settled(resource)).sum();
        let promised: Amount = parties.iter().map(|party| party.preempting(resource)).sum();
        need.set(resource, (held + promised).less(capacity.get(resource)));
        if held > capacity.get(resource) {
            exceeded.push(*resource);
        }
    }
    let mut shortages: Vec<(&QueueName, Amounts)> =
        parties.iter().map(|party| (party.name, missing(party, &governed))).collect();

    let mut chosen = Vec::new();
    for party in sources(parties, &governed, capacity) {
        let mut wholly = false;
        let mut over_limit = false;
        let mut ask = Amounts::new();
        for resource in &governed {
            let overuse = party.overuse(resource);
            let above_limit = party.above_limit(resource);
            over_limit |= above_limit.is_positive();
            let part = if exceeded.contains(resource) {
                wholly |= overuse.is_positive();
                overuse
            } else {
                wholly |= above_limit.is_positive();
                overuse.min(need.get(resource)).max(above_limit)
            };
            ask.set(resource, part);
        }
        if ask.is_empty() {
            continue;
        }
        let in_force = ask.resources().all(|resource| {
            let quota = party.state.quota.as_ref();
            quota.is_some_and(|quota| quota.is_fenced_at(resource, party.allocated.get(resource)))
        });
        let candidates = candidates(party.state, &ask, |pod| over_limit || party.frees_room(pod));
        let mut overuse: Amounts =
            governed.iter().map(|resource| ((*resource).clone(), party.overuse(resource))).collect();
        for victim in select(candidates, &ask) {
            // What a queue gives below its share helps nobody: its quota lets it in again.
            need = need.less(&victim.pod.requests.min(&overuse));
            overuse = overuse.less(&victim.pod.requests);
            let beneficiary = attribute(&mut shortages, &victim.pod.requests);
            let reason =
                if beneficiary.is_none() && wholly { Reason::Overcommitted } else { Reason::Reclaimed };
            let eviction = Eviction {
                pod: PodId {
                    namespace: party.name.namespace.clone(),
                    name: victim.pod.name.clone(),
                    uid: victim.pod.uid.clone(),
                },
                queue: party.name.clone(),
                beneficiary,
                reason,
                stage: victim.stage,
                priority: victim.pod.priority,
                requests: (*victim.pod.requests).clone(),
                used: party.headcount.charged.clone(),
                deserved: party.deserved.clone(),
            };
            chosen.push((eviction, in_force));
        }
    }
    chosen
}

fn missing(party: &Party<'_>, resources: &[&Resource]) -> Amounts {
    resources.iter().map(|resource| ((*resource).clone(), party.preempting(resource))).collect()
}

/// The queues that hold more than their share, furthest above it first.
///
/// "Furthest" is the largest part of the capacity that it holds too much, per weight; ties by name.
fn sources<'a, 'b>(
    parties: &'b [Party<'a>],
    resources: &[&Resource],
    capacity: &Amounts,
) -> Vec<&'b Party<'a>> {
    let excess = |party: &Party<'_>| {
        let weight = i128::from(party.queue.weight.max(1));
        resources
            .iter()
            .map(|resource| Excess {
                over: party.overuse(resource).max(party.above_limit(resource)).units(),
                of: capacity.get(resource).units().saturating_mul(weight),
            })
            .max()
    };
    let mut sources: Vec<(Excess, &Party<'_>)> = parties
        .iter()
        .filter_map(|party| Some((excess(party)?, party)))
        .filter(|(excess, _)| excess.over > 0)
        .collect();
    sources.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(b.1.name)));
    sources.into_iter().map(|(_, party)| party).collect()
}

/// How far above its share a queue is, as a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Excess {
    over: i128,
    of: i128,
}

impl Ord for Excess {
    fn cmp(&self, other: &Self) -> Ordering {
        self.over.saturating_mul(other.of).cmp(&other.over.saturating_mul(self.of))
    }
}

impl PartialOrd for Excess {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The first queue that is short of something the victim holds; its shortage shrinks by it.
fn attribute(shortages: &mut [(&QueueName, Amounts)], requests: &Amounts) -> Option<QueueName> {
    let (name, missing) = shortages.iter_mut().find(|(_, missing)| !missing.min(requests).is_empty())?;
    *missing = missing.less(requests);
    Some((*name).clone())
}
