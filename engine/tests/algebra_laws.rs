//! The twelve laws of shares, A1 to A12, over whole trees and through `plan`.
//!
//! Siblings and their parent (or the cluster) are a *family*: what one hand divides. A law about one division is
//! checked in every family of the tree; a law about edits is checked on every queue of it.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{NodeName, QueueName};
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{Acceptance, Node, Queue, Snapshot};

use crate::contents::leaves;
use crate::edits::{
    Deserved, deserved, greedy, newcomer, path_to, raised, some_leaf, with, with_more, without_limits,
};
use crate::family::{Family, Sibling, families};
use crate::forest::{Branch, Forest, Grain, grow};
use crate::{effort, forest, random};

proptest! {
    #![proptest_config(effort::cases(200))]

    /// A1: no family is given more than there is, with pods and quotas of every kind in the cluster too.
    #[test]
    fn a1_no_family_gets_more_than_there_is(forest in forest::forest(Grain::Bytes), cluster in random::cluster(6)) {
        for plan in [forest.plan(), plan(&cluster)] {
            let mut sums: BTreeMap<Option<&QueueName>, Amounts> = BTreeMap::new();
            for queue in plan.queues.values() {
                sums.entry(queue.parent.as_ref()).or_default().add_all(&queue.deserved);
            }
            for (parent, sum) in sums {
                let available = parent.map_or(&plan.capacity, |parent| &plan.queues[parent].deserved);
                prop_assert!(sum.fits_in(available), "{:?}: {} of {}", parent, sum, available);
            }
        }
    }

    /// A2, above: no queue gets more than it asks for, nor than a limit on its path allows.
    #[test]
    fn a2_no_share_exceeds_a_demand_or_a_limit_above_it(forest in forest::forest(Grain::Bytes)) {
        fn check(siblings: &[Branch], plan: &Plan, resource: &Resource, lowest: i128) -> Result<(), TestCaseError> {
            for branch in siblings {
                let share = plan.queues[&branch.name].deserved.get(resource).units();
                let lowest = lowest.min(branch.limit(resource));
                let capacity = plan.capacity.get(resource).units();
                prop_assert!(share <= lowest && share <= branch.demand(resource, capacity), "{}", branch.name);
                check(&branch.children, plan, resource, lowest)?;
            }
            Ok(())
        }
        let plan = forest.plan();
        for resource in &plan.resources {
            check(&forest.roots, &plan, resource, i128::MAX)?;
        }
    }

    /// A2, below: what is asked for of a guarantee is kept where all such parts fit together: into the cluster at
    /// the top, into their parent's limit below it. Of an exceeded limit this law says nothing, nor of those below.
    #[test]
    fn a2_guarantees_that_fit_are_kept_down_the_tree(forest in forest::forest(Grain::Quanta)) {
        fn check(siblings: &[Branch], within: i128, plan: &Plan, resource: &Resource) -> Result<(), TestCaseError> {
            let floor = |branch: &Branch| branch.floor(resource, plan.capacity.get(resource).units());
            if siblings.iter().map(floor).sum::<i128>() > within {
                return Ok(());
            }
            for branch in siblings {
                let share = plan.queues[&branch.name].deserved.get(resource).units();
                prop_assert!(share >= floor(branch), "{} has {} {}", branch.name, share, resource);
                check(&branch.children, branch.limit(resource), plan, resource)?;
            }
            Ok(())
        }
        let plan = forest.plan();
        for resource in &plan.resources {
            check(&forest.roots, forest.capacity(resource), &plan, resource)?;
        }
    }

    /// A2, below, in any one family, to the byte too: memory stated in decimal suffixes is no whole number of Mi.
    #[test]
    fn a2_guarantees_that_fit_are_kept(forest in forest::forest(Grain::Bytes)) {
        for family in families(&forest, &forest.plan()) {
            if family.sum(|one| one.floor) <= family.available {
                prop_assert!(family.siblings.iter().all(|one| one.share >= one.floor), "{:?}", family);
            }
        }
    }

    /// A3: nothing that a queue wants lies idle, in any family.
    #[test]
    fn a3_what_is_wanted_is_handed_out(forest in forest::forest(Grain::Bytes)) {
        for family in families(&forest, &forest.plan()) {
            let wanted = family.sum(|one| one.demand);
            prop_assert_eq!(family.sum(|one| one.share), wanted.min(family.available), "{:?}", family);
        }
    }

    /// A4: a queue that wants more could get it only from siblings that would then stand lower than it does now: no
    /// quantum above a floor is held by one for which it is higher than it would be for another. Of equals the
    /// earlier one has it. Between cousins the law holds for the siblings above them.
    #[test]
    fn a4_no_queue_stands_higher_than_a_sibling_in_want(forest in forest::forest(Grain::Quanta)) {
        for family in families(&forest, &forest.plan()).iter().filter(|family| family.floors_fit()) {
            let above = |one: &Sibling| (family.quanta(one.share) - family.quanta(one.floor)).max(0);
            for (at, poor) in family.siblings.iter().enumerate().filter(|(_, one)| one.share < one.demand) {
                for (other, rich) in family.siblings.iter().enumerate().filter(|(_, one)| above(one) > 0) {
                    let after = (poor.weight == 0, (above(poor) + 1) * rich.weight.max(1), at);
                    let now = (rich.weight == 0, above(rich) * poor.weight.max(1), other);
                    prop_assert!(at == other || now < after, "{:?} beside {:?} in {:?}", rich, poor, family);
                }
            }
        }
    }

    /// A4 where guarantees do not fit: the same between those below theirs, measured from nothing.
    #[test]
    fn a4_guarantees_that_do_not_fit_are_scaled_by_weight(forest in forest::forest(Grain::Quanta)) {
        for family in families(&forest, &forest.plan()).iter().filter(|family| !family.floors_fit()) {
            let quanta = |one: &Sibling| family.quanta(one.share);
            for (at, poor) in family.siblings.iter().enumerate().filter(|(_, one)| one.share < one.floor) {
                for (other, rich) in family.siblings.iter().enumerate().filter(|(_, one)| one.share > 0) {
                    let after = (poor.weight == 0, (quanta(poor) + 1) * rich.weight.max(1), at);
                    let now = (rich.weight == 0, quanta(rich) * poor.weight.max(1), other);
                    prop_assert!(at == other || now < after, "{:?} beside {:?} in {:?}", rich, poor, family);
                }
            }
            prop_assert!(family.siblings.iter().all(|one| one.share <= one.floor), "{:?}", family);
        }
    }

    /// A5: names that sort the same, other ids and another order of creation change nothing.
    #[test]
    fn a5_names_and_ages_change_nothing(forest in forest::forest(Grain::Bytes)) {
        let mut renamed = forest.clone();
        renamed.change(|branch| {
            let longer = |text: &str| format!("{text}-x");
            branch.name = QueueName::new(longer(branch.name.namespace.as_str()).as_str(), longer(&branch.name.name));
        });
        let (before, after) = (forest.plan(), renamed.plan());
        for (was, is) in forest.flat().into_iter().zip(renamed.flat()) {
            prop_assert_eq!(&before.queues[&was.name].deserved, &after.queues[&is.name].deserved);
            prop_assert_eq!(&before.queues[&was.name].nominal, &after.queues[&is.name].nominal);
        }
    }

    /// A5: the order in which queues are found changes nothing.
    #[test]
    fn a5_the_order_of_input_changes_nothing(forest in forest::forest(Grain::Bytes), turn in any::<Index>()) {
        let snapshot = forest.snapshot();
        let mut turned = snapshot.clone();
        for state in turned.namespaces.values_mut() {
            let queues = &mut Arc::make_mut(state).queues;
            let by = turn.index(queues.len());
            queues.rotate_left(by);
        }
        prop_assert_eq!(plan(&snapshot), plan(&turned));
    }

    /// A5: whatever the names, ties are about one quantum, and no more at the bottom of the tree than at its top.
    #[test]
    fn a5_ties_by_name_are_about_one_quantum(
        forest in forest::forest(Grain::Quanta),
        letters in proptest::collection::vec(0u8..26, 1..40),
    ) {
        let mut renamed = forest.clone();
        let mut letter = letters.iter().cycle();
        renamed.change(|branch| {
            branch.name = QueueName::new("", char::from(b'a' + letter.next().unwrap()).to_string());
        });
        renamed.number();
        let (before, after) = (deserved(&forest), deserved(&renamed));
        for (was, is) in forest.flat().into_iter().zip(renamed.flat()) {
            for resource in [Resource::Cpu, Resource::Memory, forest::gpu()] {
                let moved = before[&was.name].get(&resource) - after[&is.name].get(&resource);
                prop_assert!(moved.units().abs() <= resource.quantum(), "{} {} by {:?}", was.name, resource, moved);
            }
        }
    }

    /// A6: only the proportion of weights counts, in each family on its own.
    #[test]
    fn a6_each_family_may_scale_its_weights(
        forest in forest::forest(Grain::Bytes),
        factors in proptest::collection::vec(1u32..100_000, 1..20),
    ) {
        let mut scaled = forest.clone();
        let mut factor = factors.iter().cycle();
        let mut scale = |siblings: &mut Vec<Branch>| {
            let factor = factor.next().unwrap();
            for one in siblings {
                one.queue.weight *= factor;
            }
        };
        scale(&mut scaled.roots);
        scaled.change(|branch| scale(&mut branch.children));
        prop_assert_eq!(deserved(&forest), deserved(&scaled));
    }

    /// A7: a larger cluster lowers no share, those included who ask for all of it.
    #[test]
    fn a7_more_capacity_lowers_no_share(
        forest in forest::forest(Grain::Bytes),
        (cpu, bytes, gpus) in (0i128..20, 0i128..20 << 20, 0i128..5),
    ) {
        let larger = with_more(&forest, [cpu, bytes, gpus]);
        prop_assert_eq!(raised(&deserved(&larger), &deserved(&forest), &[]), None, "{:?}", larger);
    }

    /// A7: one more queue without a guarantee raises only the parents, which ask for more through it.
    #[test]
    fn a7_one_more_queue_raises_only_those_above_it(
        forest in forest::forest(Grain::Quanta),
        added in newcomer(Grain::Quanta),
        place in any::<Index>(),
    ) {
        let mut added = added;
        added.queue.guaranteed = Bounds::new();
        let (grown, above) = with(&forest, &added, place);
        let (before, after) = (deserved(&forest), deserved(&grown));
        prop_assert_eq!(raised(&before, &after, &above), None, "{:?}", grown);
    }

    /// A7: with a guarantee too, and though it may lower others far, provided that no queue above it has a limit. Why
    /// that is needed, [`a7_a_guarantee_below_a_limit_may_raise_a_cousin`] shows.
    #[test]
    fn a7_nor_does_one_with_a_guarantee_below_no_limit(
        forest in forest::forest(Grain::Quanta),
        added in newcomer(Grain::Quanta),
        place in any::<Index>(),
    ) {
        let (_, above) = with(&forest, &added, place);
        let forest = without_limits(&forest, &above);
        let (grown, above) = with(&forest, &added, place);
        let (before, after) = (deserved(&forest), deserved(&grown));
        prop_assert_eq!(raised(&before, &after, &above), None, "{:?}", grown);
    }

    /// A7: asking for more raises only the queue and its parents, under the same condition: with it more of a
    /// guarantee is asked for.
    #[test]
    fn a7_asking_for_more_raises_no_other(forest in forest::forest(Grain::Quanta), who in any::<Index>()) {
        let Some(name) = some_leaf(&forest, who) else { return Ok(()) };
        let path = path_to(&forest.roots, &|branch| branch.name == name);
        let forest = without_limits(&forest, &path[..path.len() - 1]);
        let (before, after) = (deserved(&forest), deserved(&greedy(&forest, &name)));
        prop_assert_eq!(raised(&before, &after, &path), None);
    }

    /// A7: no queue gets less for asking for more.
    #[test]
    fn a7_asking_for_more_never_lowers_oneself(forest in forest::forest(Grain::Quanta), who in any::<Index>()) {
        let Some(name) = some_leaf(&forest, who) else { return Ok(()) };
        let (before, after) = (deserved(&forest), deserved(&greedy(&forest, &name)));
        prop_assert!(before[&name].fits_in(&after[&name]), "{} falls", name);
    }

    /// A8: a parent has what its children have; it keeps nothing.
    #[test]
    fn a8_a_parent_has_what_its_children_have(forest in forest::forest(Grain::Quanta)) {
        let plan = forest.plan();
        for parent in forest.flat().into_iter().filter(|branch| branch.is_parent()) {
            let mut below = Amounts::new();
            parent.children.iter().for_each(|child| below.add_all(&plan.queues[&child.name].deserved));
            prop_assert_eq!(&plan.queues[&parent.name].deserved, &below, "{}", parent.name);
        }
    }

    /// A8: to all others a parent is one queue: a leaf in its place that asks for the same, with the same floor,
    /// gets the same, and so do all others.
    #[test]
    fn a8_a_parent_is_to_others_like_a_leaf_that_asks_the_same(
        forest in forest::forest(Grain::Quanta),
        which in any::<Index>(),
    ) {
        let parents: Vec<&Branch> = forest.flat().into_iter().filter(|branch| branch.is_parent()).collect();
        prop_assume!(!parents.is_empty());
        let parent = parents[which.index(parents.len())];
        let everywhere = |of: &dyn Fn(&Resource, i128) -> i128| -> Bounds {
            let one = |resource: Resource| {
                let amount = of(&resource, forest.capacity(&resource));
                (resource, Amount::new(amount))
            };
            [Resource::Cpu, Resource::Memory, forest::gpu()].into_iter().map(one).collect()
        };
        let mut closed = forest.clone();
        closed.change(|branch| {
            if branch.name == parent.name {
                branch.queue.children = None;
                branch.children.clear();
                branch.queue.request = everywhere(&|resource, capacity| parent.demand(resource, capacity));
                branch.queue.guaranteed = everywhere(&|resource, capacity| parent.floor(resource, capacity));
            }
        });
        let before = deserved(&forest);
        for (name, share) in deserved(&closed) {
            prop_assert_eq!(&before[&name], &share, "{}", name);
        }
    }

    /// A8: what a parent has is divided as if it were a cluster of its own.
    #[test]
    fn a8_a_parent_is_to_its_children_like_a_cluster(forest in forest::forest(Grain::Quanta)) {
        let before = deserved(&forest);
        for parent in forest.flat().into_iter().filter(|branch| branch.is_parent()) {
            let alone = Forest { capacity: before[&parent.name].clone(), roots: parent.children.clone() };
            for (name, share) in deserved(&alone) {
                prop_assert_eq!(&before[&name], &share, "{} below {}", name, parent.name);
            }
        }
    }

    /// A9: not one unit is lost or made up at any size, and no queue is a whole quantum short of its proportion.
    #[test]
    fn a9_large_trees_are_exact(
        cpu in 0i128..1 << 100,
        memory in 0i128..1 << 80,
        weights in proptest::collection::vec((1u32..=10_000, proptest::collection::vec(1u32..=10_000, 1..6)), 1..6),
    ) {
        let branch = |weight: u32, weights: &[u32]| -> Branch {
            let leaf = |weight: &u32| Branch {
                name: QueueName::new("", "q"),
                queue: Queue { weight: *weight, request: forest::everything(), ..Queue::default() },
                children: Vec::new(),
            };
            let queue = Queue { weight, children: Some(Acceptance::All), ..Queue::default() };
            Branch { name: QueueName::new("", "p"), queue, children: weights.iter().map(leaf).collect() }
        };
        let capacity = [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(memory << 20))];
        let roots = weights.iter().map(|(weight, below)| branch(*weight, below)).collect();
        let mut forest = Forest { capacity: capacity.into_iter().collect(), roots };
        forest.number();
        for family in families(&forest, &forest.plan()) {
            prop_assert_eq!(family.sum(|one| one.share), family.available);
            let (quantum, weights) = (family.resource.quantum(), family.sum(|one| one.weight));
            for one in &family.siblings {
                let proportion = family.available / quantum * one.weight / weights;
                prop_assert!(one.share / quantum >= proportion, "{:?} in {:?}", one, family);
            }
        }
    }

    /// A10: weight zero gets something beyond its guarantee only where no sibling with a weight lacks anything.
    #[test]
    fn a10_weight_zero_comes_after_all_others(forest in forest::forest(Grain::Quanta)) {
        for family in families(&forest, &forest.plan()) {
            let in_want = family.siblings.iter().any(|one| one.weight > 0 && one.share < one.demand);
            for one in family.siblings.iter().filter(|one| one.weight == 0 && in_want) {
                prop_assert!(one.share <= one.floor, "{:?}", family);
            }
            // Nor does it get any of a guarantee while those of siblings with a weight are not kept.
            let broken = family.siblings.iter().any(|one| one.weight > 0 && one.share < one.floor);
            prop_assert!(!broken || family.siblings.iter().all(|one| one.weight > 0 || one.share == 0));
        }
    }

    /// A10: whatever hangs at the top with weight zero and no guarantee, no queue with a weight feels it.
    #[test]
    fn a10_weight_zero_without_guarantee_is_not_felt(
        forest in forest::forest(Grain::Quanta),
        added in grow::branch(2, Grain::Quanta),
    ) {
        let mut joined = forest.clone();
        let mut added = added;
        added.change(&mut |branch| branch.queue.guaranteed = Bounds::new());
        added.queue.weight = 0;
        joined.roots.push(added);
        joined.number();
        let (before, after) = (deserved(&forest), deserved(&joined));
        for root in forest.roots.iter().filter(|root| root.queue.weight > 0) {
            for branch in root.flat() {
                prop_assert_eq!(&before[&branch.name], &after[&branch.name], "{}", branch.name);
            }
        }
    }

    /// A11: a resource that no node offers, named in requests, guarantees and limits, changes nothing and appears
    /// nowhere; where the administrator governs it all the same, each deserves none of it.
    #[test]
    fn a11_an_unknown_resource_in_queues_is_neither_a_block_nor_a_gift(
        forest in forest::forest(Grain::Bytes),
        amounts in proptest::collection::vec(0i128..10, 3),
    ) {
        let mut dreaming = forest.clone();
        dreaming.change(|branch| {
            let name = |bounds: &mut Bounds, amount: i128| bounds.set(unicorn(), Amount::new(amount));
            name(&mut branch.queue.request, amounts[0]);
            name(&mut branch.queue.guaranteed, amounts[1]);
            name(&mut branch.queue.limit, amounts[1] + amounts[2]);
        });
        let known = forest.plan();
        prop_assert_eq!(&known, &dreaming.plan());
        let mut governed = dreaming.snapshot();
        governed.settings.resources = known.resources.iter().cloned().chain([unicorn()]).collect();
        for (name, queue) in plan(&governed).queues {
            prop_assert_eq!(&queue.deserved, &known.queues[&name].deserved);
            prop_assert_eq!(&queue.nominal, &known.queues[&name].nominal);
            prop_assert_eq!(&queue.allocated, &known.queues[&name].allocated);
        }
    }

    /// A11: pods that request it change no number and no victim either.
    #[test]
    fn a11_an_unknown_resource_in_pods_changes_no_decision(snapshot in random::cluster(6), amount in 1i128..10) {
        let mut dreaming = snapshot.clone();
        for state in dreaming.namespaces.values_mut() {
            // Pods without a node could not run where no node exists, which does change what others go for.
            for pod in Arc::make_mut(state).pods.iter_mut().filter(|pod| pod.node.is_some()) {
                Arc::make_mut(&mut pod.shape).requests.set(&unicorn(), Amount::new(amount));
            }
        }
        let (mut known, mut dreamt) = (plan(&snapshot), plan(&dreaming));
        // The reason of a wait may be a resource that no node has; which pods wait may not.
        for queue in known.queues.values_mut().chain(dreamt.queues.values_mut()) {
            queue.unmet.clear();
            queue.starved = queue.starved.map(|_| ShortReason::NothingToEvict);
        }
        prop_assert_eq!(&known.queues, &dreamt.queues);
        prop_assert_eq!((&known.capacity, &known.resources), (&dreamt.capacity, &dreamt.resources));
        let victims = |plan: &Plan| -> Vec<_> {
            let all = plan.evictions.iter().map(|one| (true, one)).chain(plan.waiting.iter().map(|one| (false, one)));
            let mut all: Vec<_> = all.map(|(now, one)| (now, one.pod.clone(), one.beneficiary.clone())).collect();
            all.sort();
            all
        };
        prop_assert_eq!(victims(&known), victims(&dreamt));
    }

    /// A12: what pods use is counted to the unit, however little, in their queue and in all above it.
    #[test]
    fn a12_small_usage_is_counted(snapshot in random::cluster(6), cpu in 1i128..4, bytes in 1i128..4) {
        let mut small = snapshot;
        for state in small.namespaces.values_mut() {
            for pod in &mut Arc::make_mut(state).pods {
                let requests = [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(bytes))];
                Arc::make_mut(&mut pod.shape).requests = requests.into_iter().collect();
            }
        }
        let plan = plan(&small);
        let mut below: BTreeMap<&QueueName, i128> = BTreeMap::new();
        for (name, queue) in leaves(&plan) {
            let pods = small.namespaces[&name.namespace].pods.iter().filter(|pod| pod.is_charged()).count() as i128;
            let path = std::iter::successors(Some(name), |name| plan.queues[*name].parent.as_ref());
            path.for_each(|above| *below.entry(above).or_default() += pods);
            prop_assert_eq!(queue.used.get(&Resource::Cpu).units(), pods * cpu);
        }
        for (name, pods) in below {
            prop_assert_eq!(plan.queues[name].used.get(&Resource::Cpu).units(), pods * cpu);
            prop_assert_eq!(plan.queues[name].used.get(&Resource::Memory).units(), pods * bytes);
        }
    }

    /// A12: a guarantee smaller than a quantum is kept to the unit, and so is what is asked for of it.
    #[test]
    fn a12_small_guarantees_are_kept(
        forest in forest::forest(Grain::Quanta),
        bytes in 1i128..1 << 20,
        (asked, weight, place) in (1i128..1 << 20, 0u32..3, any::<Index>()),
    ) {
        let amounts = |bytes: i128| -> Bounds {
            [(Resource::Cpu, Amount::new(1)), (Resource::Memory, Amount::new(bytes))].into_iter().collect()
        };
        let queue = Queue { weight, request: amounts(asked), guaranteed: amounts(bytes), ..Queue::default() };
        let small = Branch { name: QueueName::new("small", "small"), queue, children: Vec::new() };
        let (joined, above) = with(&forest, &small, place);
        let plan = joined.plan();
        let families = families(&joined, &plan);
        prop_assume!(families.iter().all(Family::floors_fit));
        let share = &plan.queues[&small.name].deserved;
        let available = |resource: &Resource| forest.capacity.get(resource);
        prop_assert_eq!(share.get(&Resource::Cpu), Amount::new(1).min(available(&Resource::Cpu)), "below {:?}", above);
        let kept = Amount::new(asked.min(bytes)).min(available(&Resource::Memory));
        prop_assert!(share.get(&Resource::Memory) >= kept, "{}", share);
    }
}

