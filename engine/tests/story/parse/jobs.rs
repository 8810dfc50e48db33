//! `queuejob`.

use std::sync::Arc;

use quotient_engine::names::{OwnerUid, QueueJobUid};
use quotient_engine::snapshot::{
    Ended, Gang, NamespaceState, Owner, OwnerKind, QueueJob, QueueTask, RememberedJob, Shape,
};

use super::pending::placement;
use super::words::Words;

/// `queuejob a/train min=2 replicas=4 floor=1 cpu=1 created=10 priority=5 succeeded=1 parallelism=4 timeout=300 suspended`.
///
/// It has one task, whose Job has the uid `train` and which cannot do without `floor` pods; its pods say
/// `owner=train gang=queuejob/train`.
pub(super) fn put(state: &mut NamespaceState, words: &Words<'_>) {
    let (_, name) = words.path();
    let others = "min replicas floor created priority succeeded parallelism timeout suspended failed complete \
                  admitted unready failures retry";
    let shape =
        Arc::new(Shape { requests: words.requests(others), placement: placement(words), ..Shape::default() });
    let replicas = words.count("replicas").unwrap_or(1);
    let standing = state.queue_jobs.iter().find(|job| &*job.name == name).cloned().unwrap_or_default();
    let kept = standing.tasks.first().cloned().unwrap_or_default();
    let task = QueueTask {
        name: "w".into(),
        owner: OwnerUid::from(name),
        replicas,
        min_available: words.count("floor").unwrap_or(0),
        shape,
        succeeded: words.count("succeeded").unwrap_or(kept.succeeded),
        failed: 0,
        parallelism: words.count("parallelism").unwrap_or(kept.parallelism),
    };
    let remembered = RememberedJob {
        admitted: words.seconds("admitted").or(standing.remembered.admitted),
        unready: words.seconds("unready").or(standing.remembered.unready),
        start_failures: words.count("failures").unwrap_or(standing.remembered.start_failures),
        retry_at: words.seconds("retry").or(standing.remembered.retry_at),
    };
    let job = QueueJob {
        uid: QueueJobUid::from(words.name()),
        generation: 1,
        name: name.into(),
        created: words.seconds("created").unwrap_or(standing.created),
        priority: words.priority(),
        min_available: words.count("min").unwrap_or(replicas),
        suspended: words.has("suspended"),
        ended: words
            .has("complete")
            .then_some(Ended::Complete)
            .or(words.has("failed").then_some(Ended::Failed)),
        invalid: None,
        start_timeout_seconds: words.count("timeout").unwrap_or(300),
        remembered,
        tasks: vec![task],
    };
    state.queue_jobs.retain(|known| &*known.name != name);
    state.owners.retain(|owner| owner.uid.as_str() != name);
    state.owners.extend(owners(&job));
    state.queue_jobs.push(job);
}

/// `task a/train-launcher of=train replicas=1 min=1 cpu=1 parallelism=1`: one more task of a QueueJob that has none of that
/// name, whose Job has that uid.
pub(super) fn put_task(state: &mut NamespaceState, words: &Words<'_>) {
    let (_, name) = words.path();
    let of = words.value("of").unwrap();
    let job = state.queue_jobs.iter_mut().find(|job| *job.name == *of).unwrap();
    job.tasks.push(QueueTask {
        name: name.into(),
        owner: OwnerUid::from(name),
        replicas: words.count("replicas").unwrap_or(1),
        min_available: words.count("min").unwrap_or(0),
        shape: Arc::new(Shape {
            requests: words.requests("of replicas min parallelism"),
            placement: placement(words),
            ..Shape::default()
        }),
        succeeded: 0,
        failed: 0,
        parallelism: words.count("parallelism").unwrap_or(0),
    });
    state.owners.extend(owners(job).last());
}

/// What the tasks of `job` want stands among the owners, too. Their names are those of their Jobs.
pub(crate) fn owners(job: &QueueJob) -> impl Iterator<Item = Owner> {
    let wants = move |task: &&QueueTask| job.ended.is_none() && task.left() > 0;
    job.tasks.iter().filter(wants).map(move |task| Owner {
        uid: task.owner.clone(),
        kind: OwnerKind::QueueJob,
        name: task.owner.as_str().into(),
        generation: 1,
        created: job.created,
        wanted: if job.suspended { 0 } else { task.left() },
        shape: Arc::clone(&task.shape),
        gang: Some(Gang { name: QueueJob::gang_name(&job.name), min_available: job.min_available }),
        priority: job.priority,
        ..Owner::default()
    })
}
