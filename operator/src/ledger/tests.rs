//! The ledger against an API server made of a closure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Client;
use quotient_crds::Queue;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::ledger::{Entry, Generation, Ledger};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{KeptTarget, Targets};
use quotient_engine::time::Timestamp;
use quotient_index::{Index, IndexSettings, ResourceVersion};
use serde_json::{Value, json};

use super::document::{DocumentError, LeafTargets, pack, unpack};
use super::fit::fit;
use super::keeper::FRESH;
use super::{Dropped, LedgerKeeper};
use crate::context::Context;
use crate::settings::LedgerSettings;
use crate::tests::api::{Asked, Log, OneObject, Reply, client};
use crate::tests::plan::cpu;
use crate::view::View;

const PLACE: &str = "/api/v1/namespaces/home/configmaps";
const NOW: Timestamp = Timestamp::from_seconds(2_000_000_000);

fn amounts(cpu: i128, memory: i128, gpus: i128) -> Bounds {
    [("cpu", cpu), ("memory", memory), ("nvidia.com/gpu", gpus)]
        .into_iter()
        .map(|(name, units)| (Resource::from_name(name), Amount::new(units)))
        .collect()
}

fn entry(granted: Bounds, generation: u64) -> Entry {
    Entry {
        largest: granted.clone(),
        granted,
        owed: Amounts::new(),
        generation: Generation::new(generation),
        changed: NOW,
    }
}

fn ledger(generation: u64, namespaces: &[&str]) -> Ledger {
    let entries = namespaces.iter().map(|name| (Namespace::from(*name), entry(amounts(1500, 9 << 30, 0), 3)));
    Ledger { generation: Generation::new(generation), entries: entries.collect(), ..Ledger::default() }
}

/// Targets with this stamp, of which that of `a` is not what it deserves.
fn targets(stamp: u64, newest: Option<Timestamp>) -> Arc<Targets> {
    let kept = KeptTarget { target: cpu(5000), shown: cpu(7000) };
    Arc::new(Targets { stamp, newest, of: [("a".into(), kept)].into() })
}

/// A namespace's quota, of ours, with a stamp.
fn quota(namespace: &str, stamp: &str) -> Value {
    json!({
        "kind": "ResourceQuota", "apiVersion": "v1",
        "metadata": {
            "name": "quotient", "namespace": namespace, "uid": format!("quota-{namespace}"), "resourceVersion": "1",
            "annotations": {"quotient.dev/generation": stamp},
            "labels": {"app.kubernetes.io/managed-by": "quotient"},
        },
        "spec": {"hard": {"requests.cpu": "4"}},
        "status": {"hard": {"requests.cpu": "4"}},
    })
}

/// The ConfigMap of the ledger.
#[derive(Clone, Default)]
struct Stored(OneObject);

impl Stored {
    fn holding(ledger: &Ledger) -> Self {
        let data = k8s_openapi::ByteString(pack(ledger, &LeafTargets::new()).unwrap());
        Self::with(&json!({"ledger.json.gz": data}))
    }

    fn with(data: &Value) -> Self {
        let metadata = json!({
            "name": "quotient-ledger", "namespace": "home", "uid": "u", "resourceVersion": "1",
            "labels": {"helm.sh/chart": "quotient"},
        });
        let object =
            json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "binaryData": data});
        Self(OneObject::of(object))
    }

    fn ledger(&self) -> Ledger {
        let stored = self.0.get().unwrap();
        let data =
            serde_json::from_value::<k8s_openapi::ByteString>(stored["binaryData"]["ledger.json.gz"].clone());
        unpack(&data.unwrap().0).unwrap()
    }
}

struct Kept {
    keeper: LedgerKeeper,
    context: Context,
    log: Log,
}

