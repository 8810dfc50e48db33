//! How random trees come about: small numbers with many metadata, zeros and gaps.

use proptest::option::weighted;
use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::snapshot::{Acceptance, Queue};

use super::{Branch, Forest, everything};

/// How finely memory is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// In whole quanta.
    Quanta,
    /// To the byte, as decimal suffixes do it: 2G is no whole number of Mi.
    Bytes,
}

/// The extended resource that nodes offer.
pub(crate) fn gpu() -> Resource {
    Resource::from_name("example.com/gpu")
}

fn memory(most: i128, grain: Grain) -> BoxedStrategy<i128> {
    let quanta = (0..most).prop_map(|quanta| quanta << 20);
    match grain {
        Grain::Quanta => quanta.boxed(),
        Grain::Bytes => {
            let rest = prop_oneof![Just(0), Just(1), Just(1 << 19), Just((1 << 20) - 1)];
            (quanta, rest).prop_map(|(quanta, rest)| quanta + rest).boxed()
        }
    }
}

/// Each resource named with a chance of `chance`, below `most` quanta.
fn bounds(chance: f64, most: i128, grain: Grain) -> impl Strategy<Value = Bounds> {
    let cpu = weighted(chance, 0..most);
    let gpus = weighted(chance, 0..most / 3);
    (cpu, weighted(chance, memory(most, grain)), gpus).prop_map(|(cpu, memory, gpus)| {
        [(Resource::Cpu, cpu), (Resource::Memory, memory), (gpu(), gpus)]
            .into_iter()
            .filter_map(|(resource, amount)| Some((resource, Amount::new(amount?))))
            .collect()
    })
}

fn queue(grain: Grain) -> impl Strategy<Value = Queue> {
    let weight = prop_oneof![1 => Just(0u32), 3 => 1u32..4, 3 => 1u32..12];
    let request = weighted(0.8, bounds(0.8, 40, grain));
    (weight, request, bounds(0.3, 16, grain), bounds(0.2, 40, grain)).prop_map(
        |(weight, request, guaranteed, limit)| Queue {
            weight,
            request: request.unwrap_or_else(everything),
            guaranteed,
            limit,
            ..Queue::default()
        },
    )
}

/// A queue that governs pods; its own guarantee is within its own limit, or it would have no share.
pub(crate) fn leaf(grain: Grain) -> impl Strategy<Value = Branch> {
    (queue(grain), 0u8..26).prop_map(|(mut queue, letter)| {
        queue.guaranteed = queue
            .guaranteed
            .iter()
            .map(|(resource, amount)| {
                (resource.clone(), amount.min(queue.limit.get(resource).unwrap_or(Amount::MAX)))
            })
            .collect();
        Branch { name: initial(letter), queue, children: Vec::new() }
    })
}

/// A queue with up to `levels` levels below it.
pub(crate) fn branch(levels: u32, grain: Grain) -> BoxedStrategy<Branch> {
    if levels == 0 {
        return leaf(grain).boxed();
    }
    let children = proptest::collection::vec(branch(levels - 1, grain), 0..4);
    let parent = (queue(grain), 0u8..26, children).prop_map(|(queue, letter, children)| Branch {
        name: initial(letter),
        queue: Queue { children: Some(Acceptance::All), ..queue },
        children,
    });
    prop_oneof![2 => leaf(grain), 3 => parent].boxed()
}

/// Up to five trees of up to three levels, and a capacity that is mostly not enough.
pub(crate) fn forest(grain: Grain) -> impl Strategy<Value = Forest> {
    let roots = proptest::collection::vec(branch(2, grain), 1..6);
    (roots, 0i128..100, memory(100, grain), 0i128..24).prop_map(|(roots, cpu, memory, gpus)| {
        let capacity: Amounts = [(Resource::Cpu, cpu), (Resource::Memory, memory), (gpu(), gpus)]
            .into_iter()
            .map(|(resource, amount)| (resource, Amount::new(amount)))
            .collect();
        let mut forest = Forest { capacity, roots };
        forest.number();
        forest
    })
}

/// A name of which only the first letter is chosen yet.
fn initial(letter: u8) -> QueueName {
    let letter = char::from(b'a' + letter).to_string();
    QueueName::new("", letter)
}

impl Forest {
    /// Makes names unique, numbering the queues from the top; ties go by the letters they were born with.
    ///
    /// Parents live together in one namespace, leaves in one each.
    pub(crate) fn number(&mut self) {
        let mut number = 0;
        self.change(|branch| {
            let letter: String = branch.name.name.chars().take(1).collect();
            let name = format!("{letter}{number}");
            let namespace = if branch.is_parent() { "org" } else { name.as_str() };
            branch.name = QueueName::new(namespace, name.as_str());
            number += 1;
        });
    }
}
