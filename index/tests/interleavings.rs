//! However news arrives, the index ends where the API server does.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_snapshot::amounts::{Amount, Resource};
use quotient_snapshot::names::{Namespace, QueueName};
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{NamespaceState, PodId, Remembered, Snapshot};
use serde_json::{Value, json};

use super::at;
use super::kinds::{self, apply_value, delete_value, relist_begin, relist_finish};
use quotient_index::limit_ranges::LimitRangeDue;
use quotient_index::{Index, IndexSettings, Kept, SkippedObject};

/// What happens to the object in one of a few places.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// It is written with this content; created, if there is none.
    Write { place: usize, content: u8 },
    /// It is deleted.
    Delete { place: usize },
    /// An older state of it arrives late: of an event, or of the reply to an earlier write.
    Replay { place: usize },
    /// The operator does something to it, as [`act`] says.
    Act { place: usize, content: u8 },
    /// The watch breaks: the next `missed` events are seen only through the list after them.
    Relist { missed: usize },
}

/// The kinds that snapshots are made of, one that is known by configuration included.
fn all_kinds() -> impl Iterator<Item = &'static str> {
    kinds::KINDS.into_iter().chain(["RayCluster"])
}

const KINDS: usize = kinds::KINDS.len() + 1;
const PLACES: usize = 3 * KINDS;

/// The place of the object of this kind and number.
fn place_of(kind: &str, number: usize) -> usize {
    all_kinds().position(|one| one == kind).unwrap() + number * KINDS
}

/// Three objects of each kind, in two namespaces; of quotas and LimitRanges one is of another writer. `uid` is that of the object
/// of a kind and number, if there is one.
fn object(place: usize, content: u8, metadata: &Value, uid: impl Fn(&str, usize) -> Option<Value>) -> Value {
    let (kind, number) = (all_kinds().nth(place % KINDS).unwrap(), place / KINDS);
    let name = match kind {
        "ResourceQuota" | "LimitRange" if number < 2 => "quotient".to_owned(),
        "Namespace" => format!("ns{number}"),
        "Job" => format!("o{number}-w"),
        _ => format!("o{number}"),
    };
    let controller = match (kind, content % 3) {
        ("ReplicaSet", 0) => Some(("apps/v1", "Deployment", json!(""))),
        ("Job", 0) => uid("QueueJob", number).map(|uid| ("quotient.dev/v1alpha1", "QueueJob", uid)),
        ("PodGroup", 0) if content.is_multiple_of(2) => {
            uid("Job", number % 2).map(|uid| ("batch/v1", "Job", uid))
        }
        ("PodGroup", 0) => uid("RayCluster", number % 2).map(|uid| ("ray.io/v1", "RayCluster", uid)),
        ("Pod", 0) => uid("RayCluster", number).map(|uid| ("ray.io/v1", "RayCluster", uid)),
        ("Pod", 1) => uid("ReplicaSet", number % 2).map(|uid| ("apps/v1", "ReplicaSet", uid)),
        _ => None,
    };
    let owner = |(api_version, kind, uid): (&str, &str, Value)| json!([{"apiVersion": api_version, "kind": kind, "name": format!("o{}", number % 2), "uid": uid, "controller": true}]);
    let own = json!({
        "name": name,
        "namespace": (!matches!(kind, "Node" | "Namespace" | "PriorityClass")).then(|| format!("ns{}", number % 2)),
        "labels": {"content": (content % 3).to_string(), "scheduling.x-k8s.io/pod-group": format!("o{}", content % 2)},
        "ownerReferences": controller.map(owner),
        "deletionTimestamp": (matches!(kind, "Pod" | "RayCluster" | "Namespace" | "Node") && content > 10).then_some("2026-01-01T12:00:00Z"),
    });
    let mut object = contents(kind, content);
    object["kind"] = kind.into();
    object["metadata"] = own;
    object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    object
}

/// A pod of which admission has filled in a default of memory, or there was none.
fn pod(content: u8) -> Value {
    let requests = json!({"cpu": (content % 4).to_string(), "memory": (content % 3).to_string()});
    let containers = json!([{"name": "c", "resources": {"requests": requests}}]);
    let gates = (content > 9).then(|| json!([{"name": "quotient.dev/share"}]));
    json!({"status": {"phase": "Running"}, "spec": {"containers": containers, "schedulingGates": gates}})
}

/// A `RayCluster` with a head and two groups.
fn ray_cluster(content: u8) -> Value {
    let worker = |cpu: u8| json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
    let group = |replicas: u8, cpu: u8| json!({"replicas": replicas, "template": {"spec": worker(cpu)}});
    json!({"spec": {
        "headGroupSpec": {"template": {"spec": worker(content % 4)}},
        "workerGroupSpecs": [group(content % 3, 1), group(content % 4, 2)],
    }})
}

