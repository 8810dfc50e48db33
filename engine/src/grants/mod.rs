//! What every queue's quota allows next, and what it is promised (S-PREEMPT §Preemption stage).
//!
//! One step of a level-triggered function, per queue and resource, with D deserved and A what the quota allows:
//!
//! * case 01, D < A: the quota drops to D at once. What nobody uses is free as soon as the lower quota is in
//!   force; what pods still hold is to be preempted.
//! * case 02, D = A: nothing happens.
//! * case 03, D > A: the quota rises at no cost up to what the queue may occupy anyway, and above that by what is
//!   free. The rest is promised: Preempting.
//!
//! The idle part comes after all that, into what is still free, and is never promised.

mod damping;
mod holder;
mod idle;
mod one_resource;
mod standing;
mod whole_units;

pub(crate) use damping::{Next, damped};
pub(crate) use holder::Holder;
pub(crate) use idle::idle_parts;
pub(crate) use standing::nothing_lowered;

use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::Stock;
use crate::shares::sums;
use crate::snapshot::Growth;
use crate::tree::{Index, Tree};
use one_resource::OneResource;

/// What is to be granted; every list has an entry a branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim<'a> {
    /// What queues are entitled to.
    pub(crate) deserved: &'a [Amounts],
    /// What their quotas may allow above that.
    pub(crate) idle: &'a [Amounts],
    /// Who comes after all others, because nobody may be evicted for them now: what was evicted for others must not be
    /// caught by them.
    pub(crate) last: &'a [bool],
    /// Whether anything may grow into what is free.
    pub(crate) growth: Growth,
    /// Whether every quota is to allow at least what it allows already.
    pub(crate) nothing_falls: bool,
}

/// The next allocated amounts of every branch: of a leaf its quota, of a parent the sum of its children.
///
/// `units` says which units a leaf has when there is not room for all of them in an amount; `offered` is the part of
/// `capacity` that nodes offer. Keeps Σ max(hold, allocated) ≤ `offered`, and ≤ limit below every queue with one, wherever
/// Σ hold was before: nothing grows but into what is free.
pub(crate) fn grants<'u>(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    aim: Aim<'_>,
    units: &dyn Fn(Index, &Amounts) -> Option<Stock<'u>>,
    (capacity, offered): (&Amounts, &Amounts),
    resources: &[Resource],
) -> Vec<Amounts> {
    let mut all = vec![Amounts::new(); tree.branches.len()];
    // No capacity in sight is more often a blind operator than an empty cluster: nothing shrinks.
    let (seen, unseen): (Vec<&Resource>, Vec<&Resource>) =
        resources.iter().partition(|resource| !capacity.get(resource).is_zero());
    for resource in unseen {
        let allocated =
            holders.iter().map(|holder| holder.map(|holder| holder.allocated(resource)).unwrap_or_default());
        book(&mut all, resource, sums(tree, allocated.collect()));
    }
    let mut each: Vec<OneResource<'_>> = seen
        .into_iter()
        .map(|resource| OneResource::new(tree, holders, aim, resource, offered.get(resource)))
        .collect();
    for one in &mut each {
        one.raise_to_deserved(aim.last);
    }
    whole_units::make_whole(tree, &mut each, aim.deserved, units);
    for mut one in each {
        one.raise_to_idle();
        let resource = one.resource;
        book(&mut all, resource, one.granted());
    }
    if aim.nothing_falls { nothing_lowered(tree, holders, &all, resources, |_| true) } else { all }
}

fn book(all: &mut [Amounts], resource: &Resource, granted: Vec<Amount>) {
    for (amounts, granted) in all.iter_mut().zip(granted) {
        amounts.set(resource, granted);
    }
}
