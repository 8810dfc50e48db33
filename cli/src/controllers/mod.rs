//! What other controllers of a cluster add to the engine's model of it.
//!
//! The engine knows owners by number and shape, and budgets by what they allow now. The manifests say more: what else
//! the pods of an owner have in common, and how a budget is counted.

mod disruptions;
mod owners;

use quotient_engine::snapshot::Snapshot;

use crate::objects::Object;

use disruptions::Disruptions;
pub(crate) use owners::read_pods;
use owners::{DaemonSets, Templates};

/// The controllers of one cluster.
#[derive(Debug)]
pub(crate) struct Controllers {
    templates: Templates,
    disruptions: Disruptions,
    daemon_sets: DaemonSets,
}

impl Controllers {
    /// Those of a cluster with these objects, Deployments rolled out and ids given. Completes what only they can: how many
    /// pods a DaemonSet wants.
    pub(crate) fn of(objects: &mut [Object]) -> Self {
        let daemon_sets = DaemonSets::of(objects);
        Self { templates: Templates::of(objects), disruptions: Disruptions::of(objects), daemon_sets }
    }

    /// Completes the cluster as manifests describe it: DaemonSets and budgets whose status has no counts yet.
    pub(crate) fn begin(&self, snapshot: &mut Snapshot) {
        self.daemon_sets.count(snapshot);
        self.disruptions.count(snapshot, true);
    }

    /// Completes a step of the engine's model: pods that owners just created, and what budgets then allow.
    pub(crate) fn follow(&self, snapshot: &mut Snapshot) {
        self.templates.complete(snapshot);
        self.disruptions.count(snapshot, false);
    }
}
