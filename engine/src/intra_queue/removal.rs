//! In which order the controllers of Kubernetes remove pods when their owner is to have fewer.

use std::cmp::Reverse;

use crate::snapshot::{OwnerKind, Phase, Pod};

/// Whether it can be foretold which of the pods in this order go: of a StatefulSet with a gap it cannot, because it counts
/// ordinals and not pods.
pub(super) fn is_certain(kind: OwnerKind, order: &[&Pod]) -> bool {
    let mut numbered = (0..).zip(order.iter().rev());
    kind != OwnerKind::StatefulSet || numbered.all(|(at, pod)| ordinal(pod) == Some(at))
}

/// How many of the pods in this order go before any other, whatever they are marked with. Which of the others go first can be
/// said by marking them.
pub(super) fn fixed(kind: OwnerKind, order: &[&Pod]) -> usize {
    order.iter().filter(|pod| kind != OwnerKind::ReplicaSet || !is_ready(pod)).count()
}

/// `pods`, of one owner of `kind`, first to be removed first.
///
/// What the ReplicaSet controller knows and the engine does not (restarts, how many share a node) comes after the
/// deletion cost, and so after every mark.
pub fn removal_order(kind: OwnerKind, mut pods: Vec<&Pod>) -> Vec<&Pod> {
    let cost = |pod: &Pod| if kind == OwnerKind::ReplicaSet { pod.deletion_cost } else { 0 };
    match kind {
        OwnerKind::StatefulSet if pods.iter().all(|pod| ordinal(pod).is_some()) => {
            // Only a pod that its controller did not create has the ordinal of another one.
            pods.sort_by_key(|&pod| (Reverse(ordinal(pod)), by_age(pod)));
        }
        _ => pods.sort_by_key(|&pod| (by_use(pod), cost(pod), by_age(pod))),
    }
    pods
}

/// Pods without a node first, then pending ones, then those that are not Ready.
fn by_use(pod: &Pod) -> (bool, Phase, bool) {
    (pod.node.is_some(), pod.phase, pod.stuck.is_none())
}

/// The most recent first.
fn by_age(pod: &Pod) -> impl Ord + '_ {
    Reverse((pod.started, pod.created, &pod.name, &pod.uid))
}

/// Whether its deletion cost counts.
fn is_ready(pod: &Pod) -> bool {
    pod.node.is_some() && pod.phase == Phase::Running && pod.stuck.is_none()
}

/// The number at the end of the name of a StatefulSet's pod.
pub fn ordinal(pod: &Pod) -> Option<u32> {
    pod.name.as_str().rsplit_once('-').and_then(|(_, number)| number.parse().ok())
}
