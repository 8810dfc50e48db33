//! Requeues: which owners are told that there is room, with what, and how rarely.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{GangPart, IncompleteGang, Plan, Preemptor, QueuePlan, Resolution};
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::OwnerKind;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{NOW, World, node, pod, put, queue, quota, view};
use crate::executor::Class;
use crate::tests::api::Reply;
use crate::tests::objects::{owner, pod_of};
use crate::tests::plan::unmet;

const WEB: &str = "PATCH /apis/apps/v1/namespaces/a/replicasets/web";

/// Our quota of namespace a.
fn ours(version: u32, hard: u32, enforced: u32) -> Value {
    let mut quota = quota("a", version, Some(u64::from(version)), hard, enforced);
    quota["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "quotient"});
    quota
}

/// A world with `objects` in which the first look is over, and every patch is carried out.
async fn world(objects: &[Value]) -> World {
    world_of(objects, || Reply::Json(200, metadata())).await
}

/// The same where patches are answered like this.
async fn world_of(objects: &[Value], answer: impl Fn() -> Reply + Send + Sync + 'static) -> World {
    let view = view(&[&[node(9), queue("a")], objects].concat());
    let mut world = World::of(view, move |_| answer());
    world.look().await;
    world
}

fn metadata() -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "web"}})
}

impl World {
    /// What one cycle does about requeues. Returns how many requests have been made by then.
    async fn look(&mut self) -> usize {
        let snapshot = self.view.read(|index| index.snapshot(NOW));
        self.writer.find_requeues(&snapshot);
        self.writer.only(Class::Requeue, &Plan::default()).await;
        self.asked()
    }

    /// When the requeuer has something to do next.
    fn next(&self) -> Option<Instant> {
        self.writer.memory.requeuer.next()
    }

    /// The quota of `a` is seen like this, and has risen.
    async fn rise(&mut self, quota: &Value) -> usize {
        put(&self.view, quota);
        self.writer.memory.requeuer.risen(["a".into()].into());
        self.look().await
    }

    /// How many controllers were requeued.
    fn requeued(&self) -> u64 {
        self.context.metrics.writes.all.with_label_values(&["requeue", "done"]).get()
    }

    /// Whether usage is to be counted anew, since this was asked last.
    fn is_counted_anew(&mut self) -> bool {
        !self.writer.memory.requeuer.take_usage_resyncs().is_empty()
    }

    /// The quota is raised: written at first, enforced a cycle later.
    async fn raise(&mut self, version: u32, hard: u32, enforced: u32) -> usize {
        self.rise(&ours(version, hard, enforced)).await;
        put(&self.view, &ours(version + 1, hard, hard));
        self.look().await
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_with_room_is_told_once_it_is_in_force() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 3)]).await;
    assert_eq!(world.rise(&ours(6, 2, 0)).await, 0);
    put(&world.view, &ours(7, 2, 2));
    assert_eq!(world.look().await, 1);
    let asked = world.log.all().pop().unwrap();
    assert_eq!(asked.line(), WEB);
    assert_eq!(asked.content_type, "application/merge-patch+json");
    let metadata = &asked.body["metadata"];
    assert_eq!(metadata["uid"], "uid-web");
    let printed: k8s_openapi::jiff::Timestamp =
        metadata["annotations"]["quotient.dev/requeued-at"].as_str().unwrap().parse().unwrap();
    assert!(printed.as_second() > 1_700_000_000);
    assert_eq!(asked.body, json!({"metadata": metadata}), "nothing else is patched");
    assert_eq!(world.requeued(), 1);
    // Once for one rise, however long it does not come.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.look().await, 1);
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_told_in_its_own_group() {
    let owners = [owner("ReplicaSet", "web", 1), owner("StatefulSet", "db", 1), owner("Job", "train", 1)];
    let mut world = world(&[&[ours(5, 0, 0)], owners.as_slice()].concat()).await;
    world.raise(6, 3, 0).await;
    let mut lines = world.log.lines();
    lines.sort();
    assert_eq!(
        lines,
        [
            WEB,
            "PATCH /apis/apps/v1/namespaces/a/statefulsets/db",
            "PATCH /apis/batch/v1/namespaces/a/jobs/train"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn rises_in_quick_succession_are_told_every_half_second() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 9)]).await;
    assert_eq!(world.raise(6, 1, 0).await, 1);
    put(&world.view, &pod("a", "p1"));
    assert_eq!(world.raise(8, 2, 1).await, 1);
    let rest = world.next().unwrap();
    assert_eq!(rest.duration_since(Instant::now()), Duration::from_millis(500));
    tokio::time::sleep_until(rest).await;
    assert_eq!(world.look().await, 2);
    // What came of it is looked at once.
    tokio::time::sleep_until(world.next().unwrap()).await;
    assert_eq!(world.look().await, 2);
    assert_eq!(world.next(), None);
}

