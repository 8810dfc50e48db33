//! What the writer leaves alone in mode Observe, and what an operator in mode Observe asks for at all.

use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Mode;
use serde_json::json;

use super::{NOW, SETTINGS, World, context, node, planned, queue, quota, view};
use crate::executor::Class;
use crate::settings::LedgerSettings;
use crate::tests::api::{Log, Reply, client};
use crate::tests::objects::owner;
use crate::writer::Writer;

fn ledger_settings() -> LedgerSettings {
    LedgerSettings { namespace: "home".to_owned(), limit: LedgerSettings::LIMIT }
}

/// The requests of one cycle in which two queues share 4 cpu, and `a` has this mode.
async fn asked(mode: &str) -> Vec<String> {
    let mut team = queue("a");
    team["spec"] = json!({"mode": mode, "defaultRequests": {"cpu": "100m"}});
    let mut standing = quota("a", 1, Some(1), 4, 4);
    standing["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "quotient"});
    let view = view(&[node(4), team, queue("b"), standing, owner("ReplicaSet", "web", 2)]);
    let (client, log): (_, Log) = client(|_| Reply::failure(503, "ServiceUnavailable", "later"));
    let (context, _told) = context(client, view.clone());
    let mut writer = Writer::new(&context, Mode::Full, SETTINGS, ledger_settings());
    let plan = planned(&view);
    writer.find_requeues(&view.read(|index| index.snapshot(NOW)));
    assert_eq!(writer.requeues.len(), 1, "the owner has room in the quota that stands");
    writer.write_quotas(&plan).await;
    writer.evict_and_admit(&plan).await.unwrap();
    writer.scale(&plan).await;
    log.lines().into_iter().filter(|line| line.contains("/namespaces/a/")).collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_to_the_namespace_of_a_queue_in_observe() {
    assert_eq!(asked("Observe").await, [""; 0]);
    for mode in ["Quota", "Full"] {
        assert_eq!(
            asked(mode).await,
            [
                "POST /api/v1/namespaces/a/limitranges",
                "PATCH /api/v1/namespaces/a/resourcequotas/quotient",
                "PATCH /apis/apps/v1/namespaces/a/replicasets/web",
            ],
            "{mode}"
        );
    }
}

/// A count writes to the quota twice.
#[tokio::test]
async fn usage_is_not_counted_anew_for_a_queue_in_observe() {
    let mut observing = queue("a");
    observing["spec"] = json!({"mode": "Observe"});
    let standing = ["a", "b"].map(|namespace| quota(namespace, 1, Some(1), 2, 2));
    let objects = [&[node(4), observing, queue("b")], standing.as_slice()].concat();
    let mut it = World::of(view(&objects), |_| Reply::Json(200, quota("b", 2, Some(1), 2, 2)));
    let plan = planned(&it.view);
    it.writer.usage_resyncs = ["a", "b"].map(|namespace| (namespace.into(), false)).into();
    it.writer.only(Class::UsageResync, &plan).await;
    assert_eq!(it.log.lines(), ["PATCH /api/v1/namespaces/b/resourcequotas/quotient"]);
}

/// It has no right to write the ledger, and needs none.
#[tokio::test]
async fn an_operator_in_observe_does_not_ask_for_the_ledger() {
    let view = view(&[node(4), queue("a")]);
    let (client, log) = client(|_| Reply::failure(403, "Forbidden", "configmaps is forbidden"));
    let (context, _told) = context(client, view);
    let mut writer = Writer::new(&context, Mode::Observe, SETTINGS, ledger_settings());
    writer.before_snapshot().await.unwrap();
    writer.grant(None, &Plan::default()).await.unwrap();
    assert_eq!(log.lines(), [""; 0]);
}
