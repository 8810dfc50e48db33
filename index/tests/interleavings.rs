//! However news arrives, the index ends where the API server does.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_snapshot::{NamespaceState, Remembered, Snapshot};
use serde_json::{Value, json};

use super::at;
use super::kinds::{KINDS, apply_value, delete_value, relist_begin, relist_finish};
use quotient_index::limit_ranges::LimitRangeDue;
use quotient_index::{Index, IndexSettings, SkippedObject};

/// What happens to the object in one of a few places.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// It is written with this content; created, if there is none.
    Write { place: usize, content: u8 },
    /// It is deleted.
    Delete { place: usize },
    /// An older state of it arrives late: of an event, or of the reply to an earlier write.
    Replay { place: usize },
    /// The watch breaks: the next `missed` events are seen only through the list after them.
    Relist { missed: usize },
}

const PLACES: usize = 3 * KINDS.len();

/// Three objects of each kind, in two namespaces; of quotas and LimitRanges one is of another writer. `queue_job` is the uid of
/// the QueueJob with the same number, if there is one.
fn object(place: usize, content: u8, life: u64, version: u64, queue_job: Option<&Value>) -> Value {
    let (kind, number) = (KINDS[place % KINDS.len()], place / KINDS.len());
    let name = match kind {
        "ResourceQuota" | "LimitRange" if number < 2 => "quotient".to_owned(),
        "Namespace" => format!("ns{number}"),
        "Job" => format!("o{number}-w"),
        _ => format!("o{number}"),
    };
    let controller = match (kind, content % 3) {
        ("ReplicaSet", 0) => Some(("apps/v1", "Deployment", json!(""))),
        ("Job", 0) => queue_job.map(|uid| ("quotient.dev/v1alpha1", "QueueJob", uid.clone())),
        _ => None,
    };
    let owner = |(api_version, kind, uid): (&str, &str, Value)| json!([{"apiVersion": api_version, "kind": kind, "name": format!("o{}", number % 2), "uid": uid, "controller": true}]);
    let metadata = json!({
        "name": name,
        "namespace": (!matches!(kind, "Node" | "Namespace" | "PriorityClass")).then(|| format!("ns{}", number % 2)),
        "uid": format!("{place}-{life}"),
        "resourceVersion": version.to_string(),
        "labels": {"content": (content % 3).to_string(), "scheduling.x-k8s.io/pod-group": format!("o{}", content % 2)},
        "ownerReferences": controller.map(owner),
    });
    let number = content % 3;
    let amount = number.to_string();
    let template = json!({"metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "o1"}}, "spec": {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": amount}}}],
        "priorityClassName": (number > 0).then(|| format!("o{number}")),
    }});
    let mut object = match kind {
        "Pod" => json!({"status": {"phase": "Running"}, "spec": template["spec"]}),
        "Node" => json!({"status": {"allocatable": {"cpu": amount}}}),
        "ReplicaSet" | "StatefulSet" | "Deployment" => {
            json!({"spec": {"replicas": content % 4, "selector": {}, "template": template}})
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
        "PodDisruptionBudget" => json!({"spec": {"selector": (number > 0).then(|| json!({}))}, "status": {
            "disruptionsAllowed": number, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
        }}),
        "PodGroup" => json!({"spec": {"minMember": number}}),
        "PriorityClass" => json!({"value": number, "globalDefault": content.is_multiple_of(2)}),
        "LimitRange" => {
            json!({"spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": amount}}]}})
        }
        "QueueJob" if number == 0 => json!({"spec": {"suspend": "maybe"}}),
        "QueueJob" => {
            json!({"spec": {"tasks": [{"name": "w", "replicas": content % 4, "template": template}]}})
        }
        "Queue" if number == 0 => json!({"spec": {"weight": "no"}}),
        "Queue" => json!({"spec": {"limit": {"cpu": amount}}, "status": {"demand": {"cpu": content}}}),
        "ResourceQuota" => json!({"spec": {
            "hard": {"cpu": amount}, "scopes": content.is_multiple_of(4).then(|| json!(["BestEffort"])),
        }}),
        _ => json!({}),
    };
    object["kind"] = kind.into();
    object["metadata"] = metadata;
    object
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
        "ResourceQuota" => is_written(object) || spec["scopes"].is_null(),
        _ => true,
    }
}