fn kept(quotas: &[Value], answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Kept {
    let (client, log) = client(answer);
    let context = context(client, quotas);
    // What stands on a quota counts in managed namespaces only.
    for quota in quotas {
        let namespace = &quota["metadata"]["namespace"];
        let queue =
            json!({"metadata": {"name": "team", "namespace": namespace, "uid": namespace}, "spec": {}});
        let queue: Queue = serde_json::from_value(queue).unwrap();
        context.view.read(|index| index.apply::<Queue>(&queue));
    }
    let settings = LedgerSettings { namespace: "home".to_owned(), limit: LedgerSettings::LIMIT };
    Kept { keeper: LedgerKeeper::new(context.clone(), settings), context, log }
}

/// How far a ledger that is made up begins beyond the newest stamp.
const REBUILT: u64 = 1 << 20;

fn kept_in(stored: &Stored, quotas: &[Value]) -> Kept {
    let stored = stored.clone();
    kept(quotas, move |asked| stored.0.answer(asked))
}

fn context(client: Client, quotas: &[Value]) -> Context {
    let view = View::new(Index::new(IndexSettings::default()));
    for quota in quotas {
        let quota = serde_json::from_value(quota.clone()).unwrap();
        view.read(|index| index.apply::<ResourceQuota>(&quota));
    }
    crate::writer::tests::context(client, view).0
}

impl Kept {
    /// Writes `next`, decided for no targets.
    async fn write(&mut self, next: Option<Ledger>) -> Result<(), Dropped> {
        self.keeper.write(next, &LeafTargets::new()).await
    }

    fn known(&self) -> Ledger {
        self.context.view.read(|index| Ledger::clone(index.ledger().unwrap()))
    }

    fn rebuilds(&self, why: &str) -> u64 {
        self.context.metrics.ledger.rebuilds.with_label_values(&[why]).get()
    }
}

// ---- the document ---------------------------------------------------------------------------------------

#[test]
fn what_is_packed_unpacks() {
    let mut kept = ledger(12, &["a", "b"]);
    let entry = kept.entries.get_mut(&Namespace::from("a")).unwrap();
    entry.largest = amounts(i128::from(u64::MAX), 10 << 30, 16);
    entry.changed = Timestamp::from_millis(1_700_000_000_123);
    entry.owed = cpu(2500);
    kept.rebuilt = Some(NOW);
    kept.targets = Some(targets(u64::MAX, Some(NOW)));
    assert_eq!(unpack(&pack(&kept, &LeafTargets::new()).unwrap()).unwrap(), kept);
    assert_eq!(pack(&kept, &LeafTargets::new()).unwrap(), pack(&kept.clone(), &LeafTargets::new()).unwrap());
}

#[test]
fn it_can_be_read_by_people() {
    let mut kept = ledger(12, &["a"]);
    kept.entries.get_mut(&Namespace::from("a")).unwrap().owed = cpu(2500);
    kept.targets = Some(targets(255, None));
    let packed = pack(&kept, &[("a".into(), cpu(4000))].into()).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text).unwrap();
    let expected = r#"{"version":2,"generation":12,"entries":{"a":{"granted":{"cpu":"1500m","memory":"9Gi","nvidia.com/gpu":"0"},"owed":{"cpu":"2500m"},"target":{"cpu":"4"},"generation":3,"changed":"2033-05-18T03:33:20Z"}},"targets":{"stamp":"ff","of":{"a":{"target":{"cpu":"5"},"shown":{"cpu":"7"}}}}}"#;
    assert_eq!(text, expected);
}

fn packed(json: &Value) -> Vec<u8> {
    let json = json.to_string();
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(json.as_bytes(), flate2::Compression::default());
    std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
    packed
}

#[test]
fn what_is_damaged_is_refused_with_the_place() {
    let whole = pack(&ledger(12, &["a"]), &LeafTargets::new()).unwrap();
    assert!(matches!(unpack(b""), Err(DocumentError::Packed(_))));
    assert!(matches!(unpack(b"{}"), Err(DocumentError::Packed(_))));
    assert!(unpack(&whole[..whole.len() - 9]).is_err());
    let document = |cpu: &str, changed: &str, version: u32| {
        let line = json!({"granted": {"cpu": cpu}, "generation": 1, "changed": changed});
        packed(&json!({"version": version, "generation": 1, "entries": {"a": line}, "later": true}))
    };
    let time = "2026-01-01T00:00:00Z";
    assert!(unpack(&document("1500m", time, 2)).is_ok());
    for (cpu, changed, version, said) in [
        ("1500u", time, 2, "read the entry of a: cpu \"1500u\" is no amount"),
        ("-1", time, 2, "read the entry of a: cpu \"-1\" is no amount"),
        ("many", time, 2, "read the entry of a: cpu \"many\" is no amount"),
        ("1", "soon", 2, "read the entry of a: \"soon\" is no time"),
        ("1", time, 1, "read it: it is of version 1, and this operator knows version 2"),
    ] {
        assert_eq!(unpack(&document(cpu, changed, version)).unwrap_err().to_string(), said);
    }
}

