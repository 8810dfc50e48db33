//! The LimitRanges of a namespace: ours, and what those of others give a default for.

use std::sync::Arc;

use quotient_engine::amounts::Resource;
use quotient_engine::snapshot::Unspecified;

use super::NamespaceEntry;
use crate::limit_ranges::ObservedLimitRange;

impl NamespaceEntry {
    /// The LimitRange of this name as it was seen last.
    pub(crate) fn limit_range(&self, name: &str) -> Option<&ObservedLimitRange> {
        self.limit_ranges.get(self.find_limit_range(name).ok()?)
    }

    /// Keeps a LimitRange. Says whether it calls for another look at what is to be written.
    pub(crate) fn put_limit_range(&mut self, observed: ObservedLimitRange) -> bool {
        let matters = self.has_queues() || observed.ours;
        match self.find_limit_range(&observed.name) {
            Ok(at) => {
                let Some(kept) = self.limit_ranges.get_mut(at) else { return false };
                let alike = kept.is_like(&observed);
                *kept = observed;
                !alike && matters
            }
            Err(at) => {
                // There is rarely a second one.
                self.limit_ranges.reserve_exact(1);
                self.limit_ranges.insert(at, observed);
                matters
            }
        }
    }

    /// Forgets a LimitRange.
    pub(crate) fn remove_limit_range(&mut self, name: &str) {
        if let Ok(at) = self.find_limit_range(name) {
            self.limit_ranges.remove(at);
        }
    }

    /// The names of the LimitRanges, in order.
    pub(crate) fn limit_range_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.limit_ranges.iter().map(|kept| kept.name.clone())
    }

    /// Whether a LimitRange that Quotient does not keep gives containers a default for `resource`.
    pub(crate) fn others_default(&self, resource: &Resource) -> bool {
        self.limit_ranges.iter().any(|kept| !kept.ours && kept.defaults.get(resource).is_some())
    }

    /// What of it no LimitRange gives containers a default for, and none of the namespace's Queues will.
    pub(crate) fn without_default(&self, unspecified: Unspecified) -> Unspecified {
        let has_default = |one: &Resource| {
            self.limit_ranges.iter().any(|kept| kept.defaults.get(one).is_some()) || self.queue_defaults(one)
        };
        Unspecified {
            cpu: unspecified.cpu && !has_default(&Resource::Cpu),
            memory: unspecified.memory && !has_default(&Resource::Memory),
        }
    }

    fn find_limit_range(&self, name: &str) -> Result<usize, usize> {
        self.limit_ranges.binary_search_by(|kept| (*kept.name).cmp(name))
    }
}
