//! The DaemonSet controller: one pod for each node that takes it.

use std::time::Duration;

use serde_json::{Value, json};

use super::owners::{concerns, controlled, is_live, pod_of};
use super::scheduler::may_run_on;
use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Call, Change, Store};

/// How long it waits after a refusal.
const AGAIN: Duration = Duration::from_secs(1);

/// The controller.
pub(super) struct DaemonSets;

impl Controller for DaemonSets {
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>) {
        if change.key.kind == Kind::Node {
            keys.extend(store.list(Kind::DaemonSet, None).map(|(key, _)| key.clone()));
        } else {
            concerns(Kind::DaemonSet, Kind::Pod, change, keys);
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let set = client.get(key).filter(|set| !object::is_leaving(set))?;
        let pods = controlled(&set, Kind::Pod, client.store());
        let template = &set["spec"]["template"];
        let nodes = client.store().list(Kind::Node, None).filter(|(_, node)| may_run_on(template, node));
        let nodes: Vec<String> = nodes.map(|(node, _)| node.name.to_string()).collect();
        let has_pod = |node: &String| pods.iter().any(|(_, pod)| is_live(pod) && of_node(pod) == Some(node));
        let (there, lacking): (Vec<&String>, Vec<&String>) = nodes.iter().partition(|node| has_pod(node));
        let mut again = None;
        // What is admitted and not stored yet is for some of these nodes: it is seen then.
        for node in lacking.iter().skip(client.state.in_flight_of(&set)) {
            let mut pod = pod_of(Kind::DaemonSet, &set);
            pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({
                "nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [node]},
                ]}],
            });
            if client.ask(&Call::create(Kind::Pod, pod)).is_err() {
                again = Some(AGAIN);
            }
        }
        for (pod, found) in &pods {
            let is_wanted = of_node(found).is_some_and(|node| nodes.iter().any(|other| other == node));
            if is_live(found) && !is_wanted {
                client.delete(pod, found, None);
            }
        }
        let ready = pods.iter().filter(|(_, pod)| object::is_true(pod, "Ready")).count();
        let status = json!({
            "desiredNumberScheduled": nodes.len(), "currentNumberScheduled": there.len(),
            "numberReady": ready, "observedGeneration": set["metadata"]["generation"],
        });
        client.write_status(Kind::DaemonSet, &set, status);
        again
    }
}

/// The node that a pod is for.
pub(super) fn of_node(pod: &Value) -> Option<&str> {
    let required = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    pod.pointer(required)?.pointer("/nodeSelectorTerms/0/matchFields/0/values/0")?.as_str()
}