#[test]
fn ten_thousand_namespaces_fit() {
    let names: Vec<String> = (0..10_000).map(|number| format!("team-{number:05}-production")).collect();
    let mut full = ledger(20_000, &[]);
    for (number, name) in (1..).zip(&names) {
        let mut entry = entry(amounts(i128::from(number) * 7, i128::from(number) << 20, 8), number);
        entry.largest = amounts(i128::from(number) * 9, i128::from(number) << 21, 8);
        entry.changed = Timestamp::from_millis(1_700_000_000_000 + i64::try_from(number * 977).unwrap());
        full.entries.insert(name.as_str().into(), entry);
    }
    let size = pack(&full, &LeafTargets::new()).unwrap().len();
    assert!(size < LedgerSettings::LIMIT, "{size}");
}

#[test]
fn where_it_is_full_newcomers_go_without_the_last_by_name_first() {
    let standing = ledger(1, &["b", "x"]);
    let next = ledger(2, &["a", "b", "c", "d", "x"]);
    let limit = pack(&ledger(2, &["a", "b", "x"]), &LeafTargets::new()).unwrap().len();
    let fitted = fit(next.clone(), &LeafTargets::new(), &standing, limit).unwrap();
    let names: Vec<&str> = fitted.ledger.entries.keys().map(Namespace::as_str).collect();
    assert_eq!((names, fitted.left_out), (vec!["a", "b", "x"], 2));
    assert!(fitted.packed.len() <= limit);
    // Namespaces with an entry keep it, whatever it takes.
    let fitted = fit(next, &LeafTargets::new(), &standing, 1).unwrap();
    assert_eq!((fitted.ledger.entries.len(), fitted.left_out), (2, 3));
}

// ---- reading and writing --------------------------------------------------------------------------------

#[tokio::test]
async fn a_fresh_installation_writes_nothing_until_something_is_granted() {
    let stored = Stored::default();
    let mut kept = kept_in(&stored, &[]);
    kept.keeper.ready().await.unwrap();
    kept.write(None).await.unwrap();
    assert_eq!(kept.log.lines(), [format!("GET {PLACE}/quotient-ledger")]);
    assert_eq!((kept.known(), kept.rebuilds("Missing")), (ledger(1, &[]), 0));
    kept.keeper.ready().await.unwrap();
    kept.write(Some(ledger(2, &["a"]))).await.unwrap();
    assert_eq!(kept.log.lines()[1..], [format!("POST {PLACE}")]);
    assert_eq!((stored.ledger(), kept.known()), (ledger(2, &["a"]), ledger(2, &["a"])));
    assert_eq!(kept.context.metrics.writes.all.with_label_values(&["ledger", "done"]).get(), 1);
    // At rest nothing is read or written.
    kept.keeper.ready().await.unwrap();
    kept.write(None).await.unwrap();
    assert_eq!(kept.log.lines().len(), 2);
}

#[tokio::test]
async fn what_is_owed_and_targets_are_reason_enough_to_write() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let mut kept = kept_in(&stored, &[]);
    kept.keeper.ready().await.unwrap();
    let mut next = ledger(6, &["a"]);
    next.entries.get_mut(&Namespace::from("a")).unwrap().owed = cpu(1000);
    kept.write(Some(next.clone())).await.unwrap();
    assert_eq!(stored.ledger(), next);
    next = Ledger { generation: Generation::new(7), targets: Some(targets(1, None)), ..next };
    kept.write(Some(next.clone())).await.unwrap();
    assert_eq!(stored.ledger(), next);
    assert_eq!(kept.known().targets, next.targets);
}

