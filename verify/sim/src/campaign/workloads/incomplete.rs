//! Gangs that exist in part in Quota mode.

use serde_json::json;

use super::Case;
use super::gated::gang;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, merged, node_and_teams};

/// For how long the pods of the first gang run: past the time at which the second one yields.
const RUNS: &str = "150";

pub(super) fn all() -> Vec<Case> {
    vec![Case::new(halves(), "two gangs get half of their pods each, and one yields to the other").aging()]
}

/// Two gangs of eight get four pods each, and room for two is left. The younger one yields, and comes back when the older one
/// has ended.
fn halves() -> Workload {
    let whole = |name: &str| merged(Kind::Job, "team-1", name, json!({"spec": {"parallelism": 8}}));
    Workload::new("gangs-in-part", node_and_teams("10", "10Gi", 1))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .create(12, Kind::Job, gang("first", 4, Some(RUNS)))
        .create(14, Kind::Job, gang("second", 4, None))
        .at(30, whole("first"))
        .at(30, whole("second"))
        .until(330)
        .running([("team-1", "8")])
}
