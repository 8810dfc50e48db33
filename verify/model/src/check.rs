//! Runs the checker on one scenario and says what it found.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::converge::converge;
use crate::graph::shortest;
use crate::scenario::Scenario;
use crate::state_space::StateSpace;
use crate::story::describe;

/// From everywhere, once nothing goes wrong any more, the world comes to a good rest.
pub const END: &str = "everything ends well";

/// What was found in one scenario.
#[derive(Debug)]
pub struct Found {
    /// The scenario's name.
    pub name: &'static str,
    /// Different states.
    pub unique: usize,
    /// States with repetitions.
    pub generated: usize,
    /// The longest of the shortest ways to a state.
    pub depth: usize,
    /// Different views that the engine was asked about.
    pub views: usize,
    /// Steps that refused a write because of its precondition.
    pub conflicts: usize,
    /// Steps in which a late write was carried out.
    pub landed: usize,
    /// How long it took.
    pub took: Duration,
    /// Whether it was given up.
    pub is_cut: bool,
    /// The laws that are broken, each with the shortest way there.
    pub broken: Vec<(&'static str, String)>,
    /// What should happen somewhere and never does.
    pub never: Vec<&'static str>,
    /// How many states can go on without faults for ever, as watches never catch up; none if a law is broken.
    pub cyclic: Option<usize>,
}

/// Tries everything that can happen in `scenario`, until a law is broken; gives up after about `most` states, those that
/// are met again included.
pub fn exhaust(scenario: &Scenario, most: usize) -> Found {
    run(scenario, 2, HasDiscoveries::AnyFailures, most)
}

/// A wrong protocol breaks its law much earlier.
const MOST_REFUTED: usize = 10_000_000;

/// Tries everything that can happen in `scenario`, until this law is broken.
pub fn refute(scenario: &Scenario, law: &'static str) -> Found {
    let mut found = run(scenario, 1, HasDiscoveries::AnyOf([law].into()), MOST_REFUTED);
    found.broken.retain(|(broken, _)| *broken == law);
    found
}

fn run(scenario: &Scenario, threads: usize, until: HasDiscoveries, most: usize) -> Found {
    let began = Instant::now();
    let name = scenario.name;
    let mut space = StateSpace::new(scenario.clone());
    space.merges_twins = true;
    let checker = space.checker().threads(threads).finish_when(until);
    let checker = checker.target_state_count(most).spawn_bfs().join();
    let space = checker.model();
    let mut found = Found {
        name,
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        views: space.memo.views(),
        conflicts: space.memo.conflicts.load(Ordering::Relaxed),
        landed: space.memo.landed.load(Ordering::Relaxed),
        took: Duration::ZERO,
        is_cut: checker.state_count() >= most,
        broken: Vec::new(),
        never: Vec::new(),
        cyclic: None,
    };
    let discoveries = checker.discoveries();
    for law in space.properties() {
        match (law.expectation.discovery_is_failure(), discoveries.contains_key(law.name)) {
            // The checker's own way is the last that it found, not the shortest.
            (true, true) => {
                let space = StateSpace::new(scenario.clone());
                let way = shortest(&space, &|world| !(law.condition)(&space, world)).unwrap_or_default();
                found.broken.push((law.name, describe(&space, &way)));
            }
            (false, false) => found.never.push(law.name),
            _ => {}
        }
    }
    // These are steps, not states.
    if scenario.operators > 1 && found.conflicts == 0 {
        found.never.push("a write is refused");
    }
    if scenario.faults.late > 0 && found.landed == 0 {
        found.never.push("a late write lands");
    }
    if found.broken.is_empty() && !found.is_cut {
        let converged = converge(space);
        if converged.lost > 0 {
            found.broken.push((END, describe(space, &converged.way)));
        }
        found.cyclic = Some(converged.cyclic);
    }
    found.took = began.elapsed();
    found
}

impl Found {
    /// Whether everything was tried, every law holds, and all that should happen somewhere does.
    pub fn holds(&self) -> bool {
        !self.is_cut && self.broken.is_empty() && self.never.is_empty()
    }
}

/// What a line of the table of results names; see [`Found`].
pub const HEADING: &str =
    "| scenario | states | generated | depth | views | conflicts | late landed | seconds | result |
|---|---:|---:|---:|---:|---:|---:|---:|---|";

impl fmt::Display for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = match (&self.broken[..], self.cyclic) {
            ([(law, _), ..], _) => format!("broken: {law}"),
            ([], _) if self.is_cut => "given up".to_owned(),
            ([], _) if !self.never.is_empty() => format!("never: {}", self.never.join(", ")),
            ([], Some(0)) => "holds, no cycle".to_owned(),
            ([], _) => "holds".to_owned(),
        };
        let Self { name, unique, generated, depth, views, conflicts, landed, .. } = self;
        let seconds = self.took.as_secs_f64();
        write!(
            formatter,
            "| {name} | {unique} | {generated} | {depth} | {views} | {conflicts} | {landed} | {seconds:.1} | {result} |"
        )
    }
}
