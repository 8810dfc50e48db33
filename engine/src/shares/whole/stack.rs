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
    /// What those request that it has room for, each before whichever comes after it.
    pub(super) kept: Row,
    /// What those after them request that there is room for beside them; the next unit may take their place.
    pub(super) reserved: Row,
    /// The others of this stage, in order, and how many of them have been tried in vain.
    pub(super) lacking: Vec<Lacking>,
    pub(super) tried: usize,
    stage: Stage,
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
            reserved: nothing,
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
        self.lacking = match stage {
            Stage::Existing => self.existing.clone(),
            Stage::Others => self.others.clone(),
        };
        self.keep_what_fits(have);
    }

    /// Goes on to the next unit that requests something else.
    pub(super) fn skip(&mut self, have: &Row) {
        let Some(failed) = self.lacking.get(self.tried).map(|lacking| lacking.requests.clone()) else {
            return;
        };
        while self.lacking.get(self.tried).is_some_and(|lacking| lacking.requests == failed) {
            self.tried = self.tried.saturating_add(1);
        }
        self.keep_what_fits(have);
    }

    /// Keeps one more pod of the next unit.
    pub(super) fn keep_next(&mut self, have: &Row) {
        self.keep(1);
        self.keep_what_fits(have);
    }

    /// Keeps the next units for which there is room, up to the first that is to be completed.
    fn keep_what_fits(&mut self, have: &Row) {
        while let Some(next) = self.lacking.get(self.tried) {
            let pods = next.fitting(&room(have, &self.kept), &|resource| self.is_free(resource));
            if pods > 0 {
                self.keep(pods);
            } else if self.receives {
                break;
            } else {
                // Nobody tries to complete it.
                self.tried = self.tried.saturating_add(1);
            }
        }
        self.reserve(have);
    }

    fn keep(&mut self, pods: i128) {
        let Some(next) = self.lacking.get_mut(self.tried) else { return };
        next.add_to(&mut self.kept, pods);
        next.pods = next.pods.saturating_sub(pods);
        if next.pods <= 0 {
            self.lacking.remove(self.tried);
        }
    }

    /// Finds what there is room for beside what is kept: units of this stage, and those that are not there beside all
    /// that is there, whether that is kept or not yet.
    fn reserve(&mut self, have: &Row) {
        let mut rest = room(have, &self.kept);
        let mut reserved = vec![0; have.len()];
        let mut reserve = |unit: &Lacking, is_free: &dyn Fn(usize) -> bool| {
            let pods = unit.fitting(&rest, is_free);
            unit.add_to(&mut reserved, pods);
            unit.add_to(&mut rest, pods.saturating_neg());
        };
        for unit in &self.lacking {
            reserve(unit, &|resource| self.is_free(resource));
        }
        for unit in self.others.iter().filter(|_| self.stage == Stage::Existing) {
            reserve(unit, &|_| false);
        }
        self.reserved = reserved;
    }

    /// Whether units of this stage need no room for a resource: of what is ample everything fits that is there.
    pub(super) fn is_free(&self, resource: usize) -> bool {
        self.stage == Stage::Existing && self.ample.get(resource) == Some(&true)
    }
}

impl Lacking {
    fn add_to(&self, row: &mut Row, pods: i128) {
        for (resource, requested) in self.requests.iter().enumerate() {
            add(row, resource, requested.saturating_mul(pods));
        }
    }

    /// How many of its pods fit into `rest`, when what is free does not count.
    fn fitting(&self, rest: &Row, is_free: &dyn Fn(usize) -> bool) -> i128 {
        let fits = |(resource, (rest, requested)): (usize, (&i128, &i128))| {
            let counts = *requested > 0 && !is_free(resource);
            counts.then(|| (*rest).max(0).checked_div(*requested).unwrap_or(0))
        };
        let fitting = rest.iter().zip(&self.requests).enumerate().filter_map(fits).min();
        fitting.unwrap_or(self.pods).min(self.pods)
    }
}

fn room(have: &Row, kept: &Row) -> Row {
    have.iter().zip(kept).map(|(have, kept)| have.saturating_sub(*kept)).collect()
}
