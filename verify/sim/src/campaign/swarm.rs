//! Several faults at once, by chance.

use std::time::Duration;

use crate::campaign::family::{Family, Place};
use crate::faults::{Act, OperatorOptions};
use crate::random::{Lag, Random};

/// What chance has made.
#[derive(Clone, Debug)]
pub(crate) struct Swarm {
    pub(crate) operators: Vec<OperatorOptions>,
    pub(crate) acts: Vec<(Duration, Act)>,
    /// How long the last of it may take until it is noticed.
    pub(crate) heals_after: Option<Duration>,
    /// Whether any of it shows a world that never was.
    pub(crate) deceives: bool,
    /// Whether any of it has another pod go.
    pub(crate) diverts: bool,
    /// Whether any of it hides what happens.
    pub(crate) blinds: bool,
    /// For how long an eviction may be under way.
    pub(crate) under_way: i64,
}

/// The nth swarm of a seed, for a workload of about so many writes.
pub(crate) fn draw(family: Family, nth: u64, seed: u64, loser: &str, writes: u64) -> Swarm {
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
    let mut heals_after = family.heals_after();
    let (mut deceives, mut diverts, mut blinds) = (false, false, false);
    let mut nodes_are_hidden = false;
    let mut refusals = 0;
    // Every swarm is slow, and some have two operators.
    let mut under_way = 4_000;
    for _ in 0..count {
        let index = usize::try_from(random.below(candidates.len() as u64)).unwrap_or_default();
        let chosen = candidates[index];
        // A second one would hit the next list, which is half an hour later, and is the one that corrects the first.
        let hides_nodes = matches!(chosen, Family::NoNodes | Family::HalfTheNodes);
        if hides_nodes && std::mem::replace(&mut nodes_are_hidden, true) {
            continue;
        }
        heals_after = heals_after.max(chosen.heals_after());
        deceives |= chosen.deceives();
        refusals += u32::from(chosen.refuses());
        diverts |= chosen.diverts() || refusals > 1;
        blinds |= chosen.blinds();
        under_way = under_way.max(chosen.under_way());
        let first = operators[0].clone();
        operators[0] = chosen.strike(first, random.below(writes), loser);
        if chosen == Family::Frozen && operators.len() < 2 {
            operators.push(OperatorOptions::default());
        }
    }
    Swarm { operators, acts: Vec::new(), heals_after, deceives, diverts, blinds, under_way }
}
