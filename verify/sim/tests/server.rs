//! The simulated API server answers as a real one does.

use quotient_sim::World;
use quotient_sim::faults::Act;
use quotient_sim::objects::{Key, Kind, object};
use quotient_sim::scenario::build;
use quotient_sim::server::{Body, Call, Client, Failure, Reply};
use quotient_sim::trace::Verb;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn ask(world: &World, call: &Call) -> Reply {
    world.ask(&Client::named("test"), call)
}

fn refused(reply: Reply) -> (u16, String) {
    let failure: Failure = reply.unwrap_err();
    (failure.code, failure.message().to_owned())
}

fn world() -> World {
    let world = World::new(1);
    world.create(Kind::Namespace, build::namespace("a"));
    world.create(Kind::Node, build::node("node-1", "9", "27Gi"));
    world
}

fn pod(name: &str, cpu: &str) -> Call {
    Call::create(Kind::Pod, build::pod("a", name, &build::work(cpu, "1Gi")))
}

fn key(kind: Kind, name: &str) -> Key {
    Key::new(kind, "a", name)
}

fn evict(name: &str, options: &Value) -> Call {
    let body = json!({"metadata": {"name": name, "namespace": "a"}, "deleteOptions": options});
    let call = Call::new(Verb::Create, key(Kind::Pod, name)).on("eviction");
    Call { body: Body::Object(Arc::new(body)), ..call }
}

#[test]
fn a_quota_bounds_what_its_status_says_and_is_charged_at_once() {
    let mut world = world();
    world.create(Kind::ResourceQuota, build::quota("a", "quotient", &json!({"requests.cpu": "3"})));
    // Not enforced yet: no pod is rejected.
    assert!(ask(&world, &pod("early", "2")).is_ok());
    world.run_for(Duration::from_secs(5));
    let used =
        |world: &World| world.get(Kind::ResourceQuota, "a", "quotient").unwrap()["status"]["used"].clone();
    assert_eq!(used(&world), json!({"requests.cpu": "2"}));
    assert_eq!(
        refused(ask(&world, &pod("late", "2"))),
        (
            403,
            "pods \"late\" is forbidden: exceeded quota: quotient, requested: requests.cpu=2, used: requests.cpu=2, \
             limited: requests.cpu=3"
                .to_owned()
        )
    );
    assert!(ask(&world, &pod("small", "500m")).is_ok());
    assert_eq!(used(&world), json!({"requests.cpu": "2500m"}));
    let bare =
        json!({"metadata": {"namespace": "a", "name": "bare"}, "spec": {"containers": [{"name": "work"}]}});
    assert_eq!(
        refused(ask(&world, &Call::create(Kind::Pod, bare))),
        (
            403,
            "pods \"bare\" is forbidden: failed quota: quotient: must specify requests.cpu for: work"
                .to_owned()
        )
    );
}

#[test]
fn versions_uids_and_tests_refuse_what_was_decided_on_something_else() {
    let world = world();
    world.create(Kind::ConfigMap, json!({"metadata": {"namespace": "a", "name": "c"}, "data": {"x": "1"}}));
    let found = world.get(Kind::ConfigMap, "a", "c").unwrap();
    let mut newer = found.clone();
    newer["data"]["x"] = "2".into();
    assert!(ask(&world, &Call::update(Kind::ConfigMap, newer)).is_ok());
    let (code, message) = refused(ask(&world, &Call::update(Kind::ConfigMap, found.clone())));
    assert_eq!(code, 409);
    assert!(message.contains("the object has been modified"), "{message}");
    let other = json!({"metadata": {"uid": "other", "annotations": {"x": "y"}}});
    assert_eq!(refused(ask(&world, &Call::merge(key(Kind::ConfigMap, "c"), other))).0, 422);
    let operations = json!([{"op": "test", "path": "/data/x", "value": "1"}]);
    let patch = Call::new(Verb::Patch, key(Kind::ConfigMap, "c"));
    assert_eq!(refused(ask(&world, &Call { body: Body::JsonPatch(Arc::new(operations)), ..patch })).0, 422);
    let options = json!({"preconditions": {"resourceVersion": object::meta(&found, "resourceVersion")}});
    assert_eq!(refused(ask(&world, &Call::delete(key(Kind::ConfigMap, "c"), options))).0, 409);
    assert_eq!(refused(ask(&world, &Call::delete(key(Kind::ConfigMap, "d"), json!({})))).0, 404);
}

#[test]
fn a_status_has_its_own_place_and_a_spec_its_generation() {
    let world = world();
    world.create(Kind::Queue, build::team("a", 1));
    let queue = || world.get(Kind::Queue, "a", "a").unwrap();
    let change =
        |patch: Value, place| ask(&world, &Call::merge(key(Kind::Queue, "a"), patch).on(place)).unwrap();
    change(json!({"status": {"observedGeneration": 1}}), "");
    assert!(queue()["status"].is_null());
    change(json!({"status": {"observedGeneration": 1}, "spec": {"weight": 9}}), "status");
    assert_eq!(
        (&queue()["status"]["observedGeneration"], &queue()["spec"]["weight"]),
        (&json!(1), &json!(1))
    );
    change(json!({"spec": {"weight": 2}}), "");
    assert_eq!(queue()["metadata"]["generation"], 2);
    let version = queue()["metadata"]["resourceVersion"].clone();
    change(json!({"spec": {"weight": 2}}), "");
    assert_eq!(queue()["metadata"]["resourceVersion"], version, "what changes nothing makes no version");
}

