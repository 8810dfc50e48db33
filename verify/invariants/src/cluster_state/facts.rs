//! What of each kind of object matters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reading::{has, list, milliseconds, stated, text};
use super::restraint::Mode;
use crate::amounts::{Amount, Amounts, Resource, requests};

/// The scheduling gate of pods in Gate mode.
pub(crate) const SHARE_GATE: &str = "quotient.dev/share";

/// A node.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// What it has for pods.
    pub allocatable: Amounts,
    /// Whether it is Ready and schedulable.
    pub counts: bool,
}

/// The gang of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GangFacts {
    /// Its name: as the annotation says, or the uid of what controls the pod.
    pub name: String,
    /// How many of its pods are of use together.
    pub minimum: u32,
}

/// A pod.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the pod")]
pub struct PodFacts {
    /// Its id.
    pub uid: String,
    /// What it requests, as the scheduler and quotas count it.
    pub requests: Amounts,
    /// The node that it is bound to.
    pub node: Option<String>,
    /// Whether a gate holds it until its queue has room: nothing counts it.
    pub is_gated: bool,
    /// Whether it is on its way out.
    pub is_terminating: bool,
    /// How long it is given to end, if it says so.
    pub grace_seconds: Option<u64>,
    /// How long it was given when its deletion was asked for.
    pub deletion_grace_seconds: Option<u64>,
    /// Whether something has to be done before it may go.
    pub has_finalizers: bool,
    /// Whether it has succeeded or failed.
    pub has_ended: bool,
    /// Whether it has succeeded for a Job, which counts it.
    pub has_succeeded_for_job: bool,
    /// Its gang, if it says how many of it are of use together.
    pub gang: Option<GangFacts>,
    /// Its priority.
    pub priority: i64,
    /// When it was created, as it stands there: it sorts.
    pub created: String,
}

/// The ResourceQuota `quotient` of a namespace.
#[derive(Clone, Debug, Default)]
pub struct QuotaFacts {
    /// Its id.
    pub uid: String,
    /// `spec.hard`.
    pub hard: Amounts,
    /// `status.hard`: what admission enforces.
    pub enforced: Amounts,
    /// The Queue that its owner reference names, if it has one.
    pub owner: Option<String>,
    /// The generation that it is stamped with.
    pub stamp: Option<u64>,
}

/// A Queue.
#[derive(Clone, Debug, Default)]
pub struct QueueFacts {
    /// Its id.
    pub uid: String,
    /// When it was created, as it stands there: it sorts.
    pub created: String,
    /// Whether it groups queues.
    pub is_parent: bool,
    /// Its parent queue, if it has one: namespace and name.
    pub parent: Option<(String, String)>,
    /// Whether its pods wait gated, so that its quota holds only the limit.
    pub is_in_gate_mode: bool,
    /// How far its spec lets Quotient go.
    pub mode: Mode,
    /// Until when its spec says that it is paused, in milliseconds.
    pub paused_until: Option<i64>,
    /// What it is guaranteed.
    pub guaranteed: Amounts,
    /// What it may have at most; of what is not named, all.
    pub limit: BTreeMap<Resource, Amount>,
    /// Its standing claim.
    pub request: Amounts,
    /// How long its pods are given to end, if that is for the operator to say.
    pub grace_seconds: Option<u64>,
    /// How long past its deadline a pod is deleted by force; none for never.
    pub force_after: Option<u64>,
    /// Its status, if it was ever reported.
    pub deserved: Option<Amounts>,
    /// What its quota allows, as its status says.
    pub allocated: Amounts,
    /// What it is promised, as its status says.
    pub preempting: Amounts,
    /// The conditions that are `True`.
    pub conditions: Vec<String>,
    /// Why it is starved, if it says so.
    pub starved: Option<String>,
    /// Whether no node could run some of its pods: nothing is reclaimed for these.
    pub fits_no_node: bool,
}

impl NodeFacts {
    pub(super) fn of(node: &Value) -> Self {
        let is_ready = list(node, "/status/conditions")
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        let unschedulable = node.pointer("/spec/unschedulable").and_then(Value::as_bool).unwrap_or(false);
        Self {
            allocatable: governed(&Amounts::at(node, "/status/allocatable")),
            counts: is_ready && !unschedulable,
        }
    }
}

impl PodFacts {
    /// Whether its share and nodes count it.
    pub fn is_charged(&self) -> bool {
        !self.has_ended && !self.is_gated
    }

