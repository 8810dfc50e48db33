//! What the operator reports about a queue.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::conditions::{condition, conditions_schema, same_conditions};
use crate::{ConditionType, LendingWindow, RecentReclaim, ResourceMap, SetAside, Unmet};

/// What Quotient found and decided for the queue. Only the operator writes it.
///
/// Amounts are Kubernetes quantities by resource. A map that is absent is not known yet; an empty one means
/// nothing. What a parent queue is allocated, uses, preempts and has of pods is what its children have together.
//
// For writers: apply it (server-side) rather than merge it. A merge patch cannot take a resource out of a map,
// so a `preempting` that has become empty would show its last amounts for ever.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// The metadata.generation of the queue that this status was computed from. While it is lower than the queue's, the
    /// operator has not seen the last change of the spec yet.
    pub observed_generation: Option<i64>,

    /// The nominal share: the deserved share if every queue asked for everything. It depends on specs and capacity alone.
    /// If only other queues have moved it, it is brought up to date every five minutes.
    pub nominal: Option<ResourceMap>,

    /// The demand of the queue: what its live pods request and its workloads lack, at least its request, at most its
    /// limit.
    pub demand: Option<ResourceMap>,

    /// The time since which the workloads of the queue ask for less than demand shows, by resource. Demand falls 30 seconds
    /// after this time, unless they ask for as much again by then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "times_schema")]
    pub demand_falling: BTreeMap<String, Time>,

    /// The workloads and pods that had room and did not start, now or within the last hour. While one is set aside, its pods
    /// that never started do not count as demand. It counts again after 1, 2, 4, … 30 minutes, or when its spec changes, a
    /// node joins or has room for it. The newest 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SetAside>,

    /// The time since which a workload, named by its uid, has had room for pods that it does not create. Workloads are
    /// listed after a minute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "times_schema")]
    pub not_created_since: BTreeMap<String, Time>,

    /// The lending windows: how much of each resource allocated may have above deserved while no queue needs it. A window
    /// doubles once the queue has used more than half of it, and returns after ten minutes without that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<String, LendingWindow>,

    /// The deserved share of the cluster at the current demand of all queues. It is more than demand
    /// only if pods that are never evicted use more.
    pub deserved: Option<ResourceMap>,

    /// The allocated quota: what the ResourceQuota "quotient" allows the namespace now. It rises to deserved as capacity
    /// becomes free. What it has above deserved is on loan, and pods in it are evicted first.
    pub allocated: Option<ResourceMap>,

    /// The requests of the pods of the namespace, pending and terminating pods included. A terminating pod counts
    /// until it is gone.
    pub used: Option<ResourceMap>,

    /// The pending reclaim: the capacity that is free, or is being freed, for the queue and not allocated yet. No other
    /// queue gets it. Empty when nothing is outstanding.
    pub preempting: Option<ResourceMap>,

    /// The time since which the queue is starved: pods or a request of it lack a part of the deserved share. Absent if the
    /// queue is not starved.
    pub short_since: Option<Time>,

    /// The workloads and pods that cannot start now, and why: the first 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Unmet>,

    /// The pods of the queue that Quotient evicted last, newest first. At most 20 entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent_reclaims: Vec<RecentReclaim>,

    /// The number of pods that cannot start now, also of workloads that unmet leaves out.
    #[schemars(range(min = 0))]
    pub unmet_total: Option<i32>,

    /// The use above the nominal share. It is lent by other queues, which can reclaim it.
    pub borrowed: Option<ResourceMap>,

    /// The part of the nominal share that the queue does not use while other queues use more than theirs. It comes back
    /// when the queue has demand for it.
    pub lent: Option<ResourceMap>,

    /// The number of pods of the namespace, by state. Finished pods are not counted.
    pub pods: Option<PodCounts>,

    /// The main amounts in short form, such as "3c 9Gi 2gpu", for the columns of kubectl get. Programs should
    /// read the maps.
    pub summary: Option<StatusSummary>,

    /// The state of the queue, one entry for each type, each True or False and never removed. `Ready`: the spec
    /// is understood and the quota in sync, also while the queue waits for its share. `QuotaSynced`: the quota
    /// has the allocated amounts and is enforced. `Starved`: the queue has less than it deserves; the reason says
    /// why, such as `WaitingForPreemption` while pods of others are evicted for it, `Budget` or `EvictionRefused` if
    /// they cannot be evicted now, or `Fenced` where what it lacks is held outside the fence that it may
    /// take from. `Overused`: its pods hold more than it deserves. `GuaranteeUnmeetable`: more is guaranteed
    /// than the cluster, or the limit of a parent queue, allows. `Stalled`: the queue has no share until a person
    /// changes something; the message says what, and the reason is `NamespaceTaken`, `InvalidSpec`,
    /// `GuaranteedAboveLimit`, `ParentNotFound` (parentRef names no queue), `ParentNotAccepting` (the parent's
    /// children do not include this queue's namespace), `ParentCycle` (following parentRef leads back) or
    /// `ParentStalled` (a queue above has no share itself).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
}

impl QueueStatus {
    /// The entry for `wanted`, if it was ever reported.
    pub fn condition(&self, wanted: ConditionType) -> Option<&Condition> {
        condition(&self.conditions, wanted.as_str())
    }

