//! Whom a pod belongs to, in a form that all pods of an owner share.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::snapshot::Ties;

use crate::gangs::stated;
use crate::index::Index;
use crate::shared_labels::shared_labels;
use crate::workload::controller;

/// Labels that number the pods of an owner. Nobody's budget selects by them, and without them all its pods have the
/// same labels.
const NUMBERING: [&str; 8] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "kueue.x-k8s.io/pod-group-pod-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "spark-exec-id",
    "statefulset.kubernetes.io/pod-name",
    "training.kubeflow.org/replica-index",
    "volcano.sh/task-index",
];

impl Index {
    /// What `pod` has in common with the others of its owner; `known` is what was read of it before.
    pub(super) fn read_ties(
        &mut self,
        namespace: &Namespace,
        pod: &Pod,
        known: Option<&Arc<Ties>>,
    ) -> Arc<Ties> {
        let owner = controller(&mut self.texts, &pod.metadata).map(|mut owner| {
            // A manifest may leave the uid out; there the kind and the name stand in for it.
            if owner.uid.as_str().is_empty() {
                let uid = format!("{namespace}/{}/{}", owner.kind, owner.name);
                owner.uid = OwnerUid::new(self.texts.get(uid.as_str()));
            }
            owner
        });
        let labels = shared_labels(
            &mut self.texts,
            known.map(|ties| &ties.labels),
            pod.metadata.labels.as_ref(),
            |key| !NUMBERING.contains(&key),
        );
        let gang = stated(&pod.metadata, pod.spec.as_ref(), owner.as_ref().map(|owner| &owner.uid));
        let gang = gang.map(|stated| self.gang(namespace, stated));
        let ties = Ties { gang, owner, labels };
        self.ties.get_like(ties, known)
    }
}
