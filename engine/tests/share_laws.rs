//! The laws of sharing one resource, over random claims (S-QUEUE §Proportion Policy).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

use proptest::prelude::*;
use quotient_engine::amounts::Amount;
use quotient_engine::shares::{Claim, divide};

use crate::effort;

fn claim(demand: u32, guaranteed: u32, weight: u32) -> Claim {
    Claim {
        demand: Amount::new(demand.into()),
        guaranteed: Amount::new(guaranteed.into()),
        weight,
        ..Claim::default()
    }
}

fn claims(most: usize) -> impl Strategy<Value = Vec<Claim>> {
    let one =
        (0u32..40, prop_oneof![3 => Just(0u32), 1 => 0u32..20], prop_oneof![1 => Just(0u32), 5 => 1u32..8]);
    proptest::collection::vec(
        one.prop_map(|(demand, guaranteed, weight)| claim(demand, guaranteed, weight)),
        1..most,
    )
}

fn shares(capacity: i128, claims: &[Claim]) -> Vec<i128> {
    divide(Amount::new(capacity), claims, 1).into_iter().map(Amount::units).collect()
}

fn demand(claim: &Claim) -> i128 {
    claim.demand.units()
}

fn floor(claim: &Claim) -> i128 {
    claim.guaranteed.min(claim.demand).units()
}

/// The same by handing out one quantum after the other, which is what the rule says.
fn one_by_one(capacity: i128, claims: &[Claim]) -> Vec<i128> {
    let mut left = capacity;
    let mut hand_out = |most: &dyn Fn(&Claim) -> i128, start: &[i128]| -> Vec<i128> {
        let mut received = vec![0; claims.len()];
        for weightless in [false, true] {
            while left > 0 {
                let next = (0..claims.len())
                    .filter(|&i| {
                        (claims[i].weight == 0) == weightless && received[i] + start[i] < most(&claims[i])
                    })
                    .min_by(|&a, &b| {
                        let width = |i: usize| i128::from(claims[i].weight.max(1));
                        ((received[a] + 1) * width(b)).cmp(&((received[b] + 1) * width(a))).then(a.cmp(&b))
                    });
                let Some(next) = next else { break };
                received[next] += 1;
                left -= 1;
            }
        }
        received
    };
    let none = vec![0; claims.len()];
    let floors = hand_out(&floor, &none);
    let all_floors: Vec<i128> = claims.iter().map(floor).collect();
    let rests = if floors == all_floors { hand_out(&demand, &floors) } else { none };
    floors.iter().zip(rests).map(|(floor, rest)| floor + rest).collect()
}

