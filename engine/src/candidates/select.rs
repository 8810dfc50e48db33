//! The smallest set of pods that covers what has to be given back.
//!
//! Classes come in order. From the most protected class that is needed as few pods as possible are taken, then as
//! few as possible from the next, and at last whatever turned out not to be needed is dropped, most protected
//! first. Inside a class fewer pods win, then less excess, then age and name: a need of 1 cpu takes the 1-cpu
//! pod and not the newer 2-cpu one.

use super::candidate::{Candidate, sum};
use super::exact_cover::exact_cover;
use super::greedy_cover::greedy_cover;
use super::order::{class, rank};
use crate::amounts::Amounts;
use crate::pod_set::PodSet;

/// The victims among `candidates`, which are sorted least protected first, that cover `needed`.
///
/// Irreducible: without any one of them, less of `needed` would be covered. Where `needed` names one resource, the
/// numbers of victims are the smallest possible, most protected class first. If all candidates together do not
/// cover `needed`, they cover as much as they can. `scale` is what there is of each resource.
pub(crate) fn select<'a>(
    candidates: Vec<Candidate<'a>>,
    needed: &Amounts,
    scale: &Amounts,
) -> Vec<Candidate<'a>> {
    let classes = needed_classes(candidates, needed);
    let mut resources = needed.resources();
    let mut chosen = match (resources.next(), resources.next()) {
        (Some(resource), None) => exact_cover(classes, resource, needed.get(resource)),
        _ => greedy_cover(classes, needed, scale),
    };
    // Most protected first, so that they are the first to be found unneeded.
    chosen.sort_by(|a, b| rank(b, a));
    drop_unneeded(&mut chosen, needed);
    chosen.reverse();
    chosen
}

/// What [`select`] chooses among `able` without those that `may_go` refuses beside others; none if they do not cover `needed`.
pub(crate) fn select_together<'a>(
    mut able: Vec<Candidate<'a>>,
    needed: &Amounts,
    scale: &Amounts,
    may_go: &mut dyn FnMut(&[Candidate<'a>]) -> Vec<bool>,
) -> Option<Vec<Candidate<'a>>> {
    while needed.fits_in(&sum(&able)) {
        let chosen = select(able.clone(), needed, scale);
        let mut verdicts = may_go(&chosen).into_iter();
        let mut refused = PodSet::default();
        refused.extend(chosen.iter().filter(|_| verdicts.next() == Some(false)).map(|one| one.pod));
        if refused.is_empty() {
            return Some(chosen);
        }
        able.retain(|candidate| !refused.contains(candidate.pod));
    }
    None
}

/// The candidates by class, least protected first, up to the class that completes `needed`.
fn needed_classes<'a>(candidates: Vec<Candidate<'a>>, needed: &Amounts) -> Vec<Vec<Candidate<'a>>> {
    let mut classes: Vec<Vec<Candidate<'a>>> = Vec::new();
    let mut freed = Amounts::new();
    for candidate in candidates {
        let same = |other: &Candidate<'_>| class(other) == class(&candidate);
        let continues = classes.last().and_then(|last| last.last()).is_some_and(same);
        if !continues && needed.fits_in(&freed) {
            break;
        }
        freed.add_all(candidate.requests());
        match classes.last_mut() {
            Some(last) if continues => last.push(candidate),
            _ => classes.push(vec![candidate]),
        }
    }
    classes
}

/// Drops every victim without which as much of `needed` is covered, in the order given.
fn drop_unneeded(chosen: &mut Vec<Candidate<'_>>, needed: &Amounts) {
    let mut freed = sum(chosen);
    chosen.retain(|candidate| {
        let mut without = freed.clone();
        without.subtract_all(candidate.requests());
        let is_needed = without.min(needed) != freed.min(needed);
        if !is_needed {
            freed = without;
        }
        is_needed
    });
}
