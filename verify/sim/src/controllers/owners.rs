//! What the controllers of Jobs and ReplicaSets have in common: as many pods as are wanted, and patience when refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Call, Change, Store, is_terminal};

/// The most pods that one look creates.
const MOST: usize = 500;

/// How long each owner waits whose pod was refused: twice as long as the last time, within bounds.
pub(super) struct Waits {
    first: Duration,
    longest: Duration,
    of: BTreeMap<Key, Duration>,
}

impl Waits {
    pub(super) const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, of: BTreeMap::new() }
    }

    /// A pod of `owner` was refused: how long it waits now.
    pub(super) fn refused(&mut self, owner: &Key) -> Duration {
        let wait = self.of.get(owner).map_or(self.first, |wait| (*wait * 2).min(self.longest));
        self.of.insert(owner.clone(), wait);
        wait
    }

    /// Nothing is refused any more.
    pub(super) fn end(&mut self, owner: &Key) {
        self.of.remove(owner);
    }
}

/// The pods of an owner.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) live: usize,
    pub(super) ready: usize,
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    pub(super) terminating: usize,
}

/// The controller of one kind.
pub(super) struct Owners {
    pub(super) kind: Kind,
    pub(super) waits: Waits,
    /// How many live pods are wanted, where so many have succeeded.
    pub(super) wanted: fn(&Value, usize) -> usize,
    /// The status that says what there is.
    pub(super) status: fn(&Value, &Counts) -> Value,
}

impl Owners {
    /// Creates what is missing: one, then two, four…, and no more after a refusal.
    fn create(
        &mut self,
        key: &Key,
        owner: &Value,
        missing: usize,
        client: &mut ControllerClient<'_>,
    ) -> Option<Duration> {
        let mut left = missing.min(MOST);
        let mut batch = 1;
        while left > 0 {
            let mut refused = false;
            for _ in 0..batch.min(left) {
                left -= 1;
                refused |= client.ask(&Call::create(Kind::Pod, pod_of(self.kind, owner))).is_err();
            }
            if refused {
                return Some(self.waits.refused(key));
            }
            batch *= 2;
        }
        self.waits.end(key);
        None
    }
}

impl Controller for Owners {
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        concerns(self.kind, Kind::Pod, change, keys);
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let Some(owner) = client.get(key) else {
            self.waits.end(key);
            return None;
        };
        let pods = controlled(&owner, Kind::Pod, client.store());
        let counts = count(&pods);
        let again = if object::is_leaving(&owner) {
            None
        } else {
            let wanted = (self.wanted)(&owner, counts.succeeded);
            let live = counts.live + client.state.in_flight_of(&owner);
            if wanted > live {
                self.create(key, &owner, wanted - live, client)
            } else {
                self.waits.end(key);
                let surplus = counts.live.saturating_sub(wanted);
                for (pod, found) in least_ready_first(&pods).into_iter().take(surplus) {
                    client.delete(pod, found, None);
                }
                None
            }
        };
        // What was created or deleted just now is seen the next time.
        let owner = client.get(key)?;
        let counts = count(&controlled(&owner, Kind::Pod, client.store()));
        let status = (self.status)(&owner, &counts);
        client.write_status(self.kind, &owner, status);
        again
    }
}

/// The owner of this kind that has to do with `change`, its own or that of a dependent.
pub(super) fn concerns(kind: Kind, dependents: Kind, change: &Change, keys: &mut Vec<Key>) {
    if change.key.kind == kind {
        // Its status is its controller's own.
        let wanted = |object: &Option<Arc<Value>>| {
            object.as_ref().map(|object| (object["spec"].clone(), object["metadata"]["annotations"].clone()))
        };
        if wanted(&change.before) != wanted(&change.after) {
            keys.push(change.key.clone());
        }
    } else if change.key.kind == dependents
        && let Some(owner) = object::controller(&change.shown)
        && owner["kind"] == kind.name()
    {
        keys.push(Key::new(kind, &change.key.namespace, owner["name"].as_str().unwrap_or_default()));
    }
}

/// The objects of a kind that `owner` controls.
pub(super) fn controlled(owner: &Value, kind: Kind, store: &Store) -> Vec<(Key, Arc<Value>)> {
    let uid = object::uid(owner);
    let all = store.list(kind, Some(object::namespace(owner)));
    let own = all.filter(|(_, found)| object::controller(found).is_some_and(|owner| owner["uid"] == uid));
    own.map(|(key, found)| (key.clone(), Arc::clone(found))).collect()
}

pub(super) fn is_live(pod: &Value) -> bool {
    !is_terminal(pod) && !object::is_leaving(pod)
}

fn count(pods: &[(Key, Arc<Value>)]) -> Counts {
    let mut counts = Counts::default();
    for (_, pod) in pods {
        match object::phase(pod) {
            "Succeeded" => counts.succeeded += 1,
            "Failed" => counts.failed += 1,
            _ if object::is_leaving(pod) => counts.terminating += 1,
            _ => {
                counts.live += 1;
                counts.ready += usize::from(object::is_true(pod, "Ready"));
            }
        }
    }
    counts
}

/// Live pods in the order in which they go when there are too many: unbound, pending, unready, cheap, new.
fn least_ready_first(pods: &[(Key, Arc<Value>)]) -> Vec<&(Key, Arc<Value>)> {
    let mut live: Vec<_> = pods.iter().filter(|(_, pod)| is_live(pod)).collect();
    let cost = |pod: &Value| {
        object::annotation(pod, "controller.kubernetes.io/pod-deletion-cost")
            .and_then(|cost| cost.parse::<i64>().ok())
            .unwrap_or_default()
    };
    live.sort_by_cached_key(|(key, pod)| {
        let bound = pod["spec"]["nodeName"].is_string();
        let born = std::cmp::Reverse(object::meta(pod, "creationTimestamp").to_owned());
        (
            bound,
            object::phase(pod) == "Running",
            object::is_true(pod, "Ready"),
            cost(pod),
            born,
            key.name.clone(),
        )
    });
    live
}

/// The owner references of what the controller of `owner` makes for it.
pub(super) fn references(kind: Kind, owner: &Value) -> Value {
    json!([{
        "apiVersion": kind.api_version(), "kind": kind.name(), "name": object::name(owner),
        "uid": object::uid(owner), "controller": true, "blockOwnerDeletion": true,
    }])
}

/// A pod from the template of `owner`.
pub(super) fn pod_of(kind: Kind, owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", object::name(owner)),
            "namespace": object::namespace(owner),
            "ownerReferences": references(kind, owner),
        },
        "spec": template["spec"],
    });
    for member in ["labels", "annotations"] {
        if template["metadata"][member].is_object() {
            pod["metadata"][member] = template["metadata"][member].clone();
        }
    }
    pod
}
