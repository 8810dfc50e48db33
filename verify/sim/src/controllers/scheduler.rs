//! The scheduler: the first node that fits, most important pods first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon_sets::of_node;
use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, Name, object};
use crate::random::Lag;
use crate::server::{self, Amounts, Change, Store, is_terminal};

/// Binds pods.
pub(super) struct Scheduler;

impl Controller for Scheduler {
    /// All pods that wait, whenever one more does or there may be more room.
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        let concerns = match change.key.kind {
            Kind::Pod => change.after.as_ref().is_none_or(|pod| waits(pod) || is_terminal(pod)),
            Kind::Node => true,
            _ => false,
        };
        if concerns {
            keys.push(Key::new(Kind::Pod, "", ""));
        }
    }

    /// Binds the first pod that fits somewhere, and goes on a moment later.
    fn act(&mut self, _: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let mut waiting: Vec<(Key, Arc<Value>)> = Vec::new();
        let mut taken: BTreeMap<String, Amounts> = BTreeMap::new();
        for (key, pod) in client.store().list(Kind::Pod, None) {
            if waits(pod) {
                waiting.push((key.clone(), Arc::clone(pod)));
            } else if let Some(node) = pod["spec"]["nodeName"].as_str().filter(|_| !is_terminal(pod)) {
                server::add(taken.entry(node.to_owned()).or_default(), &server::requests(pod));
            }
        }
        waiting.sort_by_cached_key(|(key, pod)| {
            let priority = std::cmp::Reverse(pod["spec"]["priority"].as_i64().unwrap_or_default());
            (priority, object::meta(pod, "creationTimestamp").to_owned(), key.clone())
        });
        for (key, pod) in &waiting {
            if let Some(node) = first_fit(pod, client.store(), &taken) {
                client.bind(key, &node);
                // The change that this makes brings it back.
                let more = waiting.len() > 1;
                return more.then(|| client.draw(Lag::new(0, 2)));
            }
        }
        for (key, pod) in waiting {
            if matches!(object::condition(&pod, "PodScheduled"), Some("True" | "False")) {
                continue;
            }
            let mut status = json!({"status": pod["status"]});
            object::set_condition(
                &mut status,
                "PodScheduled",
                "False",
                "Unschedulable",
                &client.state.date(),
            );
            let found = client.get(&key)?;
            client.write_status(Kind::Pod, &found, status["status"].take());
        }
        None
    }
}

/// The first node that takes the pod beside what others have `taken`.
fn first_fit(pod: &Value, store: &Store, taken: &BTreeMap<String, Amounts>) -> Option<Name> {
    let requests = server::requests(pod);
    let none = Amounts::new();
    let mut nodes = store.list(Kind::Node, None);
    let fits = nodes.find(|(node, found)| {
        may_run_on(pod, found) && has_room(found, taken.get(&*node.name).unwrap_or(&none), &requests)
    });
    fits.map(|(node, _)| node.name.clone())
}

fn waits(pod: &Value) -> bool {
    let spec = &pod["spec"];
    let other = spec["schedulerName"].as_str().is_some_and(|name| name != "default-scheduler");
    let gated = spec["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    !spec["nodeName"].is_string() && !gated && !other && !object::is_leaving(pod) && !is_terminal(pod)
}

/// Whether the node lets the pod in, room apart: ready, not cordoned, selected, its taints tolerated.
pub(super) fn may_run_on(pod: &Value, node: &Value) -> bool {
    let selector = pod["spec"]["nodeSelector"].as_object().into_iter().flatten();
    let labels = &node["metadata"]["labels"];
    let selected = selector.into_iter().all(|(key, value)| labels[key] == *value);
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let tolerated = taints
        .filter(|taint| taint["effect"] == "NoSchedule" || taint["effect"] == "NoExecute")
        .all(|taint| tolerates(&pod["spec"]["tolerations"], taint));
    let named = of_node(pod).is_none_or(|named| *named == *object::name(node));
    selected && named && tolerated && node["spec"]["unschedulable"] != true && object::is_true(node, "Ready")
}

fn tolerates(tolerations: &Value, taint: &Value) -> bool {
    tolerations.as_array().into_iter().flatten().any(|toleration| {
        let of_effect = toleration["effect"].is_null() || toleration["effect"] == taint["effect"];
        let exists = toleration["operator"] == "Exists";
        let of_key = toleration["key"] == taint["key"] || (exists && toleration["key"].is_null());
        let of_value = exists || toleration["value"] == taint["value"];
        of_effect && of_key && of_value
    })
}

fn has_room(node: &Value, taken: &Amounts, requests: &Amounts) -> bool {
    let allocatable = server::quantities(&node["status"]["allocatable"]);
    requests.iter().all(|(name, amount)| {
        let taken = taken.get(name).copied().unwrap_or_default();
        taken + amount <= allocatable.get(name).copied().unwrap_or_default()
    })
}
