//! Amounts of several resources.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

use super::{Amount, Resource};

/// An amount of each resource; of those that are not named there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(BTreeMap<Resource, Amount>);

/// What is stated of each resource, zero included; what is not named is left open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds(BTreeMap<Resource, Amount>);

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

impl<'a> Sum<&'a Self> for Amounts {
    fn sum<I: Iterator<Item = &'a Self>>(all: I) -> Self {
        let mut sum = Self::new();
        all.for_each(|amounts| sum.add_all(amounts));
        sum
    }
}

impl fmt::Display for Amounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("nothing");
        }
        for (number, (resource, amount)) in self.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(formatter, "{comma}{resource} {}", resource.format(amount))?;
        }
        Ok(())
    }
}

impl Bounds {
    /// What is stated of `resource`.
    pub fn get(&self, resource: &Resource) -> Option<Amount> {
        self.0.get(resource).copied()
    }

    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is stated, where what is left open counts as nothing.
    pub fn amounts(&self) -> Amounts {
        self.iter().map(|(resource, amount)| (resource.clone(), amount)).collect()
    }

    /// What is stated, by resource.
    pub fn iter(&self) -> impl Iterator<Item = (&Resource, Amount)> {
        self.0.iter().map(|(resource, amount)| (resource, *amount))
    }
}

impl FromIterator<(Resource, Amount)> for Bounds {
    fn from_iter<I: IntoIterator<Item = (Resource, Amount)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