#[tokio::test]
async fn a_write_replaces_the_version_that_was_read_and_keeps_what_others_put_there() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let mut kept = kept_in(&stored, &[]);
    kept.keeper.ready().await.unwrap();
    assert_eq!(kept.known(), ledger(5, &["a"]).inherited());
    kept.write(Some(ledger(6, &["a", "b"]))).await.unwrap();
    kept.write(Some(ledger(7, &["a"]))).await.unwrap();
    let [_, first, second] = kept.log.all().try_into().unwrap();
    assert_eq!(first.line(), format!("PUT {PLACE}/quotient-ledger"));
    assert_eq!(first.body["metadata"]["resourceVersion"], "1");
    assert_eq!(second.body["metadata"]["resourceVersion"], "2");
    assert_eq!(second.body["metadata"]["labels"]["helm.sh/chart"], "quotient");
    assert_eq!(kept.context.metrics.ledger.generation.get(), 7);
}

#[tokio::test]
async fn of_two_leaders_the_second_reads_again_and_starts_over() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let (mut one, mut two) = (kept_in(&stored, &[]), kept_in(&stored, &[]));
    one.keeper.ready().await.unwrap();
    two.keeper.ready().await.unwrap();
    one.write(Some(ledger(6, &["a", "b"]))).await.unwrap();
    assert_eq!(two.write(Some(ledger(6, &["a", "c"]))).await, Err(Dropped::StartOver));
    assert_eq!(two.context.metrics.ledger.conflicts.get(), 1);
    assert_eq!(stored.ledger(), ledger(6, &["a", "b"]));
    two.keeper.ready().await.unwrap();
    assert_eq!(two.known(), ledger(6, &["a", "b"]).inherited());
    two.write(Some(ledger(7, &["a", "b", "c"]))).await.unwrap();
}

#[tokio::test]
async fn one_that_is_deleted_is_made_up_from_quotas_and_held() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let mut kept = kept_in(&stored, &[quota("a", "3")]);
    kept.keeper.ready().await.unwrap();
    stored.0.set(None);
    assert_eq!(kept.write(Some(ledger(6, &["a", "b"]))).await, Err(Dropped::StartOver));
    kept.keeper.ready().await.unwrap();
    let rebuilt = kept.known();
    assert_eq!((rebuilt.generation, rebuilt.entries.len()), (Generation::new(REBUILT + 4), 1));
    assert!(rebuilt.rebuilt.is_some());
    assert_eq!(kept.rebuilds("Missing"), 1);
    // It is written although no grant changes: from then on its stamps count.
    kept.write(None).await.unwrap();
    assert_eq!(kept.log.lines().pop().unwrap(), format!("POST {PLACE}"));
    kept.write(None).await.unwrap();
    assert_eq!(stored.ledger(), rebuilt);
}

