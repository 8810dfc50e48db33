//! A copy of the cluster as the engine reads it.

use std::sync::Arc;

use quotient_engine::amounts::Resource;
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueUid};
use quotient_engine::snapshot::{
    Admission, GatePosition, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, PodMetadata, Queue, Quota,
    Settings, Shape, Snapshot, Workload,
};
use quotient_engine::time::Timestamp;

use crate::cluster::Cluster;
use crate::numbers::NAMES;
use crate::pods::ids;
use crate::scenario::Scenario;
use crate::units::{amounts, bounds};

/// What `seen` is to the engine.
pub(crate) fn snapshot(scenario: &Scenario, seen: &Cluster) -> Snapshot {
    let now = Timestamp::from_seconds(1000);
    let node = Node { allocatable: amounts(scenario.capacity), counts: true, ..Node::default() };
    let shape = Arc::new(Shape { requests: amounts(1), ..Shape::default() });
    let namespaces = scenario.each().map(|at| {
        let name = NAMES[at];
        (Namespace::from(name), Arc::new(namespace(scenario, seen, at, &shape, now)))
    });
    Snapshot {
        now,
        settings: Settings { resources: [Resource::Cpu].into(), ..Settings::default() },
        nodes: [(NodeName::from("node"), Arc::new(node))].into(),
        namespaces: namespaces.collect(),
        ..Snapshot::default()
    }
}

fn namespace(
    scenario: &Scenario,
    seen: &Cluster,
    at: usize,
    shape: &Arc<Shape>,
    now: Timestamp,
) -> NamespaceState {
    let name = NAMES[at];
    let owner = OwnerUid::from(name);
    // Request and limit alike: the demand is exactly this, whatever pods there are.
    let demand = bounds(scenario.demands[usize::from(seen.demand)][at]);
    let queue = Queue {
        uid: QueueUid::from(name),
        name: name.into(),
        weight: 1,
        request: demand.clone(),
        limit: demand,
        admission: if scenario.is_in_gate_mode() { Admission::Gate } else { Admission::Quota },
        ..Queue::default()
    };
    let quota = seen.quotas[at].map(|quota| Quota {
        hard: bounds(quota.hard),
        enforced: bounds(quota.enforced),
        ours: true,
        owner: Some(QueueUid::from(name)),
        ..Quota::default()
    });
    let job = Owner {
        uid: owner.clone(),
        kind: OwnerKind::Job,
        name: name.into(),
        generation: 1,
        created: Timestamp::from_seconds(0),
        wanted: u32::from(scenario.wanted(at)),
        shape: Arc::clone(shape),
        gang: None,
        priority: 0,
        ..Owner::default()
    };
    NamespaceState {
        queues: vec![queue],
        quota,
        pods: pods(seen, at, owner, shape, now),
        owners: vec![job],
        ..NamespaceState::default()
    }
}

/// The pods of the namespace at `at`, all of one `owner`, and those that only the quota knows of.
fn pods(seen: &Cluster, at: usize, owner: OwnerUid, shape: &Arc<Shape>, now: Timestamp) -> Vec<Pod> {
    let (name, pods) = (NAMES[at], seen.pods[at]);
    let workload = Workload { uid: owner, ..Workload::default() };
    let metadata = Arc::new(PodMetadata { owner: Some(workload), ..PodMetadata::default() });
    let pod = |id: u8| {
        let is_gated = pods.gated & (1 << id) != 0;
        let bound = !is_gated && pods.pending & (1 << id) == 0;
        Pod {
            uid: PodUid::from(format!("{name}-{id}").as_str()),
            name: PodName::from(format!("{name}-{id:02}").as_str()),
            shape: Arc::clone(shape),
            metadata: Arc::clone(&metadata),
            node: bound.then(|| NodeName::from("node")),
            phase: if bound { Phase::Running } else { Phase::Pending },
            gate: is_gated.then(GatePosition::default),
            created: Timestamp::from_seconds(i64::from(id)),
            started: bound.then(|| Timestamp::from_seconds(100 + i64::from(id))),
            deletion: (pods.terminating & (1 << id) != 0).then(|| now.plus_seconds(30)),
            // No other writer deletes any.
            evicted: pods.terminating & (1 << id) != 0,
            ..Pod::default()
        }
    };
    // Pods that only the quota knows of hold what they request, and cannot be chosen.
    let unseen = seen.quotas[at].map_or(0, |quota| quota.used.saturating_sub(pods.charged()));
    let unseen = (0..unseen).map(|number| Pod {
        uid: PodUid::from(format!("{name}-unseen-{number}").as_str()),
        name: PodName::from(format!("unseen-{number}").as_str()),
        shape: Arc::clone(shape),
        deletion: Some(now.plus_seconds(30)),
        ..Pod::default()
    });
    ids(pods.all()).map(pod).chain(unseen).collect()
}
