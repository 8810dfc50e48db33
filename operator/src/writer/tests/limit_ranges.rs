//! LimitRanges: what is written, when it is restored, and what is told.

use std::time::Duration;

use serde_json::{Value, json};

use super::{World, node, owned_by, put, queue, view};
use crate::executor::Class;
use crate::tests::api::{Asked, Reply};

const RANGES: &str = "/api/v1/namespaces/a/limitranges";

fn asking(defaults: &Value) -> Value {
    let mut queue = queue("a");
    queue["spec"] = json!({"defaultRequests": defaults});
    queue
}

fn range(version: u32, ours: bool, defaults: &Value) -> Value {
    json!({
        "kind": "LimitRange", "apiVersion": "v1",
        "metadata": {
            "name": "quotient", "namespace": "a", "uid": "range", "resourceVersion": version.to_string(),
            "labels": ours.then(|| json!({"app.kubernetes.io/managed-by": "quotient"})),
            "ownerReferences": ours.then(|| owned_by("queue-a")),
        },
        "spec": {"limits": [{"type": "Container", "defaultRequest": defaults}]},
    })
}

fn writer(objects: &[Value], answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> World {
    World::of(view(objects), answer)
}

impl World {
    async fn write_limit_ranges(&mut self) {
        self.cycle(Class::LimitRange).await;
    }

    /// The one request of a cycle. What was answered is in view then: equal means no write.
    async fn one_write(&mut self) -> Asked {
        self.write_limit_ranges().await;
        self.write_limit_ranges().await;
        let [asked] = self.log.all().try_into().unwrap();
        asked
    }
}

#[tokio::test]
async fn one_that_is_missing_is_created() {
    let defaults = json!({"cpu": "100m", "memory": "128Mi"});
    let answer = range(5, true, &defaults);
    let mut it = writer(&[node(4), asking(&defaults)], move |_| Reply::Json(201, answer.clone()));
    let asked = it.one_write().await;
    assert_eq!(asked.line(), format!("POST {RANGES}"));
    assert_eq!(asked.body["metadata"]["labels"], json!({"app.kubernetes.io/managed-by": "quotient"}));
    assert_eq!(asked.body["metadata"]["ownerReferences"], owned_by("queue-a"));
    assert_eq!(asked.body["spec"]["limits"], json!([{"type": "Container", "defaultRequest": defaults}]));
    assert!(matches!(&it.told()[..], [told] if told.starts_with("DefaultRequestsWritten")));
}

#[tokio::test]
async fn one_that_says_something_else_or_is_another_queues_is_changed_in_its_life() {
    let mut of_another = range(5, true, &json!({"cpu": "2"}));
    of_another["metadata"]["ownerReferences"] = owned_by("former");
    let owned = json!({"op": "add", "path": "/metadata/ownerReferences", "value": owned_by("queue-a")});
    for (standing, owned) in [(range(5, true, &json!({"cpu": "2"})), None), (of_another, Some(owned))] {
        let mut it = writer(&[node(4), asking(&json!({"cpu": "1"})), standing], |_| {
            Reply::Json(200, range(6, true, &json!({"cpu": "1"})))
        });
        let asked = it.one_write().await;
        assert_eq!(asked.line(), format!("PATCH {RANGES}/quotient"));
        let limits = json!([{"type": "Container", "defaultRequest": {"cpu": "1"}}]);
        let mut expected = vec![
            json!({"op": "test", "path": "/metadata/uid", "value": "range"}),
            json!({"op": "add", "path": "/spec/limits", "value": limits}),
        ];
        expected.extend(owned);
        assert_eq!(asked.body, json!(expected));
    }
}

#[tokio::test]
async fn one_that_is_not_wanted_is_deleted_just_as_it_was_seen() {
    let answer = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    let ours = || range(5, true, &json!({"cpu": "1"}));
    let mut it = writer(&[node(4), asking(&json!({})), ours()], move |_| Reply::Json(200, answer.clone()));
    let asked = it.one_write().await;
    assert_eq!(asked.line(), format!("DELETE {RANGES}/quotient"));
    assert_eq!(asked.body["preconditions"], json!({"uid": "range", "resourceVersion": "5"}));

    // Without a Queue garbage collection deletes it.
    let mut left = writer(&[node(4), ours()], |_| Reply::Silence);
    left.write_limit_ranges().await;
    assert_eq!(left.log.lines(), [""; 0]);
}

/// The garbage collector takes the owner away from what is to outlive a deleted Queue, and the view may show that before it shows
/// that the Queue goes.
#[tokio::test(start_paused = true)]
async fn one_that_lost_its_owner_is_left_alone_until_its_queue_may_be_seen_to_go() {
    let defaults = json!({"cpu": "1"});
    let mut orphan = range(6, true, &defaults);
    orphan["metadata"]["ownerReferences"] = Value::Null;
    let answer = range(5, true, &defaults);
    let mut it = writer(&[node(4), asking(&defaults)], move |_| Reply::Json(201, answer.clone()));
    it.write_limit_ranges().await;
    put(&it.view, &orphan);
    it.write_limit_ranges().await;
    tokio::time::advance(Duration::from_millis(999)).await;
    it.write_limit_ranges().await;
    let mut leaving = asking(&defaults);
    leaving["metadata"]["resourceVersion"] = "2".into();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z".into();
    put(&it.view, &leaving);
    tokio::time::advance(Duration::from_secs(2)).await;
    it.write_limit_ranges().await;
    assert_eq!(it.log.lines(), [format!("POST {RANGES}")]);
    assert_eq!(it.writer.next_retry(), None);
}

#[tokio::test]
async fn a_strangers_is_left_alone_and_the_queue_is_told_once() {
    let theirs = range(5, false, &json!({"memory": "1Gi"}));
    let mut it = writer(&[node(4), asking(&json!({"cpu": "1"})), theirs], |_| Reply::Silence);
    it.write_limit_ranges().await;
    it.write_limit_ranges().await;
    assert_eq!(it.log.lines(), [""; 0]);
    let [why] = &it.told()[..] else { panic!("it is told once") };
    assert!(why.contains("rename that one"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn edits_are_restored_at_once_and_repeated_ones_at_intervals() {
    let wanted = || range(1000, true, &json!({"cpu": "1"}));
    let mut it = writer(&[node(4), asking(&json!({"cpu": "1"}))], move |_| Reply::Json(200, wanted()));
    it.write_limit_ranges().await;
    let mut repairs = Vec::new();
    for second in 0..70 {
        let (version, before) = (2000 + second, it.asked());
        put(&it.view, &range(version, true, &json!({"cpu": "9"})));
        it.write_limit_ranges().await;
        if it.asked() > before {
            repairs.push(second);
            // The answer is older than the edit: it stands for what the next edit makes of it.
        } else {
            assert!(it.writer.next_retry().is_some());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(repairs, [0, 30, 60]);
    // Another wish is no repair.
    let mut other = asking(&json!({"cpu": "3"}));
    other["metadata"]["resourceVersion"] = "2".into();
    other["metadata"]["generation"] = 2.into();
    put(&it.view, &other);
    let before = it.asked();
    it.write_limit_ranges().await;
    assert_eq!(it.asked(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_restore_that_fails_is_tried_again_at_once() {
    let calls = std::sync::atomic::AtomicU32::new(0);
    let mut it = writer(&[node(4), asking(&json!({"cpu": "1"}))], move |_| {
        match calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            1 => Reply::failure(500, "InternalError", "etcd is not there"),
            call => Reply::Json(200, range(1000 + call * 2000, true, &json!({"cpu": "1"}))),
        }
    });
    it.write_limit_ranges().await;
    put(&it.view, &range(2000, true, &json!({"cpu": "9"})));
    for _ in 0..20 {
        it.write_limit_ranges().await;
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert_eq!(it.asked(), 3, "created, and restored with the second try");
    assert_eq!(it.writer.next_retry(), None);
}
