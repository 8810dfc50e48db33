//! Quotas: the bodies, their order, and what a refusal or a lost answer leads to.

use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_engine::amounts::Resource;
use quotient_engine::ledger::Ledger;
use serde_json::{Value, json};

use super::{NOW, World, node, owned_by, planned, put, queue, quota, view};
use crate::executor::Class;
use crate::tests::api::{Asked, Reply};

const QUOTA_A: &str = "/api/v1/namespaces/a/resourcequotas/quotient";

/// Answers every write with the quota that it makes, at the next generation.
fn obedient(asked: &Asked) -> Reply {
    let namespace = asked.path.split('/').nth(4).unwrap();
    Reply::Json(200, quota(namespace, 1000, Some(8), 4, 4))
}

/// A world of 4 cpu in which the quota of `a` is to fall to them.
fn standing(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> World {
    World::of(view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]), answer)
}

impl World {
    async fn write(&mut self) {
        self.cycle(Class::Quota).await;
    }

    /// The body of the last request.
    fn last(&self) -> Value {
        self.log.all().pop().unwrap().body
    }
}

#[tokio::test]
async fn a_namespace_without_a_quota_gets_one() {
    let mut it =
        World::of(view(&[node(4), queue("a")]), |_| Reply::Json(201, quota("a", 1000, Some(1), 4, 0)));
    it.write().await;
    assert_eq!(it.log.lines(), ["POST /api/v1/namespaces/a/resourcequotas"]);
    assert_eq!(
        it.last(),
        json!({
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {
                "name": "quotient",
                "namespace": "a",
                "labels": {"app.kubernetes.io/managed-by": "quotient"},
                "annotations": {"quotient.dev/generation": "1", "quotient.dev/queue": "team"},
                "ownerReferences": owned_by("queue-a"),
            },
            "spec": {"hard": {"requests.cpu": "4"}},
        })
    );
    // The reply is in view, so that the next plan writes nothing.
    assert_eq!(planned(&it.view).quota_writes().count(), 0);
}

#[tokio::test]
async fn an_update_lands_on_what_was_seen_or_not_at_all_and_is_told() {
    let mut it = standing(obedient);
    it.write().await;
    let [asked] = it.log.all().try_into().unwrap();
    assert_eq!(asked.line(), format!("PATCH {QUOTA_A}"));
    assert_eq!(asked.content_type, "application/json-patch+json");
    assert_eq!(
        asked.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
            {"op": "test", "path": "/metadata/annotations/quotient.dev~1generation", "value": "7"},
            {"op": "replace", "path": "/metadata/annotations/quotient.dev~1generation", "value": "8"},
            {"op": "add", "path": "/metadata/annotations/quotient.dev~1queue", "value": "team"},
            {"op": "add", "path": "/spec/hard", "value": {"requests.cpu": "4"}},
        ])
    );
    assert_eq!(it.told(), ["QuotaLowered on Queue team: Changed the quota: cpu from 9 to 4."]);
}

#[tokio::test]
async fn a_strangers_quota_is_taken_over_and_its_annotations_and_labels_stay() {
    let owner = json!({"op": "add", "path": "/metadata/ownerReferences", "value": owned_by("queue-a")});
    let amounts = json!({"op": "add", "path": "/spec/hard", "value": {"requests.cpu": "4"}});
    let ours = json!({"quotient.dev/generation": "1", "quotient.dev/queue": "team"});
    let generation = "/metadata/annotations/quotient.dev~1generation";
    for (annotations, labels, expected) in [
        (
            Value::Null,
            Value::Null,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
                {"op": "test", "path": "/metadata/annotations", "value": null},
                {"op": "add", "path": "/metadata/annotations", "value": ours},
                {"op": "add", "path": "/metadata/labels", "value": {"app.kubernetes.io/managed-by": "quotient"}},
                owner,
                amounts,
            ]),
        ),
        (
            json!({"note": "mine"}),
            json!({"team": "a"}),
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
                {"op": "test", "path": generation, "value": null},
                {"op": "add", "path": generation, "value": "1"},
                {"op": "add", "path": "/metadata/annotations/quotient.dev~1queue", "value": "team"},
                {"op": "add", "path": "/metadata/labels/app.kubernetes.io~1managed-by", "value": "quotient"},
                owner,
                amounts,
            ]),
        ),
    ] {
        let mut theirs = quota("a", 5, None, 9, 9);
        theirs["metadata"]["annotations"] = annotations;
        theirs["metadata"]["labels"] = labels;
        let mut it =
            World::of(view(&[node(4), queue("a"), theirs.clone()]), move |asked| match asked.method {
                Method::GET => Reply::Json(200, theirs.clone()),
                _ => obedient(asked),
            });
        it.write().await;
        assert_eq!(it.log.lines(), [format!("GET {QUOTA_A}"), format!("PATCH {QUOTA_A}")]);
        assert_eq!(it.last(), expected);
    }
}

