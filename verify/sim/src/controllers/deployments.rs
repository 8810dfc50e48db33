//! The Deployment controller: a ReplicaSet for each template, and rollouts that begin with one pod more.

use std::sync::Arc;
use std::time::Duration;

use quotient_snapshot::stable_hash;
use serde_json::{Value, json};

use super::owners::{concerns, controlled, references};
use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Call, Change, Store};

/// How many pods a rollout may create before old ones go.
const SURGE: u64 = 1;

/// The controller.
pub(super) struct Deployments;

impl Controller for Deployments {
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        concerns(Kind::Deployment, Kind::ReplicaSet, change, keys);
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let deployment = client.get(key).filter(|deployment| !object::is_leaving(deployment))?;
        let hash = format!("{:016x}", stable_hash(deployment["spec"]["template"].to_string().bytes()));
        let current = Key::new(Kind::ReplicaSet, &key.namespace, &format!("{}-{hash}", key.name));
        let wanted = number(&deployment["spec"]["replicas"], 1);
        let own = controlled(&deployment, Kind::ReplicaSet, client.store());
        let size = |set: &Value| number(&set["spec"]["replicas"], 1);
        // A status may be older than the size: what goes is not counted again.
        let ready = |set: &Value| number(&set["status"]["readyReplicas"], 0).min(size(set));
        let Some((_, newest)) = own.iter().find(|(key, _)| *key == current) else {
            let replicas = if own.is_empty() { wanted } else { 0 };
            let made = replica_set(&deployment, &current, &hash, replicas);
            client.ask(&Call::create(Kind::ReplicaSet, made)).ok();
            return None;
        };
        let old: Vec<&(Key, Arc<Value>)> = own.iter().filter(|(key, _)| *key != current).collect();
        let all_of = |of: &dyn Fn(&Value) -> u64| own.iter().map(|(_, set)| of(set)).sum::<u64>();
        let room = if old.is_empty() { wanted } else { (wanted + SURGE).saturating_sub(all_of(&size)) };
        let grown = (size(newest) + room).min(wanted);
        if old.is_empty() || grown > size(newest) {
            resize(&current, newest, if old.is_empty() { wanted } else { grown }, client);
        }
        // An old pod goes for each new one that is ready, and those that are not ready go first.
        let mut surplus = all_of(&ready).saturating_sub(wanted);
        for (key, set) in old {
            let goes = surplus.min(ready(set));
            surplus -= goes;
            resize(key, set, ready(set) - goes, client);
        }
        let said = |member: &str| all_of(&|set| number(&set["status"][member], 0));
        let status = json!({
            "replicas": said("replicas"), "readyReplicas": said("readyReplicas"),
            "updatedReplicas": number(&newest["status"]["replicas"], 0),
            "observedGeneration": deployment["metadata"]["generation"],
        });
        client.write_status(Kind::Deployment, &deployment, status);
        None
    }
}

fn resize(key: &Key, set: &Value, replicas: u64, client: &mut ControllerClient<'_>) {
    if set["spec"]["replicas"] != replicas {
        client.ask(&Call::merge(key.clone(), json!({"spec": {"replicas": replicas}}))).ok();
    }
}

fn number(value: &Value, otherwise: u64) -> u64 {
    value.as_u64().unwrap_or(otherwise)
}

fn replica_set(deployment: &Value, key: &Key, hash: &str, replicas: u64) -> Value {
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"]["pod-template-hash"] = hash.into();
    json!({
        "metadata": {
            "namespace": &*key.namespace, "name": &*key.name, "labels": template["metadata"]["labels"],
            "ownerReferences": references(Kind::Deployment, deployment),
        },
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": template["metadata"]["labels"]},
            "template": template,
        },
    })
}