#[tokio::test(start_paused = true)]
async fn who_lacks_nothing_or_has_no_room_is_left_alone() {
    let content = [ours(5, 1, 1), owner("ReplicaSet", "web", 1), pod("a", "p1")];
    assert_eq!(world(&content).await.raise(6, 4, 1).await, 0);
    // Others hold all of it.
    let full = [ours(5, 1, 1), owner("ReplicaSet", "web", 1), pod("a", "p1"), pod("a", "p2")];
    assert_eq!(world(&full).await.raise(6, 2, 1).await, 0);
}

#[tokio::test(start_paused = true)]
async fn no_more_are_told_than_there_is_room_for_and_the_oldest_first() {
    let mut older = owner("ReplicaSet", "web", 2);
    older["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut younger = owner("ReplicaSet", "batch", 2);
    younger["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z".into();
    let mut world = world(&[ours(5, 0, 0), younger, older]).await;
    world.raise(6, 2, 0).await;
    assert_eq!(world.log.lines(), [WEB]);
    // It does not come: after a while the room is the other's.
    tokio::time::sleep(Duration::from_secs(2)).await;
    world.look().await;
    assert_eq!(world.log.lines(), [WEB, "PATCH /apis/apps/v1/namespaces/a/replicasets/batch"]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_came_after_the_rise_was_never_refused() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 9)]).await;
    world.raise(6, 1, 0).await;
    put(&world.view, &owner("ReplicaSet", "new", 1));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(world.look().await, 1);
    assert_eq!(world.log.lines(), [WEB]);
}

#[tokio::test(start_paused = true)]
async fn a_new_process_takes_every_quota_as_risen() {
    let world = world(&[ours(5, 2, 2), owner("ReplicaSet", "web", 1)]).await;
    assert_eq!(world.log.lines(), [WEB]);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_without_a_queue_or_a_quota_of_ours_is_none_of_our_business() {
    let strangers = world(&[quota("a", 5, Some(1), 2, 2), owner("ReplicaSet", "web", 1)]).await;
    assert_eq!(strangers.log.lines(), [""; 0]);
    let mut elsewhere = ours(5, 2, 2);
    elsewhere["metadata"]["namespace"] = "b".into();
    let mut web = owner("ReplicaSet", "web", 1);
    web["metadata"]["namespace"] = "b".into();
    assert_eq!(world(&[elsewhere, web]).await.log.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_large_rise_is_told_in_pieces() {
    let owners: Vec<Value> = (0..70).map(|number| owner("Job", &format!("job-{number}"), 1)).collect();
    let mut world = world(&[&[ours(5, 0, 0)], owners.as_slice()].concat()).await;
    assert_eq!(world.raise(6, 100, 0).await, 64);
    assert!(world.next().unwrap() <= Instant::now());
    assert_eq!(world.look().await, 70);
    assert!(world.next().unwrap() > Instant::now());
}

#[tokio::test(start_paused = true)]
async fn a_job_gets_another_generation_that_means_the_same() {
    let wakes = async |said: Option<bool>| {
        let mut job = owner("Job", "train", 1);
        job["spec"]["manualSelector"] = said.into();
        let world = world(&[ours(5, 2, 2), job]).await;
        world.log.all().pop().unwrap().body["spec"].clone()
    };
    assert_eq!(wakes(None).await, json!({"manualSelector": false}));
    assert_eq!(wakes(Some(false)).await, json!({"manualSelector": null}));
    // Its selector is its own.
    assert_eq!(wakes(Some(true)).await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_repeated() {
    for code in [403, 404, 422] {
        let objects = [ours(5, 2, 2), owner("ReplicaSet", "web", 1)];
        let mut world = world_of(&objects, move || Reply::failure(code, "", "no")).await;
        for _ in 0..2 {
            world.look().await;
        }
        assert_eq!((world.log.lines(), world.requeued()), (vec![WEB.to_owned()], 0), "{code}");
    }
}

/// Our quota of namespace a in force, with so much charged.
fn charging(version: u32, hard: u32, used: u32) -> Value {
    let mut quota = ours(version, hard, hard);
    quota["status"]["used"] = json!({"requests.cpu": used.to_string()});
    quota
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_pods_admission_would_reject_is_requeued_once_it_would_not() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 3)]).await;
    assert_eq!(world.raise(6, 2, 0).await, 1);
    put(&world.view, &pod("a", "p1"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.rise(&charging(8, 3, 3)).await, 1, "admission has no room");
    put(&world.view, &charging(9, 3, 1));
    assert_eq!(world.look().await, 2);
}

#[tokio::test(start_paused = true)]
async fn what_admission_charges_without_a_pod_is_counted_anew_once_nothing_moves() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 3)]).await;
    world.raise(6, 3, 0).await;
    // It was refused two pods that are charged nevertheless.
    put(&world.view, &pod("a", "p1"));
    put(&world.view, &charging(8, 3, 2));
    world.look().await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    put(&world.view, &charging(9, 3, 3));
    world.look().await;
    let next = world.next().unwrap();
    assert_eq!(next.duration_since(Instant::now()), Duration::from_secs(1), "it has moved");
    assert!(!world.is_counted_anew());
    tokio::time::sleep_until(next).await;
    assert_eq!(world.look().await, 1, "no use in a requeue before");
    assert!(world.is_counted_anew());
    // Counted anew, it is told again, although it was since the rise.
    put(&world.view, &charging(10, 3, 1));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.look().await, 2);
    tokio::time::sleep_until(world.next().unwrap()).await;
    assert_eq!(world.look().await, 2);
    assert_eq!(world.next(), None);
}

