//! What is played: small clusters with everything in them that the operator has to deal with.

mod controllers;
pub mod gated;
mod guarded;
mod moving;
pub(crate) mod plain;
mod trouble;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use quotient_invariants::Tolerance;

use crate::campaign::trial::Trial;
use crate::controllers::Lags;
use crate::faults::OperatorOptions;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::trace::Trace;

/// A workload and what is known of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The cluster, what happens to it, and how it has to end.
    pub workload: Workload,
    /// What it is about.
    pub about: &'static str,
    /// How many pods go.
    pub evictions: RangeInclusive<usize>,
    /// What the operators are not blamed for, faults apart.
    pub tolerance: Tolerance,
    /// Whether it matters on which nodes pods go: chosen with an old view of nodes they leave room nowhere, and a plan that
    /// waits is told `Fragmented`, which is an end as well.
    pub fragments: bool,
    /// Whether anything comes at an age of pods, which an operator with a clock that is behind takes for less.
    pub ages: bool,
    counts: Counts,
}

/// What happens in it without faults.
#[derive(Clone, Debug, Default)]
struct Counts {
    writes: u64,
    events: BTreeMap<Kind, u64>,
}

/// Every workload.
pub fn all() -> Vec<Case> {
    let groups = [plain::all, guarded::all, moving::all, trouble::all, gated::all, controllers::all];
    groups.into_iter().flat_map(|cases| cases()).collect()
}

/// The workload of this name.
pub fn named(name: &str) -> Option<Case> {
    all().into_iter().find(|case| case.workload.name == name)
}

impl Case {
    /// A workload that needs exactly the evictions that it says.
    pub fn new(workload: Workload, about: &'static str) -> Self {
        let evictions = workload.evictions..=workload.evictions;
        Self {
            workload,
            about,
            evictions,
            tolerance: Tolerance::default(),
            fragments: false,
            ages: false,
            counts: Counts::default(),
        }
    }

    /// The same where the number of evictions depends on who is faster.
    fn evicting(self, evictions: RangeInclusive<usize>) -> Self {
        Self { evictions, ..self }
    }

    /// The same where it matters on which nodes pods go.
    fn fragmenting(self) -> Self {
        Self { fragments: true, ..self }
    }

    /// The same where something comes at an age of pods.
    fn aging(self) -> Self {
        Self { ages: true, ..self }
    }

    /// It without faults.
    pub fn reference(&self) -> Trial {
        Trial {
            case: self.clone(),
            operators: vec![OperatorOptions::default()],
            acts: Vec::new(),
            tolerance: Tolerance { progress: true, ..self.tolerance.clone() },
            quiet: None,
            limit: None,
            ends_alike: true,
            counts_evictions: true,
            expects: Vec::new(),
            panics: false,
            lags: Lags::default(),
            seed: 0,
        }
    }

    /// Remembers how much happens in it.
    pub fn count(&mut self, reference: &Trace) {
        let writes = reference.asked_by("quotient-0").filter(|record| !record.is_lease()).count();
        let mut events = BTreeMap::new();
        for record in reference.writes() {
            *events.entry(record.kind).or_default() += 1;
        }
        self.counts = Counts { writes: writes as u64, events };
    }

    /// How many requests of the operator may write something.
    pub fn writes(&self) -> u64 {
        self.counts.writes
    }

    /// How many events of a kind there are.
    pub fn events(&self, kind: Kind) -> u64 {
        self.counts.events.get(&kind).copied().unwrap_or_default()
    }

    /// A namespace that loses something.
    pub(crate) fn loser(&self) -> &'static str {
        self.workload.hard.first().map_or("team-1", |(namespace, _)| namespace)
    }
}
