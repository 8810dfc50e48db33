//! The fewest victims where one resource decides: exact.
//!
//! Taking the largest first gives the fewest of a class and leaves the least to the classes below, but may free
//! more than needed: a need of 4 among 3, 2, 2 is better served by 2 and 2 than by 3 and 2. So victims are then
//! traded for smaller ones of their class as long as the need stays covered.

use std::cmp::Reverse;

use super::candidate::{Candidate, sum};
use super::order::turn;
use crate::amounts::{Amount, Resource};

/// The fewest of each of `classes` (least protected first) that cover `needed`, most protected class first.
pub(super) fn exact_cover<'a>(
    classes: Vec<Vec<Candidate<'a>>>,
    resource: &Resource,
    needed: Amount,
) -> Vec<Candidate<'a>> {
    let mut below: Amount = classes.iter().map(|members| sum(members).get(resource)).sum();
    let mut freed = Amount::ZERO;
    let mut split = Vec::new();
    for mut members in classes.into_iter().rev() {
        below -= sum(&members).get(resource);
        members.sort_by_key(|member| (Reverse(member.requests().get(resource)), turn(member.pod)));
        let mut taken = 0usize;
        for candidate in &members {
            if freed + below >= needed {
                break;
            }
            freed += candidate.requests().get(resource);
            taken = taken.saturating_add(1);
        }
        let never_evicted = members.split_off(taken.min(members.len()));
        split.push((members, never_evicted));
    }

    let mut excess = freed.less(needed);
    let mut chosen = Vec::new();
    for (mut taken, mut never_evicted) in split {
        excess = trade_down(&mut taken, &mut never_evicted, resource, excess);
        chosen.append(&mut taken);
    }
    chosen
}

/// Replaces members of `taken` by smaller ones of `never_evicted`, both sorted by size, while `excess` allows it.
fn trade_down<'a>(
    taken: &mut [Candidate<'a>],
    never_evicted: &mut Vec<Candidate<'a>>,
    resource: &Resource,
    mut excess: Amount,
) -> Amount {
    let size = |candidate: &Candidate<'_>| candidate.requests().get(resource);
    // Of equal ones the one that should stay is traded first.
    let mut order: Vec<usize> = (0..taken.len()).collect();
    order.sort_by_key(|at| (Reverse(taken.get(*at).map(size)), Reverse(*at)));
    for at in order {
        if excess.is_zero() {
            break;
        }
        let Some(victim) = taken.get_mut(at) else { continue };
        let smallest = size(victim) - excess;
        let large_enough = never_evicted.partition_point(|other| size(other) >= smallest);
        let Some(best) = large_enough.checked_sub(1).and_then(|last| never_evicted.get(last)).map(size)
        else {
            continue;
        };
        if best >= size(victim) {
            continue;
        }
        // Of those of that size, the preferred one comes first.
        let at = never_evicted.partition_point(|other| size(other) > best);
        if at < never_evicted.len() {
            excess -= size(victim) - best;
            *victim = never_evicted.remove(at);
        }
    }
    excess
}
