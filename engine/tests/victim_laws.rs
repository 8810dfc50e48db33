//! Victim sets against an exhaustive search: irreducible, and no smaller set would do.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use quotient_advance::settle;

use crate::effort;
use crate::story::parse;

/// Of cpu and of memory in GiB.
type Size = [i128; 2];

#[derive(Clone, Debug)]
struct Spec {
    size: Size,
    runs: bool,
    priority: i32,
}

fn specs(most: usize) -> impl Strategy<Value = Vec<Spec>> {
    let one = (1i128..5, 0i128..4, prop_oneof![1 => Just(false), 3 => Just(true)], 0i32..3);
    let one = one.prop_map(|(cpu, memory, runs, priority)| Spec { size: [cpu, memory], runs, priority });
    proptest::collection::vec(one, 1..=most)
}

fn sum<'a>(specs: impl IntoIterator<Item = &'a Spec>) -> Size {
    specs.into_iter().fold([0, 0], |[cpu, memory], spec| [cpu + spec.size[0], memory + spec.size[1]])
}

/// The victims where queue `giver` fills the cluster with `specs`, and queue `taker` claims `need` of it, as far as there is so
/// much, and is guaranteed that.
fn victims(specs: &[Spec], need: Size) -> (Size, BTreeSet<usize>) {
    let [cpu, memory] = sum(specs);
    let need = [need[0].min(cpu), need[1].min(memory)];
    let claim = format!("cpu:{},memory:{}Gi", need[0], need[1]);
    let mut story = format!("node n1 cpu={cpu} memory={memory}Gi\nqueue giver\n");
    writeln!(story, "queue taker request={claim} guaranteed={claim}").unwrap();
    for (at, Spec { size: [cpu, memory], runs, priority }) in specs.iter().enumerate() {
        let stage = if *runs { "started" } else { "pending created" };
        let what = format!("cpu={cpu} memory={memory}Gi priority={priority} {stage}={at}");
        writeln!(story, "pod giver/{at} node=n1 {what}").unwrap();
    }
    let (_, plan) = settle(&parse(&story));
    (need, plan.evictions.iter().map(|eviction| eviction.pod.name.as_str().parse().unwrap()).collect())
}

/// Whether `chosen` free `need`.
fn suffices(specs: &[Spec], chosen: &BTreeSet<usize>, need: Size) -> bool {
    let freed = sum(chosen.iter().map(|at| &specs[*at]));
    need[0] <= freed[0] && need[1] <= freed[1]
}

/// How many victims a set has in each class, most protected class first.
fn cost(specs: &[Spec], chosen: &BTreeSet<usize>) -> Vec<usize> {
    let class = |spec: &Spec| (spec.runs, spec.priority);
    let classes: BTreeSet<(bool, i32)> = specs.iter().map(class).collect();
    let members = |one: &(bool, i32)| chosen.iter().filter(|at| class(&specs[**at]) == *one).count();
    classes.iter().rev().map(members).collect()
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn irreducible_and_sufficient(specs in specs(10), cpu in 0i128..12, memory in 0i128..10) {
        let (need, chosen) = victims(&specs, [cpu, memory]);
        prop_assert!(suffices(&specs, &chosen, need));
        for spared in &chosen {
            let mut fewer = chosen.clone();
            fewer.remove(spared);
            prop_assert!(!suffices(&specs, &fewer, need), "{spared} was not needed");
        }
    }

    #[test]
    fn the_smallest_where_one_resource_decides(specs in specs(10), cpu in 0i128..12) {
        let (need, chosen) = victims(&specs, [cpu, 0]);
        let best = (0u32..1 << specs.len())
            .map(|mask| (0..specs.len()).filter(|at| mask & (1 << at) != 0).collect::<BTreeSet<usize>>())
            .filter(|set| suffices(&specs, set, need))
            .map(|set| cost(&specs, &set))
            .min()
            .unwrap();
        // As few as possible of the most protected class, then of the next, and so on.
        prop_assert_eq!(cost(&specs, &chosen), best);
    }
}
