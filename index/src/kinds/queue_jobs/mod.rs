//! How QueueJobs come in.

mod show;

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use quotient_crds::{QueueJob as Written, QueueJobCondition, QueueJobStatus};
use quotient_snapshot::names::{Namespace, QueueJobUid};
use quotient_snapshot::{QueueJob, QueueTask, RememberedJob, Shape};

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::kinds::Kind;
use crate::meta::{Kept, Key, Meta, ResourceVersion, timestamp};
use crate::pod_requests::{Defaultable, shape};
use crate::priority_classes::AskedPriority;
use crate::queue_jobs::{ObservedQueueJob, ObservedTask, QueueJobEntry, TaskJob, end, task_hash};
use crate::reading::count;

impl Kind for Written {
    const LISTS_ARE_DOUBTED: bool = true;

    fn is_written(_name: &str) -> bool {
        true
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = &index.entry(namespace)?.queue_jobs.get(name)?.observed;
        Some(Kept::of(kept.uid.as_str(), kept.resource_version.as_ref()))
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(|entry| entry.queue_jobs.keys().cloned())
    }

    fn put(index: &mut Index, (): &(), key: Key, meta: Meta, object: &Self) -> bool {
        let decoded = index.decode_queue_job(object, meta.uid);
        index.put_queue_job(&key, decoded)
    }

    fn put_undecodable(index: &mut Index, key: Key, meta: Meta, object: &Undecodable) -> bool {
        if let Some(job) = object.without_status() {
            return Self::put(index, &(), key, meta, &job);
        }
        let problem =
            format!("the QueueJob cannot be read: {}; correct the field and apply it again", object.error);
        let mut entry = undecodable(&object.metadata, QueueJobUid::new(meta.uid), Some(&problem));
        if let Some(status) = object.status() {
            entry.observed.keep_status(&status, &mut index.texts);
        }
        index.put_queue_job(&key, entry)
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).queue_jobs.remove(name);
        index.show_queue_job(namespace, name)
    }
}

impl Index {
    fn put_queue_job(&mut self, (namespace, name): &Key, decoded: QueueJobEntry) -> bool {
        self.entry_mut(namespace).queue_jobs.insert(name.clone(), decoded);
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

/// What the names of Kueue's labels begin with.
const KUEUE_LABELS: &str = "kueue.x-k8s.io/";

impl Index {
    /// What is kept of `written`, which is called `uid`.
    fn decode_queue_job(&mut self, written: &Written, uid: Arc<str>) -> QueueJobEntry {
        let spec = &written.spec;
        let mut entry = undecodable(&written.metadata, QueueJobUid::new(uid), None);
        // Most have one task, and a vector that grows begins with four.
        let mut observed = Vec::with_capacity(spec.tasks.len());
        entry.job.tasks.reserve_exact(spec.tasks.len());
        for task in &spec.tasks {
            let (shape, asked) = match task.template.read() {
                Ok(template) => {
                    let defaultable = Defaultable::of(template.spec.as_ref());
                    entry.defaultable.extend(defaultable.map(|found| (entry.job.tasks.len(), found)));
                    self.read_template(template.spec.as_ref(), spec.priority_class_name.as_deref())
                }
                Err(error) => {
                    let problem = format!(
                        "the template of the task {} cannot be read: {error}; correct the field and apply it again",
                        task.name
                    );
                    entry.job.invalid = Some(problem.into());
                    continue;
                }
            };
            entry.asked.get_or_insert(asked);
            let name = self.texts.get(task.name.as_str());
            let replicas = count(task.replicas());
            entry.job.tasks.push(QueueTask {
                name: Arc::clone(&name),
                replicas,
                min_available: count(task.min_available()),
                shape,
                ..QueueTask::default()
            });
            observed.push(ObservedTask {
                name,
                replicas,
                template: self.texts.get(task_hash(spec, task)),
                job: None,
            });
        }
        if let Some(label) = kueue_label(written) {
            let problem = format!(
                "the label {label} gives its pods to Kueue, and two programs must not decide which pods start: remove the label, \
                 or run the Jobs with Kueue instead of a QueueJob"
            );
            entry.job.invalid = Some(problem.into());
        }
        entry.job.min_available = count(spec.floor());
        entry.job.suspended = spec.suspend;
        entry.job.start_timeout_seconds = count(spec.start_timeout_seconds);
        entry.observed.ttl_seconds_after_finished = spec.ttl_seconds_after_finished;
        entry.observed.tasks = observed;
        if let Some(status) = &written.status {
            entry.observed.keep_status(status, &mut self.texts);
            entry.job.remembered = remembered(status, written.metadata.generation);
            entry.job.ended = end(status).map(|(ended, _)| ended);
        }
        entry
    }

    fn read_template(&mut self, spec: Option<&PodSpec>, class: Option<&str>) -> (Arc<Shape>, AskedPriority) {
        let asked = match (spec.map(AskedPriority::of).unwrap_or_default(), class) {
            (AskedPriority::Default, Some(class)) if !class.is_empty() => AskedPriority::Class(class.into()),
            (asked, _) => asked,
        };
        (self.shapes.get(shape(spec)), asked)
    }
}

/// A label of it, or of one of its templates, by which Kueue would take its pods for its own.
fn kueue_label(written: &Written) -> Option<String> {
    let of_templates =
        written.spec.tasks.iter().filter_map(|task| task.template.0.pointer("/metadata/labels")?.as_object());
    let of_templates = of_templates.flat_map(serde_json::Map::keys);
    let own = written.metadata.labels.iter().flat_map(BTreeMap::keys);
    own.chain(of_templates).find(|label| label.starts_with(KUEUE_LABELS)).cloned()
}

/// A QueueJob of which nothing but the metadata is read, and why if no more could be.
pub(super) fn undecodable(metadata: &ObjectMeta, uid: QueueJobUid, problem: Option<&str>) -> QueueJobEntry {
    QueueJobEntry {
        job: QueueJob {
            uid: uid.clone(),
            generation: metadata.generation.unwrap_or_default(),
            name: metadata.name.as_deref().unwrap_or_default().into(),
            created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            invalid: problem.map(Into::into),
            ..QueueJob::default()
        },
        observed: ObservedQueueJob {
            uid,
            resource_version: ResourceVersion::of(metadata),
            generation: metadata.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            ..ObservedQueueJob::default()
        },
        ..QueueJobEntry::default()
    }
}

/// What earlier decisions left in the status of the QueueJob that has this `generation`.
///
/// That an earlier spec did not start says nothing about this one.
fn remembered(status: &QueueJobStatus, generation: Option<i64>) -> RememberedJob {
    let of_this_spec = status.observed_generation == generation;
    let since = |condition: QueueJobCondition, wanted: &str| {
        let of_status = |found: &&Condition| found.status == wanted;
        status.condition(condition).filter(of_status).map(|found| timestamp(&found.last_transition_time))
    };
    RememberedJob {
        admitted: since(QueueJobCondition::Admitted, "True"),
        unready: since(QueueJobCondition::GangReady, "False"),
        start_failures: count(status.start_failures.filter(|_| of_this_spec).unwrap_or_default()),
        retry_at: status.retry_at.as_ref().filter(|_| of_this_spec).map(timestamp),
    }
}
