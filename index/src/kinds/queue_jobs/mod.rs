//! How QueueJobs come in.

mod decode;
mod show;

use std::sync::Arc;

use quotient_crds::QueueJob as Written;
use quotient_engine::names::{Namespace, QueueJobUid};

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::kinds::Kind;
use crate::meta::{Kept, Key, Meta};
use crate::queue_jobs::{QueueJobEntry, TaskJob};
use crate::tables::KindId;

use decode::undecodable;

impl Kind for Written {
    const ID: KindId = KindId::QueueJob;
    const LISTS_ARE_DOUBTED: bool = true;

    fn is_written(_name: &str) -> bool {
        true
    }

    fn kept<'i>(index: &'i Index, (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = &index.entry(namespace)?.queue_jobs.get(name)?.observed;
        Some(Kept::of(kept.uid.as_str(), kept.resource_version.as_ref()))
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.keys(|entry| entry.queue_jobs.keys().cloned())
    }

    fn put(index: &mut Index, key: Key, meta: Meta, object: &Self) -> bool {
        let decoded = index.decode_queue_job(object, meta.uid);
        index.put_queue_job(&key, decoded)
    }

    fn put_undecodable(index: &mut Index, key: Key, meta: Meta, object: &Undecodable) -> bool {
        let problem =
            format!("the QueueJob cannot be read: {}; correct the field and apply it again", object.error);
        let mut entry = undecodable(&object.metadata, QueueJobUid::new(meta.uid), Some(&problem));
        if let Some(status) = object.status() {
            entry.observed.keep_status(&status, &mut index.texts);
        }
        index.put_queue_job(&key, entry)
    }

    fn remove(index: &mut Index, (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).queue_jobs.remove(name);
        index.show_queue_job(namespace, name)
    }
}

impl Index {
    fn put_queue_job(&mut self, (namespace, name): &Key, decoded: QueueJobEntry) -> bool {
        let generation = decoded.observed.generation;
        let former = self.entry_mut(namespace).queue_jobs.insert(name.clone(), decoded);
        let edited = former.is_none_or(|former| former.observed.generation != generation);
        self.show_queue_job(namespace, name) | edited
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
        // The name of a Job is that of the QueueJob, a dash and that of the task, and both may contain dashes.
        let beginnings = name.match_indices('-').filter_map(|(at, _)| name.get(..at));
        let queue_job =
            beginnings.filter_map(|name| entry.queue_jobs.get_key_value(name)).find_map(|(name, kept)| {
                (Some(kept.job.uid.as_str()) == controller.as_deref()).then(|| name.clone())
            });
        if let Some(queue_job) = queue_job {
            return self.show_queue_job(namespace, &queue_job) | edited;
        }
        self.drop_if_empty(namespace);
        false
    }
}
