//! The sizes to write, with reasons, once the preemption inside a queue is decided.

use std::collections::{BTreeMap, BTreeSet};

use super::Yielded;
use super::members::Member;
use super::pass::Pass;
use super::rules::Staying;
use super::waiting_units::{Kind, WaitingUnits};
use crate::names::OwnerUid;
use crate::plan::{PassedOver, PodId, Preemptor, Scaling};
use crate::reasons::ScalingReason;
use crate::snapshot::{Owner, OwnerKind, Pod};

/// Adds what came of the waiting units of one queue.
pub(super) fn report(pass: &Pass<'_, '_>, waiting_units: &[WaitingUnits<'_>], yielded: &mut Yielded) {
    let of_queue_jobs = pass.victims().filter(|pod| pass.members.is_of_queue_job(pod));
    yielded.slots.pods.extend(of_queue_jobs.map(|pod| pod.uid.clone()));
    yielded
        .scalings
        .extend(pass.members.all.values().filter_map(|member| lowered(pass, member, waiting_units)));
    let restored = restored(pass, waiting_units);
    yielded.scalings.extend(restored.into_values().filter_map(|(owner, pods)| raised(pass, owner, pods)));
    let promised = yielded.promised.entry(pass.queue_state.leaf.name.clone()).or_default();
    let competing = yielded.slots.competing.entry(pass.queue_state.leaf.name.clone()).or_default();
    for (waiting, units) in
        pass.met.iter().filter_map(|(number, units)| Some((waiting_units.get(*number)?, *units)))
    {
        let is_owner = matches!(waiting.preemptor, Preemptor::Owner(..));
        promised.extend((is_owner && waiting.kind != Kind::HeldBack).then(|| waiting.preemptor.clone()));
        competing.extend(waiting.competing_pods(units));
    }
    // The rules that keep pods are reported only if other pods wait because of them.
    let unmet = pass.unmet.iter().filter_map(|number| waiting_units.get(*number));
    if let Some(highest) = unmet.map(|waiting| waiting.priority).max() {
        yielded.passed_over.extend(kept(pass, highest));
    }
}

fn lowered(pass: &Pass<'_, '_>, member: &Member<'_>, waiting_units: &[WaitingUnits<'_>]) -> Option<Scaling> {
    let goes = |pod: &&Pod| pass.simulation.gone.contains(pod);
    let going: Vec<&Pod> = member.order.iter().copied().filter(goes).collect();
    if going.is_empty() {
        return None;
    }
    let numbers: BTreeSet<usize> =
        going.iter().filter_map(|pod| pass.goes_for.get(&pod.uid).copied()).collect();
    let mut beneficiaries: Vec<Preemptor> = Vec::new();
    for waiting in numbers.into_iter().filter_map(|number| waiting_units.get(number)) {
        if !beneficiaries.contains(&waiting.preemptor) {
            beneficiaries.push(waiting.preemptor.clone());
        }
    }
    let (owner, has_marks) = (member.owner, member.owner.kind == OwnerKind::ReplicaSet);
    let is_marked = |pod: &&Pod| Scaling::marks(owner, pod);
    let in_order = member.order.iter().copied().enumerate();
    let to_mark =
        in_order.filter(|(at, pod)| has_marks && *at >= member.fixed && goes(pod) && !is_marked(pod));
    let stays = member.order.len().saturating_sub(going.len());
    Some(Scaling {
        to: u32::try_from(stays).unwrap_or(u32::MAX),
        original_replicas: Some(owner.size.original_replicas.unwrap_or(owner.size.written)),
        pods: ids(pass, going.iter().copied()),
        marks: ids(pass, to_mark.map(|(_, pod)| pod)),
        lifts: ids(pass, member.order.iter().copied().filter(|pod| !goes(pod) && is_marked(pod))),
        beneficiaries,
        ..Scaling::unchanged(&pass.queue_state.leaf.name, owner, ScalingReason::Outranked)?
    })
}

/// By how many pods each owner is raised. No owner is before there is room for what completes its gang.
fn restored<'a>(
    pass: &Pass<'_, '_>,
    waiting_units: &[WaitingUnits<'a>],
) -> BTreeMap<&'a OwnerUid, (&'a Owner, u32)> {
    let mut restored: BTreeMap<&OwnerUid, (&Owner, u32)> = BTreeMap::new();
    let pending = |number: &usize| waiting_units.get(*number)?.pending;
    for (pending, units) in
        pass.restored.iter().filter_map(|(number, units)| Some((pending(number)?, *units)))
    {
        for (owner, pods) in &pending.restores {
            let (_, count) = restored.entry(&owner.uid).or_insert((owner, 0));
            *count = count.saturating_add(pods.saturating_mul(units));
        }
    }
    let waits = |(number, waiting): &(usize, &WaitingUnits<'_>)| {
        waiting.kind == Kind::HeldBack && waiting.completes().is_some() && !pass.restored.contains_key(number)
    };
    let gangs = waiting_units.iter().enumerate().filter(waits).filter_map(|(_, waiting)| waiting.pending);
    for (owner, _) in gangs.flat_map(|gang| &gang.pods) {
        restored.remove(&owner.uid);
    }
    restored
}

fn raised(pass: &Pass<'_, '_>, owner: &Owner, pods: u32) -> Option<Scaling> {
    let state = pass.queue_state.leaf.state;
    let former = owner.size.original_replicas.filter(|_| owner.size.left_alone.is_none())?;
    let all = pods >= owner.size.withheld_replicas;
    // Of its pods those are marked still that were not taken.
    let is_marked =
        |pod: &&Pod| pod.is_live() && pod.owner() == Some(&owner.uid) && Scaling::marks(owner, pod);
    Some(Scaling {
        to: if all { former } else { owner.size.written.saturating_add(pods).min(former) },
        original_replicas: (!all).then_some(former),
        lifts: ids(pass, state.pods.iter().filter(is_marked)),
        ..Scaling::unchanged(&pass.queue_state.leaf.name, owner, ScalingReason::Restored)?
    })
}

/// The pods of a lower priority than `highest` that a rule kept.
fn kept(pass: &Pass<'_, '_>, highest: i32) -> Vec<PassedOver> {
    let staying = Staying::of(&pass.members, pass.queue_state.leaf.eviction, pass.simulation);
    let (usage, queue) = (pass.simulation.context.usage, &pass.queue_state.leaf.name);
    let pods = pass.members.all.values().flat_map(|member| member.order.iter().copied());
    let pods = pods.filter(|pod| pod.priority < highest && !pass.simulation.gone.contains(pod));
    pods.filter_map(|pod| {
        let reason = pass.members.rule(pod, usage).or_else(|| staying.rule_alone(pod))?;
        Some(PassedOver { pod: PodId::of(&queue.namespace, pod), queue: queue.clone(), reason })
    })
    .collect()
}

fn ids<'p>(pass: &Pass<'_, '_>, pods: impl Iterator<Item = &'p Pod>) -> Vec<PodId> {
    pods.map(|pod| PodId::of(&pass.queue_state.leaf.name.namespace, pod)).collect()
}
