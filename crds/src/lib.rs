//! The API types of `quotient.dev` and the custom resource definitions generated from them.
//!
//! Everything a user can write or read of Quotient in a cluster is defined here: the [`Queue`] and the [`QueueJob`], their
//! statuses and conditions, and the names on the objects that Quotient writes. The types carry text as the user wrote
//! it ([`ResourceQuantity`]); what an amount *means* is the engine's business.
//!
//! **Architecture invariant:** this crate does no I/O and depends on nothing of Quotient. A field exists only
//! once it works.
//!
//! **Architecture invariant:** what can be checked by looking at one object is checked by its schema, so that
//! no admission webhook is needed. What needs other objects is a condition.

mod admission;
mod children;
mod condition_type;
mod conditions;
mod eviction;
mod label_selector;
mod lending_window;
mod manifest;
mod mode;
pub mod names;
mod parent_ref;
mod pod_template;
mod preemption;
mod queue;
mod queue_job;
mod queue_job_condition;
mod queue_job_rules;
mod queue_job_status;
mod queue_status;
mod recent_reclaim;
mod reclaim;
mod resource_map;
mod resource_quantity;
mod set_aside;
mod stored_time;
mod unmet;
mod validation_rules;

pub use admission::Admission;
pub use children::{ChildNamespaces, Children, NamespacesFrom};
pub use condition_type::{ConditionStatus, ConditionType};
pub use conditions::{ConditionName, ConditionReport, condition, merge_conditions, same_conditions};
pub use eviction::{
    Eviction, EvictionPolicy, GangPolicy, LastReplica, MAX_EVICTION_SECONDS, MAX_MIN_RUNTIME_SECONDS,
};
pub use label_selector::{
    LabelOperator, LabelRequirement, LabelSelector, MAX_LABEL_REQUIREMENTS, MAX_LABEL_VALUES,
};
pub use lending_window::LendingWindow;
pub use manifest::{GENERATE_COMMAND, MANIFEST_FOLDERS, Manifest, ManifestError, manifests};
pub use mode::Mode;
pub use parent_ref::ParentRef;
pub use pod_template::PodTemplate;
pub use preemption::Preemption;
pub use queue::{DEFAULT_WEIGHT, MAX_WEIGHT, Queue, QueueSpec};
pub use queue_job::{
    DEFAULT_START_TIMEOUT_SECONDS, MAX_BACKOFF_LIMIT, MAX_QUEUE_JOB_NAME_LENGTH, MAX_REPLICAS, MAX_SECONDS,
    MAX_TASK_NAME_LENGTH, MAX_TASKS, QueueJob, QueueJobSpec, Task,
};
pub use queue_job_condition::QueueJobCondition;
pub use queue_job_status::{QueueJobState, QueueJobStatus};
pub use queue_status::{PodCounts, QueueStatus, StatusSummary};
pub use recent_reclaim::{MAX_RECENT_RECLAIMS, RecentReclaim, WorkloadReference};
pub use reclaim::{Reclaim, ReclaimFrom};
pub use resource_map::{MAX_RESOURCE_NAME_LENGTH, MAX_RESOURCES, ResourceMap};
pub use resource_quantity::{MAX_QUANTITY_LENGTH, ResourceQuantity};
pub use set_aside::{MAX_SET_ASIDE, SetAside};
pub use stored_time::stored_time;
pub use unmet::{MAX_UNMET, Unmet};
