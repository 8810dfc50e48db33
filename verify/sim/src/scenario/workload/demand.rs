//! Demand is observed.

use quotient_crds::QueueSpec;

use super::{CLAIM, WORK, Workload, created, teams};
use crate::objects::Kind;
use crate::scenario::build;

/// Demand is observed: one team's work fills the cluster while the other has none, and leaves when that one has some.
pub fn observed() -> Workload {
    let queue = |name: &str| build::queue(name, name, QueueSpec::default());
    let mut objects = vec![(Kind::Node, build::node("node-1", "8", "32Gi"))];
    objects.extend(teams(2));
    objects.push((Kind::Queue, queue("team-1")));
    objects.push((Kind::Queue, queue("team-2")));
    let work = build::work("1", "1Gi");
    Workload {
        name: "observed",
        objects,
        later: vec![
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "web", 8, &work))),
            (CLAIM, created(Kind::ReplicaSet, build::replica_set("team-2", "web", 8, &work))),
        ],
        length: CLAIM,
        hard: vec![],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
}
