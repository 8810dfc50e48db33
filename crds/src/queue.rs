//! The Queue: what a team asks for, and how much of the cluster it weighs.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation_rules::{queue_rule, queue_spec_rules};
use crate::{Children, DemandMode, Eviction, ParentRef, Preemption, QueueStatus, Reclaim, ResourceMap};

/// The weight of a queue that names none.
pub const DEFAULT_WEIGHT: i32 = 1;

/// The largest weight of a queue.
pub const MAX_WEIGHT: i32 = 1_000_000;

/// What the team wants: its weight, what it asks for, the bounds of its share, and its place among the others.
///
/// Every field is optional: `spec: {}` is a queue of weight 1 that takes whatever it can get. Amounts are
/// Kubernetes quantities by resource, named as pods name them: cpu, memory, nvidia.com/gpu. Shares are computed
/// for each resource by itself.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "quotient.dev",
    version = "v1alpha1",
    kind = "Queue",
    namespaced,
    status = "QueueStatus",
    derive = "PartialEq",
    shortname = "qtq",
    category = "quotient",
    doc = "A Queue gives the pods of its namespace their fair share of the cluster. Quotient writes the share \
           into the ResourceQuota \"quotient\" of the namespace, raises it while others leave room, and takes \
           it back, by evicting pods if need be, when others ask for what is theirs. One Queue governs a \
           namespace: of several the oldest counts. A Queue with children governs no pods: it is a parent, and \
           divides its share among the Queues that name it in their parentRef.",
    validation = queue_rule(),
    printcolumn(
        name = "Parent",
        type_ = "string",
        json_path = ".spec.parentRef.name",
        description = "The queue that it takes its share from; empty for the cluster"
    ),
    printcolumn(
        name = "Weight",
        type_ = "integer",
        json_path = ".spec.weight",
        description = "The queue's weight against the others"
    ),
    printcolumn(
        name = "Demand",
        type_ = "string",
        json_path = ".status.summary.demand",
        description = "The demand of the queue"
    ),
    printcolumn(
        name = "Deserved",
        type_ = "string",
        json_path = ".status.summary.deserved",
        description = "The deserved share"
    ),
    printcolumn(
        name = "Allocated",
        type_ = "string",
        json_path = ".status.summary.allocated",
        description = "The allocated quota"
    ),
    printcolumn(
        name = "Used",
        type_ = "string",
        json_path = ".status.summary.used",
        description = "What the pods request"
    ),
    printcolumn(
        name = "Preempting",
        type_ = "string",
        json_path = ".status.summary.preempting",
        description = "The part of the deserved share that pods of other queues still use"
    ),
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".status.summary.state",
        description = "OK, Borrowing, or the reason of the most severe condition"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Time since the queue was created"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = queue_spec_rules()))]
pub struct QueueSpec {
    /// How much this queue counts against the others when they ask for more than there is: a whole number from
    /// 0 to 1000000, default 1. Two queues of weights 2 and 4 that both ask for everything get a third and two
    /// thirds. Only the ratio matters. With weight 0 the queue gets its guaranteed amounts and what nobody else
    /// wants.
    #[serde(default = "default_weight")]
    #[schemars(range(min = 0, max = MAX_WEIGHT))]
    pub weight: i32,

    /// What the queue asks for. Example: {cpu: "5", memory: 10Gi, nvidia.com/gpu: 2}. The queue never gets
    /// more than it asks for; what it leaves is shared among the others. Default: everything it can get, of
    /// every resource. Once a request is given, cpu and memory that it does not name are still asked for without
    /// bound, because every pod needs them, and any other resource that it does not name is not asked for. A
    /// request above the limit counts as the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub request: Option<ResourceMap>,

