//! What a controller works with.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::objects::{Key, Kind, object};
use crate::random::{Lag, Random};
use crate::server::{Call, Client, Reply, State, Store};
use crate::trace::Verb;

/// The server, asked in a controller's name.
#[derive(Debug)]
pub struct ControllerClient<'a> {
    pub(super) state: &'a mut State,
    client: &'a Client,
    random: &'a mut Random,
}

impl<'a> ControllerClient<'a> {
    pub(super) const fn new(state: &'a mut State, client: &'a Client, random: &'a mut Random) -> Self {
        Self { state, client, random }
    }

    /// The objects as they are.
    pub(super) const fn store(&self) -> &Store {
        &self.state.store
    }

    pub(super) fn draw(&mut self, lag: Lag) -> std::time::Duration {
        self.random.lag(lag)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Value>> {
        self.store().get(key).cloned()
    }

    /// The pods of `namespace` as they were so long ago.
    pub(super) fn pods_before(&self, namespace: &str, age: std::time::Duration) -> Vec<Arc<Value>> {
        if age.is_zero() {
            return self.store().list(Kind::Pod, Some(namespace)).map(|(_, pod)| Arc::clone(pod)).collect();
        }
        let then = self.state.clock.elapsed().saturating_sub(age);
        let history = self.store().history(Kind::Pod);
        let version = history.iter().rfind(|change| change.time <= then).map_or(0, |change| change.version);
        let pods = self.store().list_at(Kind::Pod, version).into_iter();
        pods.filter(|(key, _)| &*key.namespace == namespace).map(|(_, pod)| pod).collect()
    }

    pub(super) fn ask(&mut self, call: &Call) -> Reply {
        self.state.handle(self.client, call, None)
    }

    /// Writes the status of `object`, if `status` is another than it has.
    pub(super) fn write_status(&mut self, kind: Kind, object: &Value, status: Value) {
        if object["status"] != status {
            let mut object = object.clone();
            object["status"] = status;
            self.ask(&Call::update(kind, object).on("status")).ok();
        }
    }

    /// Deletes this life of `object`.
    pub(super) fn delete(&mut self, key: &Key, object: &Value, grace: Option<u64>) {
        let mut options = json!({"preconditions": {"uid": object::uid(object)}});
        if let Some(grace) = grace {
            options["gracePeriodSeconds"] = grace.into();
        }
        self.ask(&Call::delete(key.clone(), options)).ok();
    }

    pub(super) fn bind(&mut self, pod: &Key, node: &str) {
        let binding = json!({"target": {"kind": "Node", "name": node}});
        let call = Call::new(Verb::Create, pod.clone()).on("binding");
        self.ask(&Call { body: crate::server::Body::Object(Arc::new(binding)), ..call }).ok();
    }
}
