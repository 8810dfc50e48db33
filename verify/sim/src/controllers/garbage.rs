//! Garbage collection: what an owner leaves behind goes after it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Change, Store};

/// Deletes pods, quotas and LimitRanges whose owner is gone.
pub(super) struct GarbageCollector;

impl Controller for GarbageCollector {
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        let is_owned = |object: &Arc<Value>| object::controller(object).is_some();
        let concerns = match change.key.kind {
            Kind::Job | Kind::Queue | Kind::ReplicaSet | Kind::StatefulSet => change.after.is_none(),
            // They may be written for an owner that is gone by then.
            Kind::LimitRange | Kind::ResourceQuota => change.after.as_ref().is_some_and(is_owned),
            _ => false,
        };
        if concerns {
            keys.push(change.key.clone());
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let store = client.store();
        let uid = |owner: &Value| {
            let kind = Kind::named(owner["kind"].as_str()?)?;
            let owner = Key::new(kind, &key.namespace, owner["name"].as_str()?);
            store.get(&owner).map(|found| object::uid(found).to_owned())
        };
        let is_ownerless = |dependent: &Value| {
            object::controller(dependent).is_some_and(|owner| uid(owner).as_deref() != owner["uid"].as_str())
        };
        let kinds: &[Kind] = match key.kind {
            Kind::LimitRange => &[Kind::LimitRange],
            Kind::ResourceQuota => &[Kind::ResourceQuota],
            Kind::Queue => &[Kind::LimitRange, Kind::ResourceQuota],
            _ => &[Kind::Pod],
        };
        let dependents = kinds.iter().flat_map(|kind| store.list(*kind, Some(&key.namespace)));
        let dependents: Vec<(Key, Arc<Value>)> = dependents
            .filter(|(_, dependent)| is_ownerless(dependent) && !object::is_leaving(dependent))
            .map(|(key, dependent)| (key.clone(), Arc::clone(dependent)))
            .collect();
        for (dependent, found) in dependents {
            client.delete(&dependent, &found, None);
        }
        None
    }
}
