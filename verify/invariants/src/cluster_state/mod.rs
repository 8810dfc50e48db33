//! What the API server holds, as far as promises are about it.

mod facts;
mod ledger;
mod reading;
mod restraint;

use std::collections::BTreeMap;

use crate::amounts::{Amount, Amounts, Resource};
use serde_json::Value;

pub(crate) use facts::SHARE_GATE;
pub use facts::{GangFacts, NodeFacts, PodFacts, QueueFacts, QuotaFacts};
pub use ledger::{EntryFacts, LedgerFacts};
pub use restraint::Mode;
pub(crate) use restraint::Restraint;

use crate::write::Write;

/// The name of the ledger.
const LEDGER: &str = "quotient-ledger";

/// Every object that matters.
#[derive(Clone, Debug, Default)]
pub struct ClusterState {
    /// Nodes by name.
    pub nodes: BTreeMap<String, NodeFacts>,
    /// Namespaces by name.
    pub places: BTreeMap<String, Place>,
    /// What an autoscaler may still add.
    pub expandable: Amounts,
    /// The ledger; none before it was written, and where it cannot be read.
    pub ledger: Option<LedgerFacts>,
    /// The last ledger that could be read.
    pub(crate) last_ledger: Option<LedgerFacts>,
}

/// What is in one namespace.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Pods by name.
    pub pods: BTreeMap<String, PodFacts>,
    /// The ResourceQuota `quotient`.
    pub quota: Option<QuotaFacts>,
    /// Queues by name.
    pub queues: BTreeMap<String, QueueFacts>,
}

/// How many live pods of a gang there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members {
    /// All of them.
    pub(crate) all: u32,
    /// Those that are not gated.
    pub(crate) admitted: u32,
}

impl ClusterState {
    /// Follows a write.
    pub fn follow(&mut self, write: &Write<'_>) {
        match write.resource {
            "pods" if write.subresource == "eviction" => self.evict(write),
            "configmaps" if write.name == LEDGER => {
                self.ledger = write.after.and_then(LedgerFacts::of);
                if let Some(ledger) = &self.ledger {
                    self.last_ledger = Some(ledger.clone());
                }
            }
            "nodes" => follow(&mut self.nodes, write, NodeFacts::of),
            "pods" => follow(&mut self.place(write).pods, write, PodFacts::of),
            "queues" => follow(&mut self.place(write).queues, write, QueueFacts::of),
            "resourcequotas" if write.name == "quotient" => {
                self.place(write).quota = write.after.map(QuotaFacts::of);
            }
            _ => {}
        }
    }

    /// A pod is bound to a node.
    pub(crate) fn bind(&mut self, namespace: &str, name: &str, node: Option<&str>) {
        let pod = self.places.get_mut(namespace).and_then(|place| place.pods.get_mut(name));
        if let Some(pod) = pod {
            pod.node = node.map(str::to_owned);
        }
    }

    /// Where the pod itself is not shown, that it is on its way out, or gone if it has no grace, follows from what is known.
    fn evict(&mut self, write: &Write<'_>) {
        if write.before.is_some() {
            return follow(&mut self.place(write).pods, write, PodFacts::of);
        }
        let grace =
            write.request.and_then(|request| request.pointer("/deleteOptions/gracePeriodSeconds")?.as_u64());
        let pods = &mut self.place(write).pods;
        let Some(pod) = pods.get_mut(write.name) else { return };
        pod.is_terminating = true;
        pod.deletion_grace_seconds = grace.or(pod.grace_seconds);
        let at_once = pod.node.is_none() || grace.or(pod.grace_seconds) == Some(0);
        if at_once && !pod.has_finalizers {
            pods.remove(write.name);
        }
    }

    fn place(&mut self, write: &Write<'_>) -> &mut Place {
        self.places.entry(write.namespace.to_owned()).or_default()
    }

    /// What there is to share: what the nodes contribute, and what may be added, less what pods of unmanaged namespaces
    /// use.
    pub fn capacity(&self) -> Amounts {
        let mut capacity = self.expandable.clone();
        let mut bound: BTreeMap<&str, Amounts> = BTreeMap::new();
        for place in self.places.values() {
            let is_governed = place.is_governed();
            for pod in place.pods.values().filter(|pod| pod.is_charged()) {
                let Some(node) = &pod.node else { continue };
                bound.entry(node).or_default().add_all(&pod.requests);
                if !is_governed {
                    capacity.subtract_all(&pod.requests);
                }
            }
        }
        for (name, node) in &self.nodes {
            let bound = bound.remove(name.as_str()).unwrap_or_default();
            capacity.add_all(&if node.counts { node.allocatable.max(&bound) } else { bound });
        }
        // What a node that is gone had leaves with its pods.
        for bound in bound.values() {
            capacity.add_all(bound);
        }
        capacity
    }

    /// What `queue` deserves of a resource in any case, whatever the operator says: what it claims of its guarantee, if all
    /// guarantees fit.
    pub(crate) fn claim(&self, queue: &QueueFacts, resource: &Resource) -> Amount {
        let claim = queue.claims(resource);
        let guaranteed = |place: &Place| place.leaf().map(|(_, queue)| queue.guaranteed.get(resource));
        let all = self.places.values().filter_map(guaranteed).fold(Amount::ZERO, |all, one| all + one);
        if claim.is_positive() && all <= self.capacity().get(resource) { claim } else { Amount::ZERO }
    }

