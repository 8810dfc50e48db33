//! The smallest set of pods that covers what has to be given back.
//!
//! Classes come in order. From the most protected class that is needed as few pods as possible are taken, then as
//! few as possible from the next, and at last whatever turned out not to be needed is dropped, most protected
//! first. Inside a class fewer pods win, then less excess, then age and name: a need of 1 cpu takes the 1-cpu
//! pod and not the newer 2-cpu one.

use super::candidates::Candidate;
use super::order::{class, preference};
use std::collections::HashMap;

use crate::amounts::{Amount, Amounts};

/// The victims among `candidates`, which are sorted least protected first, that cover `ask`.
///
/// Irreducible: without any one of them, less of `ask` would be covered. Where `ask` names one resource, the
/// number of victims from the most protected class is the smallest possible. If all candidates together do not
/// cover `ask`, they cover as much as they can.
pub(crate) fn select<'a>(candidates: Vec<Candidate<'a>>, ask: &Amounts) -> Vec<Candidate<'a>> {
    let mut classes: Vec<Vec<Candidate<'a>>> = Vec::new();
    for candidate in candidates {
        match classes.last_mut() {
            Some(last) if last.last().is_some_and(|other| class(other) == class(&candidate)) => last.push(candidate),
            _ => classes.push(vec![candidate]),
        }
    }

    // Whole classes, least protected first, until the next one completes the ask.
    let mut covered = vec![Amounts::new()];
    for members in &classes {
        let mut sum = covered.last().cloned().unwrap_or_default();
        members.iter().for_each(|candidate| sum.add_all(&candidate.pod.requests));
        let complete = ask.fits_in(&sum);
        covered.push(sum);
        if complete {
            break;
        }
    }

    // Then the fewest of each, most protected first, given all of the classes below.
    let mut chosen: Vec<Candidate<'a>> = Vec::new();
    let mut taken = Amounts::new();
    let below = covered.iter().rev().skip(1);
    let needed = classes.into_iter().take(covered.len().saturating_sub(1)).rev();
    for (members, below) in needed.zip(below) {
        let mut rest = ask.less(&taken);
        rest = rest.less(below);
        for candidate in fewest(members, rest) {
            taken.add_all(&candidate.pod.requests);
            chosen.push(candidate);
        }
    }
    drop_unneeded(&mut chosen, ask);
    chosen.sort_by(|a, b| class(a).cmp(&class(b)).then_with(|| preference(a, b)));
    chosen
}

/// The fewest of one class that cover `rest`, preferred ones first among equals.
fn fewest<'a>(members: Vec<Candidate<'a>>, rest: Amounts) -> Vec<Candidate<'a>> {
    let mut shapes = by_shape(members);
    let mut left = rest.clone();
    let mut chosen: Vec<Candidate<'a>> = Vec::new();
    while !left.is_empty() {
        let best = shapes
            .iter_mut()
            .filter_map(|shape| {
                let head = *shape.last()?;
                Some((fit(&head, &left, &rest)?, head, shape))
            })
            .max_by(|(a, pod_a, _), (b, pod_b, _)| {
                a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)).then_with(|| preference(pod_b, pod_a))
            });
        let Some((_, _, shape)) = best else { break };
        let Some(candidate) = shape.pop() else { break };
        left = left.less(&candidate.pod.requests);
        chosen.push(candidate);
    }
    trade_down(&mut chosen, &mut shapes, &rest);
    chosen
}

/// Members of the same shape together, each group with the preferred member last.
fn by_shape<'a>(members: Vec<Candidate<'a>>) -> Vec<Vec<Candidate<'a>>> {
    let mut shapes: Vec<Vec<Candidate<'a>>> = Vec::new();
    let mut known = HashMap::new();
    for candidate in members {
        let at = *known.entry(&candidate.pod.requests).or_insert_with(|| {
            shapes.push(Vec::new());
            shapes.len().saturating_sub(1)
        });
        if let Some(shape) = shapes.get_mut(at) {
            shape.push(candidate);
        }
    }
    shapes.iter_mut().for_each(|shape| shape.reverse());
    shapes
}

/// Parts of one; contributions to several resources are added in these.
const WHOLE: i128 = 1 << 40;

/// How much of what is left a candidate covers, and how much it frees beyond; none if it does not help.
///
/// Both are sums over the resources of parts of what was asked for, so that cores and bytes compare.
fn fit(candidate: &Candidate<'_>, left: &Amounts, asked: &Amounts) -> Option<(i128, i128)> {
    let (mut covers, mut exceeds) = (0i128, 0i128);
    for (resource, asked) in asked.iter() {
        let requests = candidate.pod.requests.get(resource);
        let useful = requests.min(left.get(resource));
        covers = covers.saturating_add(part(useful, asked));
        exceeds = exceeds.saturating_add(part(requests - useful, asked));
    }
    (covers > 0).then_some((covers, exceeds))
}

fn part(amount: Amount, of: Amount) -> i128 {
    let parts = amount.units().saturating_mul(WHOLE);
    let whole = parts.checked_div(of.units()).unwrap_or(0);
    // Something is never nothing, however small.
    if whole == 0 && amount.is_positive() { 1 } else { whole }
}

/// Replaces victims by smaller ones of the same class as long as the rest stays covered.
///
/// Taking the largest first gives the fewest pods but may free more than needed: a need of 4 among 3, 2, 2 is
/// better served by 2 and 2. One resource only: with several, smaller in one is often larger in another.
fn trade_down<'a>(chosen: &mut [Candidate<'a>], shapes: &mut [Vec<Candidate<'a>>], rest: &Amounts) {
    let mut resources = rest.resources();
    let (Some(resource), None) = (resources.next(), resources.next()) else { return };
    let size = |candidate: &Candidate<'_>| candidate.pod.requests.get(resource);
    let freed: Amount = chosen.iter().map(size).sum();
    let mut excess = freed.less(rest.get(resource));
    for victim in chosen.iter_mut() {
        if excess.is_zero() {
            return;
        }
        let smallest = size(victim) - excess;
        let better = shapes
            .iter_mut()
            .filter(|shape| shape.last().is_some_and(|other| size(other) >= smallest && size(other) < size(victim)))
            .min_by_key(|shape| shape.last().map(size));
        if let Some(other) = better.and_then(Vec::pop) {
            excess -= size(victim) - size(&other);
            *victim = other;
        }
    }
}

/// Drops every victim without which as much of `ask` is covered, most protected first.
fn drop_unneeded(chosen: &mut Vec<Candidate<'_>>, ask: &Amounts) {
    let mut freed = Amounts::new();
    chosen.iter().for_each(|candidate| freed.add_all(&candidate.pod.requests));
    chosen.retain(|candidate| {
        let mut without = freed.clone();
        without.subtract_all(&candidate.pod.requests);
        let needed = ask.iter().any(|(resource, asked)| {
            without.get(resource).min(asked) < freed.get(resource).min(asked)
        });
        if !needed {
            freed = without;
        }
        needed
    });
}
