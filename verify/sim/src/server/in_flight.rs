//! Pods that quotas have been charged for and that are not stored yet: admission takes time.
//!
//! A count meanwhile does not include them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::{Answer, Call, Client, Done, Failure, State};
use crate::objects::{Key, Kind, object};
use crate::random::{Lag, Random};

/// The pods on their way.
#[derive(Debug)]
pub(crate) struct InFlight {
    random: Random,
    /// How long a pod takes from the charge to the store.
    takes: Lag,
    pods: BTreeMap<Key, Pod>,
    /// When each is to be stored, of those that nothing waits for yet.
    pub(crate) news: Vec<(Key, Duration)>,
}

#[derive(Debug)]
struct Pod {
    client: Client,
    call: Call,
    object: Value,
}

impl InFlight {
    /// None on its way, and pods are stored after so long.
    pub(crate) const fn new(random: Random, takes: Lag) -> Self {
        Self { random, takes, pods: BTreeMap::new(), news: Vec::new() }
    }

    /// Whether a pod of the namespace is on its way, and the write of a quota for it meets a conflict by chance.
    pub(super) fn meets_a_conflict(&mut self, namespace: &str) -> bool {
        self.of(namespace).next().is_some() && self.random.below(4) == 0
    }

    fn of<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Value> {
        let pods = self.pods.iter().filter(move |(key, _)| &*key.namespace == namespace);
        pods.map(|(_, pod)| &pod.object)
    }
}

impl State {
    /// How many pods on their way `owner` controls.
    pub(crate) fn in_flight_of(&self, owner: &Value) -> usize {
        let uid = object::uid(owner);
        let pods = self.in_flight.of(object::namespace(owner));
        pods.filter(|pod| object::controller(pod).is_some_and(|owner| owner["uid"] == uid)).count()
    }

    /// Whether a pod of this name is on its way.
    pub(crate) fn is_in_flight(&self, key: &Key) -> bool {
        self.in_flight.pods.contains_key(key)
    }

    /// Sends `object`, which quotas have been charged for, on its way. None if it is to be stored at once.
    pub(super) fn send(&mut self, client: &Client, call: &Call, key: &Key, object: &Value) -> Option<Done> {
        if self.in_flight.takes.most == 0 {
            return None;
        }
        let due = self.clock.elapsed() + self.in_flight.random.lag(self.in_flight.takes);
        self.in_flight.news.push((key.clone(), due));
        let pod = Pod { client: client.clone(), call: call.clone(), object: object.clone() };
        self.in_flight.pods.insert(key.clone(), pod);
        let answer = Answer::new(201, std::sync::Arc::new(object.clone()));
        Some(Done { answer, name: Some(key.name.clone()), before: None, after: None })
    }

    /// Stores the pod that was on its way, unless its namespace has gone meanwhile.
    pub(crate) fn arrive(&mut self, key: &Key) {
        let Some(pod) = self.in_flight.pods.remove(key) else { return };
        if self.may_be_in_namespace(key).is_err() || self.store.get(key).is_some() {
            return;
        }
        let change = self.commit(key.clone(), Some(pod.object));
        let mut record = self.record(&pod.client, &pod.call, None);
        record.name = key.name.clone();
        self.write_down(record, &change);
    }

    /// Whether a pod of this name is there, or on its way.
    pub(super) fn is_taken(&self, key: &Key) -> Result<(), Failure> {
        let is_taken = self.store.get(key).is_some() || key.kind == Kind::Pod && self.is_in_flight(key);
        if is_taken { Err(Failure::exists(key)) } else { Ok(()) }
    }
}
