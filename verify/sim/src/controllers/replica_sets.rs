//! The ReplicaSet controller.

use std::time::Duration;

use serde_json::{Value, json};

use super::owners::{Counts, Owner};
use crate::objects::Kind;

/// ReplicaSets.
pub(super) struct ReplicaSets;

impl Owner for ReplicaSets {
    const NAME: &'static str = "replicaset-controller";
    const KIND: Kind = Kind::ReplicaSet;
    const FIRST: Duration = Duration::from_millis(5);
    const LONGEST: Duration = Duration::from_secs(1000);
    const GATHERS: Duration = Duration::ZERO;

    fn wanted(owner: &Value, _: usize) -> usize {
        owner["spec"]["replicas"].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(1)
    }

    fn status(owner: &Value, counts: &Counts) -> Value {
        json!({
            "replicas": counts.live, "readyReplicas": counts.ready, "availableReplicas": counts.ready,
            "observedGeneration": owner["metadata"]["generation"],
        })
    }
}