#[test]
fn a_pod_leaves_by_and_by_and_is_gone_at_once_where_it_never_ran() {
    let mut world = world();
    assert!(ask(&world, &pod("unbound", "99")).is_ok());
    assert!(ask(&world, &pod("p", "1")).is_ok());
    world.run_for(Duration::from_secs(5));
    let running = world.get(Kind::Pod, "a", "p").unwrap();
    assert_eq!(object::phase(&running), "Running");
    let wrong = json!({"preconditions": {"uid": "other"}});
    let (code, message) = refused(ask(&world, &evict("p", &wrong)));
    assert_eq!(code, 409);
    assert!(message.contains("the UID in the precondition (other)"), "{message}");
    assert!(ask(&world, &evict("p", &json!({"preconditions": {"uid": object::uid(&running)}}))).is_ok());
    let leaving = world.get(Kind::Pod, "a", "p").unwrap();
    assert!(object::is_leaving(&leaving) && object::is_true(&leaving, "DisruptionTarget"));
    assert_eq!(leaving["metadata"]["deletionGracePeriodSeconds"], 30);
    assert!(ask(&world, &evict("unbound", &json!({}))).is_ok());
    assert_eq!(world.get(Kind::Pod, "a", "unbound"), None);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.get(Kind::Pod, "a", "p"), None);
    assert_eq!(refused(ask(&world, &evict("p", &json!({})))).0, 404);
}

#[test]
fn budgets_refuse_and_two_of_them_for_ever() {
    let mut world = world();
    world.create(Kind::PodDisruptionBudget, build::budget("a", "p", 1));
    assert!(ask(&world, &pod("p", "1")).is_ok());
    // It does not run yet: no budget is asked.
    world.run_for(Duration::from_secs(5));
    let failure = ask(&world, &evict("p", &json!({}))).unwrap_err();
    assert_eq!(
        (failure.code, &failure.status["details"]["causes"][0]["reason"]),
        (429, &json!("DisruptionBudget"))
    );
    let mut second = build::budget("a", "p", 0);
    second["metadata"]["name"] = "second".into();
    world.create(Kind::PodDisruptionBudget, second);
    assert_eq!(refused(ask(&world, &evict("p", &json!({})))).0, 500);
    ask(&world, &Call::delete(key(Kind::PodDisruptionBudget, "p"), json!({}))).unwrap();
    world.run_for(Duration::from_secs(1));
    assert!(ask(&world, &evict("p", &json!({}))).is_ok());
}

#[test]
fn a_namespace_that_goes_takes_everything_with_it_and_lets_nothing_in() {
    let mut world = world();
    world.create(Kind::Job, build::job("a", "train", 2, &build::work("1", "1Gi")));
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.pods("a"), 2);
    ask(&world, &Call::delete(Key::new(Kind::Namespace, "", "a"), json!({}))).unwrap();
    let (code, message) = refused(ask(&world, &pod("p", "1")));
    assert_eq!(code, 403);
    assert!(message.contains("because it is being terminated"), "{message}");
    world.run_for(Duration::from_secs(60));
    assert_eq!(world.get(Kind::Namespace, "", "a"), None);
    assert_eq!(world.pods("a"), 0);
}

#[test]
fn owners_keep_their_number_and_stateful_pods_their_names() {
    let mut world = world();
    world.create(Kind::ReplicaSet, build::replica_set("a", "web", 2, &build::work("1", "1Gi")));
    world.create(Kind::StatefulSet, build::stateful_set("a", "db", 2, &build::work("1", "1Gi")));
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.running("a", "cpu"), "4");
    let first = world.get(Kind::Pod, "a", "db-0").unwrap();
    assert!(ask(&world, &evict("db-0", &json!({}))).is_ok());
    world.run_for(Duration::from_secs(10));
    let second = world.get(Kind::Pod, "a", "db-0").unwrap();
    assert_ne!(object::uid(&first), object::uid(&second));
    ask(&world, &Call::merge(key(Kind::ReplicaSet, "web"), json!({"spec": {"replicas": 0}}))).unwrap();
    ask(&world, &Call::delete(key(Kind::StatefulSet, "db"), json!({}))).unwrap();
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.pods("a"), 0);
}

#[test]
fn a_rollout_takes_an_old_pod_once_for_each_new_one() {
    let mut world = world();
    world.create(Kind::Deployment, build::deployment("a", "web", 4, &build::work("1", "1Gi")));
    world.run_for(Duration::from_secs(10));
    let sets = |world: &World| -> Vec<Key> {
        world.state(|state| {
            state.store.list(Kind::ReplicaSet, Some("a")).map(|(key, _)| key.clone()).collect()
        })
    };
    let old = sets(&world).pop().unwrap();
    world.act(Act::Controller { name: "replicaset-controller", runs: false });
    let revision = json!({"spec": {"template": {"metadata": {"annotations": {"revision": "2"}}}}});
    ask(&world, &Call::merge(key(Kind::Deployment, "web"), revision)).unwrap();
    world.run_for(Duration::from_secs(5));
    let new = sets(&world).into_iter().find(|key| *key != old).unwrap();
    let size = |world: &World, key: &Key| {
        world.get(key.kind, "a", &key.name).unwrap()["spec"]["replicas"].as_u64().unwrap()
    };
    assert_eq!((size(&world, &old), size(&world, &new)), (4, 1));

    // The status of the old one still says four after one of them was taken.
    ask(&world, &Call::merge(new.clone(), json!({"status": {"readyReplicas": 1}})).on("status")).unwrap();
    world.run_for(Duration::from_secs(5));
    assert_eq!((size(&world, &old), size(&world, &new)), (3, 2));
}
