//! The Job controller.

use std::time::Duration;

use serde_json::{Value, json};

use super::owners::{Counts, Owner};
use crate::objects::Kind;

/// Jobs.
pub(super) struct Jobs;

impl Owner for Jobs {
    const NAME: &'static str = "job-controller";
    const KIND: Kind = Kind::Job;
    const FIRST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(60);
    const GATHERS: Duration = Duration::from_secs(1);

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
        let mut status = owner["status"].as_object().cloned().unwrap_or_default();
        status.insert("active".to_owned(), counts.live.into());
        status.insert("ready".to_owned(), counts.ready.into());
        status.insert("succeeded".to_owned(), counts.succeeded.into());
        status.insert("failed".to_owned(), counts.failed.into());
        status.insert("terminating".to_owned(), counts.terminating.into());
        let completions = owner["spec"]["completions"].as_u64().or(owner["spec"]["parallelism"].as_u64());
        let succeeded = u64::try_from(counts.succeeded).unwrap_or_default();
        if completions.is_some_and(|completions| succeeded >= completions) && counts.live == 0 {
            status.insert("conditions".to_owned(), json!([{"type": "Complete", "status": "True"}]));
        }
        status.into()
    }
}
