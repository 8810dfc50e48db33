//! The StatefulSet controller: pods by number, one after the other, each again under its name when it is gone.

use std::time::Duration;

use serde_json::json;

use super::owners::{Waits, concerns, controlled, pod_of};
use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Call, Change, Store, is_terminal};

/// The controller.
pub(super) struct StatefulSets(Waits);

impl StatefulSets {
    pub(super) const fn new() -> Self {
        Self(Waits::new(Duration::from_millis(5), Duration::from_secs(1000)))
    }

    /// One step: the first pod that is not as it should be.
    fn step(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let set = client.get(key)?;
        let replicas = set["spec"]["replicas"].as_u64().unwrap_or(1);
        let parallel = set["spec"]["podManagementPolicy"] == "Parallel";
        for number in 0..replicas {
            let name = format!("{}-{number}", key.name);
            let pod = Key::new(Kind::Pod, &key.namespace, &name);
            let is_ready = match client.get(&pod) {
                Some(found) if is_terminal(&found) && !object::is_leaving(&found) => {
                    client.delete(&pod, &found, None);
                    true
                }
                Some(found) => object::is_true(&found, "Ready") && !object::is_leaving(&found),
                None if client.state.is_in_flight(&pod) => false,
                None => {
                    let mut made = pod_of(Kind::StatefulSet, &set);
                    object::meta_mut(&mut made).insert("name".to_owned(), name.into());
                    object::meta_mut(&mut made).remove("generateName");
                    if client.ask(&Call::create(Kind::Pod, made)).is_err() {
                        return Some(self.0.refused(key));
                    }
                    self.0.end(key);
                    false
                }
            };
            if !is_ready && !parallel {
                return None;
            }
        }
        // Those that are too many go from the highest number down, one at a time.
        let surplus = controlled(&set, Kind::Pod, client.store()).into_iter().filter_map(|(pod, found)| {
            let number: u64 = pod.name.rsplit_once('-')?.1.parse().ok()?;
            (number >= replicas).then_some((number, pod, found))
        });
        let last = surplus.max_by_key(|(number, _, _)| *number);
        if let Some((_, pod, found)) = last.filter(|(_, _, found)| !object::is_leaving(found)) {
            client.delete(&pod, &found, None);
        }
        None
    }
}

impl Controller for StatefulSets {
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        concerns(Kind::StatefulSet, Kind::Pod, change, keys);
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let again = self.step(key, client);
        let set = client.get(key)?;
        let pods = controlled(&set, Kind::Pod, client.store());
        let ready = pods.iter().filter(|(_, pod)| object::is_true(pod, "Ready")).count();
        let status = json!({
            "replicas": pods.len(), "readyReplicas": ready,
            "observedGeneration": set["metadata"]["generation"],
        });
        client.write_status(Kind::StatefulSet, &set, status);
        again
    }
}