    /// How it is known what the queue asks for. `Declared`: request says it. `Observed`: its work says it, so that
    /// a queue without work asks for nothing and its share serves others. What counts is its live pods, and those
    /// that each ReplicaSet, StatefulSet and Job wants and does not have: a pod that the quota refused does not
    /// exist, so its owner has to be asked. Bare pods and pods of other operators cannot be known of before they
    /// exist; headroom is for them. request is then the least that the queue asks for, and nothing if left out.
    /// Demand that is not taken up does not count: a pod that no node takes for 60 seconds, or an owner that has
    /// room and gets no pod Ready for 5 minutes; status.notTakenUp names them. Demand rises at once, and falls
    /// only after it has been lower for 30 seconds, so that work which comes and goes does not evict others each
    /// time it comes. A parent asks for what its children ask for, whatever it says here. Default: `Declared`.
    #[serde(default)]
    pub demand: DemandMode,

    /// What is kept free for the queue above what is in use, so that pods which nobody can foresee can start: bare
    /// pods, and those of other operators. Counts only with demand: Observed. Example: {cpu: "4", memory: 8Gi}; a
    /// resource that it does not name has no headroom, and {} is none at all. It is the first use of what nobody
    /// asks for, and nobody is evicted for it unless it lies within guaranteed. Default: 1 cpu and 2Gi of memory,
    /// but at most a tenth of what the queue's weight gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub headroom: Option<ResourceMap>,

    /// The most that the queue ever gets, even of an idle cluster. Example: {cpu: "20"}. Default: no bound, also
    /// for each resource that it does not name. Pods that hold more when a limit is lowered are evicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub limit: Option<ResourceMap>,

    /// What the queue gets before shares are divided by weight, as far as it asks for it. Example: {cpu: "2"}.
    /// Default: nothing. While the queue does not ask for it, it is lent to others. For each resource that both
    /// name it must not be above limit. Guarantees that are together more than the cluster has are scaled down,
    /// and the condition `GuaranteeUnmeetable` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub guaranteed: Option<ResourceMap>,

    /// The parent queue, of which this queue takes its share instead of taking it of the cluster. The parent has
    /// to exist, to have children and to accept the namespace of this queue; else this queue has no share and
    /// `Stalled` says why. Example: {namespace: org, name: research}. Default: none; then the queue shares the
    /// cluster with all others that have no parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_ref: Option<ParentRef>,

    /// Makes this queue a parent, and says whose. A parent governs no pods and has no quota: it divides its share
    /// among its children as the cluster's capacity is divided among queues. It asks for what its children ask
    /// for together, at most its limit, and its own request is ignored; guaranteed to it is the larger of its own
    /// and what is guaranteed to its children together. Parents may have parents. Example: {namespaces: {from:
    /// Selector, selector: {matchLabels: {org: research}}}}; {} accepts the queues of its own namespace. Default:
    /// none; then the queue governs the pods of its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Children>,

    /// What this queue may take from others. Default: the default of each field. Example: {from: Subtree, afterSeconds:
    /// 300}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim: Option<Reclaim>,

    /// What may be taken from this queue, and how. Default: the default of each field. Example: {minRuntimeSeconds: 600}.
    /// Inheritance: each field that is left out comes from the parent queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eviction: Option<Eviction>,

    /// Whether workloads of this queue yield to workloads of this queue that have a higher priority. `Never`: they do not.
    /// `LowerPriority`: if the quota rejects pods of a Deployment, ReplicaSet, StatefulSet or Job, or no node has room
    /// for them, Quotient scales down workloads of a strictly lower priority, the lowest first, by as many pods as it
    /// takes. It restores their size when the queue and a node have room. The last replica of a Deployment, ReplicaSet
    /// or StatefulSet stays; eviction.lastReplica decides about the last pod of a Job. Workloads with an autoscaler
    /// (HPA) or with the annotation quotient.dev/within-queue: Never keep their size. Default: `Never`. Inheritance:
    /// none. The operator does this in mode Full only; kubectl quotient simulate shows it beforehand.
    #[serde(default)]
    pub preemption: Preemption,

