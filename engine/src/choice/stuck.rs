//! Room for pods that exist, are within their queue's target and fit no node.

use super::Party;
use super::rules::Errand;
use super::serve::Service;
use crate::amounts::{Amount, Resource};
use crate::demand::{node_patience, why_ignored};
use crate::plan::{Asker, Unmet};
use crate::reason::Reason;
use crate::snapshot::{Pod, VictimPriority};
use crate::tree::Index;

impl<'a> Service<'a> {
    /// Makes room for pods that exist, that are within their queue's target and that no node has room for.
    ///
    /// Pods of queues above their targets go for each of them; for one within what its queue is *guaranteed* also pods of
    /// queues within theirs, above what these are guaranteed, as far as all of them have room elsewhere: their quota stays,
    /// so they start again there. A pod that waits longer than its demand counts is not tried any more, so the tries end.
    pub(super) fn serve_stuck(&mut self, stuck: Vec<(Index, &'a Pod)>) {
        for (at, pod) in stuck {
            if let Some(reason) = self.serve_pod(at, pod) {
                let Some(party) = self.case.party(at) else { continue };
                self.taken.unmet.entry(at).or_default().push(Unmet {
                    who: asker(party, pod),
                    pods: 1,
                    requests: pod.requests().clone(),
                    reason,
                    controller: None,
                    lowered: None,
                    rejection: None,
                    left_out: pod.shape.left_out.clone(),
                });
            }
        }
    }

    /// Makes room for one pod; says why it still waits.
    fn serve_pod(&mut self, at: Index, pod: &'a Pod) -> Option<Reason> {
        let party = self.case.party(at)?;
        let now = self.case.snapshot.now;
        let rooms = self.simulation.rooms.as_mut()?;
        if rooms.reserve(&pod.shape).is_some() {
            return None;
        }
        if node_patience(pod, &self.case.snapshot.settings, now).is_some() {
            return Some(Reason::WaitingForNodes);
        }
        if let Some(reason) = why_ignored(pod, party.trust) {
            return Some(reason);
        }
        if !rooms.could_run(&pod.shape) {
            return Some(Reason::NoNodeFits);
        }
        // What is on its way out may make the room; who goes is decided anew when it has left.
        if self.is_under_way || rooms.someone_leaves(&pod.shape) {
            return Some(Reason::WaitingForPreemption);
        }
        let requests = pod.requests().of(self.case.resources);
        let within = |bound: &dyn Fn(&Resource) -> Amount| {
            requests.resources().all(|one| party.staying().get(one) <= bound(one))
        };
        if !within(&|one| party.target.get(one)) {
            return Some(Reason::Fragmented);
        }
        let limited = self.case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let errand = self.errand(at, None, limited.then_some(pod.priority), Reason::Reclaimed);
        let mark = self.simulation.mark();
        if self.simulation.place_pod(&pod.shape, &errand).is_ok() {
            return Some(Reason::WaitingForPreemption);
        }
        self.simulation.undo(mark);
        if within(&|one| party.queue.guaranteed.get(one).unwrap_or_default()) {
            // Whoever keeps its share comes back: if before the pod that it made room for, it takes the room again.
            let errand = Errand {
                within_target: true,
                reason: Reason::MovedAside,
                priority: Some(pod.priority),
                ..errand
            };
            if self.simulation.place_pod(&pod.shape, &errand).is_ok() {
                return Some(Reason::WaitingForPreemption);
            }
            self.simulation.undo(mark);
        }
        Some(Reason::Fragmented)
    }
}

/// Who asks: the pod's owner if it is known, else the pod itself.
fn asker(party: &Party<'_>, pod: &Pod) -> Asker {
    let owner = party.state.owners.iter().find(|owner| Some(&owner.uid) == pod.owner());
    owner.map_or_else(|| Asker::Pod(pod.name.clone()), Asker::of)
}
