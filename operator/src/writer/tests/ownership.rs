//! What Quotient keeps for a Queue goes with it: owner references, and what is written for a Queue that is going or gone.

use http::Method;
use k8s_openapi::api::core::v1::ResourceQuota;
use serde_json::{Value, json};

use super::{World, node, owned_by, planned, put, queue, quota, view};
use crate::executor::Class;
use crate::tests::api::{Asked, Reply};
use crate::view::View;

async fn written(view: &View, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Vec<Asked> {
    let mut world = World::of(view.clone(), answer);
    world.cycle(Class::Quota).await;
    world.log.all()
}

fn delete_quota(view: &View) {
    view.read(|index| index.delete::<ResourceQuota>(&(), "a", "quotient", "quota-a"));
}

/// The Queue a with another id.
fn successor() -> Value {
    let mut queue = queue("a");
    queue["metadata"]["uid"] = "queue-a-2".into();
    queue["metadata"]["resourceVersion"] = "9".into();
    queue
}

#[tokio::test]
async fn the_queue_of_a_namespace_owns_the_quota_that_stands() {
    let theirs = view(&[node(4), successor(), quota("a", 5, Some(7), 4, 4)]);
    let asked = written(&theirs, |_| {
        let mut owned = quota("a", 1000, Some(7), 4, 4);
        owned["metadata"]["ownerReferences"] = owned_by("queue-a-2");
        Reply::Json(200, owned)
    })
    .await;
    assert_eq!(
        asked[0].body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
            {"op": "test", "path": "/metadata/annotations/quotient.dev~1generation", "value": "7"},
            {"op": "replace", "path": "/metadata/annotations/quotient.dev~1generation", "value": "7"},
            {"op": "add", "path": "/metadata/annotations/quotient.dev~1queue", "value": "team"},
            {"op": "add", "path": "/metadata/ownerReferences", "value": owned_by("queue-a-2")},
            {"op": "add", "path": "/spec/hard", "value": {"requests.cpu": "4"}},
        ])
    );
    assert_eq!(planned(&theirs).quota_writes().count(), 0);
}

#[tokio::test]
async fn a_second_owner_is_taken_away() {
    let mut shared = quota("a", 5, Some(7), 4, 4);
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "anchor", "uid": "c"});
    shared["metadata"]["ownerReferences"].as_array_mut().unwrap().push(other);
    let view = view(&[node(4), queue("a"), shared]);
    let asked = written(&view, |_| Reply::Json(200, quota("a", 1000, Some(7), 4, 4))).await;
    let owners = json!({"op": "add", "path": "/metadata/ownerReferences", "value": owned_by("queue-a")});
    assert!(asked[0].body.as_array().unwrap().contains(&owners), "{}", asked[0].body);
}

/// Garbage collection in the foreground deletes the quota before the Queue.
#[tokio::test]
async fn nothing_is_created_for_a_queue_that_is_being_deleted() {
    let mut leaving = queue("a");
    leaving["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z".into();
    leaving["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    let mut it = World::of(view(&[node(4), leaving, quota("a", 5, Some(7), 4, 4)]), |_| Reply::Silence);
    it.cycle(Class::Quota).await;
    delete_quota(&it.view);
    it.cycle(Class::Quota).await;
    assert_eq!((it.log.lines(), it.told()), (vec![], vec![]));
}

/// That its quota was deleted is no repair: the former Queue took it along.
#[tokio::test]
async fn a_queue_that_is_created_again_gets_a_quota_of_its_own() {
    let mut it = World::of(view(&[node(4), queue("a")]), |asked| {
        let mut created = quota("a", 1000, None, 4, 4);
        created["metadata"]["annotations"] = asked.body["metadata"]["annotations"].clone();
        created["metadata"]["ownerReferences"] = asked.body["metadata"]["ownerReferences"].clone();
        Reply::Json(201, created)
    });
    it.cycle(Class::Quota).await;
    it.view.read(|index| index.delete::<quotient_crds::Queue>(&(), "a", "team", "queue-a"));
    put(&it.view, &successor());
    delete_quota(&it.view);
    it.cycle(Class::Quota).await;
    let owners: Vec<Value> =
        it.log.all().iter().map(|asked| asked.body["metadata"]["ownerReferences"].clone()).collect();
    assert_eq!(owners, [owned_by("queue-a"), owned_by("queue-a-2")]);
    assert_eq!(it.told(), ["QuotaCreated on Queue team: Created the quota: cpu 4."; 2]);
}

#[tokio::test]
async fn what_a_queue_without_a_share_was_granted_is_written_anew_even_if_it_is_gone() {
    let mut stalled = queue("a");
    stalled["spec"] = json!({"parentRef": {"namespace": "org", "name": "nobody"}});
    let view = view(&[node(4), stalled, quota("a", 5, Some(7), 3, 3)]);
    planned(&view);
    let standing = quota("a", 5, Some(7), 3, 3);
    let mut it = World::of(view, move |asked| match asked.method {
        Method::POST => Reply::Json(201, standing.clone()),
        _ => Reply::failure(500, "", "never asked"),
    });
    it.cycle(Class::Quota).await;
    assert_eq!(it.log.lines(), [""; 0]);
    delete_quota(&it.view);
    it.cycle(Class::Quota).await;
    let [asked] = it.log.all().try_into().unwrap();
    assert_eq!(asked.line(), "POST /api/v1/namespaces/a/resourcequotas");
    assert_eq!(asked.body["spec"], json!({"hard": {"requests.cpu": "3"}}));
    assert_eq!(asked.body["metadata"]["annotations"]["quotient.dev/generation"], "7");
    assert_eq!(asked.body["metadata"]["ownerReferences"], owned_by("queue-a"));
}
