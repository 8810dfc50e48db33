//! The API types of `quotient.dev` and the custom resource definitions generated from them.
//!
//! Everything a user can write or read of Quotient in a cluster is defined here: the [`Queue`] and the [`QueueJob`], their
//! statuses and conditions, and the names on the objects that Quotient writes. The types carry text as the user wrote
//! it ([`ResourceQuantity`]); what an amount *means* is the engine's business.
//!
//! **Architecture invariant:** this crate does no I/O. Of Quotient it has only the types of the snapshot that a spec
//! has, too, such as [`Mode`]. A field exists only once it works.
//!
//! **Architecture invariant:** what can be checked by looking at one object is checked by its schema, so that
//! no admission webhook is needed. What needs other objects is a condition.

mod columns;
mod condition_names;
mod conditions;
mod manifest;
pub mod names;
mod pod_template;
mod queue;
mod queue_job;
mod queue_job_rules;
mod queue_job_status;
mod queue_status;
mod resource_map;
mod resource_quantity;
mod rules;
mod status_entries;
mod tree;
mod validation_rules;

pub use condition_names::{ConditionType, QueueJobCondition};
pub use conditions::{
    ConditionReport, condition, merge_conditions, same_conditions, status_text, stored_time,
};
pub use manifest::{GENERATE_COMMAND, MANIFEST_FOLDERS, Manifest, ManifestError, manifests};
pub use pod_template::PodTemplate;
pub use queue::{DEFAULT_WEIGHT, MAX_WEIGHT, Queue, QueueSpec};
pub use queue_job::{
    DEFAULT_START_TIMEOUT_SECONDS, MAX_BACKOFF_LIMIT, MAX_QUEUE_JOB_NAME_LENGTH, MAX_REPLICAS, MAX_SECONDS,
    MAX_TASK_NAME_LENGTH, MAX_TASKS, QueueJob, QueueJobSpec, Task,
};
pub use queue_job_status::QueueJobStatus;
pub use queue_status::{PodCounts, QueueStatus, StatusSummary};
pub use resource_map::{MAX_RESOURCE_NAME_LENGTH, MAX_RESOURCES, ResourceMap};
pub use resource_quantity::{MAX_QUANTITY_LENGTH, ResourceQuantity};
pub use rules::{
    Admission, Eviction, EvictionPolicy, GangPolicy, LastReplica, MAX_EVICTION_SECONDS,
    MAX_MIN_RUNTIME_SECONDS, Mode, Preemption, Reclaim, ReclaimFrom,
};
pub use status_entries::{
    LendingWindow, MAX_RECENT_RECLAIMS, MAX_SET_ASIDE, MAX_UNMET, RecentReclaim, SetAside, Unmet,
    WorkloadReference,
};
pub use tree::{
    ChildNamespaces, Children, LabelOperator, LabelRequirement, LabelSelector, MAX_LABEL_REQUIREMENTS,
    MAX_LABEL_VALUES, NamespacesFrom, ParentRef,
};
