//! What a Queue's containers request that do not say it.

use quotient_crds::{QueueSpec, ResourceMap};
use quotient_engine::amounts::{Bounds, Resource};

use super::amounts;
use super::mistakes::Mistakes;
use crate::reading::Rounding;

/// The amounts of `spec.defaultRequests`.
pub(super) fn read(map: Option<&ResourceMap>, mistakes: &mut Mistakes) -> Bounds {
    let read = amounts::read(map, Rounding::Up, "defaultRequests", mistakes);
    for (resource, _) in read.iter().filter(|(resource, _)| !can_be_default(resource)) {
        mistakes.add(format!(
            "spec.defaultRequests names {:?}: a default exists for cpu and memory alone; leave other resources out",
            resource.name()
        ));
    }
    read
}

/// The defaults of a spec; none if there is a mistake in them.
pub(super) fn of(spec: &QueueSpec) -> Bounds {
    let mut mistakes = Mistakes::default();
    let read = read(spec.default_requests.as_ref(), &mut mistakes);
    if mistakes.text().is_some() { Bounds::new() } else { read }
}

/// What a quota insists on. A device that is requested without an equal limit makes a container invalid.
const fn can_be_default(resource: &Resource) -> bool {
    matches!(resource, Resource::Cpu | Resource::Memory)
}
