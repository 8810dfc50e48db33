//! One plan agrees with the next: who is on his way out was chosen, and is chosen again.
//!
//! Where pods compete for rooms on nodes, who is the cheapest to take for one of them depends on who went for another;
//! and what is left of a budget, or of what a queue holds too much, once a victim turned out not to be needed may yet
//! help somebody. So that no plan finds others than the one before it,
//!
//! * a choice goes on, as if those chosen so far were gone, until it finds nobody else;
//! * once all of them are on their way or gone, nobody goes;
//! * while some of them are, the choice is made as if they were still there. If it finds them, the others are those who
//!   were chosen with them, whoever of them went first. Those that it does not find were evicted by somebody else, and
//!   count as gone; as do pods that were deleted and not evicted, which the API server tells apart.
//!
//! It is not remembered for whom somebody goes. So where one of two victims of the same room covers the quota, the other
//! one is not found before the pod exists and waits for its room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Party;
use super::outcome::Taken;
use super::take::choose;
use crate::amounts::{Amounts, Resource};
use crate::census::Census;
use crate::demand::{Ask, asks};
use crate::names::{Namespace, PodUid};
use crate::plan::PodId;
use crate::snapshot::{NamespaceState, Phase, Pod, Snapshot};
use crate::time::Timestamp;
use crate::tree::Tree;

/// Some pods, by namespace.
type Pods = BTreeMap<Namespace, BTreeSet<PodUid>>;

/// The pods to evict.
pub(crate) fn evictions(
    snapshot: &Snapshot,
    census: &Census<'_>,
    tree: &Tree<'_>,
    parties: &[Option<Party<'_>>],
    capacity: &Amounts,
    resources: &[Resource],
) -> Taken {
    let cluster = Cluster { census, tree, parties, capacity, resources };
    let taken = choose(snapshot, census, tree, parties, capacity, resources);
    let gone = cluster.go_on(snapshot, Pods::new(), taken);
    let mut leaving = if gone.evictions.is_empty() { Pods::new() } else { cluster.leaving() };
    while !leaving.is_empty() {
        let taken = cluster.as_if_there(snapshot, &leaving);
        let chosen = taken.pods();
        if is_part(&leaving, &chosen) {
            return without(taken, &leaving);
        }
        leaving = both(leaving, &chosen);
    }
    gone
}

/// What is chosen from.
struct Cluster<'a> {
    census: &'a Census<'a>,
    tree: &'a Tree<'a>,
    parties: &'a [Option<Party<'a>>],
    capacity: &'a Amounts,
    resources: &'a [Resource],
}

