//! QueueJobs: how many one cycle writes about, and which Jobs are taken for theirs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use quotient_crds::QueueJob;
use serde_json::{Value, json};

use super::{World, node, planned, queue, view};
use crate::operations::queue_jobs::MOST_PER_CYCLE;
use crate::tests::api::{Asked, Log, Reply};
use crate::view::View;

/// A QueueJob whose gang is larger than the cluster.
fn too_large(namespace: &str, name: &str) -> Value {
    let container = json!({"name": "main", "image": "main", "resources": {"requests": {"cpu": "1"}}});
    json!({
        "apiVersion": "quotient.dev/v1alpha1", "kind": "QueueJob",
        "metadata": {
            "name": name, "namespace": namespace, "uid": format!("{namespace}-{name}"), "generation": 1,
            "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"tasks": [
            {"name": "main", "replicas": 20, "template": {"spec": {"containers": [container]}}},
        ]},
    })
}

fn put(view: &View, job: &Value) {
    view.read(|index| index.apply::<QueueJob>(&serde_json::from_value(job.clone()).unwrap()));
}

/// Answers with the QueueJob and the status that was written.
fn store(asked: &Asked) -> Reply {
    let parts: Vec<&str> = asked.path.split('/').collect();
    let ["", "apis", _, _, "namespaces", namespace, "queuejobs", name, "status"] = parts[..] else {
        return Reply::failure(404, "NotFound", &asked.line());
    };
    let mut job = too_large(namespace, name);
    job["metadata"]["resourceVersion"] = "2".into();
    job["status"] = asked.status().clone();
    Reply::Json(200, job)
}

/// How many statuses of each namespace were written since the last look.
fn written(log: &Log, before: &mut usize) -> (usize, usize) {
    let lines = log.lines();
    let (news, all) = (&lines[*before..], lines.len());
    *before = all;
    let of = |namespace: &str| news.iter().filter(|line| line.contains(&format!("/{namespace}/"))).count();
    (of("crowd"), of("other"))
}

#[tokio::test(start_paused = true)]
async fn a_cycle_writes_about_so_many_and_none_twice() {
    let view = view(&[node(4), queue("crowd"), queue("other")]);
    let count = 2 * MOST_PER_CYCLE;
    (0..count).for_each(|at| put(&view, &too_large("crowd", &format!("job-{at}"))));
    put(&view, &too_large("other", "job"));
    let World { view, mut writer, log, .. } = World::of(view, store);
    let mut before = 0;
    let mut cycles = Vec::new();
    for _ in 0..4 {
        writer.keep_queue_jobs(&planned(&view)).await;
        cycles.push(written(&log, &mut before));
    }
    assert_eq!(cycles, [(MOST_PER_CYCLE - 1, 1), (MOST_PER_CYCLE, 0), (1, 0), (0, 0)]);
    assert_eq!(writer.next_retry(), None);
    // What is seen is compared, not what was written: another writer's word does not stay.
    let mut changed = too_large("other", "job");
    changed["metadata"]["resourceVersion"] = "3".into();
    changed["status"] = json!({"state": "Running"});
    put(&view, &changed);
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    writer.keep_queue_jobs(&planned(&view)).await;
    assert_eq!(written(&log, &mut before), (0, 1));
}

/// A QueueJob of a launcher and eight workers, in the order of its `tasks`.
fn two_tasks(generation: u32, tasks: [(&str, u32); 2]) -> Value {
    let container = json!({"name": "main", "image": "main", "resources": {"requests": {"cpu": "1"}}});
    let mut job = too_large("a", "job");
    job["metadata"]["generation"] = generation.into();
    job["metadata"]["resourceVersion"] = generation.to_string().into();
    let tasks = tasks.map(|(name, replicas)| {
        json!({"name": name, "replicas": replicas, "template": {"spec": {"containers": [container]}}})
    });
    job["spec"]["tasks"] = json!(tasks);
    job
}

