//! What nodes offer, used or not.

use quotient_engine::amounts::Amounts;
use quotient_engine::snapshot::Snapshot;

/// What nodes offer and may still offer: beside the plan, for metrics alone.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// What the nodes that count offer.
    pub offered: Amounts,
    /// What may still be added to it.
    pub expandable: Amounts,
}

impl Offer {
    /// That of the nodes in `snapshot`.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self { offered: offered(snapshot), expandable: snapshot.settings.expandable.clone() }
    }
}

/// What all nodes together offer that count.
///
/// Not the capacity that is shared out: of a node that is lost that is what its pods request, which hides a loss, and
/// pods of unmanaged namespaces take from it, which is none.
pub(crate) fn offered(snapshot: &Snapshot) -> Amounts {
    let mut offered = Amounts::new();
    for node in snapshot.nodes.values().filter(|node| node.counts) {
        offered.add_all(&node.allocatable);
    }
    offered
}

/// What the quotas that stand allow, all together, and nodes must have offered when they were written: without what an
/// autoscaler may still add.
pub(crate) fn promised(snapshot: &Snapshot) -> Amounts {
    let mut promised = Amounts::new();
    for quota in snapshot.namespaces.values().filter_map(|state| state.granting_quota()) {
        promised.add_all(&quota.allocated().amounts());
    }
    promised.less(&snapshot.settings.expandable)
}
