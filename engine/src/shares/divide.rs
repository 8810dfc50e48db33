//! One resource, divided among siblings.

use super::level::{Level, fill};
use crate::amounts::Amount;

/// What one sibling asks for and is entitled to, of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// What it asks for, its limit already applied.
    pub demand: Amount,
    /// What it is guaranteed, as far as it asks for that much.
    pub guaranteed: Amount,
    /// What cannot be taken from it, whatever its share: it comes before all guarantees and is never scaled.
    pub held: Amount,
    /// Its weight; zero takes only what nobody else wants.
    pub weight: u32,
}

/// Divides `capacity` among `claims`: weighted max-min with floors, in quanta of `quantum` units.
///
/// With floor f = min(guaranteed, demand), share = max(held, min(demand, f + λ·weight)) where λ makes the shares
/// add up to `min(capacity, Σ demand)`; whole quanta by the divisor rule, ties to the earlier claim, so callers
/// order siblings by path. Floors that exceed the capacity are scaled by the same rule. Demands and guarantees
/// count in whole quanta, rounded up, and a share never exceeds the exact demand. What is held counts as demanded.
pub fn divide(capacity: Amount, claims: &[Claim], quantum: i128) -> Vec<Amount> {
    let demand = |claim: &Claim| claim.demand.max(claim.held).or_zero();
    let wanted: Amount = claims.iter().map(demand).sum();
    if wanted <= capacity {
        return claims.iter().map(demand).collect();
    }
    let quanta = |amount: Amount| rounded_up(amount.or_zero(), quantum);
    let mut left = capacity.or_zero().units().checked_div(quantum).unwrap_or(0);
    let mut shares = vec![0i128; claims.len()];
    // First what cannot be taken, then up to the floors, then the rest; each level counts what came before it.
    let held = |claim: &Claim| quanta(claim.held);
    let floor = |claim: &Claim| quanta(claim.guaranteed.min(demand(claim)));
    let whole = |claim: &Claim| quanta(demand(claim));
    let nothing = |_: &Claim| 0;
    let rounds: [(Measure<'_>, Measure<'_>); 3] = [(&held, &nothing), (&floor, &nothing), (&whole, &floor)];
    for (target, ground) in rounds {
        let levels: Vec<Level> = claims
            .iter()
            .zip(&shares)
            .map(|(claim, share)| Level {
                have: share.saturating_sub(ground(claim)).max(0),
                room: target(claim).saturating_sub(*share).max(0),
                weight: i128::from(claim.weight),
            })
            .collect();
        for (share, received) in shares.iter_mut().zip(fill(left, &levels)) {
            *share = share.saturating_add(received);
            left = left.saturating_sub(received);
        }
    }
    shares
        .iter()
        .zip(claims)
        .map(|(share, claim)| Amount::new(share.saturating_mul(quantum)).min(demand(claim)))
        .collect()
}

/// Something of a claim, in quanta.
type Measure<'a> = &'a dyn Fn(&Claim) -> i128;

pub(super) fn rounded_up(amount: Amount, quantum: i128) -> i128 {
    let whole = amount.units().checked_div(quantum).unwrap_or(0);
    let rest = amount.units().checked_rem(quantum).unwrap_or(0);
    if rest > 0 { whole.saturating_add(1) } else { whole }
}