/// Jobs are kept by the order of tasks. An edit in the middle of a cycle may change that order.
#[tokio::test(start_paused = true)]
async fn jobs_follow_the_spec_that_was_decided_on() {
    let view = view(&[node(16), queue("a"), super::quota("a", 5, Some(1), 16, 16)]);
    put(&view, &two_tasks(1, [("launcher", 1), ("worker", 8)]));
    let World { view, mut writer, log, .. } = World::of(view, |asked| {
        let body = asked.body.clone();
        if asked.method == "GET" {
            Reply::Json(200, two_tasks(2, [("worker", 8), ("launcher", 1)]))
        } else {
            Reply::Json(201, body)
        }
    });
    let plan = planned(&view);
    put(&view, &two_tasks(2, [("worker", 8), ("launcher", 1)]));
    writer.keep_queue_jobs(&plan).await;
    assert_eq!(log.lines(), [""; 0]);
    writer.keep_queue_jobs(&planned(&view)).await;
    let created = log.all().into_iter().filter(|asked| asked.line().starts_with("POST"));
    let created: Vec<String> = created
        .map(|asked| format!("{} {}", asked.body["metadata"]["name"], asked.body["spec"]["parallelism"]))
        .collect();
    assert_eq!(created, [r#""job-worker" 8"#, r#""job-launcher" 1"#]);
}

/// Tries to create two Jobs where Jobs of these names exist: such as the API server was asked for, but for what `change` makes of
/// their metadata. Says whether both are the QueueJob's own then, how often one was asked for, and how often it is told that
/// one is another's.
async fn with_jobs_that_exist(change: fn(&mut Value)) -> (bool, usize, usize) {
    let view = view(&[node(16), queue("a"), super::quota("a", 5, Some(1), 16, 16)]);
    let tasks = [("launcher", 1), ("worker", 8)];
    put(&view, &two_tasks(1, tasks));
    let wanted: Mutex<BTreeMap<String, Value>> = Mutex::default();
    let mut it = World::of(view, move |asked| {
        let mut wanted = wanted.lock().unwrap();
        if asked.method == "POST" {
            wanted.insert(asked.body["metadata"]["name"].as_str().unwrap().to_owned(), asked.body.clone());
            return Reply::failure(409, "AlreadyExists", "already exists");
        }
        if asked.path.contains("/queuejobs/") {
            let mut job = two_tasks(1, tasks);
            job["status"] = asked.status().clone();
            return Reply::Json(200, job);
        }
        let mut job = wanted[asked.path.rsplit('/').next().unwrap()].clone();
        job["metadata"]["uid"] = job["metadata"]["name"].clone();
        job["metadata"]["resourceVersion"] = "9".into();
        change(&mut job["metadata"]);
        Reply::Json(200, job)
    });
    for _ in 0..3 {
        it.writer.keep_queue_jobs(&planned(&it.view)).await;
    }
    let observed = it.view.read(|index| index.observed_queue_job(&"a".into(), "job")).unwrap();
    let created = it.log.lines().iter().filter(|line| line.starts_with("POST")).count();
    let is_refusal = |text: &&String| text.contains("is there already and is not of this QueueJob");
    let refusals = it.told().iter().filter(is_refusal).count();
    (observed.tasks.iter().all(|task| task.job.is_some()), created, refusals)
}

/// A Job whose creation was not answered says by its owner that it was created.
#[tokio::test(start_paused = true)]
async fn a_job_that_exists_is_its_own_only_if_it_controls_that() {
    assert_eq!(with_jobs_that_exist(|_| {}).await, (true, 2, 0));
    let others: [fn(&mut Value); 2] = [
        |metadata| metadata["ownerReferences"][0]["uid"] = "former".into(),
        |metadata| metadata["ownerReferences"][0]["controller"] = false.into(),
    ];
    for change in others {
        let (is_its_own, _, refusals) = with_jobs_that_exist(change).await;
        assert!(!is_its_own && refusals > 0, "{refusals}");
    }
    let leaving = with_jobs_that_exist(|metadata| {
        metadata["ownerReferences"][0]["uid"] = "former".into();
        metadata["deletionTimestamp"] = "2026-01-02T00:00:00Z".into();
    });
    let (is_its_own, _, refusals) = leaving.await;
    assert_eq!((is_its_own, refusals), (false, 0), "it is waited for");
}
