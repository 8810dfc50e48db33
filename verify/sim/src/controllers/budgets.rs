//! The controller of disruption budgets.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Change, Store, is_terminal};

/// Counts how many pods of each budget may be disrupted.
pub(super) struct BudgetController;

impl Controller for BudgetController {
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>) {
        match change.key.kind {
            Kind::PodDisruptionBudget if change.after.is_some() => keys.push(change.key.clone()),
            Kind::Pod => {
                let budgets = store.list(Kind::PodDisruptionBudget, Some(&change.key.namespace));
                keys.extend(budgets.map(|(key, _)| key.clone()));
            }
            _ => {}
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let budget = client.get(key)?;
        let spec = &budget["spec"];
        let mut expected = 0_i64;
        let mut healthy = 0_i64;
        let mut disrupted = budget["status"]["disruptedPods"].as_object().cloned().unwrap_or_default();
        let mut still = Vec::new();
        for (pod, found) in client.store().list(Kind::Pod, Some(&key.namespace)) {
            let selected = object::selects(&spec["selector"], &found["metadata"]["labels"]);
            if !selected || is_terminal(found) {
                continue;
            }
            expected += 1;
            let noted = disrupted.contains_key(&*pod.name);
            if noted && !object::is_leaving(found) {
                still.push(pod.name.to_string());
            }
            healthy += i64::from(object::is_true(found, "Ready") && !object::is_leaving(found) && !noted);
        }
        disrupted.retain(|name, _| still.contains(name));
        let desired = if spec["minAvailable"].is_null() {
            expected - of(&spec["maxUnavailable"], expected).unwrap_or_default()
        } else {
            of(&spec["minAvailable"], expected).unwrap_or_default()
        };
        let desired = desired.max(0);
        let mut status = json!({
            "observedGeneration": budget["metadata"]["generation"],
            "expectedPods": expected,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": if expected == 0 { 0 } else { (healthy - desired).max(0) },
        });
        if !disrupted.is_empty() {
            status["disruptedPods"] = disrupted.into();
        }
        client.write_status(Kind::PodDisruptionBudget, &budget, status);
        None
    }
}

/// A number, or a percentage of `all`, rounded up.
fn of(value: &Value, all: i64) -> Option<i64> {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    percent.map(|percent| (all * percent + 99) / 100).or_else(|| value.as_i64())
}
