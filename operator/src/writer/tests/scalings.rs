//! Owners that yield inside their queue: what is written, in which order, and what its answers lead to.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use k8s_openapi::api::core::v1::Pod;
use quotient_engine::plan::PodId;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{World, node, planned, pod, put, queue, quota, view};
use crate::executor::Class;
use crate::tests::api::{Asked, Reply};
use crate::tests::objects;

const MARK: &str = "-2147483648";

fn owner(kind: &str, name: &str, replicas: u32, priority: i32) -> Value {
    let mut owner = objects::owner(kind, name, replicas);
    owner["metadata"]["resourceVersion"] = json!("10");
    owner["spec"]["template"]["spec"]["priority"] = json!(priority);
    owner
}

fn pod_of(kind: &str, owner: &str, name: &str) -> Value {
    let mut pod = objects::pod_of(kind, owner, name);
    pod["spec"]["priority"] = json!(0);
    pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    pod
}

/// A writer, and an API server that knows one owner and lets every write through unless it is told otherwise.
struct Scaled {
    world: World,
    /// What is stored of the owner.
    stored: Arc<Mutex<Value>>,
}

/// `low` of this kind fills the queue with three pods, and `high` wants one.
fn world(kind: &str) -> Scaled {
    let low = owner(kind, "low", 3, 0);
    let mut queue = queue("a");
    queue["spec"] = json!({"preemption": "LowerPriority"});
    let mut quota = quota("a", 5, Some(5), 3, 3);
    quota["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "quotient"});
    let mut objects = vec![node(3), queue, quota, low.clone(), owner("ReplicaSet", "high", 1, 1000)];
    objects.extend((0..3).map(|at| pod_of(kind, "low", &format!("low-{at}"))));
    let stored = Arc::new(Mutex::new(low));
    let answers = Arc::clone(&stored);
    let world = World::of(view(&objects), move |asked| {
        let is_patch = asked.method == http::Method::PATCH;
        if asked.path.contains("/pods/") {
            return Reply::Json(200, pod("a", asked.path.rsplit('/').next().unwrap()));
        }
        let mut stored = answers.lock().unwrap();
        if is_patch {
            json_patch::merge(&mut stored, &asked.body);
            stored["metadata"]["resourceVersion"] = json!("11");
        }
        Reply::Json(200, stored.clone())
    });
    Scaled { world, stored }
}

impl Scaled {
    /// One cycle: what it asks for, without what was asked for before.
    async fn cycle(&mut self) -> Vec<Asked> {
        let before = self.world.asked();
        self.world.cycle(Class::Scaling).await;
        self.world.log.all().split_off(before)
    }

    async fn lines(&mut self) -> Vec<String> {
        self.cycle().await.iter().map(Asked::line).collect()
    }

    fn next_retry(&self) -> Instant {
        self.world.writer.next_retry().unwrap()
    }

    /// The watch shows the pod with this deletion cost.
    fn see_cost(&self, name: &str, cost: Option<&str>) {
        let mut seen = pod_of("ReplicaSet", "low", name);
        seen["metadata"]["resourceVersion"] = json!("20");
        if let Some(cost) = cost {
            seen["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": cost});
        }
        put(&self.world.view, &seen);
    }
}

