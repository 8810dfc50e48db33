//! Reading amounts out of objects that may be unchecked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_snapshot::amounts::{Amount, ParseQuantityError, Quantity, Resource};

/// More than any cluster has of anything, and few enough that sums of a million stay exact.
const MOST: i128 = i64::MAX as i128;

/// A quantity that cannot be read.
///
/// The API server refuses most of these objects, so they come from manifests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {field}: {problem}")]
pub struct UnreadableQuantity {
    /// The path of the field within the object.
    pub field: String,
    /// What is wrong with its text.
    pub problem: QuantityProblem,
}

/// What is wrong with a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityProblem {
    /// It is no quantity.
    #[error("{0}")]
    Unparsable(#[from] ParseQuantityError),
    /// It is below zero.
    #[error("{0:?} is negative; write 0 or more")]
    Negative(String),
    /// It is more than can be meant.
    #[error("{0:?} is beyond 2^63; if no bound is meant, leave the resource out")]
    Absurd(String),
}

/// Which way a quantity finer than the resource's unit is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rounding {
    /// For what is asked for.
    Up,
    /// For what is on offer, and for limits.
    Down,
}

/// Reads amounts, and remembers the quantities that it could not read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// In the order in which they were met.
    pub(crate) unreadable: Vec<UnreadableQuantity>,
    /// The names of resources that are passed over.
    without: BTreeSet<String>,
}

impl Reading {
    /// One that passes over the resources of these names.
    pub(crate) fn without(names: BTreeSet<String>) -> Self {
        Self { without: names, ..Self::default() }
    }

    /// The governable resources of a list; collect it into `Amounts` or `Bounds`.
    ///
    /// `field` is the path of the list within its object.
    pub(crate) fn list<C: FromIterator<(Resource, Amount)>>(
        &mut self,
        list: Option<&BTreeMap<String, Text>>,
        rounding: Rounding,
        field: fmt::Arguments<'_>,
    ) -> C {
        list.into_iter()
            .flatten()
            .filter_map(|(name, text)| {
                if self.without.contains(name) {
                    return None;
                }
                let resource = governable(name)?;
                let amount = self.amount(&resource, &text.0, rounding, format_args!("{field}.{name}"));
                Some((resource, amount))
            })
            .collect()
    }

    /// One amount. What cannot be read counts as nothing, what is too much as the most that can be meant: a
    /// pod that asks for 1e40 cpu must not look like one that asks for none.
    pub(crate) fn amount(
        &mut self,
        resource: &Resource,
        text: &str,
        rounding: Rounding,
        field: fmt::Arguments<'_>,
    ) -> Amount {
        let (amount, problem) = match text.parse::<Quantity>() {
            Ok(quantity) => {
                let amount = match rounding {
                    Rounding::Up => resource.rounded_up(quantity),
                    Rounding::Down => resource.rounded_down(quantity),
                };
                if quantity.nano() < 0 {
                    (Amount::ZERO, Some(QuantityProblem::Negative(text.to_owned())))
                } else if amount.units() > MOST {
                    (Amount::new(MOST), Some(QuantityProblem::Absurd(text.to_owned())))
                } else {
                    (amount, None)
                }
            }
            Err(error @ ParseQuantityError::TooLarge { .. }) => (Amount::new(MOST), Some(error.into())),
            Err(error) => (Amount::ZERO, Some(error.into())),
        };
        if let Some(problem) = problem {
            self.unreadable.push(UnreadableQuantity { field: field.to_string(), problem });
        }
        amount
    }
}

/// A number of objects; one below zero counts as none.
pub(crate) fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

/// The uid of an object, none if it has no name. Manifests have no uids: there the name stands in for it,
/// because a manifest describes one life of the object.
pub(crate) fn uid_of(metadata: &ObjectMeta) -> Option<Cow<'_, str>> {
    let name = metadata.name.as_deref().filter(|name| !name.is_empty())?;
    Some(match (metadata.uid.as_deref(), metadata.namespace.as_deref()) {
        (Some(uid), _) if !uid.is_empty() => Cow::Borrowed(uid),
        (_, Some(namespace)) => Cow::Owned(format!("{namespace}/{name}")),
        (_, None) => Cow::Borrowed(name),
    })
}

/// The resource called `name`, if a queue can have a share of it: cpu, memory and extended resources.
///
/// Extended are names with a domain that is not Kubernetes' own, such as `nvidia.com/gpu`. Local storage, huge
/// pages and volume counts are properties of single nodes: a share of their sum means nothing.
pub fn governable(name: &str) -> Option<Resource> {
    (matches!(name, "cpu" | "memory") || is_extended(name)).then(|| Resource::from_name(name))
}

/// The rule of `IsExtendedResourceName` in Kubernetes' API helpers.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_exist_of_cpu_memory_and_devices() {
        for name in ["cpu", "memory", "nvidia.com/gpu", "example.org/fpga-2"] {
            assert_eq!(governable(name).map(|resource| resource.name().to_owned()).as_deref(), Some(name));
        }
        for name in [
            "",
            "gpu",
            "pods",
            "ephemeral-storage",
            "hugepages-2Mi",
            "attachable-volumes-aws-ebs",
            "kubernetes.io/batch-cpu",
            "node.kubernetes.io/slots",
            "requests.nvidia.com/gpu",
        ] {
            assert_eq!(governable(name), None, "{name}");
        }
    }
}
