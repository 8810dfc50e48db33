//! What the status of a Queue tells a later decision of earlier ones.

use quotient_crds::{NotTakenUp as Written, QueueStatus, ResourceMap};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::{NotTakenUp, Remembered};

use crate::governable::governable;
use crate::reading::{Reading, Rounding};
use crate::time::timestamp;

/// What `status` remembers. Only the operator writes it; what cannot be read in it is forgotten.
pub(super) fn remembered(status: &QueueStatus) -> Remembered {
    let falling = status.demand_falling.iter();
    Remembered {
        demand: status.demand.as_ref().map(amounts).unwrap_or_default(),
        falling: falling.filter_map(|(name, since)| Some((governable(name)?, timestamp(since)))).collect(),
        not_taken_up: status.not_taken_up.iter().map(not_taken_up).collect(),
        short_since: status.short_since.as_ref().map(timestamp),
    }
}

fn amounts(map: &ResourceMap) -> Amounts {
    let mut reading = Reading::default();
    let mut read = |name: &str, text: &str| -> Option<(Resource, Amount)> {
        let resource = governable(name)?;
        let amount = reading.amount(&resource, text, Rounding::Up, format_args!("status.demand.{name}"));
        Some((resource, amount))
    };
    map.iter().filter_map(|(name, text)| read(name, text.as_str())).collect()
}

fn not_taken_up(written: &Written) -> (OwnerUid, NotTakenUp) {
    let since = timestamp(&written.since);
    (
        OwnerUid::from(written.uid.as_str()),
        NotTakenUp { generation: written.generation, since, not_created: written.not_created },
    )
}
