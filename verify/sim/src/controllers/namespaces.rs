//! The end of namespaces: first what is in them, then they themselves.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Change, Store};

/// Empties namespaces that are to go.
pub(super) struct NamespaceController;

impl Controller for NamespaceController {
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>) {
        let namespace = match change.key.kind {
            Kind::Namespace => change.key.clone(),
            _ if change.after.is_none() => Key::new(Kind::Namespace, "", &change.key.namespace),
            _ => return,
        };
        if store.get(&namespace).is_some_and(|found| object::is_leaving(found)) {
            keys.push(namespace);
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let namespace = client.get(key)?;
        let mut left: Vec<(Key, Arc<Value>)> = Vec::new();
        for kind in Kind::all().filter(|kind| kind.is_namespaced()) {
            let objects = client.store().list(kind, Some(&key.name));
            left.extend(objects.map(|(key, object)| (key.clone(), Arc::clone(object))));
        }
        for (object, found) in left.iter().filter(|(_, found)| !object::is_leaving(found)) {
            client.delete(object, found, None);
        }
        client.delete(key, &namespace, None);
        // Leases that go trigger nothing.
        (!left.is_empty()).then_some(Duration::from_millis(500))
    }
}
