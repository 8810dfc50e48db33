//! What a Queue leaves behind: whether its quota goes with it stands on the quota, and is done when it is gone.

use http::Method;
use quotient_engine::plan::{Orphan, Plan};
use serde_json::{Value, json};

use super::{SETTINGS, grant, keep_ledger, node, planned, put, queue, quota, tools, view};
use crate::announce::Happening;
use crate::test_api::{Asked, Log, Reply, client};
use crate::view::View;
use crate::writer::orphans::OrphanWriter;
use crate::writer::quotas::QuotaWriter;

const QUOTA_A: &str = "/api/v1/namespaces/a/resourcequotas/quotient";

/// The quota of namespace a, which goes with its Queue.
fn going(version: u32, generation: u64, hard: u32, enforced: u32) -> Value {
    let mut quota = quota("a", version, Some(generation), hard, enforced);
    quota["metadata"]["annotations"]["quotient.dev/on-delete"] = "Remove".into();
    quota["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "quotient"});
    quota
}

/// Queue a, of which the quota is to go with it.
fn leaving_nothing() -> Value {
    let mut queue = queue("a");
    queue["metadata"]["annotations"] = json!({"quotient.dev/on-delete": "Remove"});
    queue
}

async fn written(view: &View, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Vec<Asked> {
    let (client, log) = client(answer);
    QuotaWriter::new(tools(client, view.clone()).0, SETTINGS).write(&planned(view)).await;
    log.all()
}

fn operations(asked: &Asked) -> Vec<String> {
    let operation =
        |one: &Value| format!("{} {}", one["op"].as_str().unwrap(), one["path"].as_str().unwrap());
    asked.body.as_array().unwrap().iter().map(operation).collect()
}

#[tokio::test]
async fn a_new_quota_says_that_it_goes() {
    let view = view(&[node(4), leaving_nothing()]);
    let asked = written(&view, |_| Reply::Json(201, going(1000, 1, 4, 0))).await;
    let annotations = &asked[0].body["metadata"]["annotations"];
    assert_eq!(annotations["quotient.dev/on-delete"], "Remove");
    assert_eq!(planned(&view).quota_writes().count(), 0);
}

#[tokio::test]
async fn the_annotation_comes_and_goes_with_that_of_the_queue() {
    let on_delete = "/metadata/annotations/quotient.dev~1on-delete";
    let coming = view(&[node(4), leaving_nothing(), quota("a", 5, Some(7), 4, 4)]);
    let asked = written(&coming, |_| Reply::Json(200, going(1000, 7, 4, 4))).await;
    assert!(operations(&asked[0]).contains(&format!("add {on_delete}")), "{:?}", asked[0].body);
    assert_eq!(planned(&coming).quota_writes().count(), 0);

    let left = view(&[node(4), queue("a"), going(5, 7, 4, 4)]);
    let asked = written(&left, |_| Reply::Json(200, quota("a", 1000, Some(8), 4, 4))).await;
    assert!(operations(&asked[0]).contains(&format!("remove {on_delete}")), "{:?}", asked[0].body);

    // What stands is not touched: to remove what is not there would fail the whole write.
    let standing = view(&[node(4), leaving_nothing(), going(5, 7, 9, 9)]);
    let asked = written(&standing, |_| Reply::Json(200, going(1000, 8, 4, 4))).await;
    assert!(!asked[0].body.to_string().contains("on-delete"), "{:?}", asked[0].body);
}

#[tokio::test]
async fn a_strangers_quota_is_told_to_go_as_well() {
    let bare = quota("a", 5, None, 9, 9);
    let view = view(&[node(4), leaving_nothing(), bare.clone()]);
    let asked = written(&view, move |asked| match asked.method {
        Method::GET => Reply::Json(200, bare.clone()),
        _ => Reply::Json(200, going(1000, 1, 4, 4)),
    })
    .await;
    // The map has to be there before anything can be added to it.
    let paths = operations(&asked[1]);
    let at = |wanted: &str| paths.iter().position(|path| path == wanted).unwrap();
    assert!(at("add /metadata/annotations") < at("add /metadata/annotations/quotient.dev~1on-delete"));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_only_makes_sure_keeps_what_it_says() {
    let view = view(&[node(9), leaving_nothing(), going(5, 7, 2, 2)]);
    let (client, log) = client(|asked| {
        if asked.body.to_string().contains("\"9\"") {
            Reply::Silence
        } else {
            Reply::Json(200, going(6, 9, 2, 2))
        }
    });
    let mut writer = QuotaWriter::new(tools(client, view.clone()).0, SETTINGS);
    writer.write(&planned(&view)).await;
    // The quota as it stands is right again, and written once more.
    put(&view, &node(2));
    writer.write(&planned(&view)).await;
    let last = log.all().pop().unwrap();
    assert_eq!(last.body[4]["value"], json!({"requests.cpu": "2"}));
    assert!(!last.body.to_string().contains("on-delete"));
}

/// A writer of what Queues left behind, in a namespace that only has `quota`.
fn orphans(quota: &Value, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Orphaned {
    let view = view(&[node(4), quota.clone()]);
    keep_ledger(&view);
    let (client, log) = client(answer);
    let (tools, announced) = tools(client, view.clone());
    Orphaned { writer: OrphanWriter::new(tools, SETTINGS), view, log, announced }
}

struct Orphaned {
    writer: OrphanWriter,
    view: View,
    log: Log,
    announced: tokio::sync::mpsc::Receiver<Happening>,
}

impl Orphaned {
    async fn settle(&mut self, plan: &Plan) {
        grant(&self.view, plan);
        self.writer.settle(plan).await;
    }

    fn hard(&self) -> Option<String> {
        let bounds = self.view.read(|index| Some(index.observed_quota(&"a".into())?.hard.clone()))?;
        Some(bounds.iter().map(|(resource, amount)| resource.format(amount)).collect())
    }
}

fn plan(orphan: Orphan) -> Plan {
    Plan { orphans: [("a".into(), orphan)].into(), ..Plan::default() }
}

fn lower() -> Plan {
    let cpu = quotient_engine::amounts::Resource::Cpu;
    plan(Orphan::Lower([(cpu, quotient_engine::amounts::Amount::new(2000))].into_iter().collect()))
}

#[tokio::test]
async fn a_quota_left_behind_is_lowered_as_it_was_seen() {
    let mut left = quota("a", 5, Some(7), 4, 4);
    left["metadata"]["annotations"]["quotient.dev/queue"] = "team".into();
    let mut orphaned = orphans(&left, |_| Reply::Json(200, quota("a", 6, Some(8), 2, 2)));
    orphaned.settle(&lower()).await;
    let [asked] = orphaned.log.all().try_into().unwrap();
    assert_eq!(asked.line(), format!("PATCH {QUOTA_A}"));
    assert_eq!(
        asked.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "quota-a"},
            {"op": "test", "path": "/metadata/annotations/quotient.dev~1generation", "value": "7"},
            {"op": "replace", "path": "/metadata/annotations/quotient.dev~1generation", "value": "8"},
            {"op": "add", "path": "/spec/hard", "value": {"requests.cpu": "2"}},
        ])
    );
    assert_eq!(orphaned.hard().as_deref(), Some("2"));
    let told = orphaned.announced.try_recv().unwrap();
    assert!(matches!(told, Happening::OrphanLowered { before: Some(_), .. }), "{told:?}");
}

#[tokio::test]
async fn a_quota_that_goes_with_its_queue_is_deleted_just_as_it_was_seen() {
    let gone = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    let mut orphaned = orphans(&going(5, 7, 4, 4), move |_| Reply::Json(200, gone.clone()));
    orphaned.settle(&plan(Orphan::Remove)).await;
    let [asked] = orphaned.log.all().try_into().unwrap();
    assert_eq!(asked.line(), format!("DELETE {QUOTA_A}"));
    assert_eq!(asked.body["preconditions"], json!({"uid": "quota-a", "resourceVersion": "5"}));
    assert_eq!(orphaned.hard(), None);
    assert_eq!(orphaned.announced.try_recv().unwrap(), Happening::OrphanRemoved { namespace: "a".into() });
    // It is gone for the view, too: nothing is asked again.
    orphaned.settle(&plan(Orphan::Remove)).await;
    assert_eq!(orphaned.log.lines().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_moved_since_is_looked_at_first() {
    let mut orphaned = orphans(&going(5, 7, 4, 4), |asked| match asked.method {
        Method::GET => Reply::Json(200, going(9, 7, 4, 4)),
        _ => Reply::failure(409, "Conflict", "the object has been modified"),
    });
    orphaned.settle(&plan(Orphan::Remove)).await;
    assert_eq!(orphaned.log.lines(), [format!("DELETE {QUOTA_A}"), format!("GET {QUOTA_A}")]);
    // The first failure is what a race looks like: the second attempt comes at once, with what was read.
    orphaned.settle(&plan(Orphan::Remove)).await;
    let again = orphaned.log.all().into_iter().filter(|asked| asked.method == Method::DELETE).nth(1).unwrap();
    assert_eq!(again.body["preconditions"]["resourceVersion"], "9");
    // The next has to wait.
    let asked = orphaned.log.lines().len();
    orphaned.settle(&plan(Orphan::Remove)).await;
    assert_eq!(orphaned.log.lines().len(), asked);
    assert!(orphaned.writer.next_retry().is_some());
    assert!(orphaned.announced.try_recv().is_err());
}

#[tokio::test]
async fn what_is_not_there_is_never_created() {
    let mut orphaned = orphans(&quota("b", 5, Some(7), 4, 4), |_| Reply::failure(500, "", "never asked"));
    orphaned.settle(&lower()).await;
    orphaned.settle(&plan(Orphan::Remove)).await;
    assert_eq!(orphaned.log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_queue_without_a_share_was_granted_is_written_anew_even_if_it_is_gone() {
    let mut stalled = queue("a");
    stalled["spec"] = json!({"parentRef": {"namespace": "org", "name": "nobody"}});
    let view = view(&[node(4), stalled, quota("a", 5, Some(7), 3, 3)]);
    planned(&view);
    let standing = quota("a", 5, Some(7), 3, 3);
    let (client, log) = client(move |asked| match asked.method {
        Method::POST => Reply::Json(201, standing.clone()),
        _ => Reply::failure(500, "", "never asked"),
    });
    let mut writer = OrphanWriter::new(tools(client, view.clone()).0, SETTINGS);
    writer.settle(&planned(&view)).await;
    assert_eq!(log.lines(), Vec::<String>::new());
    view.read(|index| {
        quotient_index::Keeps::<k8s_openapi::api::core::v1::ResourceQuota>::delete(
            index, "a", "quotient", "quota-a",
        )
    });
    writer.settle(&planned(&view)).await;
    let [asked] = log.all().try_into().unwrap();
    assert_eq!(asked.line(), "POST /api/v1/namespaces/a/resourcequotas");
    assert_eq!(asked.body["spec"], json!({"hard": {"requests.cpu": "3"}}));
    assert_eq!(asked.body["metadata"]["annotations"]["quotient.dev/generation"], "7");
}
