//! Whole quanta by the definition: one after the other, each to whoever stands lowest with it.

use quotient_engine::shares::Claim;

use super::{Ask, Tier};

/// Hands out `quanta` one by one.
///
/// What is held first, then floors, then the rest; in each of the three the weightless come last. Each quantum
/// goes to the lowest level after receiving it, ties to the earlier one.
pub(crate) fn hand_out(quanta: i128, asks: &[Ask]) -> Vec<i128> {
    let mut shares = vec![0; asks.len()];
    for _ in 0..quanta {
        let waiting = |tier: Tier, weightless: bool| {
            let shares = &shares;
            asks.iter()
                .enumerate()
                .filter(move |(at, ask)| shares[*at] < tier.end(ask) && (ask.weight == 0) == weightless)
                .min_by_key(|(at, ask)| (tier.level(ask, shares[*at] + 1), *at))
                .map(|(at, _)| at)
        };
        let mut turns = Tier::ALL.into_iter().flat_map(|tier| [(tier, false), (tier, true)]);
        match turns.find_map(|(tier, weightless)| waiting(tier, weightless)) {
            Some(next) => shares[next] += 1,
            None => break,
        }
    }
    shares
}

/// The shares of `claims` in units: whole quanta, cut back to what is asked for exactly.
pub(crate) fn divide(capacity: i128, claims: &[Claim], quantum: i128) -> Vec<i128> {
    let wants: Vec<i128> = claims.iter().map(|claim| claim.demand.max(claim.held).units()).collect();
    if wants.iter().sum::<i128>() <= capacity {
        return wants;
    }
    let asks: Vec<Ask> = claims.iter().map(|claim| Ask::of(claim, quantum)).collect();
    let shares = hand_out(capacity / quantum, &asks);
    shares.iter().zip(wants).map(|(quanta, want)| want.min(quanta * quantum)).collect()
}
