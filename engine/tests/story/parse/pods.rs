//! `pod`.

use std::sync::Arc;

use quotient_engine::names::{NodeName, OwnerUid, PodName, PodUid};
use quotient_engine::snapshot::{Immunity, NamespaceState, Phase, Pod, Shape, Ties, Workload};
use quotient_engine::time::Timestamp;

use super::asks::{SHAPING, gang, placement};
use super::words::Words;

const OTHERS: [&str; 20] = [
    "node",
    "pending",
    "running",
    "terminating",
    "evicted",
    "finished",
    "forced",
    "priority",
    "created",
    "started",
    "stuck",
    "daemonset",
    "mirror",
    "critical",
    "owner",
    "labels",
    "reluctant",
    "refused",
    "cost",
    "grace",
];

/// `pod a/p1 cpu=2 memory=1Gi node=n1 started=10 owner=web labels=app:web`, and whatever else a pod may be.
///
/// `terminating` pods have to be gone at 1030 unless it says `terminating=SECONDS`; `forced` ones are terminating
/// without any grace. `cost=-9` is a deletion cost, `grace=60` how long
/// it may take to end.
pub(super) fn pod(words: &Words<'_>) -> Pod {
    let (_, name) = words.path();
    let phase = match () {
        () if words.has("pending") => Phase::Pending,
        () if words.has("finished") => Phase::Finished,
        () => Phase::Running,
    };
    let created = words.seconds("created").or(words.seconds("started")).unwrap_or_default();
    let started = words.seconds("started").unwrap_or(created);
    let others = [&OTHERS[..], &SHAPING[..]].concat();
    let deadline = words.value("terminating").filter(|text| !text.is_empty());
    let deadline = deadline.map_or(1030, |text| text.parse().unwrap());
    Pod {
        uid: PodUid::from(words.name()),
        name: PodName::from(name),
        shape: Arc::new(Shape {
            requests: words.requests(&others),
            placement: placement(words),
            ..Shape::default()
        }),
        ties: Arc::new(Ties {
            owner: words
                .value("owner")
                .map(|uid| Workload { uid: OwnerUid::from(uid), ..Workload::default() }),
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
        evicted: words.has("evicted"),
        stuck: words.seconds("stuck"),
        immunity: match () {
            () if words.has("daemonset") => Some(Immunity::DaemonSet),
            () if words.has("mirror") => Some(Immunity::Mirror),
            () if words.has("critical") => Some(Immunity::SystemCritical),
            () => None,
        },
        reluctant: words.has("reluctant"),
        forced: words.has("forced"),
        deletion_cost: words.number("cost").map_or(0, |cost| cost.try_into().unwrap()),
        grace_seconds: words.count("grace").map_or(30, |grace| grace.try_into().unwrap()),
    }
}

/// Puts `pod` in place of the one of its name.
pub(super) fn put(state: &mut NamespaceState, pod: Pod) {
    match state.pods.iter_mut().find(|standing| standing.uid == pod.uid) {
        Some(standing) => *standing = pod,
        None => state.pods.push(pod),
    }
}