/// The spec and the status of an object.
fn contents(kind: &str, content: u8) -> Value {
    let number = content % 3;
    let amount = number.to_string();
    let gang = if content < 6 { json!({"scheduling.x-k8s.io/pod-group": "o1"}) } else { json!({}) };
    let template = json!({"metadata": {"labels": gang}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": amount}}}],
        "priorityClassName": (number > 0).then(|| format!("o{number}")),
    }});
    match kind {
        "Pod" => pod(content),
        "RayCluster" => ray_cluster(content),
        "Node" => json!({"status": {"allocatable": {"cpu": amount}}}),
        "ReplicaSet" | "StatefulSet" | "Deployment" => {
            let failure = (content > 7).then(|| {
                json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": amount}])
            });
            json!({"spec": {"replicas": content % 4, "selector": {}, "template": template}, "status": {"conditions": failure}})
        }
        "DaemonSet" => json!({"spec": {"selector": {}, "template": template}, "status": {
            "currentNumberScheduled": 0, "desiredNumberScheduled": content % 4, "numberMisscheduled": 0,
            "numberReady": 0,
        }}),
        "Job" => json!({"spec": {"parallelism": content % 4, "suspend": content > 8, "template": template}}),
        "HorizontalPodAutoscaler" => {
            let kind = if content.is_multiple_of(2) { "StatefulSet" } else { "Deployment" };
            json!({"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": kind, "name": format!("o{number}")}}})
        }
        "PodDisruptionBudget" if content > 8 => json!({"spec": {"selector": "all"}}),
        "PodDisruptionBudget" => json!({"spec": {"selector": (number > 0).then(|| json!({}))}, "status": {
            "disruptionsAllowed": number, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
        }}),
        "PodGroup" => json!({"spec": {"minMember": content % 4}}),
        "PriorityClass" => json!({"value": number, "globalDefault": content.is_multiple_of(2)}),
        "LimitRange" => {
            json!({"spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": amount}}]}})
        }
        "QueueJob" if number == 0 => json!({"spec": {"suspend": "maybe"}}),
        "QueueJob" => {
            json!({"spec": {"tasks": [{"name": "w", "replicas": content % 4, "template": template}]}})
        }
        "Queue" if number == 0 => json!({"spec": {"weight": "no"}}),
        "Queue" => {
            let defaults = (content > 7).then(|| json!({"cpu": amount}));
            json!({"spec": {"limit": {"cpu": amount}, "defaultRequests": defaults}, "status": {"demand": {"cpu": content}}})
        }
        "ResourceQuota" => json!({"spec": {
            "hard": {"cpu": amount}, "scopes": content.is_multiple_of(4).then(|| json!(["BestEffort"])),
        }}),
        _ => json!({}),
    }
}

/// Whether the operator writes it, too, so that answers to its writes come in.
fn is_written(object: &Value) -> bool {
    object["kind"] == "Queue" || object["kind"] == "QueueJob" || object["metadata"]["name"] == "quotient"
}

/// Whether anything of it is kept. What is not has no age by which an older state of it is known.
fn is_kept(object: &Value) -> bool {
    let (spec, status) = (&object["spec"], &object["status"]);
    match object["kind"].as_str().unwrap() {
        "ReplicaSet" | "StatefulSet" => spec["replicas"] != 0,
        "DaemonSet" => status["desiredNumberScheduled"] != 0,
        "Job" => spec["parallelism"] != 0 && spec["suspend"] == false,
        "PodDisruptionBudget" => !spec["selector"].is_null(),
        "RayCluster" => object["metadata"]["deletionTimestamp"].is_null(),
        "ResourceQuota" => is_written(object) || spec["scopes"].is_null(),
        _ => true,
    }
}

/// A list of everything, which breaks off in the middle and is started again. Says whether it was news.
fn relist(index: &mut Index, stored: &BTreeMap<usize, Value>) -> bool {
    let before = seen(index);
    for kind in all_kinds() {
        relist_begin(index, kind);
    }
    assert_eq!(seen(index), before, "nothing is forgotten before the end of a list");
    let mut changed = false;
    for object in stored.values().take(stored.len() / 2) {
        changed |= apply_value(index, object);
    }
    for kind in all_kinds() {
        relist_begin(index, kind);
    }
    for object in stored.values() {
        changed |= apply_value(index, object);
    }
    all_kinds().fold(changed, |changed, kind| relist_finish(index, kind) | changed)
}

