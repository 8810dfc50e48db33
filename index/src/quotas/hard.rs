//! The keys of a ResourceQuota and the resources that they bound; the quotas of others, which bound what a Queue can get.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use quotient_snapshot::amounts::{Amount, Bounds, Resource};

use crate::meta::Meta;
use crate::reading::{Reading, Rounding, UnreadableQuantity, governable};

/// The prefix of keys that bound requests.
const REQUESTS: &str = "requests.";

/// The `hard` of a ResourceQuota that bounds what pods request: `requests.cpu`, `requests.nvidia.com/gpu`.
pub fn hard_from_bounds(bounds: &Bounds) -> BTreeMap<String, Text> {
    bounds
        .iter()
        .map(|(resource, amount)| (format!("{REQUESTS}{resource}"), Text(resource.format(amount))))
        .collect()
}

/// What a `hard` of a ResourceQuota bounds of the resources that can be shared; other keys are ignored.
///
/// `cpu` means `requests.cpu`; where both stand, the lower counts, as it does for admission. Amounts are
/// compared as amounts: `9216Mi` reads as the same bounds as `9Gi`.
pub fn bounds_from_hard(hard: &BTreeMap<String, Text>) -> Bounds {
    read(&mut Reading::default(), hard, "hard")
}

/// The quantities of the quota that cannot be read.
pub fn unreadable(quota: &ResourceQuota) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    if let Some(hard) = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref()) {
        read(&mut reading, hard, "spec.hard");
    }
    if let Some(hard) = quota.status.as_ref().and_then(|status| status.hard.as_ref()) {
        read(&mut reading, hard, "status.hard");
    }
    reading.unreadable
}

fn read(reading: &mut Reading, hard: &BTreeMap<String, Text>, field: &str) -> Bounds {
    let mut bounds = Bounds::new();
    for (key, text) in hard {
        let Some(resource) = resource_of(key) else { continue };
        // A quota of 1.5 bytes admits one.
        let amount = reading.amount(&resource, &text.0, Rounding::Down, format_args!("{field}.{key}"));
        let amount = bounds.get(&resource).map_or(amount, |lower| lower.min(amount));
        bounds.set(resource, amount);
    }
    bounds
}

/// The resource whose requests the quota key bounds. Extended resources exist with the prefix only.
fn resource_of(key: &str) -> Option<Resource> {
    match key {
        "cpu" | "memory" => governable(key),
        _ => governable(key.strip_prefix(REQUESTS)?),
    }
}

/// Whether `quota` bounds only some of the pods.
pub fn is_scoped(quota: &ResourceQuota) -> bool {
    quota.spec.as_ref().is_some_and(|spec| {
        spec.scopes.as_ref().is_some_and(|scopes| !scopes.is_empty())
            || spec.scope_selector.as_ref().is_some_and(|selector| selector.match_expressions.is_some())
    })
}

/// A quota of another writer as it was seen last.
#[derive(Debug)]
pub(crate) struct ForeignQuota {
    pub(crate) name: Arc<str>,
    pub(crate) meta: Meta,
    /// `spec.hard`, of the resources that can be shared.
    hard: Box<[(Resource, Amount)]>,
}

impl ForeignQuota {
    /// What `quota` bounds; none if it bounds nothing that is shared out, or only some of the pods.
    pub(crate) fn of(quota: &ResourceQuota, name: Arc<str>, meta: Meta) -> Option<Self> {
        let hard = quota.spec.as_ref()?.hard.as_ref().map(bounds_from_hard).unwrap_or_default();
        let hard: Box<[_]> = hard.iter().map(|(resource, amount)| (resource.clone(), amount)).collect();
        (!is_scoped(quota) && !hard.is_empty()).then_some(Self { name, meta, hard })
    }
}

/// Per resource the lowest of all: a pod has to pass every quota.
pub(crate) fn lowest(all: &[ForeignQuota]) -> Bounds {
    let mut lowest = Bounds::new();
    for (resource, amount) in all.iter().flat_map(|quota| &quota.hard) {
        if lowest.get(resource).is_none_or(|known| *amount < known) {
            lowest.set(resource.clone(), *amount);
        }
    }
    lowest
}

#[cfg(test)]
mod tests {
    use quotient_snapshot::amounts::Amount;

    use super::*;

    fn hard(pairs: &[(&str, &str)]) -> BTreeMap<String, Text> {
        pairs.iter().map(|(key, text)| ((*key).to_owned(), Text((*text).to_owned()))).collect()
    }

    fn bounds(cpu_milli: i128, bytes: i128, gpus: i128) -> Bounds {
        [("cpu", cpu_milli), ("memory", bytes), ("nvidia.com/gpu", gpus)]
            .into_iter()
            .map(|(name, units)| (Resource::from_name(name), Amount::new(units)))
            .collect()
    }

    #[test]
    fn what_is_written_reads_back() {
        let written = hard_from_bounds(&bounds(1500, 9 << 30, 0));
        let expected =
            [("requests.cpu", "1500m"), ("requests.memory", "9Gi"), ("requests.nvidia.com/gpu", "0")];
        assert_eq!(written, hard(&expected));
        assert_eq!(bounds_from_hard(&written), bounds(1500, 9 << 30, 0));
    }

    #[test]
    fn amounts_count_and_not_their_texts() {
        let read = bounds_from_hard(&hard(&[
            ("cpu", "1.5"),
            ("memory", "9216Mi"),
            ("requests.nvidia.com/gpu", "0k"),
        ]));
        assert_eq!(read, bounds(1500, 9 << 30, 0));
    }

    #[test]
    fn the_lower_of_two_keys_for_one_resource_counts() {
        for pairs in [[("cpu", "3"), ("requests.cpu", "2")], [("cpu", "2"), ("requests.cpu", "3")]] {
            let read = bounds_from_hard(&hard(&pairs));
            assert_eq!(read.get(&Resource::Cpu), Some(Amount::new(2000)));
        }
    }

    #[test]
    fn other_keys_bound_nothing() {
        let keys = [
            "pods",
            "count/pods",
            "limits.cpu",
            "nvidia.com/gpu",
            "requests.storage",
            "requests.ephemeral-storage",
        ];
        for key in keys {
            assert_eq!(bounds_from_hard(&hard(&[(key, "1")])), Bounds::new(), "{key}");
        }
    }
}
