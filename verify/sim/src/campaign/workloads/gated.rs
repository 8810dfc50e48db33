//! Gate mode: pods wait gated for room of their queue. Beside it gangs that exist in part, in Quota mode.

use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use serde_json::{Value, json};

use super::Case;
use crate::controllers::RUNS_SECONDS;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, deleted, merged, node_and_teams, queue_of, train};

/// For how long the pods of the first gang run: past the time at which the second one yields.
const RUNS: &str = "150";

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(gated(), "pods of two queues in Gate mode wait for their half"),
        // Pods that the operator does not see for a minute are not let in. Others take their room meanwhile and lose it again.
        Case::new(beside(), "a queue in Gate mode takes its half of one in Quota mode").evicting(4..=8),
        Case::new(gangs(), "two gangs in Gate mode, and room for one and a half"),
        Case::new(left(), "Gate mode ends while pods wait").evicting(0..=4),
        Case::new(halves(), "two gangs get half of their pods each, and one yields to the other").aging(),
    ]
}

/// A Queue of this name in Gate mode.
pub fn queue(name: &str) -> (Kind, Value) {
    queue_of(name, name, json!({"admission": "Gate"}))
}

/// team-1 fills the cluster with pods that come back under the same names, and has more that wait; then team-2 comes.
fn gated() -> Workload {
    let mut set = build::stateful_set("team-1", "db", 10, &build::work("1", "1Gi"));
    set["spec"]["podManagementPolicy"] = "Parallel".into();
    Workload::new("gated", node_and_teams("8", "8Gi", 2))
        .with([queue("team-1"), queue("team-2")])
        .create(6, Kind::StatefulSet, set)
        .at(30, train("team-2", 8))
        .until(60)
        .quotas([("team-1", ""), ("team-2", "")])
        .running([("team-1", "4"), ("team-2", "4")])
        .evictions(4)
}

/// team-1 holds everything in Quota mode; team-2 comes in Gate mode.
fn beside() -> Workload {
    Workload::new("gated-beside", node_and_teams("8", "8Gi", 2))
        .with([queue_of("team-1", "team-1", json!({})), queue("team-2")])
        .at(6, train("team-1", 8))
        .at(30, train("team-2", 8))
        .until(60)
        .quotas([("team-1", "requests.cpu 4, requests.memory 4Gi"), ("team-2", "")])
        .running([("team-1", "4"), ("team-2", "4")])
        .evictions(4)
}

/// A Job of team-1 whose eight pods are a gang, so many of which it wants at once. They run for so many seconds, or for ever.
fn gang(name: &str, parallelism: u32, runs: Option<&str>) -> Value {
    let mut job = build::job("team-1", name, parallelism, &build::work("1", "1Gi"));
    if runs.is_some() {
        job["spec"]["completions"] = 8.into();
    }
    let metadata = &mut job["spec"]["template"]["metadata"];
    metadata["annotations"] = json!({GANG_ANNOTATION: name, GANG_MIN_AVAILABLE_ANNOTATION: "8"});
    if let Some(runs) = runs {
        metadata["annotations"][RUNS_SECONDS] = runs.into();
    }
    job
}

/// The pods of the first gang run for a while and end, those of the second run for ever.
fn gangs() -> Workload {
    Workload::new("gated-gangs", node_and_teams("12", "12Gi", 1))
        .with([queue("team-1")])
        .create(12, Kind::Job, gang("first", 8, Some("20")))
        .create(14, Kind::Job, gang("second", 8, None))
        .until(60)
        .quotas([("team-1", "")])
        .running([("team-1", "8")])
}

/// The same with a third gang, which waits for ever.
pub fn waiting_gang() -> Case {
    let workload = gangs().create(16, Kind::Job, gang("third", 8, None));
    let about = "three gangs in Gate mode, and room for one and a half";
    Case::new(Workload { name: "gated-waiting-gang", ..workload }, about)
}

/// Pods of team-1 wait while its Queue goes over to Quota mode, and those of team-2 while its Queue is deleted.
fn left() -> Workload {
    Workload::new("gated-left", node_and_teams("4", "4Gi", 2))
        .with([queue("team-1"), queue("team-2")])
        .at(12, train("team-1", 4))
        .at(12, train("team-2", 4))
        .at(30, deleted(Kind::Queue, "team-2", "team-2"))
        .at(40, merged(Kind::Queue, "team-1", "team-1", json!({"spec": {"admission": "Quota"}})))
        .until(60)
        .quotas([("team-2", "")])
        // How many pods of each run depends on which of the two was let in first. Together they fill the node.
        .running([("", "4")])
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
