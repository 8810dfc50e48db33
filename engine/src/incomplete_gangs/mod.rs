//! Gangs that exist in part in Quota mode, each in the room that another one lacks.
//!
//! A quota lets in pod after pod, so two gangs that are created at the same time may each get a part of their minimums. Then
//! neither is of use, and neither ends. In Gate mode gangs are let in whole, so this cannot happen there.
//!
//! ```text
//! gangs that lack members, and  ─► the first by priority, ─► the fewest others that ─► their Jobs get parallelism 0,
//! whose members use the room       age that fits when        leave it enough, last     and the former one when the whole
//! that each of them lacks          others are gone           ones first                minimum has room (`intra_queue`)
//! ```
//!
//! *Why not an eviction*: the Job would create the pod again, in the room that the other gang needs. *Why only gangs of one Job*:
//! the parts of a gang of several would get their sizes back one after the other.

mod partial_gang;
mod standoff;

use standoff::Standoff;

use crate::cluster::Cluster;
use crate::plan::{INCOMPLETE_SECONDS, Plan, Scaling};
use crate::snapshot::Admission;
use crate::time::earliest;

/// Tells every leaf which of its gangs are incomplete because of each other, and lowers the Jobs of those that yield.
pub(crate) fn resolve(cluster: Cluster<'_>, plan: &mut Plan) {
    let now = cluster.snapshot.now;
    for leaf in cluster.each_leaf().filter(|leaf| leaf.queue.admission != Admission::Gate) {
        let Some(queue) = plan.queues.get_mut(&leaf.name) else { continue };
        // What yields to a higher priority leaves room first.
        let lowers = |scaling: &Scaling| scaling.lowers() && scaling.queue == leaf.name;
        let may_hold = queue.reach.evicts()
            && !leaf.never_evicted
            && plan.held.is_none()
            && !plan.scalings.iter().any(lowers);
        let Some(standoff) = Standoff::of(leaf, queue, may_hold, &plan.resources) else { continue };
        standoff.report(queue);
        let Some(newest) = standoff.newest_of_yielding() else { continue };
        let due = newest.plus_seconds(INCOMPLETE_SECONDS);
        if now < due {
            plan.next_change = earliest(plan.next_change, Some(due));
        } else {
            plan.scalings.extend(standoff.scalings(&leaf.name));
        }
    }
}
