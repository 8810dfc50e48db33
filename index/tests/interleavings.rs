//! However news arrives, the index ends where the API server does.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use quotient_snapshot::{NamespaceState, Remembered, Snapshot};
use serde_json::{Value, json};

use super::at;
use super::kinds::{KINDS, apply_value, delete_value, relist_begin, relist_finish};
use quotient_index::{Index, IndexSettings};

/// What happens to the object in one of a few places.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// It is written with this content; created, if there is none.
    Write { place: usize, content: u8 },
    /// It is deleted.
    Delete { place: usize },
    /// An older state of it arrives late, as the reply to an earlier write.
    Replay { place: usize },
    /// The watch breaks: the next `missed` events are seen only through the list after them.
    Relist { missed: usize },
}

/// The first of the kinds that the operator writes, too.
const FIRST_WRITTEN: usize = KINDS.len() - 3;
const PLACES: usize = 3 * KINDS.len();

/// Three objects of each kind, in two namespaces; of quotas one is of another writer.
fn object(place: usize, content: u8, life: u64, version: u64) -> Value {
    let (kind, number) = (KINDS[place % KINDS.len()], place / KINDS.len());
    let name = match kind {
        "ResourceQuota" if number < 2 => "quotient".to_owned(),
        "Namespace" => format!("ns{number}"),
        _ => format!("o{number}"),
    };
    let metadata = json!({
        "name": name,
        "namespace": (!matches!(kind, "Node" | "Namespace" | "PriorityClass")).then(|| format!("ns{}", number % 2)),
        "uid": format!("{place}-{life}"),
        "resourceVersion": version.to_string(),
        "labels": {"content": (content % 3).to_string(), "scheduling.x-k8s.io/pod-group": format!("o{}", content % 2)},
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
        "ReplicaSet" | "StatefulSet" => {
            json!({"spec": {"replicas": content % 4, "selector": {}, "template": template}})
        }
        "DaemonSet" => json!({"spec": {"selector": {}, "template": template}, "status": {
            "currentNumberScheduled": 0, "desiredNumberScheduled": content % 4, "numberMisscheduled": 0,
            "numberReady": 0,
        }}),
        "Job" => json!({"spec": {"parallelism": content % 4, "suspend": number == 0, "template": template}}),
        "Deployment" => json!({"spec": {"replicas": content % 4, "selector": {}, "template": template}}),
        "HorizontalPodAutoscaler" => json!({"spec": {
            "maxReplicas": 3, "scaleTargetRef": {"kind": "StatefulSet", "name": format!("o{number}")},
        }}),
        "PodDisruptionBudget" => json!({"spec": {"selector": (number > 0).then(|| json!({}))}, "status": {
            "disruptionsAllowed": number, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
        }}),
        "PodGroup" => json!({"spec": {"minMember": number}}),
        "PriorityClass" => json!({"value": number, "globalDefault": content.is_multiple_of(2)}),
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

fn is_written(place: usize) -> bool {
    place % KINDS.len() >= FIRST_WRITTEN && place < PLACES - 1
}

fn relist(index: &mut Index, objects: impl Iterator<Item = Value>) {
    for kind in KINDS {
        relist_begin(index, kind);
    }
    for object in objects {
        apply_value(index, &object);
    }
    for kind in KINDS {
        relist_finish(index, kind);
    }
}

/// What a decision can see: where there is no Queue, it makes no difference what owners want, nor what budgets and
/// the quotas of others allow; and what it left to the next one it knows itself.
fn decisive(snapshot: Snapshot) -> Snapshot {
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
    Snapshot { namespaces: namespaces.collect(), ..snapshot }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..PLACES, any::<u8>()).prop_map(|(place, content)| Event::Write { place, content }),
        3 => (0..PLACES).prop_map(|place| Event::Delete { place }),
        2 => (0..PLACES).prop_map(|place| Event::Replay { place }),
        1 => (0..6_usize).prop_map(|missed| Event::Relist { missed }),
    ];
    prop::collection::vec(event, 0..80)
}

proptest! {
    /// An index that saw everything, in pieces and partly twice, equals one that saw only the end; and `apply`
    /// and `delete` never hide a change.
    #[test]
    fn any_interleaving_ends_in_the_final_list(events in events()) {
        let mut index = Index::new(IndexSettings::default());
        let mut stored: BTreeMap<usize, Value> = BTreeMap::new();
        let mut former: BTreeMap<usize, Value> = BTreeMap::new();
        let mut version = 0;
        let mut blind = 0_usize;
        for event in events {
            version += 1;
            let before = index.snapshot(at("12:00:00"));
            match event {
                Event::Write { place, content } => {
                    let life = stored.get(&place).map_or(version, |object| {
                        object["metadata"]["uid"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap()
                    });
                    let object = object(place, content, life, version);
                    if let Some(old) = stored.insert(place, object.clone()) {
                        former.insert(place, old);
                    }
                    if blind == 0 {
                        let changed = apply_value(&mut index, &object);
                        prop_assert!(changed || decisive(index.snapshot(at("12:00:00"))) == decisive(before));
                    }
                }
                Event::Delete { place } => {
                    if let Some(object) = stored.remove(&place) {
                        if blind == 0 {
                            let changed = delete_value(&mut index, &object);
                            prop_assert!(changed || decisive(index.snapshot(at("12:00:00"))) == decisive(before));
                        }
                        former.insert(place, object);
                    }
                }
                // Only Queues and our quotas are written, so only of them old replies come in; and after a list
                // has shown the deletion of an object, no write of it is left to be answered.
                Event::Replay { place } if is_written(place) && blind == 0 => {
                    if let Some(object) = former.get(&place) {
                        apply_value(&mut index, object);
                        prop_assert_eq!(&index.snapshot(at("12:00:00")), &before);
                    }
                }
                Event::Replay { .. } => {}
                Event::Relist { missed } => blind = blind.max(missed + 1),
            }
            if blind > 0 {
                blind -= 1;
                if blind == 0 {
                    relist(&mut index, stored.values().cloned());
                    former.retain(|place, _| stored.contains_key(place));
                }
            }
        }
        if blind > 0 {
            relist(&mut index, stored.values().cloned());
        }
        let mut fresh = Index::new(IndexSettings::default());
        relist(&mut fresh, stored.values().cloned());
        prop_assert_eq!(index.snapshot(at("12:00:00")), fresh.snapshot(at("12:00:00")));
    }
}
