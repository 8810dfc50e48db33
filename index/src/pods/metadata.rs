//! The owner of a pod, in a form that all of its pods share.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use quotient_snapshot::PodMetadata;
use quotient_snapshot::names::{Namespace, OwnerUid};

use crate::gangs::stated;
use crate::index::Index;
use crate::labels::shared_labels;
use crate::owner_references::controller;

/// Labels that number the pods of an owner. No budget selects by them, and without them all its pods have the
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

/// The most labels of one pod that are kept, the first by key. Pods that people and controllers write have a dozen; an object has
/// room for thousands, each of which is compared with every budget of the namespace. A budget that selects by a label beyond them
/// is left to the API server, which refuses the eviction.
const MOST_LABELS: usize = 256;

/// What of the labels of `pod` is not kept, if anything is.
pub(super) fn excess(pod: &Pod) -> Option<String> {
    let labels = pod.metadata.labels.as_ref().map(BTreeMap::len).unwrap_or_default();
    (labels > MOST_LABELS).then(|| format!("it has {labels} labels, of which {MOST_LABELS} are kept"))
}

impl Index {
    /// What `pod` has in common with the others of its owner; `known` is what was read of it before.
    pub(super) fn read_metadata(
        &mut self,
        namespace: &Namespace,
        pod: &Pod,
        known: Option<&Arc<PodMetadata>>,
    ) -> Arc<PodMetadata> {
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
            known.map(|metadata| &metadata.labels),
            pod.metadata.labels.as_ref(),
            |key| !NUMBERING.contains(&key),
            MOST_LABELS,
        );
        let gang = stated(&pod.metadata, pod.spec.as_ref(), owner.as_ref().map(|owner| &owner.uid));
        let gang = gang.map(|stated| self.gang(namespace, stated));
        let metadata = PodMetadata { gang, owner, labels };
        self.metadata.get_like(metadata, known)
    }
}
