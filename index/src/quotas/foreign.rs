//! ResourceQuotas of others: they bound what a Queue can get in their namespace.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_engine::amounts::{Amount, Bounds, Resource};

use super::bounds_from_hard;
use crate::meta::Meta;

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
        let spec = quota.spec.as_ref()?;
        let scoped = spec.scopes.as_ref().is_some_and(|scopes| !scopes.is_empty())
            || spec.scope_selector.as_ref().is_some_and(|selector| selector.match_expressions.is_some());
        let hard = spec.hard.as_ref().map(bounds_from_hard).unwrap_or_default();
        let hard: Box<[_]> = hard.iter().map(|(resource, amount)| (resource.clone(), amount)).collect();
        (!scoped && !hard.is_empty()).then_some(Self { name, meta, hard })
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
