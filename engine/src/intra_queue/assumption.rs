//! One queue with all pods that are on their way out as gone.

use std::collections::BTreeSet;

use super::asks::Ask;
use super::members::Member;
use super::preemption_pass::PreemptionPass;
use super::queue_preemption::QueuePreemption;
use super::room::QueueRoom;
use crate::amounts::Amounts;
use crate::choice::{NodeResources, QueueState};
use crate::names::{OwnerUid, PodUid};
use crate::plan::stuck_terminating::OVERDUE_SECONDS;
use crate::plan::{Plan, QueuePlan};
use crate::snapshot::{Owner, Pod, Snapshot};
use crate::usage::Usage;

/// One queue, and what it is seen in.
pub(super) struct Assumption<'a, 'p> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) usage: &'a Usage<'a>,
    pub(super) plan: &'p Plan,
    pub(super) queue_state: QueueState<'a>,
}

impl<'a> Assumption<'a, '_> {
    /// Meets the asks of the queue.
    pub(super) fn pass(
        &self,
        asks: &[Ask<'a>],
        node_resources: &mut NodeResources<'a>,
    ) -> PreemptionPass<'a> {
        let QueueState { state, eviction, .. } = self.queue_state;
        let evictions = self.plan.evictions.iter().chain(&self.plan.waiting);
        let evicted: BTreeSet<&PodUid> = evictions.map(|eviction| &eviction.pod.uid).collect();
        let leaves = |pod: &Pod| pod.is_terminating() || evicted.contains(&pod.uid);
        let mut going = Amounts::new();
        let leaving = state.pods.iter().filter(|pod| pod.is_charged() && leaves(pod));
        leaving.for_each(|pod| going.add_all(pod.requests()));
        let members = Member::all(state, eviction, |pod| pod.is_charged() && !leaves(pod), self.snapshot);
        for candidate in members.iter().flat_map(|member| member.pods.iter().take(member.surplus)) {
            going.add_all(candidate.requests());
            if let Some(at) = candidate.pod.node.as_ref().and_then(|node| node_resources.find(node)) {
                node_resources.give(at, candidate.requests());
            }
        }
        let nothing = QueuePlan::default();
        let decided = self.plan.queues.get(self.queue_state.name).unwrap_or(&nothing);
        let room = QueueRoom::of(&self.queue_state, decided, &going, &self.plan.resources);
        let seen_in = (self.snapshot, self.usage, self.plan.capacity.clone());
        let may_take = self.plan.held.is_none() && !self.is_under_way(&members);
        let queue_preemption = QueuePreemption::new(self.queue_state, members, room, seen_in);
        PreemptionPass::hold(queue_preemption, asks, node_resources, may_take)
    }

    /// Whether pods of owners that were scaled down are on their way out: what was decided then is not finished, and none goes
    /// twice for it. Those that are overdue are waited for no longer.
    fn is_under_way(&self, members: &[Member<'a>]) -> bool {
        let QueueState { state, .. } = self.queue_state;
        let gave = |owner: &Owner| owner.size.former.is_some();
        let givers: BTreeSet<&OwnerUid> =
            state.owners.iter().filter(|owner| gave(owner)).map(|owner| &owner.uid).collect();
        let leaves = |pod: &Pod| {
            let until = pod.deletion.map(|by| by.plus_seconds(OVERDUE_SECONDS));
            pod.is_charged() && until.is_some_and(|until| until > self.snapshot.now)
        };
        let mut pods = state.pods.iter().filter(|pod| leaves(pod)).filter_map(Pod::owner);
        members.iter().any(|member| member.surplus > 0 && gave(member.owner))
            || pods.any(|owner| givers.contains(owner))
    }
}
