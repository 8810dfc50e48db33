//! The Queue: what a team asks for, and how much of the cluster it weighs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::validation_rules::{paused_until_rules, queue_rule, queue_spec_rules};
use crate::{Admission, Children, Eviction, Mode, ParentRef, Preemption, QueueStatus, Reclaim, ResourceMap};

/// The weight of a queue that names none.
pub const DEFAULT_WEIGHT: i32 = 1;

/// The largest weight of a queue.
pub const MAX_WEIGHT: i32 = 1_000_000;

/// The share of a team: its weight, its bounds, its place in the tree, and how far Quotient goes for it.
///
/// Every field is optional: `spec: {}` is a queue of weight 1 whose workloads show its demand. Amounts are Kubernetes
/// quantities by resource, named as pods name them: cpu, memory, nvidia.com/gpu. Each resource is shared by itself.
#[skip_serializing_none]
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
    doc = "A Queue gives the pods of its namespace their share of the cluster. Quotient writes the share into \
           the ResourceQuota \"quotient\" of the namespace, raises it while other queues leave room, and reclaims it, \
           by evicting pods if need be, when other queues demand their own share. One Queue governs a namespace: of \
           several the oldest counts. A Queue with children is a parent queue: it governs no pods, and divides its \
           share among the queues that name it in their parentRef.",
    validation = queue_rule()
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = queue_spec_rules()))]
pub struct QueueSpec {
    /// The weight of the queue among its siblings while together they ask for more than there is. Unit: a whole number,
    /// 0 to 1000000. Default: 1. Example: 2, twice as much as a sibling of weight 1. Only the ratio matters. With weight
    /// 0 the queue gets its guaranteed amounts, and beyond them only what no sibling needs.
    #[serde(default = "default_weight")]
    #[schemars(range(min = 0, max = MAX_WEIGHT))]
    pub weight: i32,

    /// A standing claim: the demand of the queue is at least this, used or not, so Quotient evicts pods of other queues
    /// for it even while the queue has no pods. Unit: quantities by resource. Default: none; the demand is what the
    /// workloads of the namespace show. Example: {cpu: "5", memory: 10Gi}. The demand of a resource that it does not
    /// name is observed. Inheritance: none; a parent queue ignores it. Set it only for a team that must have its room
    /// before its pods exist.
    #[serde(default)]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub request: Option<ResourceMap>,

    /// The most that the queue gets, even of an idle cluster. Unit: quantities by resource. Default: no limit, also for
    /// each resource that it does not name. Example: {cpu: "20"}. If you lower it, pods above it are evicted.
    #[serde(default)]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub limit: Option<ResourceMap>,

    /// The share that the queue gets before shares by weight, as far as there is demand. Unit: quantities by resource.
    /// Default: none. Example: {cpu: "2"}. It is lent to other queues while there is no demand for it. For each resource
    /// that both name it must not be above limit. If all guarantees together exceed the cluster, they are scaled down and
    /// the condition `GuaranteeUnmeetable` says so.
    #[serde(default)]
    #[schemars(schema_with = "ResourceMap::spec_schema")]
    pub guaranteed: Option<ResourceMap>,

    /// The parent queue whose share this queue divides with its siblings. Default: none; the queue shares the cluster with
    /// all queues without a parent. Example: {namespace: org, name: research}. The parent must exist, have children and
    /// accept this namespace; otherwise the queue has no share and the condition `Stalled` says why.
    pub parent_ref: Option<ParentRef>,

    /// Makes this queue a parent queue, and says which namespaces may have its children. Default: none; the queue governs
    /// the pods of its namespace. Example: {namespaces: {from: Selector, selector: {matchLabels: {org: research}}}}; {}
    /// accepts its own namespace. A parent queue has no quota. Its demand is that of its children together, at most its
    /// limit; its guarantee is its own or that of its children together, whichever is larger. Parent queues may have
    /// parents.
    pub children: Option<Children>,

    /// How far Quotient goes in this queue. `Observe`: Quotient reports everything, writes no quota and leaves an existing
    /// quota as it is. `Quota`: Quotient also writes the quota. `Full`: Quotient also evicts pods. A pod is evicted only if
    /// its own queue and the queue that it is evicted for are both in `Full`; otherwise events and `kubectl quotient
    /// simulate` name the pod. Default: `Full`. Inheritance: a child queue goes at most as far as its parent queues.
    /// Interactions: `--mode` of the operator bounds every queue.
    #[serde(default)]
    pub mode: Mode,

    /// What happens to a new pod without room. `Quota`: the quota rejects it. `Gate`: it waits gated, and the quota holds
    /// only the limit. Default: `Quota`. Inheritance: none. `Gate` needs gateMode.enabled of the chart.
    #[serde(default)]
    pub admission: Admission,

    /// The end of a pause. Until then the quota of this queue does not shrink, none of its pods is evicted, and no pod is
    /// evicted for it. Quotient does not restore a quota that you edit or delete. Free capacity still
    /// raises the quota. Unit: a time as in RFC 3339. Default: none. Example: "2026-12-01T08:00:00Z". Inheritance: a pause
    /// covers all child queues; the latest end counts. To end the pause earlier, remove the field.
    #[schemars(extend("x-kubernetes-validations" = paused_until_rules()))]
    pub paused_until: Option<Time>,

    /// What this queue may take from others. Default: the default of each field. Example: {from: Subtree, afterSeconds:
    /// 300}.
    pub reclaim: Option<Reclaim>,

    /// What may be taken from this queue, and how. Default: the default of each field. Example: {minRuntimeSeconds: 600}.
    /// Inheritance: each field that is left out comes from the parent queue.
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
    #[serde(default)]
    #[schemars(schema_with = "ResourceMap::default_requests_schema")]
    pub default_requests: Option<ResourceMap>,
}

/// The spec `{}`.
impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            weight: DEFAULT_WEIGHT,
            request: None,
            limit: None,
            guaranteed: None,
            parent_ref: None,
            children: None,
            mode: Mode::Full,
            admission: Admission::Quota,
            paused_until: None,
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
    fn a_null_limit_is_an_absent_one() {
        let spec: QueueSpec = serde_json::from_value(json!({"request": {}, "limit": null})).unwrap();
        assert_eq!(spec.request, Some(ResourceMap::new()));
        assert_eq!(spec.limit, None);
        assert_eq!(
            serde_json::to_value(&spec).unwrap(),
            json!({"weight": 1, "request": {}, "mode": "Full", "admission": "Quota", "preemption": "Never"})
        );
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
            "mode": "Observe",
            "admission": "Gate",
            "pausedUntil": "2026-12-01T08:00:00Z",
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