proptest! {
    #![proptest_config(effort::cases(2000))]

    #[test]
    fn the_closed_form_is_one_quantum_after_the_other(capacity in 0i128..200, claims in claims(8)) {
        prop_assert_eq!(shares(capacity, &claims), one_by_one(capacity, &claims));
    }

    #[test]
    fn nothing_is_wasted_and_nothing_invented(capacity in 0i128..200, claims in claims(10)) {
        let wanted: i128 = claims.iter().map(demand).sum();
        prop_assert_eq!(shares(capacity, &claims).iter().sum::<i128>(), capacity.min(wanted));
    }

    #[test]
    fn no_claimant_gets_more_than_it_asks_for(capacity in 0i128..200, claims in claims(10)) {
        for (share, claim) in shares(capacity, &claims).iter().zip(&claims) {
            prop_assert!((0..=demand(claim)).contains(share));
        }
    }

    #[test]
    fn guarantees_that_fit_are_kept(capacity in 0i128..200, claims in claims(10)) {
        prop_assume!(claims.iter().map(floor).sum::<i128>() <= capacity);
        for (share, claim) in shares(capacity, &claims).iter().zip(&claims) {
            prop_assert!(*share >= floor(claim));
        }
    }

    /// Max-min: a claimant that wants more could only get it from those that are not above it.
    #[test]
    fn raising_one_lowers_only_those_not_above(capacity in 0i128..200, claims in claims(10)) {
        prop_assume!(claims.iter().map(floor).sum::<i128>() <= capacity);
        let shares = shares(capacity, &claims);
        for (mine, claim) in shares.iter().zip(&claims).filter(|(share, claim)| **share < demand(claim)) {
            for (theirs, other) in shares.iter().zip(&claims) {
                let (above_mine, above_theirs) = (mine - floor(claim), theirs - floor(other));
                if claim.weight == 0 {
                    prop_assert!(other.weight > 0 || above_theirs <= above_mine + 1);
                } else if other.weight == 0 {
                    prop_assert_eq!(above_theirs, 0);
                } else if above_theirs > 0 {
                    let (w, v) = (i128::from(claim.weight), i128::from(other.weight));
                    prop_assert!(above_theirs * w <= (above_mine + 1) * v);
                }
            }
        }
    }

    #[test]
    fn scaling_all_weights_changes_nothing(capacity in 0i128..200, claims in claims(10), factor in 1u32..1000) {
        let scaled: Vec<Claim> =
            claims.iter().map(|claim| Claim { weight: claim.weight * factor, ..*claim }).collect();
        prop_assert_eq!(shares(capacity, &claims), shares(capacity, &scaled));
    }

    #[test]
    fn more_capacity_lowers_no_share(capacity in 0i128..200, more in 0i128..10, claims in claims(10)) {
        let (before, after) = (shares(capacity, &claims), shares(capacity + more, &claims));
        prop_assert!(before.iter().zip(&after).all(|(before, after)| before <= after));
    }

    #[test]
    fn adding_a_queue_raises_no_share(capacity in 0i128..200, claims in claims(10), added in claims(2)) {
        prop_assume!(claims.iter().chain(&added).map(floor).sum::<i128>() <= capacity);
        let before = shares(capacity, &claims);
        let all: Vec<Claim> = claims.iter().chain(&added).copied().collect();
        let after = shares(capacity, &all);
        prop_assert!(before.iter().zip(&after).all(|(before, after)| after <= before));
    }

    #[test]
    fn order_matters_only_to_ties(capacity in 0i128..200, claims in claims(10), turn in 0usize..10) {
        let at = turn % claims.len();
        let mut turned = claims.clone();
        turned.rotate_left(at);
        let mut turned_shares = shares(capacity, &turned);
        turned_shares.rotate_right(at);
        for (one, other) in shares(capacity, &claims).iter().zip(&turned_shares) {
            prop_assert!((one - other).abs() <= 1);
        }
    }

    #[test]
    fn large_amounts_are_exact(weights in proptest::collection::vec(1u32..1_000_000, 1..20), capacity in 0i128..(1 << 62)) {
        let claims: Vec<Claim> = weights
            .iter()
            .map(|weight| Claim { demand: Amount::new(capacity), guaranteed: Amount::ZERO, weight: *weight, ..Claim::default() })
            .collect();
        let shares = shares(capacity, &claims);
        prop_assert_eq!(shares.iter().sum::<i128>(), capacity);
        let width: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
        for (share, weight) in shares.iter().zip(&weights) {
            let exact = capacity * i128::from(*weight) / width;
            prop_assert!((share - exact).abs() <= i128::try_from(weights.len()).unwrap());
        }
    }

    #[test]
    fn absurd_claims_neither_panic_nor_hang(
        capacity in any::<i128>(),
        demands in proptest::collection::vec((any::<i128>(), any::<i128>(), any::<u32>()), 0..6),
        quantum in prop_oneof![Just(1i128), Just(1i128 << 20)],
    ) {
        let claims: Vec<Claim> = demands
            .iter()
            .map(|(demand, guaranteed, weight)| Claim {
                demand: Amount::new(*demand),
                guaranteed: Amount::new(*guaranteed),
                weight: *weight,
                ..Claim::default()
            })
            .collect();
        prop_assert_eq!(divide(Amount::new(capacity), &claims, quantum).len(), claims.len());
    }
}
