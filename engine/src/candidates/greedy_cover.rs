//! Few victims where several resources have to be covered at once: greedy.
//!
//! The smallest set is then a hard problem; what is taken first is whatever covers the largest part of what is
//! still missing. The caller drops what turns out not to be needed, so the set is irreducible all the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidate::{Candidate, sum};
use super::order::turn;
use crate::amounts::{Amount, Amounts};
use crate::keyed::KeyedMap;
use crate::total::total;

/// Few of each of `classes` (least protected first) that together cover `needed`, most protected class first. `scale` is
/// what there is of each resource.
pub(super) fn greedy_cover<'a>(
    classes: Vec<Vec<Candidate<'a>>>,
    needed: &Amounts,
    scale: &Amounts,
) -> Vec<Candidate<'a>> {
    let mut below = total(classes.iter().flatten().map(Candidate::requests));
    let mut chosen = Vec::new();
    let mut taken = Amounts::new();
    for members in classes.into_iter().rev() {
        below.subtract_all(&sum(&members));
        let rest = needed.less(&taken).less(&below);
        for candidate in greedy(members, &rest, scale) {
            taken.add_all(candidate.requests());
            chosen.push(candidate);
        }
    }
    chosen
}

/// Members of one class that cover `rest`, the one that covers most of what is left first.
///
/// What is left shrinks, and with it how well each serves. So one that serves as well as it was known to is the best.
fn greedy<'a>(members: Vec<Candidate<'a>>, rest: &Amounts, scale: &Amounts) -> Vec<Candidate<'a>> {
    let mut shapes = by_shape(members);
    let mut left = rest.clone();
    let service = |shape: &[Candidate<'a>], left: &Amounts| {
        let head = shape.last()?;
        Some((fit(head, left, rest, scale)?, Reverse(turn(head.pod))))
    };
    let known = shapes.iter().enumerate().filter_map(|(at, shape)| Some((service(shape, &left)?, at)));
    let mut best: BinaryHeap<_> = known.collect();
    let mut chosen: Vec<Candidate<'a>> = Vec::new();
    while !left.is_empty()
        && let Some((known, at)) = best.pop()
        && let Some(shape) = shapes.get_mut(at)
    {
        let now = service(shape, &left);
        if now.as_ref() == Some(&known)
            && let Some(candidate) = shape.pop()
        {
            left = left.less(candidate.requests());
            chosen.push(candidate);
        }
        best.extend(service(shape, &left).map(|service| (service, at)));
    }
    chosen
}

/// Members of the same shape together, each group with the preferred member last.
///
/// Members of a shape differ in nothing that [`fit`] looks at, so only one of each has to be looked at.
fn by_shape<'a>(members: Vec<Candidate<'a>>) -> Vec<Vec<Candidate<'a>>> {
    let mut shapes: Vec<Vec<Candidate<'a>>> = Vec::new();
    let mut known = KeyedMap::default();
    // Most members beside each other share what they request.
    let mut last: Option<(*const Amounts, usize)> = None;
    for candidate in members {
        let requests = std::ptr::from_ref(candidate.requests());
        let same = last.filter(|(same, _)| *same == requests).map(|(_, at)| at);
        let at = same.unwrap_or_else(|| {
            *known.entry(candidate.requests().clone()).or_insert_with(|| {
                shapes.push(Vec::new());
                shapes.len().saturating_sub(1)
            })
        });
        last = Some((requests, at));
        if let Some(shape) = shapes.get_mut(at) {
            shape.push(candidate);
        }
    }
    for shape in &mut shapes {
        shape.reverse();
    }
    shapes
}

/// How well a candidate serves: sums over the resources of parts of what there is, so that cores and bytes compare and
/// go on comparing in the same way while victims leave.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// What it covers of what is left.
    covers: i128,
    /// What it frees beyond that: the less the better.
    exceeds: Reverse<i128>,
}

/// How well `candidate` serves; none if it does not help.
fn fit(candidate: &Candidate<'_>, left: &Amounts, needed: &Amounts, scale: &Amounts) -> Option<Fit> {
    let (mut covers, mut exceeds) = (0i128, 0i128);
    for resource in needed.resources() {
        let all = scale.get(resource);
        let requests = candidate.requests().get(resource);
        let useful = requests.min(left.get(resource));
        covers = covers.saturating_add(part(useful, all));
        exceeds = exceeds.saturating_add(part(requests - useful, all));
    }
    (covers > 0).then_some(Fit { covers, exceeds: Reverse(exceeds) })
}

/// Parts of one; a part is fine enough to tell any two pods apart and coarse enough never to overflow.
const WHOLE: i128 = 1 << 40;

/// What part of `of` the `amount` is, as a number that compares with those of other resources.
pub(crate) fn part(amount: Amount, of: Amount) -> i128 {
    let whole = amount.units().saturating_mul(WHOLE).checked_div(of.units()).unwrap_or(0);
    // Something is never nothing, however small.
    if whole == 0 && amount.is_positive() { 1 } else { whole }
}
