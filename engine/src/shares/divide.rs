//! One resource, divided among siblings.

use super::level::{Level, fill};
use crate::amounts::Amount;

/// What one sibling asks for and is entitled to, of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What it asks for, its limit already applied.
    pub demand: Amount,
    /// What it is guaranteed, as far as it asks for that much.
    pub guaranteed: Amount,
    /// Its weight; zero takes only what nobody else wants.
    pub weight: u32,
}

/// Divides `capacity` among `claims`: weighted max-min with floors, in quanta of `quantum` units.
///
/// With floor f = min(guaranteed, demand), share = min(demand, f + λ·weight) where λ makes the shares add up to
/// `min(capacity, Σ demand)`; whole quanta by the divisor rule, ties to the earlier claim, so callers order
/// siblings by path. Floors that exceed the capacity are scaled by the same rule. Demands and guarantees count
/// in whole quanta, rounded up, and a share never exceeds the exact demand.
pub fn divide(capacity: Amount, claims: &[Claim], quantum: i128) -> Vec<Amount> {
    let wanted: Amount = claims.iter().map(|claim| claim.demand.or_zero()).sum();
    if wanted <= capacity {
        return claims.iter().map(|claim| claim.demand.or_zero()).collect();
    }
    let quanta = |amount: Amount| rounded_up(amount.or_zero(), quantum);
    let available = capacity.or_zero().units().checked_div(quantum).unwrap_or(0);
    let floor = |claim: &Claim| quanta(claim.guaranteed.min(claim.demand));

    let floors: Vec<Level> = claims
        .iter()
        .map(|claim| Level { have: 0, room: floor(claim), weight: i128::from(claim.weight) })
        .collect();
    let granted = fill(available, &floors);
    let left = granted.iter().fold(available, |left, quanta| left.saturating_sub(*quanta));

    let rests: Vec<Level> = claims
        .iter()
        .map(|claim| Level {
            have: 0,
            room: quanta(claim.demand).saturating_sub(floor(claim)),
            weight: i128::from(claim.weight),
        })
        .collect();
    fill(left, &rests)
        .iter()
        .zip(&granted)
        .zip(claims)
        .map(|((above, below), claim)| {
            Amount::new(above.saturating_add(*below).saturating_mul(quantum)).min(claim.demand.or_zero())
        })
        .collect()
}

fn rounded_up(amount: Amount, quantum: i128) -> i128 {
    let whole = amount.units().checked_div(quantum).unwrap_or(0);
    let rest = amount.units().checked_rem(quantum).unwrap_or(0);
    if rest > 0 { whole.saturating_add(1) } else { whole }
}
