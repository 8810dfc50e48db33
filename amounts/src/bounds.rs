//! Amounts that are stated for some resources and left open for others.

use serde::{Deserialize, Serialize};

use super::vector::place;
use super::{Amount, Amounts, Resource};

/// What was stated per resource; a resource that is not named is left open.
///
/// What "open" means is the reader's: no limit, no guarantee, no request. Sorted by resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bounds(Vec<(Resource, Amount)>);

impl Bounds {
    /// Everything left open.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was stated for `resource`, zero included.
    pub fn get(&self, resource: &Resource) -> Option<Amount> {
        place(&self.0, resource).and_then(|at| self.0.get(at)).map(|(_, amount)| *amount)
    }

    /// States `amount` for `resource`.
    pub fn set(&mut self, resource: Resource, amount: Amount) {
        match self.0.binary_search_by(|(name, _)| name.cmp(&resource)) {
            Ok(at) => self.0.get_mut(at).into_iter().for_each(|(_, stated)| *stated = amount),
            Err(at) => self.0.insert(at, (resource, amount)),
        }
    }

    /// Whether nothing was stated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What either states; the larger where both do.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let mut most = self.clone();
        for (resource, amount) in other.iter() {
            let amount = most.get(resource).map_or(amount, |known| known.max(amount));
            most.set(resource.clone(), amount);
        }
        most
    }

    /// What was stated as amounts, where what is left open counts as zero.
    #[must_use]
    pub fn amounts(&self) -> Amounts {
        self.iter().map(|(resource, amount)| (resource.clone(), amount)).collect()
    }

    /// What was stated, in order of resources.
    pub fn iter(&self) -> impl Iterator<Item = (&Resource, Amount)> {
        self.0.iter().map(|(resource, amount)| (resource, *amount))
    }
}

impl FromIterator<(Resource, Amount)> for Bounds {
    /// Of a resource that comes twice, the last amount.
    fn from_iter<I: IntoIterator<Item = (Resource, Amount)>>(pairs: I) -> Self {
        let mut bounds = Self::new();
        pairs.into_iter().for_each(|(resource, amount)| bounds.set(resource, amount));
        bounds
    }
}
