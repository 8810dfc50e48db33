//! Several faults at once, by chance.

use crate::campaign::family::{Family, Place};
use crate::faults::OperatorOptions;
use crate::random::{Lag, Random};

/// The nth swarm of a seed, for a workload of about so many writes: the operators, and what strikes them.
pub(crate) fn draw(
    family: Family,
    nth: u64,
    seed: u64,
    loser: &str,
    writes: u64,
) -> (Vec<OperatorOptions>, Vec<Family>) {
    let mut random = Random::of(seed ^ nth.rotate_left(17), "swarm");
    // What lets in pods, or changes the end, has families of its own; so has what never heals.
    let candidates: Vec<Family> = Family::all()
        .into_iter()
        .filter(|family| !family.lets_in() && family.place() != Place::Chance)
        .filter(|family| !matches!(family, Family::Drop(_)))
        .collect();
    let count = if family == Family::Pair { 2 } else { 1 + random.below(6) };
    let mut operators = vec![OperatorOptions::default()];
    if family == Family::Swarm {
        if random.below(3) == 0 {
            operators.push(OperatorOptions::default());
        }
        for options in &mut operators {
            options.lag = Lag::new(1, 1 + random.below(400));
            options.watch_lag = Lag::new(1, 1 + random.below(1_500));
        }
    }
    let mut drawn = Vec::new();
    let mut nodes_are_hidden = false;
    for _ in 0..count {
        let index = usize::try_from(random.below(candidates.len() as u64)).unwrap_or_default();
        let chosen = candidates[index];
        // A second one would hit the next list, which is half an hour later, and is the one that corrects the first.
        let hides_nodes = matches!(chosen, Family::NoNodes | Family::HalfTheNodes);
        if hides_nodes && std::mem::replace(&mut nodes_are_hidden, true) {
            continue;
        }
        let first = operators[0].clone();
        operators[0] = chosen.strike(first, random.below(writes), loser);
        if chosen == Family::Frozen && operators.len() < 2 {
            operators.push(OperatorOptions::default());
        }
        drawn.push(chosen);
    }
    (operators, drawn)
}
