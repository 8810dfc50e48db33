//! Queues in a tree.

use serde_json::{Value, json};

use super::{CLAIM, JOIN, WORK, Workload};
use crate::objects::Kind;
use crate::scenario::build::{self, created, queue_of, teams};

/// A tree of three levels: what a child lends comes back from its sibling, and the other branch loses nothing.
pub fn grandchildren() -> Workload {
    let below = |above: &str| json!({"namespace": "org", "name": above});
    let parent = |name: &str, above: Value| {
        let children = json!({"namespaces": {"from": "All"}});
        queue_of("org", name, json!({"children": children, "parentRef": above}))
    };
    let leaf = |name: &str, above: &str| {
        queue_of(name, name, json!({"parentRef": below(above), "request": build::everything()}))
    };
    let work = build::work("1", "1Gi");
    let web = |team: &str| created(Kind::ReplicaSet, build::replica_set(team, "web", 9, &work));
    let (kind, late) = leaf("team-2", "left");
    Workload::new("grandchildren", vec![(Kind::Node, build::node("node-1", "12", "48Gi"))])
        .with([(Kind::Namespace, build::namespace("org")), parent("root", Value::Null)])
        .with(["left", "right"].map(|branch| parent(branch, below("root"))))
        .with(teams(3))
        .with([leaf("team-1", "left"), leaf("team-3", "right")])
        .at(WORK, web("team-1"))
        .at(WORK, web("team-3"))
        .create(JOIN, kind, late)
        .at(CLAIM, web("team-2"))
        .until(CLAIM)
        .shares([("team-1", "3", "12Gi"), ("team-2", "3", "12Gi"), ("team-3", "6", "24Gi")])
        .evictions(3)
}
