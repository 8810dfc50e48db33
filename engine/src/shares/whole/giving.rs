//! Giving: what somebody cannot use goes to whoever it completes a unit for, within floors, caps and fences.

use super::books::Books;
use super::row::{Row, add, value};
use crate::tree::Index;

impl Books<'_> {
    /// What the leaf at `at` can give of a resource.
    fn stranded(&self, at: Index, resource: usize) -> i128 {
        let Some(Some(stack)) = self.stacks.get(at) else { return 0 };
        if !stack.gives || stack.received.get(resource) == Some(&true) {
            return 0;
        }
        let own = value(&stack.kept, resource).saturating_add(value(&stack.reserved, resource));
        let kept = own.max(self.floor.get(at).map_or(0, |floor| value(floor, resource)));
        self.have.get(at).map_or(0, |have| value(have, resource)).saturating_sub(kept).max(0)
    }

    /// Moves `need` of a resource to the leaf at `at` from whoever cannot use it, in the order of the tree.
    pub(super) fn gather(
        &mut self,
        at: Index,
        resource: usize,
        need: i128,
        moved: &mut Vec<(Index, usize, i128)>,
    ) -> bool {
        let fence = self.stacks.get(at).and_then(|stack| stack.as_ref()?.fence);
        let mut missing = need;
        for from in 0..self.stacks.len() {
            if missing <= 0 {
                break;
            }
            let stranded = if from == at { 0 } else { self.stranded(from, resource) };
            if stranded <= 0 {
                continue;
            }
            let reaches = |fence: Index| self.tree.path_up(from).any(|(index, _)| index == fence);
            if !fence.is_none_or(reaches) {
                continue;
            }
            let amount = stranded.min(missing).min(self.passes(from, at, resource));
            if amount > 0 {
                self.transfer(from, at, resource, amount);
                moved.push((from, resource, amount));
                missing = missing.saturating_sub(amount);
            }
        }
        missing <= 0
    }

    /// How much of a resource may go from one leaf to another: what keeps everybody on the way above its floor, or
    /// below its cap.
    fn passes(&self, from: Index, to: Index, resource: usize) -> i128 {
        let mut most = i128::MAX;
        let row = |rows: &[Row], at: Index| rows.get(at).map_or(0, |row| value(row, resource));
        for (index, _) in self.tree.path_up(from) {
            if !self.tree.path_up(to).any(|(other, _)| other == index) {
                most = most.min(row(&self.have, index).saturating_sub(row(&self.floor, index)));
            }
        }
        for (index, _) in self.tree.path_up(to) {
            if !self.tree.path_up(from).any(|(other, _)| other == index) {
                most = most.min(row(&self.cap, index).saturating_sub(row(&self.have, index)));
            }
        }
        most
    }

    pub(super) fn transfer(&mut self, from: Index, to: Index, resource: usize, amount: i128) {
        for (index, _) in self.tree.path_up(from) {
            if let Some(row) = self.have.get_mut(index) {
                add(row, resource, amount.saturating_neg());
            }
        }
        for (index, _) in self.tree.path_up(to) {
            if let Some(row) = self.have.get_mut(index) {
                add(row, resource, amount);
            }
        }
    }

    /// Brings the pool up to date with what the leaf at `at` can give; whether that is more of anything than before.
    pub(super) fn restock(&mut self, at: Index) -> bool {
        let mut is_more = false;
        for resource in 0..self.resources.len() {
            let now = self.stranded(at, resource);
            if let Some(row) = self.given_to_pool.get_mut(at) {
                let before = value(row, resource);
                is_more |= now > before;
                add(row, resource, now.saturating_sub(before));
                add(&mut self.pool, resource, now.saturating_sub(before));
            }
        }
        is_more
    }
}
