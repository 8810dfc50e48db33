//! Quotas: the bodies, their order, and what a refusal or a lost answer leads to.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use serde_json::json;

use super::{World, context, node, owned_by, planned, put, queue, quota, view};
use crate::events::Notice;
use crate::executor::Class;
use crate::tests::api::{Asked, Reply, client};
use crate::view::View;

const QUOTA_A: &str = "/api/v1/namespaces/a/resourcequotas/quotient";

/// Answers every write with the quota that it makes, at the next generation.
fn obedient(asked: &Asked) -> Reply {
    let namespace = asked.path.split('/').nth(4).unwrap();
    Reply::Json(200, quota(namespace, 1000, Some(8), 4, 4))
}

#[tokio::test]
async fn a_namespace_without_a_quota_gets_one() {
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a")]), |_| Reply::Json(201, quota("a", 1000, Some(1), 4, 0)));
    writer.only(Class::Quota, &planned(&view)).await;
    let [asked] = log.all().try_into().unwrap();
    assert_eq!(asked.line(), "POST /api/v1/namespaces/a/resourcequotas");
    assert_eq!(
        asked.body,
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
    assert_eq!(planned(&view).quota_writes().count(), 0);
}

#[tokio::test]
async fn an_update_lands_on_what_was_seen_or_not_at_all() {
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]), obedient);
    writer.only(Class::Quota, &planned(&view)).await;
    let [asked] = log.all().try_into().unwrap();
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
}

#[tokio::test]
async fn a_strangers_quota_is_taken_over() {
    let bare = quota("a", 5, None, 9, 9);
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a"), bare.clone()]), move |asked| {
            if asked.method == Method::GET { Reply::Json(200, bare.clone()) } else { obedient(asked) }
        });
    writer.only(Class::Quota, &planned(&view)).await;
    let [read, written] = log.all().try_into().unwrap();
    assert_eq!(read.line(), format!("GET {QUOTA_A}"));
    assert_eq!(
        written.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
            {"op": "test", "path": "/metadata/annotations", "value": null},
            {
                "op": "add",
                "path": "/metadata/annotations",
                "value": {"quotient.dev/generation": "1", "quotient.dev/queue": "team"},
            },
            {"op": "add", "path": "/metadata/labels", "value": {"app.kubernetes.io/managed-by": "quotient"}},
            {"op": "add", "path": "/metadata/ownerReferences", "value": owned_by("queue-a")},
            {"op": "add", "path": "/spec/hard", "value": {"requests.cpu": "4"}},
        ])
    );
}

#[tokio::test]
async fn a_strangers_annotations_and_labels_stay() {
    let mut theirs = quota("a", 5, None, 9, 9);
    theirs["metadata"]["annotations"] = json!({"note": "mine"});
    theirs["metadata"]["labels"] = json!({"team": "a"});
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a"), theirs.clone()]), move |asked| {
            if asked.method == Method::GET { Reply::Json(200, theirs.clone()) } else { obedient(asked) }
        });
    writer.only(Class::Quota, &planned(&view)).await;
    let operations = log.all().pop().unwrap().body;
    let paths: Vec<&str> =
        operations.as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "/metadata/uid",
            "/metadata/annotations/quotient.dev~1generation",
            "/metadata/annotations/quotient.dev~1generation",
            "/metadata/annotations/quotient.dev~1queue",
            "/metadata/labels/app.kubernetes.io~1managed-by",
            "/metadata/ownerReferences",
            "/spec/hard",
        ]
    );
    assert_eq!(operations[1], json!({"op": "test", "path": paths[1], "value": null}));
}

#[tokio::test]
async fn what_lowers_is_written_before_what_raises() {
    // Of 9 cpu each deserves 3. One is free: a may rise by it at once, while c has to fall first.
    let World { view, mut writer, log, .. } = World::of(
        view(&[
            node(9),
            queue("a"),
            queue("b"),
            queue("c"),
            quota("a", 5, Some(1), 1, 1),
            quota("b", 5, Some(1), 3, 3),
            quota("c", 5, Some(1), 4, 4),
        ]),
        |asked| {
            let namespace = asked.path.split('/').nth(4).unwrap();
            Reply::Json(200, quota(namespace, 1000, Some(2), 3, 3))
        },
    );
    writer.only(Class::Quota, &planned(&view)).await;
    let written = |namespace: &str| format!("PATCH /api/v1/namespaces/{namespace}/resourcequotas/quotient");
    assert_eq!(log.lines(), [written("c"), written("a")]);
}

#[tokio::test]
async fn after_a_refusal_the_quota_is_read_again() {
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]), |asked| match asked.method {
            Method::GET => Reply::Json(200, quota("a", 6, Some(8), 4, 4)),
            _ => Reply::failure(
                422,
                "Invalid",
                "the server rejected our request due to an error in our request",
            ),
        });
    writer.only(Class::Quota, &planned(&view)).await;
    assert_eq!(log.lines(), [format!("PATCH {QUOTA_A}"), format!("GET {QUOTA_A}")]);
    assert_eq!(planned(&view).quota_writes().count(), 0);
    // One refusal is what a race looks like, and no reason to complain.
    assert!(writer.refused_quotas().is_empty());
}