#[tokio::test]
async fn one_that_cannot_be_read_is_made_up_from_quotas_and_replaced() {
    for (data, why) in [
        (json!({"ledger.json.gz": "bm9uc2Vuc2U="}), "Unreadable"),
        // As a chart leaves it, or a person that empties it.
        (json!({}), "Missing"),
    ] {
        let stored = Stored::with(&data);
        let mut kept = kept_in(&stored, &[quota("a", "3")]);
        kept.keeper.ready().await.unwrap();
        kept.write(None).await.unwrap();
        assert_eq!(kept.log.lines().pop().unwrap(), format!("PUT {PLACE}/quotient-ledger"));
        assert_eq!((stored.ledger().generation, kept.rebuilds(why)), (Generation::new(REBUILT + 4), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_from_the_future_has_the_ledger_read_again() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let mut kept = kept_in(&stored, &[quota("a", "3")]);
    kept.keeper.ready().await.unwrap();
    let put = |kept: &Kept, version: &str, stamp: &str| {
        let mut quota = quota("a", stamp);
        quota["metadata"]["resourceVersion"] = version.into();
        let quota = serde_json::from_value(quota).unwrap();
        kept.context.view.read(|index| index.apply::<ResourceQuota>(&quota));
    };
    // Another leader wrote both.
    stored.0.set(Stored::holding(&ledger(8, &["a"])).0.get());
    put(&kept, "9", "8");
    kept.keeper.ready().await.unwrap();
    assert_eq!((kept.known(), kept.rebuilds("Older")), (ledger(8, &["a"]).inherited(), 0));
    // The ledger was put back from a backup. Writers that undo each other's work slow down.
    put(&kept, "10", "20");
    let why = kept.keeper.ready().await.unwrap_err();
    assert_eq!(why, "write the ledger, ConfigMap home/quotient-ledger: another writer changed it");
    tokio::time::sleep(Duration::from_millis(250)).await;
    kept.keeper.ready().await.unwrap();
    assert_eq!((kept.known().generation, kept.rebuilds("Older")), (Generation::new(REBUILT + 21), 1));
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_read_or_written_is_told_and_tried_ever_later() {
    let mut unread = kept(&[], |_| Reply::failure(403, "Forbidden", "configmaps is forbidden"));
    let message = "read the ledger, ConfigMap home/quotient-ledger: configmaps is forbidden";
    for _ in 0..5 {
        assert_eq!(unread.keeper.ready().await.unwrap_err(), message);
    }
    assert_eq!(unread.log.lines().len(), 2);
    assert!(unread.keeper.next_retry().is_some());

    let stored = Stored::holding(&ledger(5, &["a"]));
    let server = stored.clone();
    let mut unwritten = kept(&[], move |asked| match asked.method {
        Method::PUT => Reply::failure(403, "Forbidden", "configmaps is forbidden"),
        _ => server.0.answer(asked),
    });
    unwritten.keeper.ready().await.unwrap();
    for _ in 0..2 {
        unwritten.keeper.ready().await.unwrap();
        let dropped = unwritten.write(Some(ledger(6, &["b"]))).await;
        assert!(matches!(dropped, Err(Dropped::Stuck(why)) if why.starts_with("write the ledger")));
    }
    assert!(unwritten.keeper.ready().await.is_err());
    assert_eq!(unwritten.known(), ledger(5, &["a"]).inherited());
    tokio::time::sleep_until(unwritten.keeper.next_retry().unwrap()).await;
    unwritten.keeper.ready().await.unwrap();
    // Nothing is to be written any more: nothing is waited for.
    unwritten.write(None).await.unwrap();
    assert_eq!(unwritten.keeper.next_retry(), None);
}

#[tokio::test]
async fn a_full_ledger_is_not_written_for_newcomers_alone() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let server = stored.clone();
    let (client, log) = client(move |asked| server.0.answer(asked));
    let settings = LedgerSettings { namespace: "home".to_owned(), limit: 1 };
    let mut keeper = LedgerKeeper::new(context(client, &[]), settings);
    keeper.ready().await.unwrap();
    keeper.write(Some(ledger(6, &["a", "b"])), &LeafTargets::new()).await.unwrap();
    assert_eq!(log.lines().len(), 1);
}

#[tokio::test]
async fn who_does_not_lead_writes_nothing() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let mut kept = kept_in(&stored, &[]);
    kept.keeper.ready().await.unwrap();
    kept.context.stop.cancel();
    assert_eq!(kept.write(Some(ledger(6, &["b"]))).await, Err(Dropped::StartOver));
    assert_eq!(kept.log.lines().len(), 1);
    assert_eq!(stored.ledger(), ledger(5, &["a"]));
}

#[tokio::test(start_paused = true)]
async fn evictions_of_a_leader_wait_for_what_another_one_wrote() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    let (mut one, mut two) = (kept_in(&stored, &[]), kept_in(&stored, &[]));
    one.keeper.ready().await.unwrap();
    two.keeper.ready().await.unwrap();
    // What was read a moment ago is not asked for again.
    one.keeper.confirm().await.unwrap();
    tokio::time::sleep(FRESH).await;
    one.keeper.confirm().await.unwrap();
    one.keeper.confirm().await.unwrap();
    let read = format!("GET {PLACE}/quotient-ledger");
    assert_eq!(one.log.lines(), [read.clone(), read.clone()]);

    two.write(Some(ledger(6, &["a", "b"]))).await.unwrap();
    two.keeper.confirm().await.unwrap();
    assert_eq!(two.log.lines().len(), 2, "what it wrote itself");
    tokio::time::sleep(FRESH).await;
    assert_eq!(one.keeper.confirm().await, Err(Dropped::StartOver));
    assert_eq!(one.context.metrics.ledger.conflicts.get(), 1);
    one.keeper.ready().await.unwrap();
    assert_eq!(one.known(), ledger(6, &["a", "b"]).inherited());

    stored.0.set(None);
    tokio::time::sleep(FRESH).await;
    assert_eq!(two.keeper.confirm().await, Err(Dropped::StartOver), "it was deleted");
}

#[tokio::test(start_paused = true)]
async fn no_pod_is_evicted_for_a_ledger_that_cannot_be_asked_for() {
    let stored = Stored::holding(&ledger(5, &["a"]));
    for (reply, expected) in [
        (403, Dropped::Stuck("read the ledger, ConfigMap home/quotient-ledger: no".to_owned())),
        (500, Dropped::StartOver),
    ] {
        let (server, is_first) = (stored.clone(), AtomicBool::new(true));
        let mut kept = kept(&[], move |asked| {
            if is_first.swap(false, Ordering::Relaxed) {
                server.0.answer(asked)
            } else {
                Reply::failure(reply, "No", "no")
            }
        });
        kept.keeper.ready().await.unwrap();
        tokio::time::sleep(FRESH).await;
        assert_eq!(kept.keeper.confirm().await, Err(expected));
        assert!(kept.keeper.ready().await.is_err(), "it is read again before anything else");
        assert_eq!(kept.log.lines().len(), 3);
    }
}

// ---- Queues that are not seen ---------------------------------------------------------------------------

/// A list of Queues of namespace `a`.
fn queue_list(names: &[&str]) -> Value {
    let queue = |name: &&str| json!({"metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": "5"}, "spec": {}});
    let items: Vec<Value> = names.iter().map(queue).collect();
    json!({"kind": "QueueList", "apiVersion": "quotient.dev/v1alpha1", "metadata": {"resourceVersion": "9"}, "items": items})
}

