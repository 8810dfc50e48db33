//! What snapshots show of a QueueJob: its spec and its Jobs, put together.

use std::sync::Arc;

use quotient_crds::names::API_VERSION;
use quotient_snapshot::names::{Namespace, OwnerUid};
use quotient_snapshot::{Ended, Gang, Owner, OwnerKind, QueueJob, Workload};

use crate::index::Index;
use crate::meta::Key;
use crate::namespace::{OwnerNote, shaped};
use crate::queue_jobs::{JobEnd, ObservedQueueJob, TaskJob};

impl Index {
    /// Shows the QueueJob `name` as it and its Jobs were seen last. Says whether a decision depends on the difference.
    pub(in crate::kinds) fn show_queue_job(&mut self, namespace: &Namespace, name: &str) -> bool {
        let [api_version, kind] = [API_VERSION, OwnerKind::QueueJob.name()].map(|text| self.texts.get(text));
        let Self { namespaces, priority_classes, shapes, has_limit_ranges, .. } = self;
        let Some(entry) = namespaces.get_mut(namespace) else { return false };
        let prefix = format!("{name}/");
        let mut stale: Vec<Arc<str>> = entry.owner_names_with(OwnerKind::QueueJob, &prefix).collect();
        let mut changed = false;
        let shown = entry.queue_jobs.get(name).map(|kept| {
            let mut job = kept.job.clone();
            let asked = kept.asked.clone().unwrap_or_default();
            job.priority = priority_classes.resolve(&asked);
            for (at, defaultable) in kept.defaultable.iter().filter(|_| *has_limit_ranges) {
                if let Some(task) = job.tasks.get_mut(*at) {
                    let requests = entry.filled(&task.shape.requests, defaultable);
                    task.shape = shaped(&task.shape, requests, shapes);
                }
            }
            fill_in(&mut job, |task| entry.task_job(&kept.job, task));
            (job, asked)
        });
        if let Some((job, asked)) = &shown {
            for owner in owners(job, namespace, [api_version, kind]) {
                stale.retain(|known| *known != owner.name);
                // Only its QueueJob scales it.
                let (asked, wanted) = (asked.clone(), owner.wanted);
                let template = Arc::clone(&owner.shape);
                let note = OwnerNote {
                    asked,
                    template,
                    states_gang: true,
                    wanted,
                    rightful: wanted,
                    ..OwnerNote::default()
                };
                changed |= entry.put_owner(owner, note);
            }
        }
        for name in stale {
            changed |= entry.remove_owner(OwnerKind::QueueJob, &name);
        }
        changed |= entry.show_queue_job(name, shown.map(|(job, _)| job));
        self.drop_if_empty(namespace);
        changed
    }

    /// Shows all QueueJobs anew: priority classes mean something else.
    pub(crate) fn show_queue_jobs(&mut self) -> bool {
        let all: Vec<Key> = self.keys(|entry| entry.queue_jobs.keys().cloned()).collect();
        all.iter().fold(false, |changed, (namespace, name)| self.show_queue_job(namespace, name) | changed)
    }

    /// What was observed of a QueueJob and its Jobs, for keeping them and for writing its status.
    pub fn observed_queue_job(&self, namespace: &Namespace, name: &str) -> Option<ObservedQueueJob> {
        let entry = self.namespaces.get(namespace)?;
        let kept = entry.queue_jobs.get(name)?;
        let mut observed = kept.observed.clone();
        for task in &mut observed.tasks {
            task.job = entry.task_job(&kept.job, &task.name).map(|found| found.seen.clone());
        }
        Some(observed)
    }
}

/// Fills in what the Jobs of `job`'s tasks say.
fn fill_in<'j>(job: &mut QueueJob, found: impl Fn(&str) -> Option<&'j TaskJob>) {
    let (mut complete, mut failed) = (!job.tasks.is_empty(), false);
    for task in &mut job.tasks {
        let Some(found) = found(&task.name) else {
            complete = false;
            continue;
        };
        task.owner = OwnerUid::new(Arc::clone(&found.seen.uid));
        task.succeeded = found.succeeded.min(task.replicas);
        task.failed = found.failed;
        task.parallelism =
            if found.seen.suspended || found.seen.end.is_some() { 0 } else { found.seen.parallelism };
        let is_complete = found.seen.end == Some(JobEnd::Complete);
        if is_complete {
            // It creates no further pod, whatever number the spec asks for by now.
            task.replicas = task.succeeded;
        }
        complete &= is_complete;
        failed |= matches!(found.seen.end, Some(JobEnd::Failed(..)));
    }
    if job.ended.is_none() {
        job.ended = failed.then_some(Ended::Failed).or(complete.then_some(Ended::Complete));
    }
}

/// An owner for each of the QueueJob's tasks that may still want pods.
fn owners(job: &QueueJob, namespace: &Namespace, [api_version, kind]: [Arc<str>; 2]) -> Vec<Owner> {
    let lasts = job.ended.is_none() && job.invalid.is_none();
    let tasks = job.tasks.iter().filter(|task| lasts && task.left() > 0);
    let controller = Arc::new(Workload {
        api_version,
        kind,
        name: Arc::clone(&job.name),
        uid: OwnerUid::new(job.uid.shared()),
    });
    tasks
        .map(|task| {
            let name: Arc<str> = format!("{}/{}", job.name, task.name).into();
            let uid = match task.owner.as_str() {
                "" => OwnerUid::new(format!("{namespace}/QueueJob/{name}")),
                _ => task.owner.clone(),
            };
            Owner {
                uid,
                kind: OwnerKind::QueueJob,
                name,
                created: job.created,
                wanted: if job.suspended { 0 } else { task.left() },
                shape: Arc::clone(&task.shape),
                gang: Some(Gang { name: QueueJob::gang_name(&job.name), min_available: job.min_available }),
                priority: job.priority,
                controller: Some(Arc::clone(&controller)),
                ..Owner::default()
            }
        })
        .collect()
}