#[tokio::test]
async fn a_quota_that_is_gone_is_created_by_the_next_plan() {
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]), |asked| match asked.method {
            Method::POST => Reply::Json(201, quota("a", 9, Some(1), 4, 0)),
            _ => Reply::failure(404, "NotFound", "resourcequotas \"quotient\" not found"),
        });
    writer.only(Class::Quota, &planned(&view)).await;
    writer.only(Class::Quota, &planned(&view)).await;
    assert_eq!(log.lines().last().unwrap(), "POST /api/v1/namespaces/a/resourcequotas");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_stays_is_told_and_retried_ever_later() {
    let World { view, mut writer, log, .. } =
        World::of(view(&[node(4), queue("a")]), |_| Reply::failure(403, "Forbidden", "no new content in a"));
    for _ in 0..5 {
        writer.only(Class::Quota, &planned(&view)).await;
    }
    // The second attempt comes at once; then 250 ms have to pass.
    assert_eq!(log.lines().len(), 2);
    assert_eq!(writer.refused_quotas().into_values().collect::<Vec<_>>(), ["no new content in a"]);
    tokio::time::sleep_until(writer.next_retry().unwrap()).await;
    writer.only(Class::Quota, &planned(&view)).await;
    assert_eq!(log.lines().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_answer_the_quota_is_written_until_it_bears_a_later_stamp() {
    let view = view(&[node(9), queue("a"), quota("a", 5, Some(7), 2, 2)]);
    let calls = AtomicU32::new(0);
    let World { view, mut writer, log, .. } =
        World::of(view, move |_| match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Reply::Silence,
            _ => Reply::Json(200, quota("a", 6, Some(9), 2, 2)),
        });
    writer.only(Class::Quota, &planned(&view)).await;
    let ceiling = |view: &View| {
        let snapshot = view.read(|index| index.snapshot(super::NOW));
        let quota = snapshot.namespaces.values().find_map(|namespace| namespace.quota.clone()).unwrap();
        quota.ceiling(&quotient_engine::amounts::Resource::Cpu).units()
    };
    assert_eq!(ceiling(&view), 9000);

    // The node shrinks, and the quota as it stands is right. It is written all the same: only a further
    // stamp makes sure that the lost write never lands.
    put(&view, &node(2));
    let plan = planned(&view);
    assert_eq!(ceiling(&view), 9000);
    writer.only(Class::Quota, &plan).await;
    let written = log.all().pop().unwrap().body;
    assert_eq!((&written[1]["value"], &written[2]["value"]), (&json!("7"), &json!("9")));
    assert_eq!(written[4]["value"], json!({"requests.cpu": "2"}));
    assert_eq!(ceiling(&view), 2000);
    // Now nothing is outstanding.
    writer.only(Class::Quota, &planned(&view)).await;
    assert_eq!(log.lines().len(), 2);
}

#[tokio::test]
async fn an_edited_quota_is_put_back_under_the_same_stamp() {
    let view = view(&[node(9), queue("a"), quota("a", 5, Some(7), 9, 9)]);
    planned(&view);
    put(&view, &quota("a", 6, Some(7), 100, 100));
    let World { view, mut writer, log, .. } =
        World::of(view, |_| Reply::Json(200, quota("a", 7, Some(7), 9, 100)));
    writer.only(Class::Quota, &planned(&view)).await;
    let written = log.all().pop().unwrap().body;
    assert_eq!((&written[1]["value"], &written[2]["value"]), (&json!("7"), &json!("7")));
    assert_eq!(written[4]["value"], json!({"requests.cpu": "9"}));
    assert_eq!(planned(&view).quota_writes().count(), 0);
}

#[tokio::test]
async fn a_stamp_from_the_future_is_never_replaced() {
    let view = view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]);
    let plan = planned(&view);
    // While the plan was made, another leader has written.
    put(&view, &quota("a", 6, Some(9), 5, 9));
    let World { mut writer, log, .. } = World::of(view, |_| Reply::failure(500, "", "never asked"));
    writer.only(Class::Quota, &plan).await;
    assert_eq!(log.lines(), Vec::<String>::new());
    assert!(writer.next_retry().is_some());
}

#[tokio::test]
async fn without_a_ledger_or_an_entry_nothing_is_written() {
    let view = view(&[node(4), queue("a"), queue("b"), quota("a", 5, Some(7), 9, 9)]);
    let plan = planned(&view);
    let before = view.read(|index| index.ledger().cloned()).unwrap();
    let mut full = quotient_engine::ledger::Ledger::clone(&before);
    full.entries.remove(&"b".into());
    view.read(|index| index.set_ledger(Some(full.into())));
    let World { view, mut writer, log, .. } = World::of(view, obedient);
    writer.only(Class::Quota, &plan).await;
    writer.only(Class::Quota, &plan).await;
    assert_eq!(log.lines(), [format!("PATCH {QUOTA_A}"), format!("PATCH {QUOTA_A}")]);
    let refused: Vec<_> = writer.refused_quotas().into_values().collect();
    assert_eq!(refused, ["the ledger is full: it has no place for another namespace"]);
    view.read(|index| index.set_ledger(None));
    writer.only(Class::Quota, &plan).await;
    assert_eq!(log.lines().len(), 2);
}

#[tokio::test]
async fn without_leadership_nothing_is_written() {
    let view = view(&[node(4), queue("a")]);
    let (client, log) = client(obedient);
    let (context, _announced) = context(client, view.clone());
    context.stop.cancel();
    super::writer(context).only(Class::Quota, &planned(&view)).await;
    assert_eq!(log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_written_quota_is_told_with_what_it_was() {
    let view = view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]);
    let (client, _) = client(obedient);
    let (context, announced) = context(client, view.clone());
    super::writer(context).only(Class::Quota, &planned(&view)).await;
    let printed = Mutex::new(announced).into_inner().unwrap().try_recv().unwrap();
    let Notice::QuotaWritten { before, after, lowers: true, .. } = printed else { panic!("{printed:?}") };
    let cpu = |bounds: &quotient_engine::amounts::Bounds| {
        bounds.iter().map(|(_, amount)| amount.units()).sum::<i128>()
    };
    assert_eq!((before.as_ref().map(cpu), cpu(&after)), (Some(9000), 4000));
}
