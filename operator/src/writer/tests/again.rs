//! Terminating pods that are given less grace: evicted again rarely, and told once.

use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan, PodId, Stage};
use quotient_engine::reasons::EvictionReason;
use serde_json::json;

use super::evictions::{done, refusals};
use super::{World, view};
use crate::executor::Class;
use crate::tests::api::Reply;
use crate::tests::plan::eviction;

fn id(name: &str) -> PodId {
    PodId { namespace: "a".into(), name: name.into(), uid: format!("uid-{name}").as_str().into() }
}

pub(crate) fn again(name: &str) -> Eviction {
    Eviction {
        pod: id(name),
        reason: EvictionReason::ForceDeleted,
        stage: Stage::Terminating,
        rank: None,
        grace_seconds: Some(0),
        ..eviction(name)
    }
}

/// A plan in which pods of queue a are stuck.
fn stuck(names: &[&str]) -> Plan {
    Plan { shortened: names.iter().map(|name| again(name)).collect(), ..Plan::default() }
}

#[tokio::test(start_paused = true)]
async fn they_go_without_grace_once_in_half_a_minute() {
    let mut it = World::of(view(&[]), |_| done());
    let plan = stuck(&["p2", "p1"]);
    it.writer.only(Class::Eviction, &plan).await;
    it.writer.only(Class::Eviction, &plan).await;
    let asked = it.log.all();
    assert_eq!(asked.len(), 2);
    for asked in &asked {
        let name = asked.body["metadata"]["name"].as_str().unwrap();
        assert_eq!(asked.line(), format!("POST /api/v1/namespaces/a/pods/{name}/eviction"));
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": format!("uid-{name}")}});
        assert_eq!(asked.body["deleteOptions"], options);
    }
    assert_eq!(it.context.metrics.evictions.forced.get(), 2);
    let [told] = &it.told()[..] else { panic!("it is told") };
    assert!(
        told.starts_with("ForceDeleted on Queue team: Evicted 2 pods") && told.contains("p1, p2"),
        "{told}"
    );

    // A finalizer may hold them: they are evicted again, without another event.
    tokio::time::sleep_until(it.writer.next_retry().unwrap()).await;
    it.writer.only(Class::Eviction, &plan).await;
    assert_eq!((it.asked(), it.told()), (4, vec![]));
    // Nothing is due once they are gone.
    it.writer.only(Class::Eviction, &stuck(&[])).await;
    assert_eq!(it.writer.next_retry(), None);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_counted_and_not_told_as_done() {
    let mut it = World::of(view(&[]), |_| Reply::failure(403, "Forbidden", "pods \"p1\" is forbidden"));
    it.writer.only(Class::Eviction, &stuck(&["p1"])).await;
    it.writer.only(Class::Eviction, &stuck(&["p1"])).await;
    let metrics = &it.context.metrics;
    assert_eq!((refusals(metrics, "Forbidden"), metrics.evictions.forced.get()), (1, 0));
    let wait = it.writer.next_retry().unwrap().duration_since(tokio::time::Instant::now());
    assert_eq!(wait, Duration::from_secs(30));
    assert_eq!((it.asked(), it.told()), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_capped_grace_is_told_on_the_pod() {
    let mut it = World::of(view(&[]), |_| done());
    let capped = Eviction {
        beneficiary: Some(QueueName::new("b", "team")),
        reason: EvictionReason::GraceShortened,
        grace_seconds: Some(600),
        ..again("p1")
    };
    it.writer.only(Class::Eviction, &Plan { shortened: vec![capped], ..Plan::default() }).await;
    let options = json!({"gracePeriodSeconds": 600, "preconditions": {"uid": "uid-p1"}});
    assert_eq!(it.log.all()[0].body["deleteOptions"], options);
    // Nothing beside: its queue lost it before, to whatever deleted it.
    let [told] = &it.told()[..] else { panic!("the pod is told") };
    assert!(told.starts_with("Reclaimed on Pod p1: Evicted again with 600 s of grace"), "{told}");
    assert_eq!(it.context.metrics.evictions.forced.get(), 0);
}
