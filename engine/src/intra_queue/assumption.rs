//! One queue as it is, or as it would be if nobody were on his way out.

use std::collections::BTreeSet;

use super::asks::Ask;
use super::members::Member;
use super::preemption_pass::PreemptionPass;
use super::queue_preemption::QueuePreemption;
use super::room::QueueRoom;
use crate::amounts::Amounts;
use crate::choice::{NodeResources, QueueState};
use crate::names::PodUid;
use crate::plan::{Plan, QueuePlan};
use crate::snapshot::{Pod, Snapshot};
use crate::usage::Usage;

/// One queue, and what it is seen in.
pub(super) struct Assumption<'a, 'p> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) usage: &'a Usage<'a>,
    pub(super) plan: &'p Plan,
    pub(super) queue_state: QueueState<'a>,
}

/// How those on their way out are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// They are gone.
    AllAreGone,
    /// They are still there, and may be chosen like others.
    NobodyIs,
}

impl<'a> Assumption<'a, '_> {
    /// The owners with those of their pods that are there.
    pub(super) fn members(&self, when: When) -> Vec<Member<'a>> {
        let evicted = self.evicted();
        let is_there = |pod: &Pod| {
            let stays = when == When::NobodyIs || !pod.is_terminating();
            pod.is_charged() && stays && !evicted.contains(&pod.uid)
        };
        let mut members =
            Member::all(self.queue_state.state, self.queue_state.eviction, is_there, self.snapshot);
        if when == When::NobodyIs {
            for member in &mut members {
                member.surplus = 0;
            }
        }
        members
    }

    /// Meets the asks of the queue.
    pub(super) fn pass(
        &self,
        members: Vec<Member<'a>>,
        when: When,
        asks: &[Ask<'a>],
        node_resources: &mut NodeResources<'a>,
    ) -> PreemptionPass<'a> {
        let (mut going, mut on_their_way) = (Amounts::new(), BTreeSet::new());
        let evicted = self.evicted();
        for pod in self.queue_state.state.pods.iter().filter(|pod| pod.is_charged()) {
            let leaves = pod.is_terminating() || evicted.contains(&pod.uid);
            match when {
                When::AllAreGone if leaves => going.add_all(pod.requests()),
                When::NobodyIs if evicted.contains(&pod.uid) => going.add_all(pod.requests()),
                When::NobodyIs if leaves => {
                    on_their_way.insert(pod.uid.clone());
                    change_room(node_resources, pod, false);
                }
                _ => {}
            }
        }
        let gone = if when == When::NobodyIs { &self.members(When::AllAreGone) } else { &members };
        for candidate in gone.iter().flat_map(|member| member.pods.iter().take(member.surplus)) {
            match when {
                When::AllAreGone => {
                    going.add_all(candidate.requests());
                    change_room(node_resources, candidate.pod, true);
                }
                When::NobodyIs => {
                    on_their_way.insert(candidate.pod.uid.clone());
                }
            }
        }
        let nothing = QueuePlan::default();
        let decided = self.plan.queues.get(self.queue_state.name).unwrap_or(&nothing);
        let room = QueueRoom::of(&self.queue_state, decided, &going, &self.plan.resources);
        let seen_in = (self.snapshot, self.usage, self.plan.capacity.clone());
        let queue_preemption = QueuePreemption::new(self.queue_state, members, room, &on_their_way, seen_in);
        PreemptionPass::hold(queue_preemption, asks, node_resources, self.plan.held.is_none())
    }

    /// The pods of the queue that others take.
    fn evicted(&self) -> BTreeSet<&PodUid> {
        self.plan.evictions.iter().chain(&self.plan.waiting).map(|eviction| &eviction.pod.uid).collect()
    }
}

fn change_room(node_resources: &mut NodeResources<'_>, pod: &Pod, gives: bool) {
    let Some(at) = pod.node.as_ref().and_then(|node| node_resources.find(node)) else { return };
    if gives {
        node_resources.give(at, pod.requests());
    } else {
        node_resources.take(at, pod.requests());
    }
}
