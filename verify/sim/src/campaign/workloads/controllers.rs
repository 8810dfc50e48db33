//! Deployments with a rollout, an autoscaler and a DaemonSet.

use serde_json::json;

use super::Case;
use crate::controllers::WANTS;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, merged, node_and_teams, queue_of};

pub(super) fn all() -> Vec<Case> {
    // A pod that a rollout has just replaced may still be seen, so a third one may go.
    let about = "a Deployment rolls out, another one is scaled by its load, and a DaemonSet is there";
    vec![Case::new(controllers(), about).evicting(2..=3)]
}

/// team-2 rolls out eight pods while there is room; then team-1's autoscaler asks for eight, and a node joins for the agents of
/// team-3.
fn controllers() -> Workload {
    let small = build::work("1", "1Gi");
    let wants = json!({"metadata": {"annotations": {WANTS: "8"}}});
    let revision = json!({"spec": {"template": {"metadata": {"annotations": {"revision": "2"}}}}});
    Workload::new("controllers", node_and_teams("13", "13Gi", 3))
        .with([(Kind::Node, build::node("node-2", "1", "1Gi"))])
        .with(["team-1", "team-2", "team-3"].map(|team| queue_of(team, team, json!({"weight": 1}))))
        .create(6, Kind::DaemonSet, build::daemon_set("team-3", "agent", &small))
        .create(6, Kind::Deployment, build::deployment("team-1", "web", 2, &small))
        .create(7, Kind::Deployment, build::deployment("team-2", "api", 8, &small))
        .create(8, Kind::HorizontalPodAutoscaler, build::autoscaler("team-1", "web", 10))
        .at(20, merged(Kind::Deployment, "team-2", "api", revision))
        .at(60, merged(Kind::HorizontalPodAutoscaler, "team-1", "web", wants))
        .until(80)
        .running([("team-1", "6"), ("team-2", "6"), ("team-3", "2")])
        .evictions(2)
}