/// A resource of which there is none.
fn unicorn() -> Resource {
    Resource::from_name("example.com/unicorn")
}

/// Where A7 ends: `new` brings the guarantee of its limited parent up to that parent's limit. The parent above both,
/// `org`, is lifted by the whole guarantee, but `team` can take only what its limit leaves open; the rest goes to
/// `free`, a cousin of `new`. Every single division keeps the law, the tree does not: floors are counted on top of
/// what weights bring, not within it.
#[test]
fn a7_a_guarantee_below_a_limit_may_raise_a_cousin() {
    let cpu = |amount: i128| -> Bounds { [(Resource::Cpu, Amount::new(amount))].into_iter().collect() };
    let queue = || Queue { weight: 1, request: forest::everything(), ..Queue::default() };
    let leaf =
        |name: &str, queue: Queue| Branch { name: QueueName::new(name, name), queue, children: Vec::new() };
    let parent = |name: &str, queue: Queue, children: Vec<Branch>| Branch {
        name: QueueName::new("org", name),
        queue: Queue { children: Some(Acceptance::All), ..queue },
        children,
    };
    let forest = |members: Vec<Branch>| {
        let team = parent("team", Queue { limit: cpu(5), ..queue() }, members);
        let org = parent("org", queue(), vec![leaf("free", queue()), team]);
        let capacity = [(Resource::Cpu, Amount::new(16))].into_iter().collect();
        deserved(&Forest { capacity, roots: vec![org, leaf("other", queue())] })
    };
    let new = leaf("new", Queue { guaranteed: cpu(5), ..queue() });
    let (before, after) = (forest(vec![leaf("old", queue())]), forest(vec![leaf("old", queue()), new]));
    let shares = |all: &Deserved| -> Vec<i128> {
        let cpu = |(namespace, name): (&str, &str)| {
            all[&QueueName::new(namespace, name)].get(&Resource::Cpu).units()
        };
        [("org", "org"), ("org", "team"), ("free", "free"), ("other", "other")].into_iter().map(cpu).collect()
    };
    assert_eq!(shares(&before), [8, 4, 4, 8]);
    assert_eq!(shares(&after), [11, 5, 6, 5], "free rises from 4 to 6");
}

/// The snapshot of a forest is what the laws say it is: empty, one node, nothing configured.
#[test]
fn a_forest_is_an_empty_cluster() {
    let forest = Forest { capacity: Amounts::new(), roots: Vec::new() };
    let node = Node { counts: true, ..Node::default() };
    let mut expected = Snapshot::default();
    expected.nodes.insert(NodeName::from("node"), Arc::new(node));
    assert_eq!(forest.snapshot(), expected);
}
