//! What parents have through their children.

use crate::plan::{Plan, PodCounts};
use crate::tree::Tree;

/// Adds up, children before parents, what only leaves have themselves.
pub(super) fn sum_up(tree: &Tree<'_>, plan: &mut Plan) {
    for branch in tree.branches.values().rev() {
        let Some(parent) = branch.parent.map(|parent| &tree.branches[parent]) else { continue };
        let Some(child) = plan.queues.get(&branch.name) else { continue };
        let (used, pods) = (child.used.clone(), child.pods);
        let (preempting, lacking) = (child.preempting.clone(), child.lacking.clone());
        let (starved, withheld) = (child.starved, child.withheld.clone());
        let in_force = child.quota_in_force || child.quota_left_alone;
        let Some(parent) = plan.queues.get_mut(&parent.name) else { continue };
        parent.used.add_all(&used);
        parent.pods = PodCounts {
            running: parent.pods.running.saturating_add(pods.running),
            pending: parent.pods.pending.saturating_add(pods.pending),
            gated: parent.pods.gated.saturating_add(pods.gated),
            terminating: parent.pods.terminating.saturating_add(pods.terminating),
        };
        parent.preempting.add_all(&preempting);
        parent.lacking.add_all(&lacking);
        if parent.starved.is_none() {
            (parent.starved, parent.withheld) = (starved, withheld);
        }
        parent.quota_in_force &= in_force;
    }
}
