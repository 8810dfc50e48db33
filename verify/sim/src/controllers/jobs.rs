//! The Job controller.

use std::time::Duration;

use serde_json::{Value, json};

use super::owners::{Counts, Owners, Waits};
use crate::objects::Kind;

/// For how long the controller gathers changes, in milliseconds.
pub(super) const GATHERS: u64 = 1_000;

/// The controller.
pub(super) const fn controller() -> Owners {
    let waits = Waits::new(Duration::from_secs(1), Duration::from_secs(60));
    Owners { kind: Kind::Job, waits, wanted, status }
}

fn wanted(owner: &Value, succeeded: usize) -> usize {
    let spec = &owner["spec"];
    if spec["suspend"] == true {
        return 0;
    }
    let number = |member: &str| spec[member].as_u64().and_then(|number| usize::try_from(number).ok());
    let parallelism = number("parallelism").unwrap_or(1);
    let left = match number("completions") {
        Some(completions) => completions.saturating_sub(succeeded),
        // Without a number of completions the first success is the last.
        None if succeeded > 0 => 0,
        None => parallelism,
    };
    parallelism.min(left)
}

fn status(owner: &Value, counts: &Counts) -> Value {
    let mut status = owner["status"].clone();
    status["active"] = counts.live.into();
    status["ready"] = counts.ready.into();
    status["succeeded"] = counts.succeeded.into();
    status["failed"] = counts.failed.into();
    status["terminating"] = counts.terminating.into();
    let completions = owner["spec"]["completions"].as_u64().or(owner["spec"]["parallelism"].as_u64());
    let succeeded = u64::try_from(counts.succeeded).unwrap_or_default();
    if completions.is_some_and(|completions| succeeded >= completions) && counts.live == 0 {
        status["conditions"] = json!([{"type": "Complete", "status": "True"}]);
    }
    status
}