    /// What a namespace occupies beside loans: what its pods are charged or what is granted within its target, and what its
    /// quota still allows above all that is granted now and all that was lent by `standing`, the ledger before.
    pub(crate) fn occupied(&self, namespace: &str, place: &Place, standing: &LedgerFacts) -> Amounts {
        let charged = place.charged();
        let entry = self.ledger.as_ref().and_then(|ledger| ledger.entries.get(namespace));
        let Some(entry) = entry else { return place.hold() };
        let lent = standing.entries.get(namespace).map(EntryFacts::lent).unwrap_or_default();
        let allowed = [entry.firm(), lent].into_iter().sum();
        let mut occupied = charged.max(&entry.firm());
        occupied.add_all(&place.hold().less(&charged.max(&entry.granted.max(&allowed))));
        occupied
    }

    /// What all governed namespaces occupy beside what is lent to them.
    pub(crate) fn all_occupied(&self) -> Amounts {
        self.all_occupied_since(&LedgerFacts::default())
    }

    /// The same beside what the ledger before lent, too.
    pub(crate) fn all_occupied_since(&self, standing: &LedgerFacts) -> Amounts {
        let governed = self.places.iter().filter(|(_, place)| place.is_governed());
        governed.map(|(namespace, place)| self.occupied(namespace, place, standing)).sum()
    }

    /// What is enforced in a namespace: by its quota, or in Gate mode by the ledger, because no gate is removed above it. None if
    /// nothing is. A ledger that a user deletes is what counts until the operator writes another one.
    pub(crate) fn enforced<'a>(&'a self, namespace: &str, place: &'a Place) -> Option<&'a Amounts> {
        if place.is_in_gate_mode() {
            return self.last_entry(namespace).map(|entry| &entry.granted);
        }
        place.quota.as_ref().map(|quota| &quota.enforced)
    }

    /// The target of a namespace when the operator wrote the ledger last, whether or not a user has deleted it since.
    pub(crate) fn target(&self, namespace: &str) -> Option<&Amounts> {
        self.last_entry(namespace).map(|entry| &entry.target)
    }

    fn last_entry(&self, namespace: &str) -> Option<&EntryFacts> {
        self.last_ledger.as_ref()?.entries.get(namespace)
    }

    /// What the quotas of all governed namespaces allow at this time. A pause keeps a quota from being lowered, so what it allows
    /// beyond the pods is no loan.
    pub(crate) fn allowed(&self, at: i64) -> Amounts {
        let governed =
            self.places.iter().filter(|(_, place)| place.is_governed() && !place.is_in_gate_mode());
        let allowed = governed.filter_map(|(namespace, place)| {
            let quota = place.quota.as_ref()?;
            let is_paused = self.restraint(namespace, at).is_some_and(|restraint| restraint.is_paused);
            Some(if is_paused { place.charged() } else { quota.hard.clone() })
        });
        allowed.sum()
    }

    /// A pod, if it is there.
    pub(crate) fn pod(&self, namespace: &str, name: &str) -> Option<&PodFacts> {
        self.places.get(namespace)?.pods.get(name)
    }

    /// The most that governed namespaces may occupy, all together.
    pub fn held(&self) -> Amounts {
        self.places.values().filter(|place| place.is_governed()).map(Place::hold).sum()
    }
}

impl Place {
    /// Whether a Queue governs it.
    pub fn is_governed(&self) -> bool {
        self.leaf().is_some()
    }

    /// Whether its pods wait gated.
    pub fn is_in_gate_mode(&self) -> bool {
        self.leaf().is_some_and(|(_, queue)| queue.is_in_gate_mode)
    }

    /// The quota, unless garbage collection is about to delete it because its Queue is gone.
    fn lasting_quota(&self) -> Option<&QuotaFacts> {
        let exists = |owner: &String| self.queues.values().any(|queue| queue.uid == *owner);
        self.quota.as_ref().filter(|quota| quota.owner.as_ref().is_none_or(exists))
    }

    /// The Queue that governs it: the oldest leaf.
    pub fn leaf(&self) -> Option<(&String, &QueueFacts)> {
        let leaves = self.queues.iter().filter(|(_, queue)| !queue.is_parent);
        leaves.min_by(|(_, one), (_, other)| (&one.created, &one.uid).cmp(&(&other.created, &other.uid)))
    }

    /// How many pods of the gang of this name there are; those that have succeeded count.
    pub(crate) fn gang(&self, name: &str) -> Members {
        let counts = |pod: &&PodFacts| pod.has_succeeded_for_job || (!pod.has_ended && !pod.is_terminating);
        let mut members = Members::default();
        let is_of_it = |pod: &&PodFacts| pod.gang.as_ref().is_some_and(|gang| gang.name == name);
        for pod in self.pods.values().filter(counts).filter(is_of_it) {
            members.all = members.all.saturating_add(1);
            members.admitted = members.admitted.saturating_add(u32::from(!pod.is_gated));
        }
        members
    }

    /// What its pods are charged for: all that have not ended.
    pub fn charged(&self) -> Amounts {
        self.pods.values().filter(|pod| pod.is_charged()).map(|pod| &pod.requests).sum()
    }

    /// The same without those on their way out.
    pub fn live(&self) -> Amounts {
        let live = self.pods.values().filter(|pod| pod.is_charged() && !pod.is_terminating);
        live.map(|pod| &pod.requests).sum()
    }

    /// The most that it may occupy.
    pub fn hold(&self) -> Amounts {
        let charged = self.charged();
        match self.lasting_quota().filter(|_| !self.is_in_gate_mode()) {
            Some(quota) => charged.max(&quota.hard.max(&quota.enforced)),
            None => charged,
        }
    }
}

fn follow<T>(objects: &mut BTreeMap<String, T>, write: &Write<'_>, read: impl Fn(&Value) -> T) {
    match write.after {
        Some(object) => drop(objects.insert(write.name.to_owned(), read(object))),
        None => drop(objects.remove(write.name)),
    }
}
