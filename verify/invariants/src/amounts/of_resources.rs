//! Amounts of several resources.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

use super::{Amount, Resource};

/// An amount of each resource; of those that are not named there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(BTreeMap<Resource, Amount>);

impl Amounts {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much there is of `resource`.
    pub fn get(&self, resource: &Resource) -> Amount {
        self.0.get(resource).copied().unwrap_or_default()
    }

    /// Has `amount` of `resource` in it.
    pub fn set(&mut self, resource: Resource, amount: Amount) {
        if amount == Amount::ZERO {
            self.0.remove(&resource);
        } else {
            self.0.insert(resource, amount);
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        self.combine(other, |own, other| own + other);
    }

    /// Subtracts all of `other`. What is missing is negative then.
    pub fn subtract_all(&mut self, other: &Self) {
        self.combine(other, |own, other| own - other);
    }

    /// The larger of both, by resource.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        self.with(other, Ord::max)
    }

    /// The smaller of both, by resource.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        self.with(other, Ord::min)
    }

    /// What this has above `other`.
    #[must_use]
    pub fn less(&self, other: &Self) -> Self {
        self.with(other, Amount::less)
    }

    /// Whether there is no more of any resource than in `other`.
    pub fn fits_in(&self, other: &Self) -> bool {
        self.less(other).is_empty()
    }

    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What there is, by resource.
    pub fn iter(&self) -> impl Iterator<Item = (&Resource, Amount)> {
        self.0.iter().map(|(resource, amount)| (resource, *amount))
    }

    fn with(&self, other: &Self, of: impl Fn(Amount, Amount) -> Amount) -> Self {
        let mut both = self.clone();
        let names: Vec<&Resource> = self.0.keys().chain(other.0.keys()).collect();
        for resource in names {
            both.set(resource.clone(), of(self.get(resource), other.get(resource)));
        }
        both
    }

    fn combine(&mut self, other: &Self, of: impl Fn(Amount, Amount) -> Amount) {
        for (resource, amount) in other.iter() {
            self.set(resource.clone(), of(self.get(resource), amount));
        }
    }
}

impl FromIterator<(Resource, Amount)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (Resource, Amount)>>(pairs: I) -> Self {
        let mut amounts = Self::new();
        for (resource, amount) in pairs {
            amounts.set(resource, amount);
        }
        amounts
    }
}

impl<Each: Borrow<Self>> Sum<Each> for Amounts {
    fn sum<I: Iterator<Item = Each>>(all: I) -> Self {
        let mut sum = Self::new();
        all.for_each(|amounts| sum.add_all(amounts.borrow()));
        sum
    }
}

impl fmt::Display for Amounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("nothing");
        }
        let each = self.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount)));
        formatter.write_str(&each.collect::<Vec<_>>().join(", "))
    }
}