impl Cluster<'_> {
    /// The pods that were evicted and are on their way out of queues that hold too much with them: they may have been
    /// chosen.
    fn leaving(&self) -> Pods {
        let held_too_much = |party: &Party<'_>| {
            let above = |one: &Resource| party.headcount.charged.get(one) > party.deserved.get(one);
            !party.headcount.leaving.is_empty() && self.resources.iter().any(above)
        };
        let givers = self.parties.iter().flatten().filter(|party| held_too_much(party));
        givers
            .map(|party| {
                let above_limit = |(one, limit): (&Resource, _)| party.headcount.charged.get(one) > limit;
                let wholly = party.queue.limit.iter().any(above_limit);
                // Who goes with a gang goes from wherever it is.
                let of_use = |pod: &Pod| wholly || pod.gang().is_some() || self.census.frees_room(pod);
                let may_have_been = |pod: &Pod| pod.immunity.is_none() && of_use(pod);
                let leaves = |pod: &&Pod| {
                    pod.is_charged() && pod.is_terminating() && pod.evicted && may_have_been(pod)
                };
                let leaving = party.state.pods.iter().filter(leaves).map(|pod| pod.uid.clone());
                (party.name.namespace.clone(), leaving.collect::<BTreeSet<PodUid>>())
            })
            .filter(|(_, leaving)| !leaving.is_empty())
            .collect()
    }

    /// What is chosen as if `leaving` were not on their way.
    fn as_if_there(&self, snapshot: &Snapshot, leaving: &Pods) -> Taken {
        let before = with_deletion(snapshot, leaving, None);
        let taken = self.choose_once(&before, leaving);
        self.go_on(&before, leaving.clone(), taken)
    }

    /// Adds to `taken` of `snapshot` whoever is found once they are on their way.
    fn go_on(&self, snapshot: &Snapshot, mut changed: Pods, mut taken: Taken) -> Taken {
        let mut found = taken.pods();
        let mut later: Option<Snapshot> = None;
        while !taken.is_complete && !found.is_empty() {
            let next = with_deletion(later.as_ref().unwrap_or(snapshot), &found, Some(snapshot.now));
            for (namespace, pods) in found {
                changed.entry(namespace).or_default().extend(pods);
            }
            let also = self.choose_once(&next, &changed);
            found = also.pods();
            later = Some(next);
            if !found.is_empty() {
                taken.append(also);
            }
        }
        taken
    }

    /// What is chosen at first in `snapshot`, where `changed` pods are or are not on their way out.
    fn choose_once(&self, snapshot: &Snapshot, changed: &Pods) -> Taken {
        let census = self.census.recounted(snapshot, changed.keys());
        let of_party = |party: &Party<'_>| {
            let namespace = &party.name.namespace;
            changed.contains_key(namespace).then(|| snapshot.namespaces.get(namespace)).flatten()
        };
        let asked: Vec<Option<Vec<Ask<'_>>>> = self
            .parties
            .iter()
            .map(|party| party.and_then(|party| Some(asks(of_party(&party)?, party.trust))))
            .collect();
        let parties: Vec<Option<Party<'_>>> = self
            .parties
            .iter()
            .zip(&asked)
            .map(|(party, asks)| {
                let party = (*party)?;
                let (Some(state), Some(asks)) = (of_party(&party), asks) else { return Some(party) };
                let headcount = census.namespaces.get(&party.name.namespace)?;
                Some(Party { state, headcount, asks, ..party })
            })
            .collect();
        choose(snapshot, &census, self.tree, &parties, self.capacity, self.resources)
    }
}

/// The same cluster where `pods` are on their way out since `deletion`, or not if there is none; budgets allow that much
/// less, or more.
fn with_deletion(snapshot: &Snapshot, pods: &Pods, deletion: Option<Timestamp>) -> Snapshot {
    let mut other = snapshot.clone();
    for (namespace, pods) in pods {
        let Some(state) = other.namespaces.get_mut(namespace) else { continue };
        let state: &mut NamespaceState = Arc::make_mut(state);
        for pod in state.pods.iter_mut().filter(|pod| pods.contains(&pod.uid)) {
            pod.deletion = deletion;
            let counts = pod.phase == Phase::Running;
            for budget in
                state.budgets.iter_mut().filter(|one| counts && one.selector.matches(&pod.ties.labels))
            {
                let (less, more) = (budget.allowed.saturating_sub(1), budget.allowed.saturating_add(1));
                budget.allowed = if deletion.is_some() { less } else { more };
            }
        }
    }
    other
}

fn contains(pods: &Pods, namespace: &Namespace, pod: &PodUid) -> bool {
    pods.get(namespace).is_some_and(|pods| pods.contains(pod))
}

fn is_part(some: &Pods, of: &Pods) -> bool {
    some.iter().all(|(namespace, pods)| pods.iter().all(|pod| contains(of, namespace, pod)))
}

fn both(mut some: Pods, others: &Pods) -> Pods {
    some.retain(|namespace, pods| {
        pods.retain(|pod| contains(others, namespace, pod));
        !pods.is_empty()
    });
    some
}

fn without(mut taken: Taken, leaving: &Pods) -> Taken {
    let leaves = |pod: &PodId| contains(leaving, &pod.namespace, &pod.uid);
    taken.evictions.retain(|(eviction, _)| !leaves(&eviction.pod));
    taken
}
