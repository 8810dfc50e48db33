//! What the operator reports about a QueueJob.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::conditions::{condition, conditions_schema, same_conditions};
use crate::{QueueJobCondition, ResourceMap};

/// What Quotient found and decided for the QueueJob. Only the operator writes it.
///
/// Amounts are Kubernetes quantities by resource. A map that is absent is not known yet; an empty one means nothing.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueJobStatus {
    /// The metadata.generation that this status was computed from. While it is lower than the generation of the
    /// QueueJob, the operator has not seen the last change of the spec.
    pub observed_generation: Option<i64>,

    /// The state in one word: `Waiting` for its slots, `Starting` until minAvailable pods run, `Running`, `Suspended`,
    /// `Complete` or `Failed`.
    pub state: Option<String>,

    /// How many pods have to run or have succeeded for the gang to run: minAvailable of the spec, or all replicas.
    pub min_available: Option<i32>,

    /// How many pods its Jobs may run now, in all tasks together.
    pub slots: Option<i32>,

    /// The requests of the slots that the QueueJob deserves: its part of the queue's share.
    pub deserved: Option<ResourceMap>,

    /// The requests of the slots that the QueueJob has now.
    pub allocated: Option<ResourceMap>,

    /// The requests of its pods, pending and terminating pods included.
    pub used: Option<ResourceMap>,

    /// The part of deserved that is not allocated yet, because terminating pods still use it. Empty when nothing is
    /// outstanding.
    pub preempting: Option<ResourceMap>,

    /// The number of its pods that have not started.
    pub pending: Option<i32>,

    /// The number of its pods that run.
    pub running: Option<i32>,

    /// The number of its pods that have succeeded. Each counts toward minAvailable.
    pub succeeded: Option<i32>,

    /// The number of its pods that have failed. Evicted pods are not failures.
    pub failed: Option<i32>,

    /// The number of its pods that were told to stop and are not gone yet.
    pub terminating: Option<i32>,

    /// How many times in a row the gang had its slots and did not run by startTimeoutSeconds.
    pub start_failures: Option<i32>,

    /// The time until which the QueueJob asks for no slots, because its gang did not start.
    pub retry_at: Option<Time>,

    /// The state of the QueueJob, one entry for each type, each True or False and never removed. `Admitted`: it has the
    /// slots that its gang needs; otherwise the reason says what is missing, such as `NoQueue`, `WaitingForRoom`,
    /// `WaitingForQuota`, `GangAboveShare`, `StartTimeout` or `JobRefused`. `GangReady`: minAvailable pods run or have
    /// succeeded. `Preempted`: it has lost slots and got none since; the reason says why. `Complete`: every pod of every
    /// task has succeeded. `Failed`: a task has failed; the message names the task and the reason. `Suspended`:
    /// spec.suspend is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
}

impl QueueJobStatus {
    /// The entry for `wanted`, if it was ever reported.
    pub fn condition(&self, wanted: QueueJobCondition) -> Option<&Condition> {
        condition(&self.conditions, wanted.as_str())
    }

    /// Whether two statuses say the same, whatever the times and the order of their conditions.
    ///
    /// Every other time counts: a later decision goes by it.
    pub fn same_meaning(&self, other: &Self) -> bool {
        let without_conditions = |status: &Self| Self { conditions: Vec::new(), ..status.clone() };
        same_conditions(&self.conditions, &other.conditions)
            && without_conditions(self) == without_conditions(other)
    }
}
