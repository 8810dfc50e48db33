//! Families: queues among which one parent divides.

use quotient_engine::amounts::Resource;
use quotient_engine::plan::Plan;

use crate::forest::{Branch, Forest, in_order};

/// What one queue asks for and gets of one resource, in units.
#[derive(Clone, Debug)]
pub(crate) struct Sibling {
    pub(crate) share: i128,
    pub(crate) demand: i128,
    pub(crate) floor: i128,
    pub(crate) weight: i128,
}

/// The claimants of `available` of `resource`, in the order that ties go by.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) resource: Resource,
    pub(crate) available: i128,
    pub(crate) siblings: Vec<Sibling>,
}

/// Every family of `forest`, once a governed resource.
pub(crate) fn families(forest: &Forest, plan: &Plan) -> Vec<Family> {
    let mut all = Vec::new();
    for resource in &plan.resources {
        let capacity = forest.capacity(resource);
        let share = |branch: &Branch| plan.queues[&branch.name].deserved.get(resource).units();
        let family = |available: i128, children: &[Branch]| Family {
            resource: resource.clone(),
            available,
            siblings: in_order(children)
                .into_iter()
                .map(|branch| Sibling {
                    share: share(branch),
                    demand: branch.demand(resource, capacity),
                    floor: branch.floor(resource, capacity),
                    weight: branch.queue.weight.into(),
                })
                .collect(),
        };
        all.push(family(capacity, &forest.roots));
        let parents = forest.flat().into_iter().filter(|branch| branch.is_parent());
        all.extend(parents.map(|parent| family(share(parent), &parent.children)));
    }
    all
}

impl Family {
    /// Whole quanta, rounded up: how many `units` took.
    pub(crate) fn quanta(&self, units: i128) -> i128 {
        let quantum = self.resource.quantum();
        (units + quantum - 1) / quantum
    }

    pub(crate) fn sum(&self, of: impl Fn(&Sibling) -> i128) -> i128 {
        self.siblings.iter().map(of).sum()
    }

    /// Whether all guarantees can be kept together, counted as they are handed out.
    pub(crate) fn floors_fit(&self) -> bool {
        self.sum(|one| self.quanta(one.floor)) <= self.available / self.resource.quantum()
    }
}