/// All that can be asked of an index.
type Seen = (
    Snapshot,
    Vec<(Option<LimitRangeDue>, Option<Vec<SkippedObject>>)>,
    Vec<Namespace>,
    Option<Timestamp>,
    Kept,
);

fn seen(index: &mut Index) -> Seen {
    let of_namespace = |name: &str| {
        let due = ["o0", "o1"].into_iter().find_map(|queue| index.limit_range_due(&name.into(), queue));
        (due, index.skipped_objects(&name.into()).map(|objects| objects.to_vec()))
    };
    let beside = ["ns0", "ns1"].map(of_namespace).into();
    // How many texts and shapes were shared once depends on what was there before.
    let kept = Kept { texts: 0, shapes: 0, ..index.kept() };
    let (doubtful, next) = (index.entries_without_queue(), index.next_change(at("12:00:00")));
    (index.snapshot(at("12:00:00")), beside, doubtful, next, kept)
}

/// What a decision can see: where there is no Queue, it makes no difference what owners want, nor what budgets and
/// the quotas of others allow; and what it left to the next one it knows itself.
fn decisive(snapshot: &Snapshot) -> Snapshot {
    let seen = |state: &NamespaceState| {
        let mut state = state.clone();
        if state.queues.is_empty() {
            let NamespaceState { labels, queues, quota, pods, refused, queue_jobs, .. } = state;
            let others = NamespaceState::default();
            return NamespaceState { labels, queues, quota, pods, refused, queue_jobs, ..others };
        }
        for queue in &mut state.queues {
            queue.remembered = Remembered::default();
        }
        state
    };
    let namespaces = snapshot.namespaces.iter().map(|(name, state)| (name.clone(), Arc::new(seen(state))));
    Snapshot { namespaces: namespaces.collect(), ..snapshot.clone() }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..PLACES, 0..12_u8).prop_map(|(place, content)| Event::Write { place, content }),
        3 => (0..PLACES).prop_map(|place| Event::Delete { place }),
        2 => (0..PLACES).prop_map(|place| Event::Replay { place }),
        2 => (0..PLACES, 0..12_u8).prop_map(|(place, content)| Event::Act { place, content }),
        1 => (0..6_usize).prop_map(|missed| Event::Relist { missed }),
    ];
    prop::collection::vec(event, 0..100)
}

/// The operator evicts a pod, is refused that, or was mistaken; or it leaves something of a Queue to the next decision. Says
/// whether that was news.
fn act(index: &mut Index, object: &Value, content: u8) -> bool {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
    let pod = PodId { namespace: namespace.into(), name: name.into(), uid: uid.into() };
    match (object["kind"].as_str().unwrap(), content % 3) {
        ("Pod", 0) => index.pod_evicted(&pod, at("12:01:00")),
        ("Pod", 1) => index.pod_eviction_forgotten(&pod),
        ("Pod", _) => index.eviction_refused(&pod, at("12:02:00")),
        ("Queue", _) => {
            let demand = [(Resource::Cpu, Amount::new(i128::from(content) * 1000))].into_iter().collect();
            index.remember(&QueueName::new(namespace, name), Remembered { demand, ..Remembered::default() })
        }
        _ => false,
    }
}

/// The API server, and an index that hears of it.
struct Cluster {
    stored: BTreeMap<usize, Value>,
    /// The state before the last write of each object.
    former: BTreeMap<usize, Value>,
    /// What was done to which life of an object.
    done: Vec<(usize, Value, u8)>,
    version: u64,
    index: Index,
}

impl Cluster {
    /// The object is written. Returns it as it is then.
    fn write(&mut self, place: usize, content: u8) -> Value {
        let uid = |place| self.stored.get(&place).map(|object| object["metadata"]["uid"].clone());
        let own = uid(place).unwrap_or_else(|| format!("{place}-{}", self.version).into());
        let metadata = json!({"uid": own, "resourceVersion": self.version.to_string()});
        let mut object = object(place, content, &metadata, |kind, number| uid(place_of(kind, number)));
        if let Some(leaving) =
            self.stored.get(&place).and_then(|stored| stored["metadata"]["deletionTimestamp"].as_str())
        {
            object["metadata"]["deletionTimestamp"] = leaving.into();
        }
        self.former.extend(self.stored.insert(place, object.clone()).map(|former| (place, former)));
        object
    }

