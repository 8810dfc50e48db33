//! What the controllers of Jobs and ReplicaSets have in common: as many pods as are wanted, and patience when refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::random::Lag;
use crate::server::{Call, Change, Store, is_terminal};

/// The most pods that one look creates.
const MOST: usize = 500;

/// What is different between the kinds.
pub(super) trait Owner: Send {
    const NAME: &'static str;
    const KIND: Kind;
    /// The first wait after a refusal, which doubles.
    const FIRST: Duration;
    /// The longest.
    const LONGEST: Duration;
    /// For how long changes that are none of the owner's spec are gathered.
    const GATHERS: Duration;

    /// How many live pods are wanted, where so many have succeeded.
    fn wanted(owner: &Value, succeeded: usize) -> usize;

    /// The status that says what there is.
    fn status(owner: &Value, counts: &Counts) -> Value;
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
pub(super) struct Owners<K> {
    lag: Lag,
    /// How long each owner waits that was refused last time.
    waits: BTreeMap<Key, Duration>,
    kind: std::marker::PhantomData<K>,
}

impl<K: Owner> Owners<K> {
    pub(super) fn new(_: K, lag: Lag) -> Self {
        Self { lag, waits: BTreeMap::new(), kind: std::marker::PhantomData }
    }

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
                refused |= client.ask(&Call::create(Kind::Pod, pod_of(K::KIND, owner))).is_err();
            }
            if refused {
                let wait = self.waits.get(key).map_or(K::FIRST, |wait| (*wait * 2).min(K::LONGEST));
                self.waits.insert(key.clone(), wait);
                return Some(wait);
            }
            batch *= 2;
        }
        self.waits.remove(key);
        None
    }
}

impl<K: Owner> Controller for Owners<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn lag(&self) -> Lag {
        let gathers = u64::try_from(K::GATHERS.as_millis()).unwrap_or_default();
        Lag::new(self.lag.least + gathers, self.lag.most + gathers)
    }

    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        concerns(K::KIND, change, keys);
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let Some(owner) = client.get(key) else {
            self.waits.remove(key);
            return None;
        };
        let pods = pods_of(&owner, client.store());
        let counts = count(&pods);
        let again = if object::is_leaving(&owner) {
            None
        } else {
            let wanted = K::wanted(&owner, counts.succeeded);
            let live = counts.live + client.in_flight_of(&owner);
            if wanted > live {
                self.create(key, &owner, wanted - live, client)
            } else {
                self.waits.remove(key);
                for (pod, found) in
                    least_ready_first(&pods).into_iter().take(counts.live.saturating_sub(wanted))
                {
                    client.delete(pod, found, None);
                }
                None
            }
        };
        // What was created or deleted just now is seen the next time.
        let owner = client.get(key)?;
        let counts = count(&pods_of(&owner, client.store()));
        let status = K::status(&owner, &counts);
        client.write_status(K::KIND, &owner, status);
        again
    }
}

/// The owner of this kind that has to do with `change`.
pub(super) fn concerns(kind: Kind, change: &Change, keys: &mut Vec<Key>) {
    if change.key.kind == kind {
        // Its status is its controller's own.
        let wanted = |object: &Option<Arc<Value>>| {
            object.as_ref().map(|object| (object["spec"].clone(), object["metadata"]["annotations"].clone()))
        };
        if wanted(&change.before) != wanted(&change.after) {
            keys.push(change.key.clone());
        }
    } else if change.key.kind == Kind::Pod
        && let Some(owner) = object::controller(&change.shown)
        && owner["kind"] == kind.name()
    {
        keys.push(Key::new(kind, &change.key.namespace, owner["name"].as_str().unwrap_or_default()));
    }
}

/// The pods that `owner` controls.
pub(super) fn pods_of(owner: &Value, store: &Store) -> Vec<(Key, Arc<Value>)> {
    let uid = object::uid(owner);
    let controls = |pod: &Value| object::controller(pod).is_some_and(|owner| owner["uid"] == uid);
    let all = store.list(Kind::Pod, Some(object::namespace(owner)));
    let all: Vec<(Key, Arc<Value>)> = all.map(|(key, pod)| (key.clone(), Arc::clone(pod))).collect();
    all.into_iter().filter(|(_, pod)| controls(pod)).collect()
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

/// A pod from the template of `owner`.
pub(super) fn pod_of(kind: Kind, owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", object::name(owner)),
            "namespace": object::namespace(owner),
            "ownerReferences": [{
                "apiVersion": kind.api_version(), "kind": kind.name(), "name": object::name(owner),
                "uid": object::uid(owner), "controller": true, "blockOwnerDeletion": true,
            }],
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