#[tokio::test]
async fn what_lowers_is_written_before_what_raises() {
    // Of 9 cpu each deserves 3. One is free: a may rise by it at once, while c has to fall first.
    let mut objects = vec![node(9), queue("a"), queue("b"), queue("c")];
    objects.extend([("a", 1), ("b", 3), ("c", 4)].map(|(name, hard)| quota(name, 5, Some(1), hard, hard)));
    let mut it = World::of(view(&objects), |asked| {
        let namespace = asked.path.split('/').nth(4).unwrap();
        Reply::Json(200, quota(namespace, 1000, Some(2), 3, 3))
    });
    it.write().await;
    let written = |namespace: &str| format!("PATCH /api/v1/namespaces/{namespace}/resourcequotas/quotient");
    assert_eq!(it.log.lines(), [written("c"), written("a")]);
}

#[tokio::test]
async fn after_a_refusal_the_quota_is_read_again() {
    let mut it = standing(|asked| match asked.method {
        Method::GET => Reply::Json(200, quota("a", 6, Some(8), 4, 4)),
        _ => Reply::failure(422, "Invalid", "the server rejected our request due to an error in our request"),
    });
    it.write().await;
    assert_eq!(it.log.lines(), [format!("PATCH {QUOTA_A}"), format!("GET {QUOTA_A}")]);
    assert_eq!(planned(&it.view).quota_writes().count(), 0);
    // One refusal is what a race looks like, and no reason to complain.
    assert!(it.writer.refused_quotas().is_empty());
}

#[tokio::test]
async fn a_quota_that_is_gone_is_created_by_the_next_plan() {
    let mut it = standing(|asked| match asked.method {
        Method::POST => Reply::Json(201, quota("a", 9, Some(1), 4, 0)),
        _ => Reply::failure(404, "NotFound", "resourcequotas \"quotient\" not found"),
    });
    it.write().await;
    it.write().await;
    assert_eq!(it.log.lines().last().unwrap(), "POST /api/v1/namespaces/a/resourcequotas");
}