    /// An event about `object` says whether it changed anything, and the same event again does nothing.
    fn hears(&mut self, object: &Value, event: fn(&mut Index, &Value) -> bool) {
        let before = seen(&mut self.index);
        let changed = event(&mut self.index, object);
        let after = seen(&mut self.index);
        let is_decisive = decisive(&after.0) != decisive(&before.0);
        assert!(changed || !is_decisive, "a change is hidden: {object}");
        // What becomes of them is looked at beside decisions, too.
        let is_looked_at = object["kind"] == "Job" || object["kind"] == "LimitRange";
        assert!(!changed || is_decisive || after.1 != before.1 || is_looked_at, "this is no news: {object}");
        assert!(!event(&mut self.index, object), "the same again is no news: {object}");
        assert_eq!(seen(&mut self.index), after);
    }

    /// An older state comes in, and so does the end of a predecessor.
    fn replay(&mut self, place: usize) {
        let Some(former) = self.former.get(&place) else { return };
        let before = seen(&mut self.index);
        let stored = self.stored.get(&place);
        // Of what is gone, only answers to writes may still come.
        if stored.map_or(is_written(former), is_kept) {
            assert!(!apply_value(&mut self.index, former));
        }
        if stored.is_none_or(|stored| stored["metadata"]["uid"] != former["metadata"]["uid"]) {
            assert!(!delete_value(&mut self.index, former));
        }
        assert_eq!(seen(&mut self.index), before);
    }

    fn act(&mut self, place: usize, content: u8) {
        let Some(object) = self.stored.get(&place) else { return };
        let before = seen(&mut self.index);
        let changed = act(&mut self.index, object, content);
        assert_eq!(changed, seen(&mut self.index).0 != before.0, "{object}");
        self.done.push((place, object["metadata"]["uid"].clone(), content));
    }

    /// An index that sees only the end, and is told again what was done to what is left.
    fn anew(&self) -> Index {
        let mut fresh = Index::new(IndexSettings::default());
        relist(&mut fresh, &self.stored);
        for (place, uid, content) in &self.done {
            if let Some(object) = self.stored.get(place).filter(|object| object["metadata"]["uid"] == *uid) {
                act(&mut fresh, object, *content);
            }
        }
        fresh
    }

    fn relist(&mut self) {
        let before = seen(&mut self.index);
        let changed = relist(&mut self.index, &self.stored);
        assert!(changed || decisive(&seen(&mut self.index).0) == decisive(&before.0), "a change is hidden");
        // After a list has shown the deletion of an object, no write of it is left to be answered.
        self.former.retain(|place, _| self.stored.contains_key(place));
    }
}

/// An index that saw everything, in pieces and partly twice, equals one that saw only the end. Each event says whether it was
/// news.
fn play(events: &[Event]) {
    let index = Index::new(IndexSettings::default());
    let mut cluster =
        Cluster { stored: BTreeMap::new(), former: BTreeMap::new(), done: Vec::new(), version: 0, index };
    // Until LimitRanges were listed once nothing is said of defaults.
    cluster.relist();
    let mut blind = 0_usize;
    for event in events {
        cluster.version += 1;
        match *event {
            Event::Write { place, content } => {
                let object = cluster.write(place, content);
                if blind == 0 {
                    cluster.hears(&object, apply_value);
                }
            }
            Event::Delete { place } => {
                if let Some(object) = cluster.stored.remove(&place) {
                    if blind == 0 {
                        cluster.hears(&object, delete_value);
                    }
                    cluster.former.insert(place, object);
                }
            }
            Event::Replay { place } if blind == 0 => cluster.replay(place),
            Event::Act { place, content } if blind == 0 => cluster.act(place, content),
            Event::Replay { .. } | Event::Act { .. } => {}
            Event::Relist { missed } => blind = blind.max(missed + 1),
        }
        if blind > 0 {
            blind -= 1;
            if blind == 0 {
                cluster.relist();
            }
        }
    }
    if blind > 0 {
        cluster.relist();
    }
    assert_eq!(seen(&mut cluster.index), seen(&mut cluster.anew()));
}

#[test]
fn orders_that_once_mattered_do_not() {
    let write = |kind, number, content| Event::Write { place: place_of(kind, number), content };
    // A default request comes after a workload with several templates.
    play(&[write("RayCluster", 0, 3), write("Pod", 2, 6), write("Queue", 0, 4)]);
    // A PodGroup goes, and its controller gets another one.
    let delete = Event::Delete { place: place_of("PodGroup", 0) };
    let [job, first, second] = [write("Job", 0, 7), write("PodGroup", 0, 6), write("PodGroup", 2, 6)];
    play(&[write("Queue", 0, 4), job, first, delete, second]);
    play(&[write("Queue", 0, 4), job, first, second, delete]);
    // The controller has several templates.
    play(&[write("Queue", 0, 4), write("RayCluster", 0, 3), write("PodGroup", 0, 9)]);
}

proptest! {
    #[test]
    fn any_interleaving_ends_in_the_final_list(events in events()) {
        play(&events);
    }
}