    pub(super) fn of(pod: &Value) -> Self {
        let phase = text(pod, "/status/phase");
        Self {
            uid: text(pod, "/metadata/uid").unwrap_or_default(),
            requests: requests(pod),
            node: text(pod, "/spec/nodeName"),
            is_gated: list(pod, "/spec/schedulingGates").any(|gate| gate["name"] == SHARE_GATE),
            is_terminating: has(pod, "/metadata/deletionTimestamp"),
            grace_seconds: pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_u64),
            deletion_grace_seconds: pod
                .pointer("/metadata/deletionGracePeriodSeconds")
                .and_then(Value::as_u64),
            has_finalizers: has(pod, "/metadata/finalizers/0"),
            has_ended: matches!(phase.as_deref(), Some("Succeeded" | "Failed")),
            has_succeeded_for_job: phase.as_deref() == Some("Succeeded")
                && text(pod, "/metadata/ownerReferences/0/kind").as_deref() == Some("Job"),
            gang: gang(pod),
            priority: pod.pointer("/spec/priority").and_then(Value::as_i64).unwrap_or_default(),
            created: text(pod, "/metadata/creationTimestamp").unwrap_or_default(),
        }
    }
}

impl QuotaFacts {
    pub(super) fn of(quota: &Value) -> Self {
        let stamp = text(quota, "/metadata/annotations/quotient.dev~1generation");
        Self {
            uid: text(quota, "/metadata/uid").unwrap_or_default(),
            hard: Amounts::at(quota, "/spec/hard"),
            enforced: Amounts::at(quota, "/status/hard"),
            owner: text(quota, "/metadata/ownerReferences/0/uid"),
            stamp: stamp.and_then(|stamp| stamp.parse().ok()),
        }
    }
}

impl QueueFacts {
    /// The part of its guarantee of a resource that its own spec claims; nothing for a queue with a parent, whose share
    /// depends on its siblings.
    pub fn claims(&self, resource: &Resource) -> Amount {
        let guaranteed = self.guaranteed.get(resource);
        if self.parent.is_some() {
            return Amount::ZERO;
        }
        let limit = self.limit.get(resource).copied().unwrap_or(guaranteed);
        guaranteed.min(self.request.get(resource)).min(limit)
    }

    pub(super) fn of(queue: &Value) -> Self {
        let conditions = list(queue, "/status/conditions").filter(|condition| condition["status"] == "True");
        let starved = conditions.clone().find(|condition| condition["type"] == "Starved");
        Self {
            uid: text(queue, "/metadata/uid").unwrap_or_default(),
            created: text(queue, "/metadata/creationTimestamp").unwrap_or_default(),
            is_parent: has(queue, "/spec/children"),
            parent: parent(queue),
            is_in_gate_mode: text(queue, "/spec/admission").as_deref() == Some("Gate"),
            mode: Mode::named(text(queue, "/spec/mode").as_deref()),
            paused_until: text(queue, "/spec/pausedUntil").as_deref().and_then(milliseconds),
            guaranteed: Amounts::at(queue, "/spec/guaranteed"),
            limit: stated(queue, "/spec/limit").collect(),
            request: Amounts::at(queue, "/spec/request"),
            grace_seconds: queue.pointer("/spec/eviction/maxGraceSeconds").and_then(Value::as_u64),
            force_after: queue.pointer("/spec/eviction/forceAfterSeconds").and_then(Value::as_u64),
            deserved: has(queue, "/status/observedGeneration")
                .then(|| Amounts::at(queue, "/status/deserved")),
            allocated: Amounts::at(queue, "/status/allocated"),
            preempting: Amounts::at(queue, "/status/preempting"),
            starved: starved.and_then(|condition| text(condition, "/reason")),
            fits_no_node: list(queue, "/status/unmet").any(|unmet| unmet["reason"] == "NoNodeFits"),
            conditions: conditions.filter_map(|condition| text(condition, "/type")).collect(),
        }
    }
}

fn gang(pod: &Value) -> Option<GangFacts> {
    let minimum = text(pod, "/metadata/annotations/quotient.dev~1gang-min-available")?.parse().ok()?;
    let named = text(pod, "/metadata/annotations/quotient.dev~1gang");
    let owner = || text(pod, "/metadata/ownerReferences/0/uid");
    Some(GangFacts { name: named.or_else(owner).unwrap_or_default(), minimum })
}

fn parent(queue: &Value) -> Option<(String, String)> {
    let namespace = text(queue, "/spec/parentRef/namespace").or_else(|| text(queue, "/metadata/namespace"));
    Some((namespace.unwrap_or_default(), text(queue, "/spec/parentRef/name")?))
}

/// Nodes also offer what is not shared out.
fn governed(allocatable: &Amounts) -> Amounts {
    let is_shared = |name: &str| {
        name != "pods" && !name.starts_with("ephemeral-storage") && !name.starts_with("hugepages-")
    };
    let shared = allocatable.iter().filter(|(resource, _)| is_shared(resource.name()));
    shared.map(|(resource, amount)| (resource.clone(), amount)).collect()
}
