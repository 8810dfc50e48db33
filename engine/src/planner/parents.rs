//! What parents have through their children.

use crate::plan::{Plan, PodCounts, QueuePlan};
use crate::tree::{BranchMap, Tree};

/// Puts what is `decided` for each queue into `plan`, and adds up, children before parents, what only leaves have themselves.
pub(super) fn sum_up(tree: &Tree<'_>, mut decided: BranchMap<QueuePlan>, plan: &mut Plan) {
    for (at, branch) in tree.branches.iter().rev() {
        let child = std::mem::take(&mut decided[at]);
        if let Some(parent) = branch.parent {
            let parent = &mut decided[parent];
            parent.used.add_all(&child.used);
            parent.pods = PodCounts {
                running: parent.pods.running.saturating_add(child.pods.running),
                pending: parent.pods.pending.saturating_add(child.pods.pending),
                gated: parent.pods.gated.saturating_add(child.pods.gated),
                terminating: parent.pods.terminating.saturating_add(child.pods.terminating),
            };
            parent.preempting.add_all(&child.preempting);
            parent.lacking.add_all(&child.lacking);
            if parent.starved.is_none() {
                (parent.starved, parent.withheld) = (child.starved, child.withheld.clone());
            }
            parent.quota_in_force &= child.quota_in_force || child.quota_left_alone;
        }
        plan.queues.insert(branch.name.clone(), child);
    }
}
