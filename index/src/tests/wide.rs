//! Many objects of one tenant: reading them takes a time that grows as they do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kinds::apply_value;
use super::{at, documents};
use crate::{Index, IndexSettings};

const QUEUE: &str = "{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}\n---\n";

/// The least time of three tries: others run beside the test.
fn least(mut work: impl FnMut()) -> Duration {
    let tries = (0..3).map(|_| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    });
    tries.min().unwrap()
}

/// Twice as much takes at most 2.3 times as long, and what the clock cannot tell apart.
#[track_caller]
fn grows_no_faster(half: Duration, whole: Duration) {
    let most = half.mul_f64(2.3) + Duration::from_millis(60);
    assert!(whole <= most, "{half:?} for one half, {whole:?} for the whole");
}

/// Deployments, their ReplicaSets, StatefulSets and an autoscaler for each of both, so many of each.
fn sized(number: usize) -> Vec<Value> {
    let template = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
    let mut all = documents(QUEUE);
    let each = |make: &dyn Fn(usize) -> Value| (0..number).map(make).collect::<Vec<_>>();
    all.extend(each(&|at| {
        let owner = json!([{"kind": "Deployment", "name": format!("web-{at}"), "uid": format!("d-{at}"),
            "controller": true, "apiVersion": "apps/v1"}]);
        json!({"kind": "ReplicaSet",
            "metadata": {"name": format!("web-{at}-x"), "namespace": "a", "uid": format!("r-{at}"), "ownerReferences": owner},
            "spec": {"replicas": 2, "selector": {}, "template": template}})
    }));
    all.extend(each(&|at| {
        json!({"kind": "StatefulSet", "metadata": {"name": format!("db-{at}"), "namespace": "a", "uid": format!("s-{at}")},
            "spec": {"replicas": 2, "serviceName": "", "selector": {}, "template": template}})
    }));
    all.extend(each(&|at| {
        json!({"kind": "Deployment", "metadata": {"name": format!("web-{at}"), "namespace": "a", "uid": format!("d-{at}")},
            "spec": {"replicas": 3, "selector": {}, "template": {}}})
    }));
    for (kind, name) in [("Deployment", "web"), ("StatefulSet", "db")] {
        all.extend(each(&|at| {
            json!({"kind": "HorizontalPodAutoscaler",
                "metadata": {"name": format!("{name}-{at}"), "namespace": "a", "uid": format!("h-{name}-{at}")},
                "spec": {"maxReplicas": 9, "scaleTargetRef": {"kind": kind, "name": format!("{name}-{at}")}}})
        }));
    }
    all
}

/// Before, each autoscaler was looked at for each owner with every event: this took minutes.
#[test]
fn autoscalers_are_found_by_their_targets() {
    let load = |objects: &[Value]| {
        let mut index = Index::new(IndexSettings::default());
        let mut begin = Duration::MAX;
        for _ in 0..3 {
            index = Index::new(IndexSettings::default());
            let start = Instant::now();
            for object in objects {
                apply_value(&mut index, object);
            }
            begin = begin.min(start.elapsed());
        }
        (index, begin)
    };
    let (_, half) = load(&sized(1_500));
    let (mut index, whole) = load(&sized(3_000));
    let snapshot = index.snapshot(at("12:00:00"));
    let owners = &snapshot.namespaces[&"a".into()].owners;
    let autoscaled = Some(quotient_engine::reason::Reason::Autoscaled);
    assert_eq!(owners.len(), 6_000);
    assert!(owners.iter().all(|owner| owner.size.left_alone == autoscaled), "each has one");
    let wanted: u32 = owners.iter().map(|owner| owner.wanted).sum();
    assert_eq!(wanted, 3_000 * 3 + 3_000 * 2);
    assert!(whole < Duration::from_secs(6), "{whole:?}");
    grows_no_faster(half, whole);
}

/// Many ReplicaSets of one Deployment, and many autoscalers of it, are no worse than as many of many.
#[test]
fn one_deployment_may_have_many_of_all() {
    let concentrated = |number: usize| -> Vec<Value> {
        let mut all = sized(number);
        for object in &mut all {
            if let Some(owner) = object.pointer_mut("/metadata/ownerReferences/0") {
                (owner["name"], owner["uid"]) = ("web-0".into(), "d-0".into());
            }
            if object["kind"] == "HorizontalPodAutoscaler" {
                object["spec"]["scaleTargetRef"]["name"] = "web-0".into();
            }
        }
        all
    };
    let load = |objects: &[Value]| {
        let mut index = Index::new(IndexSettings::default());
        for object in objects {
            apply_value(&mut index, object);
        }
    };
    let (half, whole) = (concentrated(750), concentrated(1_500));
    grows_no_faster(least(|| load(&half)), least(|| load(&whole)));
}

/// What an event does not concern stays as it is, and what it does is read: every order ends alike.
#[test]
fn sizes_are_the_same_in_every_order() {
    let mut objects = sized(4);
    // Two ReplicaSets of one Deployment, two autoscalers of one StatefulSet.
    objects[2]["metadata"]["ownerReferences"] = objects[1]["metadata"]["ownerReferences"].clone();
    let last = objects.len() - 1;
    objects[last]["spec"]["scaleTargetRef"]["name"] = "db-0".into();
    let shown = |objects: &mut dyn Iterator<Item = &Value>| {
        let mut index = Index::new(IndexSettings::default());
        for object in objects {
            apply_value(&mut index, object);
        }
        super::story::tell(&index.snapshot(at("12:00:00")))
    };
    let expected = shown(&mut objects.iter());
    assert_eq!(expected.matches("RollingOut").count(), 0, "{expected}");
    assert_eq!(shown(&mut objects.iter().rev()), expected);
    for start in 0..objects.len() {
        assert_eq!(shown(&mut objects.iter().cycle().skip(start).take(objects.len())), expected);
    }
}
