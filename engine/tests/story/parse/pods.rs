//! `pod`.

use std::sync::Arc;

use quotient_engine::names::{NodeName, OwnerUid, PodName, PodUid};
use quotient_engine::reasons::KeptReason;
use quotient_engine::snapshot::{GatePosition, NamespaceState, Phase, Pod, PodMetadata, Shape, Workload};
use quotient_engine::time::Timestamp;

use super::pending::{SHAPING, gang, placement};
use super::words::Words;

/// The words that are no resources, beside [`SHAPING`].
const OTHERS: &str = "node pending running terminating given evicted finished forced created started stuck \
                      failing daemonset mirror machine owner labels do_not_disrupt refused cost grace gated";

/// `pod a/p1 cpu=2 memory=1Gi node=n1 started=10 owner=web labels=app:web`, and whatever else a pod may be.
///
/// `terminating` pods have to be gone at 1030 unless it says `terminating=SECONDS`; `forced` ones are terminating
/// without any grace, and `given=60` is how many seconds they were given then; of `failing` ones the kubelet reports that they
/// crash or cannot start. `cost=-9` is a deletion cost, `grace=60` how long it may take to end. `gated` ones are pending and
/// wait for room of their queue. `owner=agent daemonset` is a pod of a DaemonSet.
pub(super) fn pod(words: &Words<'_>) -> Pod {
    let (_, name) = words.path();
    let phase = match () {
        () if words.has("pending") || words.has("gated") => Phase::Pending,
        () if words.has("finished") => Phase::Finished,
        () => Phase::Running,
    };
    let created = words.seconds("created").or(words.seconds("started")).unwrap_or_default();
    let started = words.seconds("started").unwrap_or(created);
    let deadline = words.value("terminating").filter(|text| !text.is_empty());
    let deadline = deadline.map_or(1030, |text| text.parse().unwrap());
    Pod {
        uid: PodUid::from(words.name()),
        name: PodName::from(name),
        shape: Arc::new(Shape {
            requests: words.requests(&[OTHERS, SHAPING].join(" ")),
            placement: placement(words),
            ..Shape::default()
        }),
        metadata: Arc::new(PodMetadata {
            owner: words.value("owner").map(|name| owner(name, words.has("daemonset"))),
            gang: gang(words),
            labels: words.labels("labels"),
        }),
        node: words.value("node").map(NodeName::from),
        phase,
        priority: words.priority(),
        created,
        started: (phase == Phase::Running).then_some(started),
        deletion: (words.has("terminating") || words.has("forced"))
            .then(|| Timestamp::from_seconds(deadline)),
        deletion_seconds: words.count("given").unwrap_or_default(),
        evicted: words.has("evicted"),
        stuck: words.seconds("stuck"),
        gate: words.has("gated").then(GatePosition::default),
        failing: words.has("failing"),
        kept: (words.has("mirror").then_some(KeptReason::MirrorPod))
            .or_else(|| words.has("machine").then_some(KeptReason::VirtualMachine)),
        do_not_disrupt: words.has("do_not_disrupt"),
        forced: words.has("forced"),
        deletion_cost: words.number("cost").map_or(0, |cost| cost.try_into().unwrap()),
        grace_seconds: words.count("grace").map_or(30, |grace| grace.try_into().unwrap()),
    }
}

fn owner(name: &str, is_daemon_set: bool) -> Workload {
    let owner = Workload { uid: OwnerUid::from(name), ..Workload::default() };
    if is_daemon_set {
        Workload { api_version: "apps/v1".into(), kind: "DaemonSet".into(), ..owner }
    } else {
        owner
    }
}

/// Puts `pod` in place of the one of its name.
pub(super) fn put(state: &mut NamespaceState, pod: Pod) {
    match state.pods.iter_mut().find(|standing| standing.uid == pod.uid) {
        Some(standing) => *standing = pod,
        None => state.pods.push(pod),
    }
}