    /// The requests of containers that name none. Without them the quota rejects every pod with a container that
    /// requests no cpu or no memory. Quotient writes them into the `LimitRange` "quotient" of the namespace. Only cpu
    /// and memory can be named. Default: {cpu: 100m, memory: 128Mi}, as far as Quotient shares out these resources. {}
    /// turns it off. Example: {cpu: 250m, memory: 512Mi}. Inheritance: none; a parent queue does not use it. If another
    /// `LimitRange` of the namespace has a default for a resource, that one applies. Pods that exist stay as they are.
    /// The operator writes no `LimitRange` in mode Observe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "ResourceMap::default_requests_schema")]
    pub default_requests: Option<ResourceMap>,
}

/// The spec `{}`.
impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            weight: DEFAULT_WEIGHT,
            request: None,
            demand: DemandMode::Declared,
            headroom: None,
            limit: None,
            guaranteed: None,
            parent_ref: None,
            children: None,
            reclaim: None,
            eviction: None,
            preemption: Preemption::Never,
            default_requests: None,
        }
    }
}

fn default_weight() -> i32 {
    DEFAULT_WEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_empty_spec_is_the_default() {
        let spec: QueueSpec = serde_json::from_value(json!({})).unwrap();
        assert_eq!(spec, QueueSpec::default());
        assert_eq!(spec.weight, 1);
    }

    #[test]
    fn an_empty_request_is_not_an_absent_one() {
        let spec: QueueSpec = serde_json::from_value(json!({"request": {}, "limit": null})).unwrap();
        assert_eq!(spec.request, Some(ResourceMap::new()));
        assert_eq!(spec.limit, None);
        assert_eq!(
            serde_json::to_value(&spec).unwrap(),
            json!({"weight": 1, "request": {}, "demand": "Declared", "preemption": "Never"})
        );
    }

    #[test]
    fn observed_demand_is_read_and_written() {
        let text = json!({"weight": 1, "demand": "Observed", "headroom": {"cpu": "4", "memory": "8Gi"}, "preemption": "Never"});
        let spec: QueueSpec = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(spec.demand, DemandMode::Observed);
        assert_eq!(serde_json::to_value(&spec).unwrap(), text);

        let none: QueueSpec = serde_json::from_value(json!({"headroom": {}})).unwrap();
        assert_eq!(none.headroom, Some(ResourceMap::new()), "none at all is not the default");
    }

    #[test]
    fn an_empty_children_makes_a_parent_and_an_absent_one_does_not() {
        let spec: QueueSpec =
            serde_json::from_value(json!({"children": {}, "eviction": {}, "reclaim": {}})).unwrap();
        assert_eq!(spec.children, Some(Children::default()));
        assert_eq!((spec.eviction, spec.reclaim), (Some(Eviction::default()), Some(Reclaim::default())));
        let spec: QueueSpec = serde_json::from_value(json!({"children": null, "parentRef": null})).unwrap();
        assert_eq!(spec, QueueSpec::default());
    }

    #[test]
    fn a_place_in_the_tree_is_read_and_written() {
        let text = json!({
            "weight": 1,
            "parentRef": {"namespace": "org", "name": "research"},
            "children": {"namespaces": {"from": "Selector", "selector": {
                "matchLabels": {"org": "research"},
                "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["gold"]},
                    {"key": "closed", "operator": "DoesNotExist"},
                ],
            }}},
            "demand": "Declared",
            "reclaim": {"from": "Subtree", "afterSeconds": 300},
            "eviction": {
                "policy": "Never", "lastReplica": "Never", "minRuntimeSeconds": 600, "gangs": "Never",
                "maxGraceSeconds": 0, "forceAfterSeconds": 600,
            },
            "preemption": "LowerPriority",
        });
        let spec: QueueSpec = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&spec).unwrap(), text);
    }
}
