//! Statuses: the smallest patch, and none at rest.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff;
use kube::Client;
use quotient_engine::plan::Plan;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::again::again;
use super::{SETTINGS, context, node, planned, pod, put, queue, quota, view};
use crate::context::Context;
use crate::status::{Report, Statuses};
use crate::tests::api::{Asked, Log, Reply, client};
use crate::view::View;

const STATUS: &str = "/apis/quotient.dev/v1alpha1/namespaces/a/queues/team/status";

/// Writes the status of one Queue, as the API server does.
fn store() -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    let stored = std::sync::Mutex::new((1_u32, queue("a")));
    move |asked| {
        let mut stored = stored.lock().unwrap();
        stored.0 += 1;
        let version = stored.0;
        json_patch::merge(&mut stored.1["status"], asked.status());
        stored.1["metadata"]["resourceVersion"] = version.to_string().into();
        Reply::Json(200, stored.1.clone())
    }
}

/// The task that writes statuses.
struct Task {
    context: Context,
    reports: watch::Sender<Option<Arc<Report>>>,
    running: JoinHandle<()>,
}

impl Task {
    fn start(client: &Client, view: &View) -> Self {
        let (context, _) = context(client.clone(), view.clone());
        let (reports, newest) = watch::channel(None);
        let statuses = Statuses::new(context.clone(), SETTINGS, Duration::from_secs(15));
        Self { context, reports, running: tokio::spawn(statuses.run(newest)) }
    }

    /// Reports this plan, and lets so many seconds pass.
    async fn report(&self, plan: Plan, seconds: u64) {
        self.reports.send_replace(Some(Arc::new(Report { plan: Arc::new(plan), ..Report::default() })));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    async fn stop(self) {
        self.context.stop.cancel();
        self.running.await.unwrap();
    }
}

/// A Queue that has its share.
fn settled() -> View {
    view(&[node(4), queue("a"), quota("a", 5, Some(1), 4, 4)])
}

/// Queue a as another writer has left it.
fn edited(version: &str) -> Value {
    let mut edited = queue("a");
    edited["metadata"]["resourceVersion"] = version.into();
    edited
}

/// Lets the task write what is in view, one report a state, a second apart, and then go on for `seconds`.
async fn written(view: &View, states: &[&[Value]], seconds: u64) -> Log {
    let (client, log) = client(store());
    let task = Task::start(&client, view);
    for state in states {
        state.iter().for_each(|object| put(view, object));
        task.report(planned(view), 1).await;
    }
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    task.stop().await;
    log
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_whole_and_then_only_what_changes() {
    let log = written(&settled(), &[&[], &[], &[pod("a", "p1")], &[pod("a", "p2")]], 60).await;
    let asked = log.all();
    assert!(asked.iter().all(|asked| asked.line() == format!("PATCH {STATUS}")), "{:?}", log.lines());
    let first = asked[0].status();
    assert_eq!(first["deserved"], json!({"cpu": "4"}));
    assert_eq!(first["preempting"], json!({}));
    assert_eq!(first["observedGeneration"], 1);
    let states: Vec<String> = first["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| {
            let text = |key: &str| condition[key].as_str().unwrap();
            format!("{}={} {}", text("type"), text("status"), text("reason"))
        })
        .collect();
    assert_eq!(
        states,
        [
            "Ready=True Reconciled",
            "QuotaSynced=True Synced",
            "Starved=False ShareMet",
            "Overused=False WithinShare",
            "GuaranteeUnmeetable=False Meetable",
            "Stalled=False Governing",
        ]
    );
    // Two pods came a second apart; they were told once, after a while.
    assert_eq!(asked.len(), 2);
    assert_eq!(
        asked[1].body,
        json!({"status": {
            "used": {"cpu": "2"},
            "pods": {"running": 2},
            "summary": {"used": "2c", "pods": "2/2"},
        }})
    );
}

#[tokio::test(start_paused = true)]
async fn an_edited_status_is_restored_within_a_minute_and_a_half() {
    let view = settled();
    let mut edited = edited("50");
    edited["status"] = json!({"deserved": {"cpu": "1000"}});
    let log = written(&view, &[&[], std::slice::from_ref(&edited)], 50).await;
    // Not at once: two writers must not chase each other.
    assert_eq!(log.all().len(), 1);
    edited["metadata"]["resourceVersion"] = "60".into();
    let log = written(&view, &[&[], &[edited]], 100).await;
    assert_eq!(log.all().pop().unwrap().status()["deserved"], json!({"cpu": "4"}));
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_made_anew_has_its_status_at_once() {
    let mut anew = edited("50");
    anew["metadata"]["uid"] = "another".into();
    assert_eq!(written(&settled(), &[&[], &[anew]], 10).await.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_being_deleted_is_left_alone() {
    let mut leaving = queue("a");
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let view = view(&[node(4), leaving]);
    assert_eq!(written(&view, &[&[]], 60).await.lines(), [""; 0]);
}

/// Evicted pods are listed once, with nothing more to write then; a new leader keeps the list and adds to it.
#[tokio::test(start_paused = true)]
async fn a_new_leader_keeps_the_list_of_evicted_pods() {
    let view = settled();
    let (client, log) = client(store());
    let lead = async |evicted: &[&str]| -> Vec<Value> {
        let task = Task::start(&client, &view);
        let before = log.all().len();
        for name in evicted {
            task.context.reclaims.record(&"queue-a".into(), &again(name), jiff::Timestamp::now());
        }
        task.report(planned(&view), 120).await;
        task.stop().await;
        let written = log.all();
        written[before..].iter().map(|asked| asked.status()["recentReclaims"].clone()).collect()
    };
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one["pod"].as_str().unwrap().to_owned()).collect()
    };
    let first = lead(&["p1", "p1", "p2"]).await;
    assert_eq!(first.iter().map(names).collect::<Vec<_>>(), [["p2", "p1"]]);
    assert_eq!(lead(&[]).await, [] as [Value; 0]);
    let third = lead(&["p3"]).await;
    assert_eq!(third.iter().map(names).collect::<Vec<_>>(), [["p3", "p2", "p1"]]);
}

/// Argo CD and Flux take `observedGeneration` for the spec that the conditions are about.
#[tokio::test(start_paused = true)]
async fn an_edit_is_reported_only_once_it_was_decided_on() {
    let view = settled();
    let (client, log) = client(store());
    let task = Task::start(&client, &view);
    let plan = planned(&view);
    let mut edited = edited("50");
    edited["metadata"]["generation"] = 2.into();
    put(&view, &edited);
    task.report(plan, 1).await;
    assert_eq!(log.lines(), [""; 0]);
    task.report(planned(&view), 1).await;
    assert_eq!(log.all()[0].status()["observedGeneration"], 2);
    task.stop().await;
}

/// The answer to a status is newer than the watch: an edit that it shows is not shown again.
#[tokio::test(start_paused = true)]
async fn an_edit_that_the_answer_to_a_status_shows_wakes_the_loop() {
    let view = settled();
    let (client, _log) = client(|asked| {
        let mut edited = edited("50");
        edited["metadata"]["generation"] = 2.into();
        edited["spec"]["weight"] = 7.into();
        edited["status"] = asked.status().clone();
        Reply::Json(200, edited)
    });
    let task = Task::start(&client, &view);
    let plan = planned(&view);
    while tokio::time::timeout(Duration::from_millis(1), view.changed()).await.is_ok() {}
    task.report(plan, 0).await;
    tokio::time::timeout(Duration::from_secs(5), view.changed()).await.expect("the edit wakes the loop");
    task.stop().await;
}
