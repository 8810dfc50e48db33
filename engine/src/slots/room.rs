//! Amounts of a few known resources, by their place: a division asks a hundred thousand times whether something fits.

use smallvec::SmallVec;

use crate::amounts::{Amounts, Resource};
use crate::shares::Fraction;

/// How much of each resource, in the order of the resources that count.
pub(super) type ResourceVec = SmallVec<[i128; 4]>;

/// `amounts` of these resources.
pub(super) fn vector(resources: &[Resource], amounts: &Amounts) -> ResourceVec {
    resources.iter().map(|resource| amounts.get(resource).units()).collect()
}

/// What is left.
#[derive(Clone, Debug)]
pub(super) struct Room(pub(super) ResourceVec);

impl Room {
    /// How many of `pods` pods that request `vector` each fit. What is not asked for may be owed.
    pub(super) fn fitting(&self, vector: &ResourceVec, pods: u32) -> u32 {
        let mut fitting = i128::from(pods);
        for (left, requested) in self.0.iter().zip(vector).filter(|(_, requested)| **requested > 0) {
            let fit = left.checked_div(*requested).unwrap_or_default();
            fitting = fitting.min(fit.max(0));
        }
        u32::try_from(fitting).unwrap_or(pods)
    }

    /// Takes `pods` pods of `vector` away, whether they fit or not.
    pub(super) fn take(&mut self, vector: &ResourceVec, pods: u32) {
        for (left, requested) in self.0.iter_mut().zip(vector) {
            *left = left.saturating_sub(requested.saturating_mul(pods.into()));
        }
    }

    /// Takes as many pods of every task as `counts` says, if there is room for all of them.
    pub(super) fn take_all(&mut self, vectors: &[ResourceVec], counts: &[u32]) -> bool {
        let mut after = self.clone();
        for (vector, count) in vectors.iter().zip(counts) {
            if after.fitting(vector, *count) < *count {
                return false;
            }
            after.take(vector, *count);
        }
        *self = after;
        true
    }

    /// What is left of both.
    pub(super) fn min(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| *one.min(other)).collect())
    }

    /// What is left of either, each resource by itself.
    pub(super) fn max(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| *one.max(other)).collect())
    }
}

/// The largest part of `whole` that `used` is, over all resources.
pub(super) fn dominant(used: &ResourceVec, whole: &ResourceVec) -> Fraction {
    let shares = used.iter().zip(whole).filter(|(part, _)| **part > 0);
    shares.map(|(part, whole)| Fraction { part: *part, whole: *whole }).max().unwrap_or(Fraction::NOTHING)
}
