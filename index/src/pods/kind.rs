//! How pods come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod as Object, PodSpec};
use quotient_snapshot::names::{Namespace, NodeName, PodName, PodUid};
use quotient_snapshot::reasons::KeptReason;
use quotient_snapshot::{Placement, Pod, PodMetadata, Shape, Workload};

use super::annotations::{deletion_cost, is_reluctant, kept};
use super::life::{gate, is_failing, phase, started, stuck, was_evicted};
use super::metadata;
use crate::index::Index;
use crate::kinds::Kind;
use crate::meta::{Age, Kept, Key, Meta, timestamp};
use crate::namespace::NamespaceEntry;
use crate::placement::{self, placement};
use crate::pod_requests::effective_requests;

impl Kind for Object {
    const LISTS_ARE_DOUBTED: bool = true;

    fn excess(&self) -> Option<String> {
        self.spec.as_ref().and_then(placement::excess).or_else(|| metadata::excess(self))
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        let (kept, age) = index.entry(namespace)?.pod(name)?;
        Some(Kept { uid: kept.uid.as_str(), age })
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::pod_names)
    }

    fn put(index: &mut Index, (): &(), (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let uid = PodUid::new(meta.uid);
        let mut known = None;
        if let Some((kept, _)) = index.entry(&namespace).and_then(|entry| entry.pod(&name)) {
            if kept.uid == uid {
                known = Some((Arc::clone(&kept.shape), Arc::clone(&kept.metadata)));
            } else {
                // Its deletion was missed; whatever was done to it does not concern its successor.
                let former = kept.uid.clone();
                index.forget_overlays(&namespace, &former);
            }
        }
        let pod = index.read_pod(object, &namespace, PodName::new(name), uid, known.as_ref());
        if pod.is_gated() && !index.pods.gated.contains(&namespace) {
            index.pods.gated.insert(namespace.clone());
        }
        index.namespaces.entry(namespace).or_default().put_pod(pod, meta.age)
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        let Some(removed) = index.entry_mut(namespace).remove_pod(name) else { return false };
        index.forget_overlays(namespace, &removed.uid);
        true
    }

    fn seen_up_to(index: &mut Index, age: Age) -> bool {
        index.pods_seen_until(age)
    }
}

impl Index {
    /// The pod as the engine reads it. `known` is what was read of it before, which mostly is the same.
    fn read_pod(
        &mut self,
        object: &Object,
        namespace: &Namespace,
        name: PodName,
        uid: PodUid,
        known: Option<&(Arc<Shape>, Arc<PodMetadata>)>,
    ) -> Pod {
        let spec = object.spec.as_ref();
        let node = spec.and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        let deletion = object.metadata.deletion_timestamp.as_ref().map(timestamp);
        let leaves_by = self.pods.leaves_by(&uid, deletion);
        let kept = kept(object);
        let is_mirror = kept == Some(KeptReason::MirrorPod);
        // A pod of a DaemonSet names its node in a term of its own: a cluster would have as many shapes as it has
        // such pods. Once they are there, no other node is sought for them.
        let metadata = self.read_metadata(namespace, object, known.map(|(_, metadata)| metadata));
        let is_of_daemon_set = metadata.owner.as_ref().is_some_and(Workload::is_daemon_set);
        let stays = node.is_some() && (is_of_daemon_set || is_mirror);
        let placement = if stays { Placement::default() } else { spec.map(placement).unwrap_or_default() };
        let requested = effective_requests(spec, object.status.as_ref());
        let metadata = self.metadata_of_owner(namespace, metadata, &requested.amounts);
        let shape = Shape { requests: requested.amounts, placement, left_out: requested.left_out };
        Pod {
            shape: self.shapes.get_like(shape, known.map(|(shape, _)| shape)),
            metadata,
            node: node.map(|node| NodeName::new(self.texts.get(node))),
            phase: phase(object),
            priority: spec.and_then(|spec| spec.priority).unwrap_or_default(),
            created: object.metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            started: started(object),
            deletion: leaves_by,
            deletion_seconds: deletion_seconds(object),
            // What is known to leave although it is not seen yet was evicted.
            evicted: if deletion.is_some() { was_evicted(object) } else { leaves_by.is_some() },
            stuck: stuck(object),
            gate: gate(spec),
            failing: is_failing(object),
            kept,
            do_not_disrupt: is_reluctant(object),
            forced: deletion.is_some() && object.metadata.deletion_grace_period_seconds == Some(0),
            deletion_cost: deletion_cost(object),
            grace_seconds: grace_seconds(spec),
            uid,
            name,
        }
    }

    /// Forgets what was done to a pod that is gone.
    fn forget_overlays(&mut self, namespace: &Namespace, uid: &PodUid) {
        self.pods.evictions.remove(uid);
        if self.pods.refusals.remove(uid).is_some()
            && let Some(entry) = self.namespaces.get_mut(namespace)
        {
            entry.set_pod_refused(uid, false);
        }
    }
}

fn deletion_seconds(object: &Object) -> u32 {
    let given = object.metadata.deletion_grace_period_seconds.unwrap_or_default();
    u32::try_from(given.max(0)).unwrap_or(u32::MAX)
}

/// How long the API server gives a pod to end that does not say it.
const GRACE_SECONDS: i64 = 30;

fn grace_seconds(spec: Option<&PodSpec>) -> u16 {
    let stated = spec.and_then(|spec| spec.termination_grace_period_seconds).unwrap_or(GRACE_SECONDS);
    u16::try_from(stated.max(0)).unwrap_or(u16::MAX)
}
