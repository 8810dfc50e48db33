//! The controller of `HorizontalPodAutoscaler`s: it wants as many pods as an annotation says.

use std::time::Duration;

use serde_json::json;

use super::{Controller, ControllerClient};
use crate::objects::{Key, Kind, object};
use crate::server::{Call, Change, Store};

/// Annotation of an autoscaler: how many pods its metrics ask for.
pub const WANTS: &str = "sim.quotient.dev/wants";

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(15);

/// The controller.
pub(super) struct Autoscalers;

impl Controller for Autoscalers {
    fn concerns(&self, change: &Change, _: &Store, keys: &mut Vec<Key>) {
        if change.key.kind == Kind::HorizontalPodAutoscaler {
            keys.push(change.key.clone());
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let autoscaler = client.get(key)?;
        let spec = &autoscaler["spec"];
        let reference = &spec["scaleTargetRef"];
        let kind = reference["kind"].as_str().and_then(Kind::named)?;
        let target = Key::new(kind, &key.namespace, reference["name"].as_str().unwrap_or_default());
        let size = client.get(&target).and_then(|target| target["spec"]["replicas"].as_u64()).unwrap_or(1);
        let wants =
            object::annotation(&autoscaler, WANTS).and_then(|wants| wants.parse().ok()).unwrap_or(size);
        let least = spec["minReplicas"].as_u64().unwrap_or(1);
        let wants = wants.clamp(least, spec["maxReplicas"].as_u64().unwrap_or(wants).max(least));
        // It leaves alone what was scaled to zero.
        if size > 0 && size != wants {
            client.ask(&Call::merge(target, json!({"spec": {"replicas": wants}}))).ok();
        }
        Some(PERIOD)
    }
}
