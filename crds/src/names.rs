//! The names that Quotient uses on objects of the cluster.
//!
//! They are part of the API: scripts, policies and rejections mention them, so a change here is a change for users.
//! `docs/reference/labels.md` is made from the lines above each constant.

/// The API group of Queue and QueueJob.
pub const GROUP: &str = "quotient.dev";

/// The served and stored version of the API group.
pub const VERSION: &str = "v1alpha1";

/// The `apiVersion` of Queue and QueueJob.
pub const API_VERSION: &str = "quotient.dev/v1alpha1";

/// The name of the ResourceQuota in every namespace with a share. A rejection quotes it: `exceeded quota: quotient`.
pub const QUOTA: &str = "quotient";

/// The name of the LimitRange with the default requests of a namespace.
pub const LIMIT_RANGE: &str = "quotient";

/// The field manager of every server-side apply of the operator.
pub const FIELD_MANAGER: &str = "quotient";

/// Label on ResourceQuotas, LimitRanges, Jobs and the ledger: its value [`MANAGED_BY_QUOTIENT`] says that the operator keeps the
/// object.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY_LABEL`] on objects that the operator keeps.
pub const MANAGED_BY_QUOTIENT: &str = "quotient";

/// The name of the ConfigMap in the operator's namespace that records what is granted and owed to each namespace.
pub const LEDGER: &str = "quotient-ledger";

/// The one key in the binary data of the ConfigMap [`LEDGER`]: JSON, compressed with gzip.
pub const LEDGER_KEY: &str = "ledger.json.gz";

/// Annotation on ResourceQuotas: the generation of the ledger that the amounts come from. A write applies only to the generation
/// that it was decided on, so an older write never replaces a newer one.
pub const GENERATION_ANNOTATION: &str = "quotient.dev/generation";

/// Annotation on pods: with the value [`PREEMPTIBLE_LAST`], a started pod is evicted for another queue only if nothing else is
/// left.
pub const PREEMPTIBLE_ANNOTATION: &str = "quotient.dev/preemptible";

/// The only value of [`PREEMPTIBLE_ANNOTATION`].
pub const PREEMPTIBLE_LAST: &str = "last";

/// Annotation on ResourceQuotas: the name of the Queue whose share the quota enforces.
pub const QUEUE_ANNOTATION: &str = "quotient.dev/queue";

/// Scheduling gate on pods: in Gate mode the pod waits until its queue has room.
pub const SHARE_GATE: &str = "quotient.dev/share";

/// Annotation on pods: the name of the gang in its namespace. By default the workload of the pods is the gang. Pods of several
/// workloads with the same name are one gang.
pub const GANG_ANNOTATION: &str = "quotient.dev/gang";

/// Annotation on pods: the minimum of the gang, a decimal number. Fewer pods are of no use.
pub const GANG_MIN_AVAILABLE_ANNOTATION: &str = "quotient.dev/gang-min-available";

/// Label on Jobs and pods of a QueueJob: the name of the QueueJob.
pub const QUEUE_JOB_LABEL: &str = "quotient.dev/queue-job";

/// Label on Jobs and pods of a QueueJob: the name of the task.
pub const TASK_LABEL: &str = "quotient.dev/task";

/// Annotation on Jobs of a QueueJob: a digest of the template. An edited template has another one, and the task runs again.
pub const TEMPLATE_ANNOTATION: &str = "quotient.dev/template";

/// Annotation on ReplicaSets, StatefulSets, DaemonSets and Jobs: when the operator last notified the controller that its rejected
/// pods have room. The change makes the controller retry at once, instead of after a backoff of minutes.
pub const REQUEUED_ANNOTATION: &str = "quotient.dev/requeued-at";

/// Key in `spec.hard` of a ResourceQuota: it counts objects that do not exist, and stays only until kube-controller-manager has
/// counted the quota again.
pub const USAGE_RESYNC_KEY: &str = "count/usage-resync.quotient.dev";

/// Annotation on Deployments, ReplicaSets, StatefulSets and Jobs: with the value [`WITHIN_QUEUE_NEVER`], the workload is never
/// scaled down for pods of a higher priority in its queue.
pub const WITHIN_QUEUE_ANNOTATION: &str = "quotient.dev/within-queue";

/// The only value of [`WITHIN_QUEUE_ANNOTATION`].
pub const WITHIN_QUEUE_NEVER: &str = "Never";

/// Annotation on workloads that were scaled down: the size before, a decimal number. Quotient restores it when there is room.
pub const REPLICAS_BEFORE_ANNOTATION: &str = "quotient.dev/replicas-before";

/// Annotation on workloads that were scaled down: the size that Quotient wrote, a decimal number. If the spec has another size,
/// another writer has changed it, and Quotient leaves the workload alone.
pub const REPLICAS_LOWERED_ANNOTATION: &str = "quotient.dev/replicas-lowered-to";

/// Annotation on pods of ReplicaSets, defined by Kubernetes: the pod with the lowest number is removed first. Quotient writes
/// -2147483648 to pods that it chose.
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
            REQUEUED_ANNOTATION,
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
