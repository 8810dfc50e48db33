//! Shares against an oracle: single quanta, and the rule by which they are handed out. The engine has neither.

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::shares::{Claim, divide};

use crate::forest::Grain;
use crate::oracle::{PendingPods, Tier, descent, singly};
use crate::{effort, forest};

fn claim(demand: i128, guaranteed: i128, held: i128, weight: u32) -> Claim {
    let [demand, guaranteed, held] = [demand, guaranteed, held].map(Amount::new);
    Claim { demand, guaranteed, held, weight }
}

/// Up to `most` claims of less than `units`, with many zeros and ties.
fn claims(most: usize, units: i128) -> impl Strategy<Value = Vec<Claim>> {
    let sometimes = |most: i128| prop_oneof![2 => Just(0), 1 => 0..most];
    let weight = prop_oneof![1 => Just(0u32), 3 => 1u32..4, 3 => 1u32..1000];
    let one = (0..units, sometimes(units), sometimes(units / 4 + 1), weight);
    let one = one.prop_map(|(demand, guaranteed, held, weight)| claim(demand, guaranteed, held, weight));
    proptest::collection::vec(one, 1..=most)
}

fn shares(capacity: i128, claims: &[Claim], quantum: i128) -> Vec<i128> {
    divide(Amount::new(capacity), claims, quantum).into_iter().map(Amount::units).collect()
}

/// Says what is wrong with `shares` by the divisor rule.
///
/// Together they are all that there is or is wanted. Each is within the tier in which the quanta run out. And no quantum was
/// handed to one while another one would have stood lower with it, nor to a later one if equal. That leaves one division,
/// however large the amounts are.
fn trouble(quanta: i128, pending_pods: &[PendingPods], shares: &[i128]) -> Option<String> {
    let wanted: i128 = pending_pods.iter().map(|pending| Tier::Rest.end(pending)).sum();
    if shares.iter().sum::<i128>() != quanta.min(wanted) {
        return Some(format!("{shares:?} are not {quanta} of {wanted} together"));
    }
    let tier = Tier::of(quanta, pending_pods);
    let each = || pending_pods.iter().zip(shares).enumerate();
    for (at, (pending, share)) in each() {
        if !(tier.start(pending)..=tier.end(pending)).contains(share) {
            return Some(format!("{at} has {share} in {tier:?}: {pending:?}"));
        }
    }
    for (taker, (pending, has)) in each().filter(|(_, (pending, share))| **share > tier.start(pending)) {
        let last = (pending.weight == 0, tier.level(pending, *has), taker);
        for (waiter, (pending, has)) in each().filter(|(_, (pending, share))| **share < tier.end(pending)) {
            let next = (pending.weight == 0, tier.level(pending, has + 1), waiter);
            if waiter != taker && last > next {
                return Some(format!("{taker} has a quantum that is {waiter}'s: {shares:?}"));
            }
        }
    }
    None
}

/// All 145,152 instances of two claims up to 3, guaranteed up to 3, held up to 2, of weights up to 2, on up to 6 units
/// in quanta of 1 and 2.
#[test]
fn all_small_pairs_are_what_the_oracle_says() {
    let all: Vec<Claim> = (0..4i128)
        .flat_map(|demand| (0..4i128).map(move |guaranteed| (demand, guaranteed)))
        .flat_map(|(demand, guaranteed)| (0..3i128).map(move |held| (demand, guaranteed, held)))
        .flat_map(|(demand, guaranteed, held)| {
            (0..3).map(move |weight| claim(demand, guaranteed, held, weight))
        })
        .collect();
    for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other))) {
        for (capacity, quantum) in (0..7).map(|capacity| (capacity, 1 + capacity % 2)) {
            let claims = [one, other];
            let expected = singly::divide(capacity, &claims, quantum);
            assert_eq!(shares(capacity, &claims, quantum), expected, "{capacity} in {quantum}: {claims:?}");
        }
    }
}

proptest! {
    #![proptest_config(effort::cases(3000))]

    #[test]
    fn shares_are_what_single_quanta_come_to(
        capacity in 0i128..160,
        claims in claims(8, 40),
        quantum in prop_oneof![3 => Just(1i128), 1 => 2i128..9],
    ) {
        prop_assert_eq!(shares(capacity, &claims, quantum), singly::divide(capacity, &claims, quantum));
    }

    #[test]
    fn large_shares_follow_the_divisor_rule(capacity in 0i128..1 << 34, claims in claims(12, 1 << 32)) {
        let pending_pods: Vec<PendingPods> = claims.iter().map(PendingPods::of).collect();
        prop_assert_eq!(trouble(capacity, &pending_pods, &shares(capacity, &claims, 1)), None);
    }

    #[test]
    fn absurd_claims_neither_panic_nor_hang(
        capacity in any::<i128>(),
        absurd in proptest::collection::vec(any::<(i128, i128, i128, u32)>(), 0..6),
        quantum in prop_oneof![Just(1i128), Just(1i128 << 20)],
    ) {
        let absurd = absurd.into_iter();
        let claims: Vec<Claim> =
            absurd.map(|(demand, guaranteed, held, weight)| claim(demand, guaranteed, held, weight)).collect();
        prop_assert_eq!(shares(capacity, &claims, quantum).len(), claims.len());
    }
}

fn resources() -> [Resource; 3] {
    [Resource::Cpu, Resource::Memory, forest::gpu()]
}

proptest! {
    #![proptest_config(effort::cases(1000))]

    #[test]
    fn trees_are_divided_as_the_oracle_divides_them(forest in forest::forest(Grain::Bytes)) {
        let plan = forest.plan();
        for resource in resources() {
            let expected = descent::deserved(&forest, &resource);
            prop_assert_eq!(plan.queues.len(), expected.len());
            for (name, share) in expected {
                prop_assert_eq!(plan.queues[&name].deserved.get(&resource).units(), share, "{} {}", name, resource);
            }
            // A resource that no node offers is not governed, so nothing is said about it.
            for branch in forest.flat().into_iter().filter(|_| plan.resources.contains(&resource)) {
                let demand = branch.demand(&resource, forest.capacity(&resource));
                prop_assert_eq!(plan.queues[&branch.name].demand.get(&resource).units(), demand);
            }
        }
    }
}

proptest! {
    #![proptest_config(effort::cases(300))]

    /// The nominal share is the deserved share in the same cluster once every queue asks for everything.
    #[test]
    fn a_nominal_share_is_deserved_when_every_queue_asks_for_everything(
        forest in forest::forest(Grain::Quanta),
    ) {
        let plan = forest.plan();
        let mut greedy = forest.clone();
        greedy.change(|branch| branch.queue.request = forest::everything());
        for resource in &plan.resources {
            let expected = descent::deserved(&greedy, resource);
            for (name, queue) in &plan.queues {
                prop_assert_eq!(queue.nominal.get(resource).units(), expected[name], "{} {}", name, resource);
            }
        }
    }
}

/// Examples where exact proportions and quanta part.
#[test]
fn the_examples_of_the_definition() {
    let weighted = |weights: [u32; 3]| weights.map(|weight| claim(100, 0, 0, weight));
    assert_eq!(shares(10, &weighted([6, 6, 2]), 1), [5, 4, 1]);
    assert_eq!(shares(11, &weighted([6, 6, 2]), 1), [5, 5, 1]);
    assert_eq!(shares(8, &weighted([1, 1, 1]), 1), [3, 3, 2]);
}
