//! What the status of a Queue tells a later decision of earlier ones.

use std::collections::BTreeMap;

use quotient_crds::{LendingWindow, QueueStatus, ResourceMap, SetAside as Written};
use quotient_snapshot::amounts::{Amounts, Resource};
use quotient_snapshot::names::OwnerUid;
use quotient_snapshot::{Remembered, SetAside, Window};

use crate::meta::timestamp;
use crate::reading::{Reading, Rounding, count, governable};

/// What `status` remembers. Only the operator writes it; what cannot be read in it is forgotten.
pub(super) fn remembered(status: &QueueStatus) -> Remembered {
    let falling = status.demand_falling.iter();
    let not_created = status.not_created_since.iter();
    let not_created: BTreeMap<_, _> =
        not_created.map(|(uid, since)| (OwnerUid::from(uid.as_str()), timestamp(since))).collect();
    Remembered {
        demand: status.demand.as_ref().map(amounts).unwrap_or_default(),
        falling: falling.filter_map(|(name, since)| Some((governable(name)?, timestamp(since)))).collect(),
        set_aside: status.set_aside.iter().map(set_aside).collect(),
        waiting: not_created.clone(),
        not_created,
        room_since: None,
        proven: BTreeMap::new(),
        short_since: status.short_since.as_ref().map(timestamp),
        windows: status.windows.iter().filter_map(|(name, written)| window(name, written)).collect(),
    }
}

fn amounts(map: &ResourceMap) -> Amounts {
    let mut reading = Reading::default();
    let read = map.iter().filter_map(|(name, text)| {
        let resource = governable(name)?;
        let field = format_args!("status.demand.{name}");
        let amount = reading.amount(&resource, text.as_str(), Rounding::Up, field);
        Some((resource, amount))
    });
    read.collect()
}

fn window(name: &str, written: &LendingWindow) -> Option<(Resource, Window)> {
    let resource = governable(name)?;
    let mut reading = Reading::default();
    let mut read = |text: &str, field: &str| {
        reading.amount(&resource, text, Rounding::Up, format_args!("status.windows.{name}.{field}"))
    };
    let (size, target) = (read(written.size.as_str(), "size"), read(written.target.as_str(), "target"));
    let lost = written.lost.as_ref().map(timestamp);
    Some((resource, Window { size, target, used: timestamp(&written.used), lost }))
}

fn set_aside(written: &Written) -> (OwnerUid, SetAside) {
    let entry = SetAside {
        kind: written.kind.as_str().into(),
        name: written.name.as_str().into(),
        revision: written.revision,
        since: timestamp(&written.since),
        times: count(written.times),
        nodes: count(written.nodes),
        lacked_room: written.lacked_room,
    };
    (OwnerUid::from(written.uid.as_str()), entry)
}
