//! How Queues come in.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{Queue as Written, QueueSpec, QueueStatus};
use quotient_snapshot::names::{Namespace, QueueUid};
use quotient_snapshot::{Admission, Queue};

use super::Kind;
use crate::decoded::Undecodable;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta, ResourceVersion};
use crate::namespace::NamespaceEntry;
use crate::queues::{ObservedQueue, decode, default_requests, undecodable};

impl Kind for Written {
    const LISTS_ARE_DOUBTED: bool = true;

    fn is_written(_name: &str) -> bool {
        true
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = index.entry(namespace)?.queue(name)?;
        Some(Kept::of(kept.uid.as_str(), kept.resource_version.as_ref()))
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::queue_names)
    }

    fn put(index: &mut Index, (): &(), (namespace, _): Key, meta: Meta, object: &Self) -> bool {
        let said = (Some(&object.spec), object.status.as_ref());
        index.put_queue(&namespace, &object.metadata, &meta, said, decode(object))
    }

    fn put_undecodable(index: &mut Index, key: Key, meta: Meta, object: &Undecodable) -> bool {
        if let Some(queue) = object.without_status() {
            return Self::put(index, &(), key, meta, &queue);
        }
        let problem =
            format!("the Queue cannot be read: {}; correct the field and apply it again", object.error);
        let (metadata, status) = (&object.metadata, object.status());
        index.put_queue(&key.0, metadata, &meta, (None, status.as_ref()), undecodable(metadata, &problem))
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_queue(name);
        index.show_namespace(namespace);
        index.show_quota(namespace);
        index.show_unspecified(namespace);
        true
    }
}

impl Index {
    fn put_queue(
        &mut self,
        namespace: &Namespace,
        metadata: &ObjectMeta,
        meta: &Meta,
        (spec, status): (Option<&QueueSpec>, Option<&QueueStatus>),
        mut queue: Queue,
    ) -> bool {
        let governed = &self.settings.engine.resources;
        let observed = ObservedQueue {
            uid: QueueUid::from(&*meta.uid),
            resource_version: ResourceVersion::of(metadata),
            generation: metadata.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            status: status.cloned(),
            default_requests: spec.map(|spec| default_requests::of(spec, governed)).unwrap_or_default(),
        };
        if queue.children.is_none() && self.settings.protected.contains(namespace) {
            let problem = format!(
                "no Queue can manage the namespace {namespace}, because it is protected: it is the operator's own or one of \
                 --protected-namespaces; delete this Queue and apply one in a team's namespace"
            );
            queue = undecodable(metadata, &problem);
        }
        if queue.admission == Admission::Gate && !self.settings.gate_mode {
            queue.admission = Admission::GateNotServed;
        }
        let changed = self.entry_mut(namespace).put_queue(queue, observed);
        self.show_namespace(namespace)
            | self.show_quota(namespace)
            | self.show_unspecified(namespace)
            | changed
    }
}
