//! Nodes: what they offer, to which pods, and whether they count.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as Object;
use kube::core::{Selector, SelectorExt};
use quotient_snapshot::Node;
use quotient_snapshot::amounts::{Amounts, Resource};
use quotient_snapshot::labels::Labels;
use quotient_snapshot::names::NodeName;
use quotient_snapshot::time::Timestamp;

use crate::meta::{Meta, timestamp};
use crate::placement::taints;
use crate::reading::{Reading, Rounding, UnreadableQuantity};

/// The most resources of one node that are shared out beside cpu and memory: the first by name. A kubelet can report thousands,
/// and each of them becomes a part of every quota. Nodes with many kinds of devices have about twenty.
const MOST_RESOURCES: usize = 64;

/// A node as it was seen last.
#[derive(Debug)]
pub(crate) struct NodeEntry {
    pub(crate) meta: Meta,
    node: Arc<Node>,
    selected: bool,
    eligible: bool,
    /// None if it is not Ready, or unknown.
    ready_since: Option<Timestamp>,
}

impl NodeEntry {
    pub(crate) fn of(object: &Object, meta: Meta, labels: Labels, selector: &Selector) -> Self {
        let selected = is_selected(object, selector);
        let written = object.spec.as_ref().and_then(|spec| spec.taints.as_deref());
        let unschedulable = object.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
        // An autoscaler that removes a node deletes the object first, which stays until its pods are gone. It need not cordon it.
        let leaves = object.metadata.deletion_timestamp.is_some();
        Self {
            meta,
            node: Arc::new(Node {
                allocatable: allocatable(object, &mut Reading::default()),
                counts: false,
                labels,
                taints: taints(written.unwrap_or_default()),
            }),
            selected,
            eligible: selected && !unschedulable && !leaves,
            ready_since: ready_since(object),
        }
    }

    /// Its labels as they were seen last.
    pub(crate) fn labels(&self) -> &Labels {
        &self.node.labels
    }

    /// What it offers or will offer, whether it is Ready and schedulable or not; none if it never counts.
    pub(crate) fn claims(&self) -> Option<&Amounts> {
        self.selected.then_some(&self.node.allocatable)
    }

    /// Whether a decision can tell this entry from `other`.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        let Node { allocatable, labels, taints, .. } = &*self.node;
        (self.selected, self.eligible, self.ready_since)
            != (other.selected, other.eligible, other.ready_since)
            || (allocatable, labels, taints)
                != (&other.node.allocatable, &other.node.labels, &other.node.taints)
    }

    /// The node as of `now`, shared with the snapshots before as long as it is the same.
    pub(crate) fn at(&mut self, now: Timestamp, ready_seconds: i64) -> Arc<Node> {
        let counts = self.ripe(ready_seconds).is_some_and(|ripe| ripe <= now);
        if self.node.counts != counts {
            Arc::make_mut(&mut self.node).counts = counts;
        }
        self.node.clone()
    }

    /// When it will begin to count, if it does not yet and will if left alone.
    pub(crate) fn ripens_after(&self, now: Timestamp, ready_seconds: i64) -> Option<Timestamp> {
        self.ripe(ready_seconds).filter(|ripe| *ripe > now)
    }

    /// The instant from which it counts; none if it is not on the way there.
    fn ripe(&self, ready_seconds: i64) -> Option<Timestamp> {
        self.ready_since.filter(|_| self.eligible).map(|since| since.plus_seconds(ready_seconds))
    }
}

/// The quantities of the node that cannot be read.
pub fn unreadable(node: &Object) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    allocatable(node, &mut reading);
    reading.unreadable
}

/// What of the resources of `node` is not kept, if anything is.
pub(crate) fn excess(node: &Object) -> Option<String> {
    let number = offered(node, &mut Reading::default()).iter().filter(|(one, _)| is_extended(one)).count();
    let why = || format!("it offers {number} extended resources, of which {MOST_RESOURCES} are shared out");
    (number > MOST_RESOURCES).then(why)
}

fn is_extended(resource: &Resource) -> bool {
    !matches!(resource, Resource::Cpu | Resource::Memory)
}

fn allocatable(node: &Object, reading: &mut Reading) -> Amounts {
    let all = offered(node, reading);
    let first_left_out = all.resources().filter(|one| is_extended(one)).nth(MOST_RESOURCES).cloned();
    let Some(first_left_out) = first_left_out else { return all };
    let is_kept = |one: &Resource| !is_extended(one) || *one < first_left_out;
    all.only(|one, _| is_kept(one))
}

fn offered(node: &Object, reading: &mut Reading) -> Amounts {
    let Some(status) = &node.status else { return Amounts::new() };
    match &status.allocatable {
        Some(list) => reading.list(Some(list), Rounding::Down, format_args!("status.allocatable")),
        // The default of the API, and what a manifest may leave at.
        None => reading.list(status.capacity.as_ref(), Rounding::Down, format_args!("status.capacity")),
    }
}

/// What is Ready without an end: a manifest does not repeat what a kubelet would say.
const ALWAYS: Timestamp = Timestamp::from_millis(i64::MIN);

/// Since when `node` reports that it is Ready. One without any condition is taken from a manifest and counts as Ready.
fn ready_since(node: &Object) -> Option<Timestamp> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let ready = conditions.iter().find(|condition| condition.type_ == "Ready" && condition.status == "True");
    let since = ready.map(|ready| ready.last_transition_time.as_ref().map_or(ALWAYS, timestamp));
    since.or(conditions.is_empty().then_some(ALWAYS))
}

/// Label and taint of a control-plane node.
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Whether `node` counts once it is Ready and schedulable: selected, and not kept for the control plane.
///
/// The label of a control-plane node alone does not exclude it: clusters of one node carry it too, and take
/// pods.
fn is_selected(node: &Object, selector: &Selector) -> bool {
    let unlabeled = BTreeMap::new();
    let labels = node.metadata.labels.as_ref().unwrap_or(&unlabeled);
    let spec = node.spec.as_ref();
    let mut taints = spec.and_then(|spec| spec.taints.as_ref()).into_iter().flatten();
    let control_plane = labels.contains_key(CONTROL_PLANE)
        && taints.any(|taint| taint.key == CONTROL_PLANE && taint.effect == "NoSchedule");
    !control_plane && selector.matches(labels)
}

/// Every node that the API server knows.
#[derive(Debug, Default)]
pub(crate) struct Nodes(pub(crate) BTreeMap<NodeName, NodeEntry>);

impl Nodes {
    /// The nodes as of `now`.
    pub(crate) fn at(&mut self, now: Timestamp, ready_seconds: i64) -> BTreeMap<NodeName, Arc<Node>> {
        self.0.iter_mut().map(|(name, entry)| (name.clone(), entry.at(now, ready_seconds))).collect()
    }

    /// What all nodes together offer or will offer: also those that are not Ready yet, or cordoned. They are part of what
    /// the cluster may grow to as long as they are there.
    pub(crate) fn claimed(&self) -> Amounts {
        let mut claimed = Amounts::new();
        for allocatable in self.0.values().filter_map(NodeEntry::claims) {
            claimed.add_all(allocatable);
        }
        claimed
    }

    /// When the first node that is not Ready for long enough yet will be.
    pub(crate) fn next_change(&self, now: Timestamp, ready_seconds: i64) -> Option<Timestamp> {
        self.0.values().filter_map(|entry| entry.ripens_after(now, ready_seconds)).min()
    }
}
