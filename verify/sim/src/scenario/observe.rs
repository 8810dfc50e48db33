//! What tests ask of a cluster.

use serde_json::Value;

use super::World;
use crate::objects::{Key, Kind, object};
use crate::server::{self};

impl World {
    /// The object, if it is there.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Value> {
        self.state(|state| state.store.get(&Key::new(kind, namespace, name)).map(|object| (**object).clone()))
    }

    /// What the quota of `namespace` enforces: `requests.cpu 2, requests.memory 6Gi`. Empty without one.
    pub fn hard(&self, namespace: &str) -> String {
        let quota = self.get(Kind::ResourceQuota, namespace, quotient_crds::names::QUOTA);
        let hard = quota.map(|mut quota| quota["status"]["hard"].take()).unwrap_or_default();
        let one = |(name, value): (&String, &Value)| format!("{name} {}", value.as_str().unwrap_or_default());
        hard.as_object().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What the pods of `namespace` that run request of `resource`, as text: `2`, `1500m`. Of all namespaces if it is empty.
    pub fn running(&self, namespace: &str, resource: &str) -> String {
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        let sum = self.state(|state| {
            let pods = state.store.list(Kind::Pod, namespace);
            let running = pods.filter(|(_, pod)| object::phase(pod) == "Running" && !object::is_leaving(pod));
            running.map(|(_, pod)| server::requests(pod).get(resource).copied().unwrap_or_default()).sum()
        });
        server::text(resource, sum)
    }

    /// Whether pods of the queue of `namespace` hold what its quota does not allow yet: they were there before any quota, and so
    /// were more pods than have room.
    pub fn is_held_by_itself(&self, namespace: &str) -> bool {
        let queue = self.get(Kind::Queue, namespace, namespace).unwrap_or_default();
        let conditions = queue["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|condition| condition["reason"] == "HeldByItself")
    }

    /// How many pods of `namespace` there are.
    pub fn pods(&self, namespace: &str) -> usize {
        self.state(|state| state.store.list(Kind::Pod, Some(namespace)).count())
    }

    /// How many pods went because of an eviction.
    pub fn evictions(&self) -> usize {
        self.state(|state| state.trace.records.iter().filter(|record| record.evicted()).count())
    }
}
