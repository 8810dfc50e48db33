//! The quota controller: what is wanted comes into force, and what is used is counted anew.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::{Controller, ControllerClient, Lags};
use crate::objects::{Key, Kind};
use crate::server::{self, Change, Store};

/// Copies `spec.hard` to `status.hard`, and counts `status.used`.
pub(super) struct QuotaController(pub(super) Lags);

impl Controller for QuotaController {
    /// A quota that changed; all of a namespace in which a pod ended or is gone. New pods are counted by admission.
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>) {
        match change.key.kind {
            Kind::ResourceQuota if change.after.is_some() => keys.push(change.key.clone()),
            Kind::Pod if change.after.as_ref().is_none_or(|pod| server::is_terminal(pod)) => {
                let quotas = store.list(Kind::ResourceQuota, Some(&change.key.namespace));
                keys.extend(quotas.map(|(key, _)| key.clone()));
            }
            _ => {}
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let quota = client.get(key)?;
        let now = client.state.clock.now();
        let mut used = server::Amounts::new();
        let age = client.draw(self.0.quota_cache);
        for pod in client.pods_before(&key.namespace, age) {
            if server::is_charged(&pod, now) {
                server::add(&mut used, &server::in_words_of_quota(&server::requests(&pod)));
            }
        }
        let hard = quota["spec"]["hard"].as_object().cloned().unwrap_or_default();
        let text = |name: &String| server::text(name, used.get(name).copied().unwrap_or_default());
        let used: BTreeMap<&String, String> = hard.keys().map(|name| (name, text(name))).collect();
        client.write_status(Kind::ResourceQuota, &quota, json!({"hard": hard, "used": used}));
        (self.0.recounts > 0).then(|| Duration::from_secs(self.0.recounts))
    }
}