/// What is confirmed of the namespace `a`, where the ledger has an entry, whether its Queue is seen then, and how often that was
/// asked.
async fn confirmed(
    answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    times: usize,
) -> (bool, bool, usize) {
    let (client, log) = client(answer);
    let context = context(client, &[quota("a", "3")]);
    context.view.read(|index| index.set_ledger(Some(Arc::new(ledger(5, &["a"])))));
    let mut vacancies = super::Vacancies::new(context.clone());
    for _ in 0..times {
        vacancies.confirm(Some(&ResourceVersion::new("9"))).await;
    }
    let snapshot = context.view.read(|index| index.snapshot(NOW));
    let state = &snapshot.namespaces[&Namespace::from("a")];
    let lines = log.lines();
    assert!(
        lines.iter().all(|line| line == "GET /apis/quotient.dev/v1alpha1/namespaces/a/queues"),
        "{lines:?}"
    );
    (state.vacant, state.governing().is_some(), lines.len())
}

#[tokio::test(start_paused = true)]
async fn the_api_server_confirms_that_a_queue_is_gone() {
    let list = |version: &str, names: &[&str]| {
        let mut list = queue_list(names);
        list["metadata"]["resourceVersion"] = version.into();
        move |_: &Asked| Reply::Json(200, list.clone())
    };
    assert_eq!(confirmed(list("9", &[]), 2).await, (true, false, 1), "it is asked once");
    assert_eq!(confirmed(list("9", &["team"]), 2).await, (false, true, 1), "no watch has shown it");
    assert_eq!(confirmed(list("8", &[]), 1).await, (false, false, 1), "the list is older than the ledger");
    let refuse = |_: &Asked| Reply::failure(403, "Forbidden", "queues is forbidden");
    assert_eq!(confirmed(refuse, 5).await, (false, false, 2), "it is asked with backoff");
}
