//! Gangs that exist in part in Quota mode.

use serde_json::json;

use super::Case;
use super::gated::gang;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, merged, seconds};

/// For how long the pods of the first gang run: past the time at which the second one yields.
const RUNS: &str = "150";

pub(super) fn all() -> Vec<Case> {
    vec![Case::new(halves(), "two gangs get half of their pods each, and one yields to the other").aging()]
}

/// Two gangs of eight get four pods each, and room for two is left. The younger one yields, and comes back when the older one
/// has ended.
fn halves() -> Workload {
    let mut objects = build::node_and_teams("10", "10Gi", 1);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    let whole = |name: &str| merged(Kind::Job, "team-1", name, json!({"spec": {"parallelism": 8}}));
    Workload {
        name: "gangs-in-part",
        objects,
        later: vec![
            (seconds(12), created(Kind::Job, gang("first", 4, Some(RUNS)))),
            (seconds(14), created(Kind::Job, gang("second", 4, None))),
            (seconds(30), whole("first")),
            (seconds(30), whole("second")),
        ],
        length: seconds(330),
        hard: vec![],
        running_cpu: vec![("team-1", "8")],
        evictions: 0,
    }
}
