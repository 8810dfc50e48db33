//! Quanta by the definition: one after the other, each to the claimant that stands lowest with it.

use quotient_engine::shares::Claim;

use super::{PendingPods, Tier};

/// Hands out `units` in quanta, one by one; the last one of a claim, and the last of all, is as small as need be.
///
/// What is held first, then floors, then the rest; in each of the three the weightless come last. Each quantum
/// goes to the lowest level after receiving it, as if it were whole; ties to the earlier one.
pub(crate) fn hand_out(units: i128, pending_pods: &[PendingPods], quantum: i128) -> Vec<i128> {
    let mut shares = vec![0; pending_pods.len()];
    let mut left = units;
    while left > 0 {
        let waiting = |tier: Tier, weightless: bool| {
            let shares = &shares;
            pending_pods
                .iter()
                .enumerate()
                .filter(move |(at, pending)| {
                    shares[*at] < tier.end(pending) && (pending.weight == 0) == weightless
                })
                .min_by_key(|(at, pending)| (tier.level(pending, shares[*at] + quantum), *at))
                .map(|(at, pending)| (at, quantum.min(tier.end(pending) - shares[at])))
        };
        let mut turns = Tier::ALL.into_iter().flat_map(|tier| [(tier, false), (tier, true)]);
        let Some((next, most)) = turns.find_map(|(tier, weightless)| waiting(tier, weightless)) else {
            break;
        };
        let given = most.min(left);
        shares[next] += given;
        left -= given;
    }
    shares
}

/// The shares of `claims` in units.
pub(crate) fn divide(capacity: i128, claims: &[Claim], quantum: i128) -> Vec<i128> {
    let pending_pods: Vec<PendingPods> = claims.iter().map(PendingPods::of).collect();
    hand_out(capacity, &pending_pods, quantum)
}