#[tokio::test(start_paused = true)]
async fn a_count_that_stays_as_it_is_is_not_made_for_ever() {
    let mut world = world(&[ours(5, 0, 0), owner("ReplicaSet", "web", 3)]).await;
    world.rise(&charging(6, 3, 3)).await;
    let start = Instant::now();
    let mut usage_resyncs = Vec::new();
    while let Some(next) = world.next() {
        tokio::time::sleep_until(next).await;
        assert_eq!(world.look().await, 0);
        if world.is_counted_anew() {
            usage_resyncs.push(start.elapsed().as_secs());
        }
    }
    assert_eq!(usage_resyncs, [1, 3, 7, 15, 31]);
}

/// A plan in which `web` waits for pods of its own queue to go.
fn promised() -> Plan {
    let decided =
        QueuePlan { unmet: vec![unmet(1, ShortReason::WaitingForPreemption)], ..QueuePlan::default() };
    Plan { queues: [(QueueName::new("a", "team"), decided)].into(), ..Plan::default() }
}

/// The same where `web` lacks two pods of its gang, to which another gang yields.
fn completed() -> Plan {
    let part = |name: &str, members| GangPart {
        workload: Preemptor::Owner(OwnerKind::ReplicaSet, name.into()),
        members,
        minimum: 3,
    };
    let mut plan = promised();
    for unmet in plan.queues.values_mut().flat_map(|queue| &mut queue.unmet) {
        unmet.reason = ShortReason::GangIncomplete;
        unmet.incomplete_gang = Some(Box::new(IncompleteGang {
            gang: part("web", 1),
            other: part("low", 2),
            resolution: Resolution::IsCompleted,
        }));
    }
    plan
}

#[tokio::test(start_paused = true)]
async fn a_gang_that_another_one_yielded_to_is_told_when_all_of_it_has_room() {
    let (first, second) = (pod_of("ReplicaSet", "low", "low-0"), pod_of("ReplicaSet", "low", "low-1"));
    let mut world = world(&[queue("a"), ours(5, 2, 2), owner("ReplicaSet", "web", 2), first, second]).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.look().await, 0);
    world.writer.memory.requeuer.promised(&completed());
    for (gone, printed) in [("low-0", 0), ("low-1", 1)] {
        world.view.read(|index| index.delete::<Pod>(&(), "a", gone, &format!("uid-{gone}")));
        assert_eq!(world.look().await, printed, "{gone}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_is_requeued_once_the_pods_evicted_for_it_are_gone() {
    for (within_queue, printed) in [("LowerPriority", 1), ("Never", 0)] {
        let mut yields = queue("a");
        yields["spec"] = json!({"preemption": within_queue});
        let low = pod_of("ReplicaSet", "low", "low-0");
        let mut world = world(&[yields, ours(5, 1, 1), owner("ReplicaSet", "web", 1), low]).await;
        // Long after the quota has risen last.
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(world.look().await, 0);
        world.writer.memory.requeuer.promised(&promised());
        assert_eq!(world.look().await, 0, "there is no room yet");
        tokio::time::sleep(Duration::from_secs(60)).await;
        world.view.read(|index| index.delete::<Pod>(&(), "a", "low-0", "uid-low-0"));
        assert_eq!(world.look().await, printed, "{within_queue}");
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(world.look().await, printed, "once");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_carried_out_is_due_again() {
    let calls = AtomicU32::new(0);
    let view = view(&[node(9), queue("a"), ours(5, 2, 2), owner("ReplicaSet", "web", 1)]);
    let mut world = World::of(view, move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::failure(429, "TooManyRequests", "the API server is overloaded"),
        _ => Reply::Json(200, metadata()),
    });
    // The ledger could not be written in this cycle, so nothing is sent.
    world.writer.find_requeues(&world.view.read(|index| index.snapshot(NOW)));
    for asked in [1, 2, 2] {
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(world.look().await, asked);
    }
    assert_eq!(world.requeued(), 1);
}
