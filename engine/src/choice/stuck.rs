//! Room for pods that exist, are within their queue's target and fit no node.

use super::queue_state::Need;
use super::reclaim::{MOST_PLACED, Reclaim};
use super::rules::Scope;
use crate::amounts::Amounts;
use crate::demand::{node_patience, within};
use crate::nodes::At;
use crate::plan::Preemptor;
use crate::reasons::{EvictionReason, ShortReason};
use crate::snapshot::{Pod, Shape};
use crate::tree::BranchId;

impl<'a> Reclaim<'a> {
    /// Counts pods that no node has room for as if they were not there; with each what it holds.
    pub(super) fn set_apart(
        &mut self,
        unplaced: Vec<(BranchId, &'a Pod)>,
    ) -> Vec<(BranchId, &'a Pod, Amounts)> {
        let held = |(at, pod): (BranchId, &'a Pod)| {
            let counts = self.context.leaf(at).is_some_and(|leaf| leaf.could_run(pod));
            (at, pod, if counts { pod.requests().of(self.context.resources) } else { Amounts::new() })
        };
        let unplaced: Vec<(BranchId, &'a Pod, Amounts)> = unplaced.into_iter().map(held).collect();
        for (at, _, held) in &unplaced {
            self.simulation.free.take(*at, &held.times(-1));
        }
        unplaced
    }

    /// Makes room for pods that exist, that are within their queue's target and that no node has room for.
    ///
    /// Pods of queues above their targets go for each of them; for one within what its queue is *guaranteed* also pods of
    /// queues within theirs, above what these are guaranteed, as far as all of them have room elsewhere: their quota stays,
    /// so they start again there. A pod that waits longer than its demand counts is not tried any more, so the tries end.
    pub(super) fn place_stuck_pods(
        &mut self,
        unplaced: Vec<(BranchId, &'a Pod, Amounts)>,
        needs: &[(BranchId, Need<'a>)],
    ) {
        if unplaced.is_empty() {
            return;
        }
        let node_resources = &self.simulation.node_resources;
        let victims = self.context.leaving_victims();
        self.left_by_victims =
            victims.filter_map(|(_, pod)| node_resources.find(pod.node.as_ref()?)).collect();
        for (at, pod, requests) in unplaced {
            self.simulation.free.take(at, &requests);
            let mark = self.simulation.mark();
            let placed = self.place_stuck_pod(at, pod, needs);
            if placed.is_err() {
                self.simulation.undo(mark);
            }
            let reason = placed.unwrap_or_else(Some);
            if let Some(reason) = reason.filter(|_| pod.stuck.is_some()) {
                let owner = self.context.leaf(at).and_then(|leaf| leaf.owner_of(pod));
                self.report(at, Preemptor::of_pod(pod, owner), reason, 1, &pod.shape);
            }
        }
        for (node, shape) in self.kept_places.take().into_iter().flatten() {
            self.simulation.vacate(node, shape);
        }
    }

    /// Makes room for one pod; says why it still waits. What was done for one that waits in vain has to be undone.
    fn place_stuck_pod(
        &mut self,
        at: BranchId,
        pod: &'a Pod,
        needs: &[(BranchId, Need<'a>)],
    ) -> Result<Option<ShortReason>, ShortReason> {
        let Some(leaf) = self.context.leaf(at) else { return Ok(None) };
        let requests = pod.requests().of(self.context.resources);
        if self.simulation.work.is_spent(Some(at)) {
            return Err(ShortReason::PlanLimit);
        }
        let node_resources = &mut self.simulation.node_resources;
        if node_resources.reserve(&pod.shape).is_some() {
            return Ok(None);
        }
        if node_patience(pod, &self.context.snapshot.settings, self.context.snapshot.now).is_some() {
            return Err(ShortReason::WaitingForNodes);
        }
        if let Some(reason) = leaf.demand.trust.why_ignored(pod) {
            return Err(reason);
        }
        if !leaf.could_run(pod) {
            return Err(ShortReason::NoNodeFits);
        }
        // Victims on their way out may be for it; others are chosen when they have left. What users delete is no reason to wait:
        // its room counts already, and in a large cluster some pod ends at any time.
        let may_run_on = |node: &At| node_resources.shortfall(*node, &pod.shape).is_some();
        if self.is_under_way || self.left_by_victims.iter().any(may_run_on) {
            return Ok(Some(ShortReason::WaitingForPreemption));
        }
        // Until the scheduler says so, it may find room, unless more is held than there is.
        if pod.stuck.is_none() && self.is_short_of(&requests).is_empty() {
            return Ok(None);
        }
        let unit = Some(self.simulation.next_unit(true));
        let scope = Scope { unit, ..self.scope(at, None, Some(pod.priority)) };
        let mark = self.simulation.mark();
        if self.simulation.place_pod(&pod.shape, &scope).is_ok() {
            return Ok(Some(ShortReason::WaitingForPreemption));
        }
        self.simulation.undo(mark);
        if self.simulation.work.is_spent(Some(at)) {
            return Err(ShortReason::PlanLimit);
        }
        let others = leaf.staying.less(&requests);
        if pod.stuck.is_some() && within(&leaf.queue.guaranteed, &others, &requests) > 0 {
            // What a victim leaves beside the pod that it goes for may be the place that the next one is moved to.
            if self.context.leaving_victims().next().is_some() {
                return Ok(Some(ShortReason::WaitingForPreemption));
            }
            if self.move_aside(pod, scope, needs) {
                return Ok(Some(ShortReason::WaitingForPreemption));
            }
        }
        Err(ShortReason::Fragmented)
    }

    /// Makes room for `pod` by pods that their own queues may have. From the first one on promised pods keep the places that are
    /// free for them: among them may be one that comes in the place of a pod that was moved.
    fn move_aside(&mut self, pod: &'a Pod, scope: Scope, needs: &[(BranchId, Need<'a>)]) -> bool {
        // A moved pod is within its queue's share, so it is created again, perhaps before the pod that it made room for.
        let scope = Scope {
            within_target: true,
            reason: EvictionReason::MovedAside,
            priority: Some(pod.priority),
            ..scope
        };
        let node_resources = &mut self.simulation.node_resources;
        self.kept_places.get_or_insert_with(|| {
            promised_pods(needs).filter_map(|shape| Some((node_resources.reserve(shape)?, shape))).collect()
        });
        self.simulation.place_pod(&pod.shape, &scope).is_ok()
    }
}

/// The pods that do not exist yet and for which there is room in quotas, or will be, as many as a plan looks for nodes for.
fn promised_pods<'a>(needs: &[(BranchId, Need<'a>)]) -> impl Iterator<Item = &'a Shape> {
    let units = needs.iter().flat_map(|(_, need)| &need.units);
    let pods = units.flat_map(|units| {
        let promised = units.granted.saturating_add(units.owed);
        units.pending.pods.iter().map(move |(owner, pods)| (&*owner.shape, pods.saturating_mul(promised)))
    });
    let shapes = pods
        .flat_map(|(shape, pods)| std::iter::repeat_n(shape, usize::try_from(pods).unwrap_or(usize::MAX)));
    shapes.take(usize::try_from(MOST_PLACED).unwrap_or(usize::MAX))
}
