//! The names that Quotient uses on objects of the cluster.
//!
//! They are part of the API: scripts, policies and the text of refusals mention them, so a change here is a
//! change for users.

/// The API group of every kind that Quotient defines.
pub const GROUP: &str = "quotient.dev";

/// The served and stored version of the API group.
pub const VERSION: &str = "v1alpha1";

/// Group and version as they stand in an object's `apiVersion`.
pub const API_VERSION: &str = "quotient.dev/v1alpha1";

/// The name of the `ResourceQuota` that Quotient keeps in a governed namespace.
///
/// It is the only word of ours in the 403 that a refused user reads.
pub const QUOTA: &str = "quotient";

/// The name of the `LimitRange` that Quotient keeps in a governed namespace whose Queue names default requests.
pub const LIMIT_RANGE: &str = "quotient";

/// The field manager of every server-side apply of the operator.
pub const FIELD_MANAGER: &str = "quotient";

/// Label that says which program keeps an object; on the quota its value is [`MANAGED_BY_QUOTIENT`].
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY_LABEL`] on objects that the operator keeps.
pub const MANAGED_BY_QUOTIENT: &str = "quotient";

/// The name of the `ConfigMap` in the operator's namespace that says what was granted to each queue.
pub const LEDGER: &str = "quotient-ledger";

/// The one key of the [`LEDGER`]'s binary data: JSON, compressed with gzip.
pub const LEDGER_KEY: &str = "ledger.json.gz";

/// Annotation on the quota: the generation of the [`LEDGER`] that its amounts come from, a decimal number.
///
/// A write applies only to the stamp that it was decided on, so an older one never replaces a newer one.
pub const GENERATION_ANNOTATION: &str = "quotient.dev/generation";

/// Annotation on a pod: how readily it may be evicted for another queue.
///
/// The one value is [`PREEMPTIBLE_LAST`].
pub const PREEMPTIBLE_ANNOTATION: &str = "quotient.dev/preemptible";

/// The value of [`PREEMPTIBLE_ANNOTATION`] for a pod that, once started, goes only when nothing else is left.
pub const PREEMPTIBLE_LAST: &str = "last";

/// Annotation on the quota: the Queue whose share it enforces, by name.
pub const QUEUE_ANNOTATION: &str = "quotient.dev/queue";

/// Scheduling gate on a pod of a namespace in Gate mode: it waits until its queue has room.
pub const SHARE_GATE: &str = "quotient.dev/share";

/// Annotation on a pod: the name of its gang, within its namespace. Without it the gang is the pod's owner.
///
/// Pods of several owners that have the same name in it are one gang.
pub const GANG_ANNOTATION: &str = "quotient.dev/gang";

/// Annotation on a pod: how many pods of its gang have to run for any of them to be of use, a decimal number.
pub const GANG_MIN_AVAILABLE_ANNOTATION: &str = "quotient.dev/gang-min-available";

/// Label on the Jobs and pods of a QueueJob: its name.
pub const QUEUE_JOB_LABEL: &str = "quotient.dev/queue-job";

/// Label on the Jobs and pods of a QueueJob: the name of their task.
pub const TASK_LABEL: &str = "quotient.dev/task";

/// Annotation on a Job of a QueueJob: what the Job was made of, so that an edited template is noticed.
pub const TEMPLATE_ANNOTATION: &str = "quotient.dev/template";

/// Annotation on an owner: when Quotient last told it that there is room again for pods that were refused.
///
/// To set it is the message: the owner's controller looks again at every change, and would otherwise wait for as
/// long as its backoff has grown, up to minutes.
pub const NUDGED_ANNOTATION: &str = "quotient.dev/nudged";

/// Key in the `spec.hard` of a quota for as long as it takes to have it counted anew: it bounds objects that do not exist.
pub const RECOUNT_KEY: &str = "count/recounts.quotient.dev";

/// Annotation on a Deployment, `ReplicaSet`, `StatefulSet` or Job: whether it is scaled down for pods of a higher priority in
/// its queue. The one value is [`WITHIN_QUEUE_NEVER`].
pub const WITHIN_QUEUE_ANNOTATION: &str = "quotient.dev/within-queue";

/// The value of [`WITHIN_QUEUE_ANNOTATION`] for an owner that is to be left alone.
pub const WITHIN_QUEUE_NEVER: &str = "Never";

/// Annotation on an owner that was scaled down: the size that it had before and gets back, a decimal number.
pub const REPLICAS_BEFORE_ANNOTATION: &str = "quotient.dev/replicas-before";

/// Annotation on an owner that was scaled down: the size that Quotient wrote, a decimal number. If another stands in its
/// spec, another writer has changed it since, and the owner is left alone.
pub const REPLICAS_LOWERED_ANNOTATION: &str = "quotient.dev/replicas-lowered-to";

/// Kubernetes' annotation by which the pods of a `ReplicaSet` say which of them goes first, a 32-bit number.
pub const DELETION_COST_ANNOTATION: &str = "controller.kubernetes.io/pod-deletion-cost";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_annotation_is_in_our_group_and_none_is_another() {
        let names = [
            GENERATION_ANNOTATION,
            PREEMPTIBLE_ANNOTATION,
            QUEUE_ANNOTATION,
            SHARE_GATE,
            GANG_ANNOTATION,
            GANG_MIN_AVAILABLE_ANNOTATION,
            NUDGED_ANNOTATION,
            WITHIN_QUEUE_ANNOTATION,
            REPLICAS_BEFORE_ANNOTATION,
            REPLICAS_LOWERED_ANNOTATION,
            TEMPLATE_ANNOTATION,
            QUEUE_JOB_LABEL,
            TASK_LABEL,
        ];
        let distinct: std::collections::BTreeSet<&str> = names.into();
        assert_eq!(distinct.len(), names.len());
        for name in names {
            let (group, own) = name.split_once('/').unwrap();
            assert_eq!(group, GROUP, "{name}");
            assert!(own.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        }
    }
}
