//! One resource, divided among siblings.

use super::level::{Level, fill};
use crate::amounts::Amount;

/// The demand of one sibling, and what it is entitled to, of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Its demand, its limit already applied.
    pub demand: Amount,
    /// What it is guaranteed, as far as its demand is that much.
    pub guaranteed: Amount,
    /// What cannot be taken from it, whatever its share: it comes before all guarantees and is never scaled.
    pub held: Amount,
    /// Its weight; zero takes only what no other demands.
    pub weight: u32,
}

/// Divides `capacity` among `claims`: weighted max-min with floors, in quanta of `quantum` units.
///
/// With floor f = min(guaranteed, demand), share = max(held, min(demand, f + λ·weight)) where λ makes the shares
/// add up to `min(capacity, Σ demand)` to the unit; by the divisor rule in whole quanta above the floor, the last ones as
/// small as demand and capacity are; ties to the earlier claim, so callers order siblings by path. Floors that exceed the
/// capacity are scaled by the same rule, those that fit are kept to the unit. What is held counts as demanded.
pub fn divide(capacity: Amount, claims: &[Claim], quantum: i128) -> Vec<Amount> {
    let demand = |claim: &Claim| claim.demand.max(claim.held).or_zero();
    let wanted: Amount = claims.iter().map(demand).sum();
    if wanted <= capacity {
        return claims.iter().map(demand).collect();
    }
    let mut left = capacity.or_zero().units();
    let mut shares = vec![0i128; claims.len()];
    // First what cannot be taken, then up to the floors, then the rest; each level counts what came before it.
    let held = |claim: &Claim| claim.held.or_zero().units();
    let floor = |claim: &Claim| claim.guaranteed.min(demand(claim)).or_zero().units();
    let whole = |claim: &Claim| demand(claim).units();
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
        if levels.iter().all(|level| level.room == 0) {
            continue;
        }
        for (share, received) in shares.iter_mut().zip(fill(left, &levels, quantum)) {
            *share = share.saturating_add(received);
            left = left.saturating_sub(received);
        }
    }
    shares.into_iter().map(Amount::new).collect()
}

/// Something of a claim, in units.
type Measure<'a> = &'a dyn Fn(&Claim) -> i128;
