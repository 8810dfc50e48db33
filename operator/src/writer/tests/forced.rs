//! Pods that are long past their deadline: asked to go without grace, rarely, and told once.

use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, PodId, QueuePlan};
use serde_json::json;

use super::{SETTINGS, tools, view};
use crate::announce::Happening;
use crate::test_api::{Reply, client};
use crate::writer::evictions::Evictor;

fn id(name: &str) -> PodId {
    PodId { namespace: "a".into(), name: name.into(), uid: format!("uid-{name}").as_str().into() }
}

/// A plan in which pods of queue a are stuck.
fn stuck(names: &[&str]) -> Plan {
    let queue = |is_parent| QueuePlan { is_parent, ..QueuePlan::default() };
    let queues = [("group", true), ("team", false)]
        .map(|(name, is_parent)| (QueueName::new("a", name), queue(is_parent)));
    Plan { queues: queues.into(), forced: names.iter().map(|name| id(name)).collect(), ..Plan::default() }
}

fn done() -> Reply {
    Reply::Json(
        201,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
    )
}

#[tokio::test(start_paused = true)]
async fn they_go_without_grace_once_in_half_a_minute() {
    let (client, log) = client(|_| done());
    let (tools, mut announced) = tools(client, view(&[]));
    let metrics = tools.metrics.clone();
    let mut evictor = Evictor::new(tools, SETTINGS);
    let plan = stuck(&["p2", "p1"]);
    evictor.evict(&plan).await;
    evictor.evict(&plan).await;
    let asked = log.all();
    assert_eq!(asked.len(), 2);
    for asked in &asked {
        let name = asked.body["metadata"]["name"].as_str().unwrap();
        assert_eq!(asked.line(), format!("POST /api/v1/namespaces/a/pods/{name}/eviction"));
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": format!("uid-{name}")}});
        assert_eq!(asked.body["deleteOptions"], options);
    }
    assert_eq!(metrics.evictions.forced.get(), 2);
    let Happening::ForceDeleted { queue, pods } = announced.try_recv().unwrap() else { panic!("it is told") };
    assert_eq!((queue.to_string().as_str(), pods), ("a/team", vec!["p1".into(), "p2".into()]));

    // A finalizer may hold them: they are asked again, and nobody is told again.
    tokio::time::sleep_until(evictor.next_retry().unwrap()).await;
    evictor.evict(&plan).await;
    assert_eq!(log.all().len(), 4);
    assert!(announced.try_recv().is_err());
    // Nothing is due once they are gone.
    evictor.evict(&stuck(&[])).await;
    assert_eq!(evictor.next_retry(), None);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_counted_and_not_told_as_done() {
    let (client, log) = client(|_| Reply::failure(403, "Forbidden", "pods \"p1\" is forbidden"));
    let (tools, mut announced) = tools(client, view(&[]));
    let metrics = tools.metrics.clone();
    let mut evictor = Evictor::new(tools, SETTINGS);
    evictor.evict(&stuck(&["p1"])).await;
    evictor.evict(&stuck(&["p1"])).await;
    assert_eq!(log.all().len(), 1);
    assert_eq!(metrics.queues.refusals(&QueueName::new("a", "team"), "Forbidden"), 1);
    assert_eq!(metrics.evictions.forced.get(), 0);
    assert!(announced.try_recv().is_err());
    let wait = evictor.next_retry().unwrap().duration_since(tokio::time::Instant::now());
    assert_eq!(wait, Duration::from_secs(30));
}
