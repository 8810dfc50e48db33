//! Garbage collection: what an owner leaves behind goes after it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Actor, Hands};
use crate::random::Lag;
use crate::server::{Change, Key, Kind, Store, object};

/// Deletes pods whose owner is gone.
#[derive(Debug)]
pub(super) struct GarbageCollector {
    lag: Lag,
}

impl GarbageCollector {
    pub(super) const fn new(lag: Lag) -> Self {
        Self { lag }
    }
}

impl Actor for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage-collector"
    }

    fn lag(&self) -> Lag {
        self.lag
    }

    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        let owner = matches!(change.key.kind, Kind::Job | Kind::ReplicaSet | Kind::StatefulSet);
        if owner && change.after.is_none() {
            keys.push(change.key.clone());
        }
    }

    fn act(&mut self, key: &Key, hands: &mut Hands<'_>) -> Option<Duration> {
        let store = hands.store();
        let uid = |owner: &Value| {
            let kind = Kind::named(owner["kind"].as_str()?)?;
            let owner = Key::new(kind, &key.namespace, owner["name"].as_str()?);
            store.get(&owner).map(|found| object::uid(found).to_owned())
        };
        let orphaned = |pod: &Value| {
            object::controller(pod).is_some_and(|owner| {
                owner["name"] == *key.name && uid(owner).as_deref() != owner["uid"].as_str()
            })
        };
        let pods = store.list(Kind::Pod, Some(&key.namespace));
        let pods: Vec<(Key, Arc<Value>)> = pods
            .filter(|(_, pod)| orphaned(pod) && !object::is_leaving(pod))
            .map(|(key, pod)| (key.clone(), Arc::clone(pod)))
            .collect();
        for (pod, found) in pods {
            hands.delete(&pod, &found, None);
        }
        None
    }
}
