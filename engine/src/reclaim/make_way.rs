//! Making way: room for pods that exist, are within their queue's share and fit no node.

use super::asks::governed;
use super::books::Books;
use super::outcome::Taken;
use super::placing::{Errand, Placing, Stuck};
use super::take::Case;
use crate::amounts::{Amount, Resource};
use crate::demand::{node_patience, why_ignored};
use crate::plan::{Asker, Unmet};
use crate::reason::Reason;
use crate::snapshot::{Pod, VictimPriority};
use crate::tree::Index;

impl<'a> Placing<'a> {
    /// Makes way for pods that exist, that are within their queue's share and that no node has room for.
    ///
    /// Pods of queues above their share go for each of them; for one within what its queue is *guaranteed* also pods of
    /// queues within theirs, above what these are guaranteed: their quota stays, so they start again elsewhere. A pod
    /// that waits longer than its demand counts is not tried any more, so the tries end.
    pub(super) fn make_way_for_stuck(&mut self, case: &Case<'a>, books: &mut Books<'a>, taken: &mut Taken) {
        for stuck in std::mem::take(&mut self.stuck) {
            if let Some(reason) = self.make_way(case, &stuck, books) {
                taken.unmet.entry(stuck.leaf).or_default().push(Unmet {
                    who: asker(case, &stuck),
                    pods: 1,
                    requests: stuck.pod.requests().clone(),
                    reason,
                    controller: None,
                    lowered: None,
                    rejection: None,
                    left_out: stuck.pod.shape.left_out.clone(),
                });
            }
        }
    }

    /// Makes way for one pod; says why if that cannot be.
    fn make_way(&mut self, case: &Case<'a>, stuck: &Stuck<'a>, books: &mut Books<'a>) -> Option<Reason> {
        let party = case.party(stuck.leaf)?;
        let pod = stuck.pod;
        if self.rooms.reserve(&pod.shape).is_some() {
            return None;
        }
        let now = case.snapshot.now;
        if node_patience(pod, &case.snapshot.settings, now).is_some() {
            return Some(Reason::WaitingForNodes);
        }
        if let Some(reason) = why_ignored(pod, party.trust) {
            return Some(reason);
        }
        if !self.rooms.could_run(&pod.shape) {
            return Some(Reason::NoNodeFits);
        }
        // What is on its way out may make the room; who goes is decided anew when it has left.
        if !books.victims.is_empty() || self.rooms.someone_leaves(&pod.shape) {
            return Some(Reason::WaitingForPreemption);
        }
        let staying = party.headcount.all_staying();
        let requests = governed(pod.requests(), &case.resources);
        let within = |bound: &dyn Fn(&Resource) -> Amount| {
            requests.resources().all(|resource| staying.get(resource) <= bound(resource))
        };
        if !within(&|resource| party.deserved.get(resource)) {
            return Some(Reason::Fragmented);
        }
        let guaranteed = within(&|resource| party.queue.guaranteed.get(resource).unwrap_or_default());
        let fence = case.tree.fence_above(stuck.leaf);
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let asker = stuck.leaf;
        let forbids = |at: Index, victim: &Pod| {
            let inside = fence.is_none_or(|fence| case.tree.path_up(at).any(|(above, _)| above == fence));
            if at == asker || !inside || case.party(at).is_none_or(|party| party.spared) {
                Some(Reason::Fenced)
            } else if !case.census.frees_room(victim) {
                Some(Reason::NodeNotCounted)
            } else {
                (limited && victim.priority > pod.priority).then_some(Reason::PriorityAboveAsk)
            }
        };
        let mut errand = Errand {
            asker,
            priority: pod.priority,
            reason: Reason::Reclaimed,
            givers: fence.unwrap_or(usize::MAX),
            within_share: false,
            forbids: &forbids,
        };
        if self.free_a_node(case, &pod.shape, &errand, books).is_ok() {
            return Some(Reason::WaitingForPreemption);
        }
        if !guaranteed {
            return Some(Reason::Fragmented);
        }
        let before = self.rooms.clone();
        let moves = |at: Index, victim: &Pod| {
            // Who keeps its share has to have somewhere to go, and comes back: if before the pod that it made way for, it
            // takes the room again.
            let returns = (victim.priority > pod.priority).then_some(Reason::PriorityAboveAsk);
            forbids(at, victim).or(returns).or_else(|| {
                let node = victim.node.as_ref().and_then(|node| before.find(node));
                (!before.has_room_beside(&victim.shape, node)).then_some(Reason::NoNodeFits)
            })
        };
        errand.within_share = true;
        errand.reason = Reason::MovedAside;
        errand.forbids = &moves;
        if self.free_a_node(case, &pod.shape, &errand, books).is_ok() {
            return Some(Reason::WaitingForPreemption);
        }
        Some(Reason::Fragmented)
    }
}

/// Who asks: the pod's owner if it is known, else the pod itself.
fn asker(case: &Case<'_>, stuck: &Stuck<'_>) -> Asker {
    let owners = case.party(stuck.leaf).map(|party| party.state.owners.as_slice()).unwrap_or_default();
    let owner = owners.iter().find(|owner| Some(&owner.uid) == stuck.pod.owner());
    owner.map_or_else(|| Asker::Pod(stuck.pod.name.clone()), Asker::of)
}
