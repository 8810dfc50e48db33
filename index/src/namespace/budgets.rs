//! The PodDisruptionBudgets of a namespace.

use std::sync::Arc;

use quotient_snapshot::Budget;

use super::{NamespaceEntry, keep};
use crate::meta::Meta;

impl NamespaceEntry {
    /// Keeps `budget`. Says whether anything changed that a decision depends on.
    pub(crate) fn put_budget(&mut self, budget: Budget, meta: Meta) -> bool {
        let place = self.find_budget(&budget.name);
        keep(&mut self.budgets, place, meta);
        if place.is_ok_and(|at| self.state.budgets.get(at) == Some(&budget)) {
            return false;
        }
        keep(&mut Arc::make_mut(&mut self.state).budgets, place, budget);
        self.has_queues()
    }

    /// What only the index knows of the budget of this name.
    pub(crate) fn budget(&self, name: &str) -> Option<&Meta> {
        self.budgets.get(self.find_budget(name).ok()?)
    }

    /// Forgets the budget of this name. Says whether a decision depended on it.
    pub(crate) fn remove_budget(&mut self, name: &str) -> bool {
        let Ok(at) = self.find_budget(name) else { return false };
        self.budgets.remove(at);
        Arc::make_mut(&mut self.state).budgets.remove(at);
        self.has_queues()
    }

    /// The names of the budgets, in order.
    pub(crate) fn budget_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.state.budgets.iter().map(|budget| budget.name.clone())
    }

    fn find_budget(&self, name: &str) -> Result<usize, usize> {
        self.state.budgets.binary_search_by(|budget| (*budget.name).cmp(name))
    }
}
