//! How QueueJobs come in.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::QueueJob as Written;
use quotient_engine::names::Namespace;

use super::decode::undecodable;
use super::show::QueueJobEntry;
use super::task_job::TaskJob;
use crate::decoded::Undecodable;
use crate::gone::Gone;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::{ListLoss, Relist};
use crate::resource_version::Age;

/// What is remembered of QueueJobs as a kind.
#[derive(Debug)]
pub(crate) struct QueueJobKind {
    relist: Relist<(Namespace, Arc<str>)>,
    gone: Gone,
}

impl Default for QueueJobKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), gone: Gone::default() }
    }
}

impl Keeps<Written> for Index {
    fn apply(&mut self, object: &Written) -> bool {
        self.put_queue_job(&object.metadata, |index, uid| index.decode_queue_job(object, uid))
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        let problem =
            format!("the QueueJob cannot be read: {}; correct the field and apply it again", object.error);
        let (metadata, status) = (&object.metadata, object.status());
        self.put_queue_job(metadata, |_, uid| undecodable(metadata, uid, Some(&problem), status.as_ref()))
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        self.queue_jobs.gone.insert(uid);
        self.remove_queue_job(&namespace.into(), name, Some(uid))
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            entry.queue_jobs.keys().map(|name| (namespace.clone(), name.clone()))
        });
        self.queue_jobs.relist.begin(kept);
    }

    fn relist_loss(&self) -> ListLoss {
        self.queue_jobs.relist.loss()
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.queue_jobs.relist.finish();
        missing
            .iter()
            .fold(false, |changed, (namespace, name)| self.remove_queue_job(namespace, name, None) | changed)
    }
}

impl Index {
    fn put_queue_job(
        &mut self,
        metadata: &ObjectMeta,
        decode: impl FnOnce(&mut Self, &str) -> QueueJobEntry,
    ) -> bool {
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
        self.queue_jobs.relist.seen(&(namespace.clone(), name.clone()));
        if self.queue_jobs.gone.contains(&uid) {
            return false;
        }
        let kept = self.namespaces.get(&namespace).and_then(|entry| entry.queue_jobs.get(&name));
        if kept.is_some_and(|kept| Age::of(metadata).is_stale_beside(kept.observed.age())) {
            return false;
        }
        let before = kept.map(|kept| kept.observed.generation);
        let decoded = decode(self, &uid);
        let edited = before != Some(decoded.observed.generation);
        self.namespaces.entry(namespace.clone()).or_default().queue_jobs.insert(name.clone(), decoded);
        self.show_queue_job(&namespace, &name) | edited
    }

    fn remove_queue_job(&mut self, namespace: &Namespace, name: &str, uid: Option<&str>) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let kept = entry.queue_jobs.get(name);
        if kept.is_none_or(|kept| uid.is_some_and(|uid| kept.observed.uid.as_str() != uid)) {
            return false;
        }
        entry.queue_jobs.remove(name);
        self.queue_jobs.relist.seen(&(namespace.clone(), name.into()));
        self.show_queue_job(namespace, name)
    }

    /// Keeps the Job `name` of a QueueJob, or forgets it. Says whether a decision depends on the difference.
    pub(crate) fn put_task_job(
        &mut self,
        namespace: &Namespace,
        name: &Arc<str>,
        job: Option<TaskJob>,
    ) -> bool {
        let entry = self.namespaces.entry(namespace.clone()).or_default();
        let before = match &job {
            Some(job) => entry.task_jobs.insert(name.clone(), job.clone()),
            None => entry.task_jobs.remove(name),
        };
        let edited = before.as_ref().map(|job| &job.seen) != job.as_ref().map(|job| &job.seen);
        let controller = job.or(before).map(|job| job.controller);
        let of_it =
            entry.queue_jobs.iter().find(|(_, kept)| Some(kept.job.uid.as_str()) == controller.as_deref());
        let queue_job = of_it.map(|(name, _)| name.clone());
        if let Some(queue_job) = queue_job {
            return self.show_queue_job(namespace, &queue_job) | edited;
        }
        self.drop_if_empty(namespace);
        false
    }
}
