//! How Queues come in.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{Queue as Written, QueueSpec, QueueStatus};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{Admission, Queue};

use super::{ObservedQueue, decode, default_requests, undecodable};
use crate::decoded::Undecodable;
use crate::gone::Gone;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::{ListLoss, Relist};
use crate::resource_version::Age;

/// What is remembered of Queues as a kind.
#[derive(Debug)]
pub(crate) struct QueueKind {
    relist: Relist<(Namespace, Arc<str>)>,
    gone: Gone,
}

impl Default for QueueKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), gone: Gone::default() }
    }
}

impl Keeps<Written> for Index {
    fn apply(&mut self, object: &Written) -> bool {
        self.put_queue(&object.metadata, (Some(&object.spec), object.status.as_ref()), || decode(object))
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        let problem =
            format!("the Queue cannot be read: {}; correct the field and apply it again", object.error);
        let (metadata, status) = (&object.metadata, object.status());
        self.put_queue(metadata, (None, status.as_ref()), || undecodable(metadata, &problem))
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        self.queues.gone.insert(uid);
        self.remove_queue(&namespace.into(), name, Some(uid))
    }

    fn relist_begin(&mut self) {
        let kept = self
            .namespaces
            .iter()
            .flat_map(|(namespace, entry)| entry.queue_names().map(|name| (namespace.clone(), name.clone())));
        self.queues.relist.begin(kept);
    }

    fn relist_loss(&self) -> ListLoss {
        self.queues.relist.loss()
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.queues.relist.finish();
        missing
            .iter()
            .fold(false, |changed, (namespace, name)| self.remove_queue(namespace, name, None) | changed)
    }
}

impl Index {
    fn put_queue(
        &mut self,
        metadata: &ObjectMeta,
        (spec, status): (Option<&QueueSpec>, Option<&QueueStatus>),
        decode: impl FnOnce() -> Queue,
    ) -> bool {
        let Some(uid) = uid_of(metadata) else { return false };
        let name = metadata.name.as_deref().unwrap_or_default();
        let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
        self.queues.relist.seen(&(namespace.clone(), name.into()));
        if self.queues.gone.contains(&uid) {
            return false;
        }
        let kept = self.namespaces.get(&namespace).and_then(|entry| entry.queue(name));
        if kept.is_some_and(|kept| Age::of(metadata).is_stale_beside(kept.age())) {
            return false;
        }
        let governed = &self.settings.engine.resources;
        let defaults = spec.map(|spec| default_requests::of(spec, governed)).unwrap_or_default();
        let observed = ObservedQueue::of(metadata, &uid, status, defaults);
        let mut queue = decode();
        if queue.children.is_none() && self.settings.protected.contains(&namespace) {
            let problem = format!(
                "no Queue can manage the namespace {namespace}, because it is protected: it is the operator's own or one of \
                 --protected-namespaces; delete this Queue and apply one in a team's namespace"
            );
            queue = undecodable(metadata, &problem);
        }
        if queue.admission == Admission::Gate && !self.settings.gate_mode {
            queue.admission = Admission::GateNotServed;
        }
        let changed = self.namespaces.entry(namespace.clone()).or_default().put_queue(queue, observed);
        self.show_labels(&namespace)
            | self.show_quota(&namespace)
            | self.show_unspecified(&namespace)
            | changed
    }

    fn remove_queue(&mut self, namespace: &Namespace, name: &str, uid: Option<&str>) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let removed = entry.remove_queue(name, uid);
        if removed {
            self.queues.relist.seen(&(namespace.clone(), name.into()));
            self.show_labels(namespace);
            self.show_quota(namespace);
            self.show_unspecified(namespace);
            self.drop_if_empty(namespace);
        }
        removed
    }
}
