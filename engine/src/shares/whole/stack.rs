//! The units of one leaf: those that it has room for, and those that it lacks room for.

use super::row::{Row, add};
use crate::tree::Index;

/// What is being completed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Pods that are there.
    #[default]
    Existing,
    /// What owners lack.
    Others,
}

/// Pods of a leaf that are alike and not among what it has.
#[derive(Clone)]
pub(super) struct Lacking {
    pub(super) requests: Row,
    pub(super) pods: i128,
}

/// One leaf's units.
#[derive(Clone, Default)]
pub(super) struct Stack {
    /// All that are there and all that are not, in order.
    existing: Vec<Lacking>,
    others: Vec<Lacking>,
    /// What those request that it has room for; and what the others request that there is room for beside them.
    pub(super) kept: Row,
    pub(super) kept_of_others: Row,
    /// The others of this stage, in order, and how many of them have been tried in vain.
    pub(super) lacking: Vec<Lacking>,
    pub(super) tried: usize,
    pub(super) stage: Stage,
    /// Whether it knows that it has too much of something.
    pub(super) gives: bool,
    pub(super) receives: bool,
    /// Which resources it was given.
    pub(super) received: Vec<bool>,
    /// For which resources no pod goes that is there.
    pub(super) ample: Vec<bool>,
    pub(super) fence: Option<Index>,
}

impl Stack {
    pub(super) fn new(
        existing: Vec<Lacking>,
        others: Vec<Lacking>,
        have: &Row,
        gives: bool,
        receives: bool,
        fence: Option<Index>,
    ) -> Self {
        let nothing = vec![0; have.len()];
        let nothing_yet = vec![false; have.len()];
        Self {
            existing,
            others,
            kept: nothing.clone(),
            kept_of_others: nothing,
            gives,
            receives,
            received: nothing_yet,
            fence,
            ..Self::default()
        }
    }

    pub(super) fn begin(&mut self, stage: Stage, have: &Row) {
        self.tried = 0;
        self.stage = stage;
        match stage {
            Stage::Existing => {
                let (kept, lacking) = packed(&self.existing, have, &self.kept, &self.ample);
                self.kept = kept;
                self.lacking = lacking;
                self.keep_others(have);
            }
            Stage::Others => {
                let (kept, lacking) = packed(&self.others, have, &self.kept, &[]);
                self.lacking = lacking;
                for (resource, amount) in kept.into_iter().enumerate() {
                    add(&mut self.kept, resource, amount);
                }
                self.kept_of_others = vec![0; have.len()];
            }
        }
    }

    /// Finds the others that there is room for beside all that is there, whether that is kept or not yet.
    pub(super) fn keep_others(&mut self, have: &Row) {
        self.kept_of_others = packed(&self.others, have, &self.kept, &[]).0;
    }
}

impl Lacking {
    fn add_to(&self, row: &mut Row, pods: i128) {
        for (resource, requested) in self.requests.iter().enumerate() {
            add(row, resource, requested.saturating_mul(pods));
        }
    }
}

/// What those of `units` request that fit into what `have` holds beside `kept`, each as often as it does; and the
/// others. Of what is `ample` everything fits.
fn packed(units: &[Lacking], have: &Row, kept: &Row, ample: &[bool]) -> (Row, Vec<Lacking>) {
    let mut rest: Row = have.iter().zip(kept).map(|(have, kept)| have.saturating_sub(*kept)).collect();
    let mut all = vec![0; have.len()];
    let mut lacking = Vec::new();
    for unit in units {
        let fits = |(resource, (rest, requested)): (usize, (&i128, &i128))| {
            let counts = *requested > 0 && ample.get(resource) != Some(&true);
            counts.then(|| (*rest).max(0).checked_div(*requested).unwrap_or(0))
        };
        let fitting = rest.iter().zip(&unit.requests).enumerate().filter_map(fits).min();
        let fitting = fitting.unwrap_or(unit.pods).min(unit.pods);
        unit.add_to(&mut all, fitting);
        unit.add_to(&mut rest, fitting.saturating_neg());
        if fitting < unit.pods {
            let pods = unit.pods.saturating_sub(fitting);
            lacking.push(Lacking { requests: unit.requests.clone(), pods });
        }
    }
    (all, lacking)
}
