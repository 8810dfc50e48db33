//! Amounts of several resources at once.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use smallvec::SmallVec;

use super::{Amount, Resource};

/// Up to so many resources are looked at one by one.
const FEW: usize = 8;

/// How much of each resource; a resource that is not named counts as nothing.
///
/// Kept sorted by resource and free of zeros, so equal amounts are equal values. Where "not named" means
/// something else than nothing (a limit, a request), use [`Bounds`](super::Bounds).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Amounts(SmallVec<[(Resource, Amount); 2]>);

impl Amounts {
    /// Nothing of anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much of `resource`.
    #[inline]
    pub fn get(&self, resource: &Resource) -> Amount {
        place(&self.0, resource).and_then(|at| self.0.get(at)).map_or(Amount::ZERO, |(_, amount)| *amount)
    }

    /// Whether there is any of `resource`.
    pub fn offers(&self, resource: &Resource) -> bool {
        self.get(resource).is_positive()
    }

    /// Makes it `amount` of `resource`.
    pub fn set(&mut self, resource: &Resource, amount: Amount) {
        match self.0.binary_search_by(|(name, _)| name.cmp(resource)) {
            Ok(at) if amount.is_zero() => {
                self.0.remove(at);
            }
            Ok(at) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = amount;
                }
            }
            Err(_) if amount.is_zero() => {}
            Err(at) => self.0.insert(at, (resource.clone(), amount)),
        }
    }

    /// Adds `amount` of `resource`.
    #[inline]
    pub fn add(&mut self, resource: &Resource, amount: Amount) {
        if let Some(entry) = place(&self.0, resource).and_then(|at| self.0.get_mut(at)) {
            entry.1 += amount;
            if entry.1.is_zero() {
                self.0.retain(|(_, amount)| !amount.is_zero());
            }
        } else {
            self.set(resource, amount);
        }
    }

    /// Adds all of `other`.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        self.change(other, Add::add);
    }

    /// Takes all of `other` away; what goes below nothing becomes negative.
    pub fn subtract_all(&mut self, other: &Self) {
        self.change(other, Sub::sub);
    }

    /// Adds what `by` makes of nothing and each amount of `other`.
    #[inline]
    fn change(&mut self, other: &Self, by: impl Fn(Amount, Amount) -> Amount) {
        if other.0.len() > FEW {
            *self = self.zip_with(other, by);
            return;
        }
        for (resource, amount) in other.iter() {
            self.add(resource, by(Amount::ZERO, amount));
        }
    }

    /// The larger of both, per resource.
    pub fn max(&self, other: &Self) -> Self {
        self.zip_with(other, Ord::max)
    }

    /// The smaller of both, per resource; what only one names becomes nothing.
    #[inline]
    pub fn min(&self, other: &Self) -> Self {
        self.zip_with(other, Ord::min)
    }

    /// This minus `other` where that is positive, nothing elsewhere.
    #[inline]
    pub fn less(&self, other: &Self) -> Self {
        self.zip_with(other, Amount::less)
    }

    /// This `count` times.
    pub fn times(&self, count: impl Into<i128>) -> Self {
        let count = count.into();
        self.iter().map(|(resource, amount)| (resource.clone(), amount.times(count))).collect()
    }

    /// What there is of these resources alone.
    pub fn of(&self, resources: &[Resource]) -> Self {
        if self.resources().all(|one| resources.binary_search(one).is_ok()) {
            return self.clone();
        }
        self.only(|one, _| resources.binary_search(one).is_ok())
    }

    /// What of this `keeps` says.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&Resource, Amount) -> bool) -> Self {
        let kept = self.iter().filter(|(one, amount)| keeps(one, *amount));
        kept.map(|(one, amount)| (one.clone(), amount)).collect()
    }

    /// How often this fits into `room`, at most `most` times.
    pub fn times_in(&self, room: &Self, most: i128) -> i128 {
        let fitting = |(one, amount): (&Resource, Amount)| {
            if amount.is_positive() {
                room.get(one).or_zero().units().checked_div(amount.units())
            } else {
                None
            }
        };
        self.iter().filter_map(fitting).min().unwrap_or(most).clamp(0, most)
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_all(other);
        sum
    }

    /// Whether every resource is at most what `other` has of it.
    #[inline]
    pub fn fits_in(&self, other: &Self) -> bool {
        self.iter().all(|(resource, amount)| amount <= other.get(resource))
            // What the other one owes is more than nothing.
            && other.iter().all(|(resource, amount)| amount.units() >= 0 || self.get(resource) <= amount)
    }

    /// Whether there is something of the same resource in both.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.resources().any(|resource| !other.get(resource).is_zero())
    }

    /// Whether there is nothing of anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The resources of which there is something, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Resource, Amount)> {
        self.0.iter().map(|(resource, amount)| (resource, *amount))
    }

    /// The resources of which there is something, in order.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.0.iter().map(|(resource, _)| resource)
    }

    #[inline]
    fn zip_with(&self, other: &Self, combine: impl Fn(Amount, Amount) -> Amount) -> Self {
        let mut result = SmallVec::new();
        let (mut mine, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        // Both are sorted, so the resources of both are met in order.
        loop {
            let (resource, amount) = match (mine.split_first(), theirs.split_first()) {
                (Some(((one, amount), rest)), Some(((same, other), others))) if one == same => {
                    (mine, theirs) = (rest, others);
                    (one, combine(*amount, *other))
                }
                (Some(((one, amount), rest)), next) if next.is_none_or(|((other, _), _)| one < other) => {
                    mine = rest;
                    (one, combine(*amount, Amount::ZERO))
                }
                (_, Some(((one, amount), rest))) => {
                    theirs = rest;
                    (one, combine(Amount::ZERO, *amount))
                }
                _ => return Self(result),
            };
            if !amount.is_zero() {
                result.push((resource.clone(), amount));
            }
        }
    }
}

/// Where `resource` stands in `sorted`. Of few entries looking at each is the fastest.
#[inline]
pub(super) fn place(sorted: &[(Resource, Amount)], resource: &Resource) -> Option<usize> {
    if sorted.len() <= FEW {
        sorted.iter().position(|(name, _)| name == resource)
    } else {
        sorted.binary_search_by(|(name, _)| name.cmp(resource)).ok()
    }
}

impl FromIterator<(Resource, Amount)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (Resource, Amount)>>(pairs: I) -> Self {
        let mut all: SmallVec<[(Resource, Amount); 2]> = pairs.into_iter().collect();
        if !all.is_sorted_by(|(one, _), (other, _)| one < other) {
            all.sort_by(|(one, _), (other, _)| one.cmp(other));
            all.dedup_by(|(other, more), (one, amount)| {
                let same = one == other;
                if same {
                    *amount += *more;
                }
                same
            });
        }
        all.retain(|(_, amount)| !amount.is_zero());
        Self(all)
    }
}

/// `cpu 2, memory 6Gi`, or `nothing`.
impl fmt::Display for Amounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount))).collect();
        formatter.pad(&if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })
    }
}