#[tokio::test(start_paused = true)]
async fn the_size_is_written_once_the_mark_was_seen() {
    let mut world = world("ReplicaSet");
    let asked = world.cycle().await;
    assert_eq!(asked.iter().map(Asked::line).collect::<Vec<_>>(), ["PATCH /api/v1/namespaces/a/pods/low-2"]);
    assert_eq!(
        asked[0].body,
        json!({"metadata": {
            "uid": "uid-low-2",
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": MARK},
        }})
    );
    // Not seen yet: nothing is done, and nothing twice, until that has lasted.
    assert_eq!(world.lines().await, [""; 0]);
    tokio::time::sleep_until(world.next_retry()).await;
    assert_eq!(world.lines().await, ["PATCH /api/v1/namespaces/a/pods/low-2"]);

    world.see_cost("low-2", Some(MARK));
    let asked = world.cycle().await;
    let path = "/apis/apps/v1/namespaces/a/replicasets/low";
    assert_eq!(
        asked.iter().map(Asked::line).collect::<Vec<_>>(),
        [format!("GET {path}"), format!("PATCH {path}")]
    );
    assert_eq!(asked[1].content_type, "application/merge-patch+json");
    assert_eq!(
        asked[1].body,
        json!({
            "metadata": {
                "uid": "uid-low",
                "resourceVersion": "10",
                "annotations": {"quotient.dev/replicas-before": "3", "quotient.dev/replicas-lowered-to": "2"},
            },
            "spec": {"replicas": 2},
        })
    );
    expect!["Outranked on ReplicaSet low: Scaled from 3 to 2 because ReplicaSet high of a higher priority than 0 lacks room in queue a/team. It gets its 3 back when there is room (quotient.dev/replicas-before). It loses low-2."].assert_eq(&world.world.told().join("\n"));

    // The answer is in view: the next plan has nothing more to do, and neither have those while the pod moves on.
    assert_eq!(world.lines().await, [""; 0]);
    let mut leaving = pod_of("ReplicaSet", "low", "low-2");
    leaving["metadata"]["resourceVersion"] = json!("21");
    leaving["metadata"]["deletionTimestamp"] = json!("2033-05-18T03:33:30Z");
    put(&world.world.view, &leaving);
    assert_eq!(world.lines().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_size_is_given_back_and_nothing_is_remembered_any_more() {
    let mut world = world("ReplicaSet");
    world.see_cost("low-2", Some(MARK));
    world.cycle().await;
    // Another pod ended in place of the marked one, and no pod waits any more.
    world.world.view.read(|index| index.delete::<Pod>(&(), "a", "low-0", "uid-low-0"));
    let mut satisfied = owner("ReplicaSet", "high", 0, 1000);
    satisfied["metadata"]["resourceVersion"] = json!("30");
    put(&world.world.view, &satisfied);
    let asked = world.cycle().await;
    assert_eq!(asked.iter().map(Asked::line).collect::<Vec<_>>(), ["PATCH /api/v1/namespaces/a/pods/low-2"]);
    assert_eq!(
        asked[0].body["metadata"]["annotations"],
        json!({"controller.kubernetes.io/pod-deletion-cost": null})
    );
    world.see_cost("low-2", None);
    let asked = world.cycle().await;
    assert_eq!(
        asked[1].body,
        json!({
            "metadata": {
                "uid": "uid-low",
                "resourceVersion": "11",
                "annotations": {"quotient.dev/replicas-before": null, "quotient.dev/replicas-lowered-to": null},
            },
            "spec": {"replicas": 3},
        })
    );
    assert_eq!(world.stored.lock().unwrap()["metadata"]["annotations"], json!({}));
    assert_eq!(world.lines().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_workload_without_marks_is_scaled_at_once() {
    let mut world = world("StatefulSet");
    let path = "/apis/apps/v1/namespaces/a/statefulsets/low";
    assert_eq!(world.lines().await, [format!("GET {path}"), format!("PATCH {path}")]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_as_it_was_decided_on_is_left_alone() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 6] = [
        ("another life", |object| object["metadata"]["uid"] = json!("other")),
        ("another size", |object| object["spec"]["replicas"] = json!(4)),
        ("leaving", |object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
        ("opted out", |object| {
            object["metadata"]["annotations"] = json!({"quotient.dev/within-queue": "Never"});
        }),
        ("lowered already", |object| {
            object["metadata"]["annotations"] =
                json!({"quotient.dev/replicas-before": "9", "quotient.dev/replicas-lowered-to": "3"});
        }),
        ("scaled by another writer", |object| {
            object["metadata"]["annotations"] =
                json!({"quotient.dev/replicas-before": "9", "quotient.dev/replicas-lowered-to": "2"});
        }),
    ];
    for (what, change) in changes {
        let mut world = world("StatefulSet");
        change(&mut world.stored.lock().unwrap());
        assert_eq!(world.lines().await, ["GET /apis/apps/v1/namespaces/a/statefulsets/low"], "{what}");
        assert_eq!(world.world.told(), [""; 0], "{what}");
        assert!(world.next_retry() <= Instant::now(), "{what}: it is looked at again");
    }
}

#[tokio::test(start_paused = true)]
async fn one_cycle_writes_no_more_than_so_much() {
    let mut it = world("ReplicaSet").world;
    let mut plan = planned(&it.view);
    let one = plan.scalings[0].pods[0].clone();
    let pod = |at: u32| PodId { uid: format!("uid-{at}").as_str().into(), ..one.clone() };
    plan.scalings[0].marks = (0..200).map(pod).collect();
    for (asked, postponed) in [(128, 1), (200, 0)] {
        it.writer.only(Class::Scaling, &plan).await;
        assert_eq!((it.asked(), it.context.metrics.writes.scalings_postponed.get()), (asked, postponed));
        assert!(it.writer.next_retry().is_some_and(|at| postponed == 0 || at <= Instant::now()));
    }
}
