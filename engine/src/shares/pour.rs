//! Pouring: an amount handed out down the tree, lowest level first, within what every branch may still receive.

use super::{Level, fill};
use crate::amounts::{Amount, Resource};
use crate::tree::{Index, Tree};

/// One resource, poured down one tree; every list has an entry a branch.
pub(crate) struct WaterFilling<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) resource: &'a Resource,
    /// What counts towards everybody's level already; of parents the sums.
    pub(crate) have: &'a [Amount],
    /// How wide everybody is. Zero takes only what nobody else wants.
    pub(crate) weight: &'a [i128],
}

/// What branches may still receive.
pub(crate) struct Room {
    /// What comes before everything else.
    pub(crate) first: Vec<Amount>,
    /// In all.
    pub(crate) all: Vec<Amount>,
}

impl Room {
    /// Of leaves `all`; of parents what their leaves may receive, within `slack`.
    pub(crate) fn within(tree: &Tree<'_>, all: Vec<Amount>, slack: impl Fn(Index) -> Amount) -> Self {
        let all = up(tree, all, |at, below| below.min(slack(at)));
        Self { first: all.clone(), all }
    }
}

impl WaterFilling<'_> {
    /// What every branch receives of `amount`: no more than there is room for first.
    pub(crate) fn out(&self, amount: Amount, room: &Room) -> Vec<Amount> {
        let mut received = vec![Amount::ZERO; self.tree.branches.len()];
        let wanted: Amount = self.tree.roots.iter().map(|root| get(&room.first, *root)).sum();
        self.among(&self.tree.roots, amount.or_zero().min(wanted), room, &mut received);
        for (at, branch) in self.tree.branches.iter().enumerate() {
            let amount = get(&received, at);
            if !branch.children.is_empty() && amount.is_positive() {
                self.among(&branch.children, amount, room, &mut received);
            }
        }
        received
    }

    fn among(&self, siblings: &[Index], amount: Amount, room: &Room, received: &mut [Amount]) {
        let first = self.hand_out(siblings, amount, &|at| get(&room.first, at), &|at| get(self.have, at));
        let left = amount - first.iter().copied().sum();
        let with_first = |at: Index| {
            let position = siblings.binary_search(&at).ok();
            position.and_then(|position| first.get(position).copied()).unwrap_or_default()
        };
        let rest = if left.is_positive() {
            let room = |at: Index| get(&room.all, at).less(with_first(at));
            self.hand_out(siblings, left, &room, &|at| get(self.have, at) + with_first(at))
        } else {
            Vec::new()
        };
        for (position, at) in siblings.iter().enumerate() {
            let amount = |list: &[Amount]| list.get(position).copied().unwrap_or_default();
            if let Some(entry) = received.get_mut(*at) {
                *entry = amount(&first) + amount(&rest);
            }
        }
    }

    /// What each of `siblings` receives of `amount`, in their order.
    fn hand_out(
        &self,
        siblings: &[Index],
        amount: Amount,
        room: &dyn Fn(Index) -> Amount,
        have: &dyn Fn(Index) -> Amount,
    ) -> Vec<Amount> {
        let wanted: Amount = siblings.iter().map(|at| room(*at)).sum();
        if wanted <= amount {
            return siblings.iter().map(|at| room(*at)).collect();
        }
        let levels: Vec<Level> = siblings
            .iter()
            .map(|at| Level {
                have: have(*at).units(),
                room: room(*at).units(),
                weight: self.weight.get(*at).copied().unwrap_or(0),
            })
            .collect();
        fill(amount.units(), &levels, self.resource.quantum()).into_iter().map(Amount::new).collect()
    }
}

/// The amounts of leaves, and for parents the sums of their children.
pub(crate) fn sums(tree: &Tree<'_>, of_leaves: Vec<Amount>) -> Vec<Amount> {
    up(tree, of_leaves, |_, below| below)
}

/// The amounts of leaves, and for parents what `of` makes of their children's together.
fn up(tree: &Tree<'_>, mut amounts: Vec<Amount>, of: impl Fn(Index, Amount) -> Amount) -> Vec<Amount> {
    for (at, branch) in tree.branches.iter().enumerate().rev() {
        if !branch.is_leaf() {
            let below = branch.children.iter().map(|child| get(&amounts, *child)).sum();
            if let Some(entry) = amounts.get_mut(at) {
                *entry = of(at, below);
            }
        }
    }
    amounts
}

pub(crate) fn get(amounts: &[Amount], at: Index) -> Amount {
    amounts.get(at).copied().unwrap_or_default()
}
