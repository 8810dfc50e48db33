//! Amounts of statuses, and the resource that `-r` names.

use std::collections::BTreeSet;

use quotient_crds::ResourceMap;
use quotient_engine::amounts::{Amounts, Quantity, Resource};

use super::QueueView;
use crate::output::{list, short_name};

/// The amounts of `map`; what is no quantity counts as nothing.
pub(crate) fn amounts(map: Option<&ResourceMap>) -> Amounts {
    let entries = map.into_iter().flat_map(ResourceMap::iter);
    entries
        .filter_map(|(name, text)| {
            let resource = Resource::from_name(name);
            let amount = resource.rounded_up(text.as_str().parse::<Quantity>().ok()?);
            Some((resource, amount))
        })
        .collect()
}

/// The resources that some status names, in order.
pub(crate) fn resource_names(views: &[QueueView]) -> Vec<Resource> {
    let maps = views.iter().flat_map(|view| [&view.status.deserved, &view.status.used]);
    let names: BTreeSet<Resource> =
        maps.flatten().flat_map(ResourceMap::iter).map(|(name, _)| Resource::from_name(name)).collect();
    names.into_iter().collect()
}

/// The largest part of the whole, in percent, rounded, at least 1.
pub(crate) fn percentage(used: &Amounts, whole: &Amounts) -> i128 {
    let parts = used.iter().filter_map(|(resource, amount)| {
        let whole = whole.get(resource).units();
        amount.units().saturating_mul(100).saturating_add(whole / 2).checked_div(whole)
    });
    parts.max().unwrap_or(1).max(1)
}

/// The resource among `known` with this name, or with this last part of its name.
pub(crate) fn select(name: &str, known: &[Resource]) -> Result<Resource, String> {
    let exact = known.iter().find(|resource| resource.name() == name);
    let mut short = known.iter().filter(|resource| short_name(resource) == name);
    let found = exact.or_else(|| short.next().filter(|_| short.next().is_none()));
    found.cloned().ok_or_else(|| {
        let names = list(known);
        format!("-r {name}: no queue has a share of it, or several resources end so; there are {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::number;
    use quotient_engine::amounts::Amount;

    #[test]
    fn a_resource_goes_by_its_name_or_the_end_of_it() {
        let known = ["cpu", "amd.com/gpu", "nvidia.com/gpu", "nvidia.com/mig"].map(Resource::from_name);
        let named = |name| select(name, &known).map(|selected| selected.name().to_owned());
        assert_eq!(named("cpu").as_deref(), Ok("cpu"));
        assert_eq!(named("mig").as_deref(), Ok("nvidia.com/mig"));
        assert_eq!(named("amd.com/gpu").as_deref(), Ok("amd.com/gpu"));
        assert!(named("gpu").unwrap_err().contains("nvidia.com/gpu"));
        let cpu = select("cpu", &known).unwrap();
        assert_eq!(number(&cpu, Amount::new(1500)), "1.5");
    }
}
