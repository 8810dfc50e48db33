//! The requests of a Queue's containers that name none.

use std::collections::BTreeSet;

use quotient_crds::{QueueSpec, ResourceMap};
use quotient_snapshot::amounts::{Bounds, Resource};

use super::mistakes::Mistakes;
use crate::reading::Rounding;

/// The amounts of `spec.defaultRequests`.
pub(super) fn read(map: Option<&ResourceMap>, mistakes: &mut Mistakes) -> Bounds {
    let read = mistakes.amounts(map, Rounding::Up, "defaultRequests");
    // What a quota insists on. A device that is requested without an equal limit makes a container invalid.
    let can_be_default = |resource: &Resource| matches!(resource, Resource::Cpu | Resource::Memory);
    for (resource, _) in read.iter().filter(|(resource, _)| !can_be_default(resource)) {
        mistakes.add(format!(
            "spec.defaultRequests names {:?}: a default exists for cpu and memory alone; leave other resources out",
            resource.name()
        ));
    }
    read
}

/// The defaults of a spec; none if there is a mistake in them, and none of a parent, which has no pods.
///
/// A spec without the field has the usual ones, but only of what the quota bounds: `governed`, or everything if that is empty.
pub(crate) fn of(spec: &QueueSpec, governed: &BTreeSet<Resource>) -> Bounds {
    if spec.children.is_some() {
        return Bounds::new();
    }
    let mut mistakes = Mistakes::default();
    let Some(named) = &spec.default_requests else {
        let usual = read(Some(&ResourceMap::default_requests()), &mut mistakes);
        let bounded = usual.iter().filter(|(one, _)| governed.is_empty() || governed.contains(*one));
        return bounded.map(|(resource, amount)| (resource.clone(), amount)).collect();
    };
    let read = read(Some(named), &mut mistakes);
    if mistakes.text().is_some() { Bounds::new() } else { read }
}
