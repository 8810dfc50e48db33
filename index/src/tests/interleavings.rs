//! However news arrives, the index ends where the API server does.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use kube::core::DeserializeGuard;
use proptest::prelude::*;
use quotient_crds::Queue;
use serde_json::{Value, json};

use super::{apply_value, at};
use crate::{Index, IndexSettings, Keeps};

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

const KINDS: [&str; 5] = ["Pod", "Node", "Namespace", "Queue", "ResourceQuota"];
/// The first of the kinds that the operator writes, too.
const FIRST_WRITTEN: usize = 3;
const PLACES: usize = 15;

/// Three objects of each kind, in two namespaces.
fn object(place: usize, content: u8, life: u64, version: u64) -> Value {
    let (kind, number) = (KINDS[place % KINDS.len()], place / KINDS.len());
    let name = match kind {
        "ResourceQuota" => "quotient".to_owned(),
        "Namespace" => format!("ns{number}"),
        _ => format!("o{number}"),
    };
    let namespace = if kind == "ResourceQuota" { format!("ns{number}") } else { format!("ns{}", number % 2) };
    let metadata = json!({
        "name": name,
        "namespace": (!matches!(kind, "Node" | "Namespace")).then_some(namespace),
        "uid": format!("{place}-{life}"),
        "resourceVersion": version.to_string(),
        "labels": {"content": (content % 3).to_string()},
    });
    let amount = (content % 3).to_string();
    match kind {
        "Pod" => json!({
            "kind": kind, "metadata": metadata, "status": {"phase": "Running"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": amount}}}]},
        }),
        "Node" => json!({"kind": kind, "metadata": metadata, "status": {"allocatable": {"cpu": amount}}}),
        "Namespace" => json!({"kind": kind, "metadata": metadata}),
        "Queue" if content.is_multiple_of(3) => {
            json!({"kind": kind, "metadata": metadata, "spec": {"weight": "no"}})
        }
        "Queue" => json!({"kind": kind, "metadata": metadata, "spec": {"limit": {"cpu": amount}}}),
        _ => json!({"kind": kind, "metadata": metadata, "spec": {"hard": {"cpu": amount}}}),
    }
}

fn delete(index: &mut Index, object: &Value) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
    match object["kind"].as_str().unwrap() {
        "Pod" => Keeps::<Pod>::delete(index, &namespace, &name, &uid),
        "Node" => Keeps::<Node>::delete(index, &namespace, &name, &uid),
        "Namespace" => Keeps::<Namespace>::delete(index, &namespace, &name, &uid),
        "Queue" => Keeps::<DeserializeGuard<Queue>>::delete(index, &namespace, &name, &uid),
        _ => Keeps::<ResourceQuota>::delete(index, &namespace, &name, &uid),
    };
}

fn relist(index: &mut Index, objects: impl Iterator<Item = Value>) {
    Keeps::<Pod>::relist_begin(index);
    Keeps::<Node>::relist_begin(index);
    Keeps::<Namespace>::relist_begin(index);
    Keeps::<DeserializeGuard<Queue>>::relist_begin(index);
    Keeps::<ResourceQuota>::relist_begin(index);
    for object in objects {
        apply_value(index, object);
    }
    Keeps::<Pod>::relist_finish(index);
    Keeps::<Node>::relist_finish(index);
    Keeps::<Namespace>::relist_finish(index);
    Keeps::<DeserializeGuard<Queue>>::relist_finish(index);
    Keeps::<ResourceQuota>::relist_finish(index);
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..PLACES, any::<u8>()).prop_map(|(place, content)| Event::Write { place, content }),
        3 => (0..PLACES).prop_map(|place| Event::Delete { place }),
        2 => (0..PLACES).prop_map(|place| Event::Replay { place }),
        1 => (0..6_usize).prop_map(|missed| Event::Relist { missed }),
    ];
    prop::collection::vec(event, 0..60)
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
                        let changed = apply_value(&mut index, object);
                        prop_assert!(changed || index.snapshot(at("12:00:00")) == before);
                    }
                }
                Event::Delete { place } => {
                    if let Some(object) = stored.remove(&place) {
                        if blind == 0 {
                            delete(&mut index, &object);
                        }
                        former.insert(place, object);
                    }
                }
                // Only Queues and quotas are written, so only of them old replies come in; and after a list
                // has shown the deletion of an object, no write of it is left to be answered.
                Event::Replay { place } if place % KINDS.len() >= FIRST_WRITTEN && blind == 0 => {
                    if let Some(object) = former.get(&place) {
                        apply_value(&mut index, object.clone());
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
