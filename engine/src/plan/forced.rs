//! Pods that hang in Terminating, in queues that want such pods gone.

use super::PodId;
use super::leaf::Leaf;
use crate::demand::earliest;
use crate::names::Namespace;
use crate::time::Timestamp;

/// The pods of a leaf that are further past their deadline than its queue waits, by name; and when the next one is.
///
/// A pod whose deletion was asked for without grace already is left alone: nothing more can be asked for.
pub(super) fn forced(
    namespace: &Namespace,
    leaf: &Leaf<'_>,
    now: Timestamp,
) -> (Vec<PodId>, Option<Timestamp>) {
    let (mut due, mut next) = (Vec::new(), None);
    let Some(wait) = leaf.queue.force_delete_after_seconds else { return (due, next) };
    for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged() && !pod.forced) {
        let Some(deadline) = pod.deletion else { continue };
        let at = deadline.plus_seconds(i64::from(wait));
        if at <= now {
            due.push(PodId { namespace: namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() });
        } else {
            next = earliest(next, Some(at));
        }
    }
    due.sort();
    (due, next)
}
