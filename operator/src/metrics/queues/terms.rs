//! What administrators have stated for each queue, and what nodes offer or may offer: beside the plan, for metrics alone.

use std::collections::BTreeMap;

use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Snapshot;

use crate::offered::offered;

/// What is reported and stands in no plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub(super) queues: BTreeMap<QueueName, Term>,
    pub(super) offered: Amounts,
    /// What may still be added to it.
    pub(super) expandable: Amounts,
}

/// What the spec of one queue states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) weight: u32,
    pub(super) guaranteed: Bounds,
    pub(super) limit: Bounds,
}

impl Terms {
    /// Those of the queues in `plan`, which was made from `snapshot`.
    pub fn of(plan: &Plan, snapshot: &Snapshot) -> Self {
        let mut queues = BTreeMap::new();
        for (name, decided) in &plan.queues {
            let Some(state) = snapshot.namespaces.get(&name.namespace) else { continue };
            let Some(queue) = state.queues.iter().find(|queue| queue.uid == decided.uid) else { continue };
            let term = Term {
                weight: queue.weight,
                guaranteed: queue.guaranteed.clone(),
                limit: queue.limit.clone(),
            };
            queues.insert(name.clone(), term);
        }
        Self { queues, offered: offered(snapshot), expandable: snapshot.settings.expandable.clone() }
    }
}
