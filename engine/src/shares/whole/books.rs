//! The books of what everybody has, and of who lacks what to complete his next unit.

use super::Parts;
use super::row::{Row, value};
use super::stack::{Lacking, Stack, Stage};
use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::{Stock, Unit};
use crate::tree::{Index, Tree};

/// Whether a unit was completed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Completed {
    No,
    Yes,
    /// It took the place of units of its own queue, and what these had beside it is stranded now.
    AndMadeRoom,
}

/// What everybody has, and what each lacks.
pub(super) struct Books<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) resources: &'a [Resource],
    pub(super) have: Vec<Row>,
    pub(super) floor: Vec<Row>,
    pub(super) cap: Vec<Row>,
    pub(super) stacks: Vec<Option<Stack>>,
    /// What can be given by all together, which spares most futile searches, and by each.
    pub(super) pool: Row,
    pub(super) given_to_pool: Vec<Row>,
    changed: Vec<bool>,
}

impl<'a> Books<'a> {
    pub(super) fn open(
        tree: &'a Tree<'a>,
        stocks: &[Option<Stock<'_>>],
        parts: &Parts,
        resources: &'a [Resource],
    ) -> Self {
        let row = |amounts: &Amounts| -> Row {
            resources.iter().map(|resource| amounts.get(resource).units()).collect()
        };
        let rows = |list: &[Amounts]| -> Vec<Row> { list.iter().map(row).collect() };
        let mut books = Self {
            tree,
            resources,
            have: rows(&parts.have),
            floor: rows(&parts.floor),
            cap: rows(&parts.cap),
            stacks: Vec::new(),
            pool: vec![0; resources.len()],
            given_to_pool: vec![vec![0; resources.len()]; tree.branches.len()],
            changed: vec![false; tree.branches.len()],
        };
        for (at, stock) in stocks.iter().enumerate() {
            let Some(Stock { units, gives, receives, ample }) = stock else {
                books.stacks.push(None);
                continue;
            };
            let have = books.have.get(at).cloned().unwrap_or_default();
            let alike = |unit: &Unit<'_>| Lacking { requests: row(unit.requests), pods: unit.pods };
            let existing = units.iter().filter(|unit| unit.exists).map(alike).collect();
            let others = units.iter().filter(|unit| !unit.exists).map(alike).collect();
            let mut stack = Stack::new(existing, others, &have, *gives, *receives, tree.fence_above(at));
            stack.ample = resources.iter().map(|resource| ample.contains(resource)).collect();
            books.stacks.push(Some(stack));
        }
        books
    }

    /// Finds what is lacking at the beginning of a stage.
    pub(super) fn begin(&mut self, stage: Stage) {
        for (stack, have) in self.stacks.iter_mut().zip(&self.have) {
            if let Some(stack) = stack {
                stack.begin(stage, have);
            }
        }
        for at in 0..self.stacks.len() {
            self.restock(at);
        }
    }

    pub(super) fn amount(&self, at: Index, resource: &Resource) -> Amount {
        let place = self.resources.iter().position(|one| one == resource);
        Amount::new(place.and_then(|place| self.have.get(at)?.get(place).copied()).unwrap_or(0))
    }

    /// The next unit of the leaf at `at` that it has no room for and that has not been tried in vain.
    pub(super) fn next_of(&self, at: Index) -> Option<&Lacking> {
        let stack = self.stacks.get(at)?.as_ref()?;
        stack.lacking.get(stack.tried).filter(|_| stack.receives)
    }

    /// Goes on to the next unit of the leaf at `at` that requests something else.
    pub(super) fn skip(&mut self, at: Index) {
        if let (Some(Some(stack)), Some(have)) = (self.stacks.get_mut(at), self.have.get(at)) {
            stack.skip(have);
        }
    }

    /// Lets the leaf at `at` begin anew with what it tried in vain.
    pub(super) fn try_again(&mut self, at: Index) {
        if let Some(Some(stack)) = self.stacks.get_mut(at) {
            stack.tried = 0;
        }
    }

    /// Completes the next unit of the leaf at `at` with what others cannot use; whether that went.
    pub(super) fn complete_one(&mut self, at: Index) -> Completed {
        let Some(next) = self.next_of(at).map(|next| next.requests.clone()) else { return Completed::No };
        let Some(Some(stack)) = self.stacks.get(at) else { return Completed::No };
        let have = self.have.get(at).cloned().unwrap_or_default();
        let needs: Vec<(usize, i128)> = (0..self.resources.len())
            .map(|resource| {
                let wanted = value(&stack.kept, resource).saturating_add(value(&next, resource));
                (resource, wanted.saturating_sub(value(&have, resource)))
            })
            .filter(|(resource, need)| *need > 0 && value(&next, *resource) > 0 && !stack.is_free(*resource))
            .collect();
        if needs.iter().any(|(resource, need)| value(&self.pool, *resource) < *need) {
            return Completed::No;
        }
        let mut moved: Vec<(Index, usize, i128)> = Vec::new();
        for (resource, need) in &needs {
            if !self.gather(at, *resource, *need, &mut moved) {
                for (from, resource, amount) in moved.into_iter().rev() {
                    self.transfer(at, from, resource, amount);
                }
                return Completed::No;
            }
        }
        self.book(at, &moved)
    }

    /// Books one more unit of the leaf at `at` as kept.
    fn book(&mut self, at: Index, moved: &[(Index, usize, i128)]) -> Completed {
        if let (Some(Some(stack)), Some(have)) = (self.stacks.get_mut(at), self.have.get(at)) {
            for (_, resource, _) in moved {
                if let Some(entry) = stack.received.get_mut(*resource) {
                    *entry = true;
                }
            }
            stack.keep_next(have);
        }
        for (from, _, _) in moved {
            self.restock(*from);
        }
        for changed in moved.iter().map(|(from, _, _)| *from).chain([at]) {
            if let Some(entry) = self.changed.get_mut(changed).filter(|_| !moved.is_empty()) {
                *entry = true;
            }
        }
        if self.restock(at) { Completed::AndMadeRoom } else { Completed::Yes }
    }

    pub(super) fn close(self, parts: &Parts) -> Vec<Amounts> {
        let mut whole = parts.have.clone();
        let all_changed = |at: Index| self.changed.get(at) == Some(&true);
        let mut touched = vec![false; whole.len()];
        for at in (0..whole.len()).filter(|at| all_changed(*at)) {
            for (index, _) in self.tree.path_up(at) {
                if let Some(entry) = touched.get_mut(index) {
                    *entry = true;
                }
            }
        }
        for (at, amounts) in whole.iter_mut().enumerate().filter(|(at, _)| touched.get(*at) == Some(&true)) {
            for (place, resource) in self.resources.iter().enumerate() {
                let units = self.have.get(at).map_or(0, |row| value(row, place));
                amounts.set(resource, Amount::new(units));
            }
        }
        whole
    }
}