#[tokio::test]
async fn what_another_writer_deletes_is_there_again_within_the_cycle_and_told() {
    let mut it = standing(|asked| match asked.method {
        Method::POST => Reply::Json(201, quota("a", 3000, Some(9), 4, 4)),
        _ => obedient(asked),
    });
    it.write().await;
    it.told();
    it.view.update(|index| index.delete::<ResourceQuota>(&(), "a", "quotient", "quota-a"));
    it.write().await;
    assert_eq!(it.log.lines().last().unwrap(), "POST /api/v1/namespaces/a/resourcequotas");
    let [told] = &it.told()[..] else { panic!("it is told once") };
    assert!(
        told.starts_with("QuotaRepaired on Queue team: Restored the quota because it was deleted"),
        "{told}"
    );
    assert_eq!(it.context.metrics.writes.quota_repairs.with_label_values(&["Deleted"]).get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_stays_is_told_and_retried_ever_later() {
    let refuse = |_: &Asked| Reply::failure(403, "Forbidden", "no new content in a");
    let mut it = World::of(view(&[node(4), queue("a")]), refuse);
    for _ in 0..5 {
        it.write().await;
    }
    // The second attempt comes at once; then 250 ms have to pass.
    assert_eq!(it.asked(), 2);
    assert_eq!(it.writer.refused_quotas().into_values().collect::<Vec<_>>(), ["no new content in a"]);
    tokio::time::sleep_until(it.writer.next_retry().unwrap()).await;
    it.write().await;
    assert_eq!(it.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_answer_the_quota_is_written_until_it_bears_a_later_stamp() {
    let calls = AtomicU32::new(0);
    let objects = [node(9), queue("a"), quota("a", 5, Some(7), 2, 2)];
    let mut it = World::of(view(&objects), move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Silence,
        _ => Reply::Json(200, quota("a", 6, Some(9), 2, 2)),
    });
    let ceiling = |it: &World| {
        let snapshot = it.view.read(|index| index.snapshot(NOW));
        let quota = snapshot.namespaces.values().find_map(|namespace| namespace.quota.clone()).unwrap();
        quota.ceiling(&Resource::Cpu).units()
    };
    it.write().await;
    assert_eq!(ceiling(&it), 9000);

    // The node shrinks, and the quota as it stands is right. It is written all the same: only a further
    // stamp makes sure that the lost write never lands.
    put(&it.view, &node(2));
    let plan = planned(&it.view);
    assert_eq!(ceiling(&it), 9000);
    it.writer.only(Class::Quota, &plan).await;
    let written = it.last();
    assert_eq!((&written[1]["value"], &written[2]["value"]), (&json!("7"), &json!("9")));
    assert_eq!(written[4]["value"], json!({"requests.cpu": "2"}));
    assert_eq!(ceiling(&it), 2000);
    // Now nothing is outstanding.
    it.write().await;
    assert_eq!(it.asked(), 2);
}

#[tokio::test]
async fn an_edited_quota_is_put_back_under_the_same_stamp() {
    let view = view(&[node(9), queue("a"), quota("a", 5, Some(7), 9, 9)]);
    planned(&view);
    put(&view, &quota("a", 6, Some(7), 100, 100));
    let mut it = World::of(view, |_| Reply::Json(200, quota("a", 7, Some(7), 9, 100)));
    it.write().await;
    let written = it.last();
    assert_eq!((&written[1]["value"], &written[2]["value"]), (&json!("7"), &json!("7")));
    assert_eq!(written[4]["value"], json!({"requests.cpu": "9"}));
    assert_eq!(planned(&it.view).quota_writes().count(), 0);
}

#[tokio::test]
async fn a_stamp_from_the_future_is_never_replaced() {
    let mut it = standing(|_| Reply::failure(500, "", "never asked"));
    let plan = planned(&it.view);
    // While the plan was made, another leader has written.
    put(&it.view, &quota("a", 6, Some(9), 5, 9));
    it.writer.only(Class::Quota, &plan).await;
    assert_eq!(it.log.lines(), [""; 0]);
    assert!(it.writer.next_retry().is_some());
}

#[tokio::test]
async fn without_a_ledger_or_an_entry_nothing_is_written() {
    let mut it = standing(obedient);
    put(&it.view, &queue("b"));
    let plan = planned(&it.view);
    let mut full = it.view.read(|index| Ledger::clone(index.ledger().unwrap()));
    full.entries.remove(&"b".into());
    it.view.read(|index| index.set_ledger(Some(full.into())));
    it.writer.only(Class::Quota, &plan).await;
    it.writer.only(Class::Quota, &plan).await;
    assert_eq!(it.log.lines(), [format!("PATCH {QUOTA_A}"), format!("PATCH {QUOTA_A}")]);
    let refused: Vec<_> = it.writer.refused_quotas().into_values().collect();
    assert_eq!(refused, ["the ledger is full: it has no place for another namespace"]);
    it.view.read(|index| index.set_ledger(None));
    it.writer.only(Class::Quota, &plan).await;
    assert_eq!(it.asked(), 2);
}

#[tokio::test]
async fn without_leadership_nothing_is_written() {
    let mut it = standing(obedient);
    it.context.stop.cancel();
    it.write().await;
    assert_eq!(it.asked(), 0);
}