/// A list of everything, which breaks off in the middle and is started again. Says whether it was news.
fn relist(index: &mut Index, stored: &BTreeMap<usize, Value>) -> bool {
    let before = seen(index);
    for kind in KINDS {
        relist_begin(index, kind);
    }
    assert_eq!(seen(index), before, "nothing is forgotten before the end of a list");
    let mut changed = false;
    for object in stored.values().take(stored.len() / 2) {
        changed |= apply_value(index, object);
    }
    for kind in KINDS {
        relist_begin(index, kind);
    }
    for object in stored.values() {
        changed |= apply_value(index, object);
    }
    KINDS.into_iter().fold(changed, |changed, kind| relist_finish(index, kind) | changed)
}

/// All that can be asked of an index.
type Seen = (Snapshot, Vec<(Option<LimitRangeDue>, Option<Vec<SkippedObject>>)>, usize);

fn seen(index: &mut Index) -> Seen {
    let of_namespace = |name: &str| {
        let due = ["o0", "o1"].into_iter().find_map(|queue| index.limit_range_due(&name.into(), queue));
        (due, index.skipped_objects(&name.into()).map(|objects| objects.to_vec()))
    };
    let beside = ["ns0", "ns1"].map(of_namespace).into();
    (index.snapshot(at("12:00:00")), beside, index.kept().namespaces)
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
        1 => (0..6_usize).prop_map(|missed| Event::Relist { missed }),
    ];
    prop::collection::vec(event, 0..80)
}

/// The API server, and an index that hears of it.
struct Cluster {
    stored: BTreeMap<usize, Value>,
    /// The state before the last write of each object.
    former: BTreeMap<usize, Value>,
    version: u64,
    index: Index,
}

impl Cluster {
    /// The object is written. Returns it as it is then.
    fn write(&mut self, place: usize, content: u8) -> Value {
        let life = self.stored.get(&place).map_or(self.version, |object| {
            object["metadata"]["uid"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap()
        });
        let queue_job =
            KINDS.iter().position(|kind| *kind == "QueueJob").unwrap() + place - place % KINDS.len();
        let queue_job = self.stored.get(&queue_job).map(|object| object["metadata"]["uid"].clone());
        let object = object(place, content, life, self.version, queue_job.as_ref());
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

    fn relist(&mut self) {
        let before = seen(&mut self.index);
        let changed = relist(&mut self.index, &self.stored);
        assert!(changed || decisive(&seen(&mut self.index).0) == decisive(&before.0), "a change is hidden");
        // After a list has shown the deletion of an object, no write of it is left to be answered.
        self.former.retain(|place, _| self.stored.contains_key(place));
    }
}

proptest! {
    /// An index that saw everything, in pieces and partly twice, equals one that saw only the end. Each event says whether it was
    /// news.
    #[test]
    fn any_interleaving_ends_in_the_final_list(events in events()) {
        let mut fresh = Index::new(IndexSettings::default());
        let index = Index::new(IndexSettings::default());
        let mut cluster = Cluster { stored: BTreeMap::new(), former: BTreeMap::new(), version: 0, index };
        // Until LimitRanges were listed once nothing is said of defaults.
        cluster.relist();
        let mut blind = 0_usize;
        for event in events {
            cluster.version += 1;
            match event {
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
                Event::Replay { .. } => {}
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
        relist(&mut fresh, &cluster.stored);
        prop_assert_eq!(seen(&mut cluster.index), seen(&mut fresh));
    }
}
