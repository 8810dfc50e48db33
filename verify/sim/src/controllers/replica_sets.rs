//! The ReplicaSet controller.

use std::time::Duration;

use serde_json::{Value, json};

use super::owners::{Counts, Owners, Waits};
use crate::objects::Kind;

/// The controller.
pub(super) const fn controller() -> Owners {
    let waits = Waits::new(Duration::from_millis(5), Duration::from_secs(1000));
    Owners { kind: Kind::ReplicaSet, waits, wanted, status }
}

fn wanted(owner: &Value, _: usize) -> usize {
    owner["spec"]["replicas"].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(1)
}

fn status(owner: &Value, counts: &Counts) -> Value {
    json!({
        "replicas": counts.live, "readyReplicas": counts.ready, "availableReplicas": counts.ready,
        "observedGeneration": owner["metadata"]["generation"],
    })
}