    /// Whether two statuses say the same, whatever the times and the order of their conditions.
    ///
    /// Every other time counts: a later decision goes by it. It has to be one of [`crate::stored_time`].
    /// Amounts are compared as text, so both should come from the same writer.
    pub fn same_meaning(&self, other: &Self) -> bool {
        self.same_meaning_but_for_others(other)
            && self.nominal == other.nominal
            && self.borrowed == other.borrowed
            && self.lent == other.lent
    }

    /// The same without what follows from what other queues do: the nominal share, and what is borrowed and lent.
    // Asked for every queue whenever anything changes anywhere, so nothing is copied; taken apart, so that no field is
    // forgotten.
    pub fn same_meaning_but_for_others(&self, other: &Self) -> bool {
        let Self {
            observed_generation,
            demand,
            demand_falling,
            set_aside,
            not_created_since,
            windows,
            deserved,
            allocated,
            used,
            preempting,
            short_since,
            unmet,
            recent_reclaims,
            unmet_total,
            nominal: _,
            borrowed: _,
            lent: _,
            pods,
            summary,
            conditions,
        } = self;
        *observed_generation == other.observed_generation
            && *used == other.used
            && *pods == other.pods
            && *demand == other.demand
            && *demand_falling == other.demand_falling
            && *set_aside == other.set_aside
            && *not_created_since == other.not_created_since
            && same_windows(windows, &other.windows)
            && *deserved == other.deserved
            && *allocated == other.allocated
            && *preempting == other.preempting
            && *short_since == other.short_since
            && *unmet == other.unmet
            && *recent_reclaims == other.recent_reclaims
            && *unmet_total == other.unmet_total
            && *summary == other.summary
            && same_conditions(conditions, &other.conditions)
    }
}

/// Whether all windows have the same size and target. The time moves only with one of them; two operators that begin a window at
/// different times would correct each other for ever.
fn same_windows(one: &BTreeMap<String, LendingWindow>, other: &BTreeMap<String, LendingWindow>) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|((resource, window), (other_resource, other))| {
            resource == other_resource && window.size == other.size && window.target == other.target
        })
}

/// Times by resource.
fn times_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "string", "format": "date-time"}})
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &i32) -> bool {
    *count == 0
}

/// How many pods a namespace has, by state. Each pod that is not finished is in exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCounts {
    /// Pods that have started and were not told to stop.
    #[schemars(range(min = 0))]
    pub running: i32,
    /// Pods that have not started, bound to a node or not, and were not told to stop.
    #[schemars(range(min = 0))]
    pub pending: i32,
    /// Pods that wait gated for room.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub gated: i32,
    /// Pods that were told to stop and are not gone yet.
    #[schemars(range(min = 0))]
    pub terminating: i32,
}

/// The main amounts of a status, each in one short text.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusSummary {
    /// `OK`; `Borrowing` while the queue uses more than its nominal share; `Paused`, `Observe` or `Quota` if restrained;
    /// else the reason of the most severe condition.
    pub state: Option<String>,
    /// The amounts of demand in short form.
    pub demand: Option<String>,
    /// The amounts of deserved in short form.
    pub deserved: Option<String>,
    /// The amounts of allocated in short form.
    pub allocated: Option<String>,
    /// The amounts of used in short form.
    pub used: Option<String>,
    /// The amounts of preempting in short form.
    pub preempting: Option<String>,
    /// The amounts of nominal in short form.
    pub nominal: Option<String>,
    /// The guaranteed amounts of the spec in short form.
    pub guaranteed: Option<String>,
    /// The limit of the spec in short form.
    pub limit: Option<String>,
    /// The number of running pods and of all pods that are not finished, such as "3/5".
    pub pods: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConditionReport, merge_conditions, stored_time};
    use k8s_openapi::jiff::Timestamp;

    fn status(second: i64, used: &str) -> QueueStatus {
        let ready = ("Ready", ConditionReport::new(true, "Reconciled", ""));
        let now = Timestamp::from_second(second).unwrap();
        QueueStatus {
            used: Some([("cpu", used)].into()),
            conditions: merge_conditions(&[], [ready], Some(1), now),
            ..QueueStatus::default()
        }
    }

    #[test]
    fn the_meaning_has_no_time() {
        assert!(status(10, "3").same_meaning(&status(99, "3")));
        assert!(!status(10, "3").same_meaning(&status(10, "4")));
        assert!(!status(10, "3").same_meaning(&QueueStatus { conditions: vec![], ..status(10, "3") }));
    }

    #[test]
    fn a_time_that_a_later_decision_goes_by_is_meaning() {
        let at = |second| stored_time(Timestamp::from_second(second).unwrap());
        let short = |second| QueueStatus { short_since: Some(at(second)), ..status(10, "3") };
        let falling = |second| QueueStatus {
            demand_falling: [("cpu".to_owned(), at(second))].into(),
            ..status(10, "3")
        };
        assert!(short(1).same_meaning(&short(1)) && falling(1).same_meaning(&falling(1)));
        assert!(!short(1).same_meaning(&short(2)));
        assert!(!falling(1).same_meaning(&falling(2)));
    }

    #[test]
    fn nothing_known_is_written_as_nothing() {
        assert_eq!(serde_json::to_string(&QueueStatus::default()).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<QueueStatus>("{}").unwrap(), QueueStatus::default());
    }
}
