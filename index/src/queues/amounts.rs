//! The amounts of a spec.

use quotient_crds::ResourceMap;
use quotient_engine::amounts::{Amount, Bounds};

use super::mistakes::Mistakes;
use crate::governable::governable;
use crate::reading::Rounding;

/// The amounts of the map at `spec.{field}`; none where there is no map.
pub(super) fn read(
    map: Option<&ResourceMap>,
    rounding: Rounding,
    field: &str,
    mistakes: &mut Mistakes,
) -> Bounds {
    let mut bounds = Bounds::new();
    for (name, quantity) in map.into_iter().flat_map(ResourceMap::iter) {
        let Some(resource) = governable(name) else {
            mistakes.add(format!(
                "spec.{field} names {name:?}, of which there are no shares: \
                 use cpu, memory or an extended resource such as nvidia.com/gpu"
            ));
            continue;
        };
        let path = format_args!("spec.{field}.{name}");
        let amount: Amount = mistakes.reading.amount(&resource, quantity.as_str(), rounding, path);
        bounds.set(resource, amount);
    }
    bounds
}
