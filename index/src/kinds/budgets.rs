//! PodDisruptionBudgets: how many pods the API server would let go now.

use std::collections::BTreeMap;

use k8s_openapi::api::policy::v1::PodDisruptionBudget as Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use quotient_snapshot::Budget;

use super::Kind;
use crate::decoded::Undecodable;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::NamespaceEntry;
use crate::reading::count;
use crate::selector::selector;

/// The most labels and values of one selector that are kept. Each is compared with every pod of the namespace; an object has room
/// for a hundred thousand. A budget with more counts like one that cannot be decoded.
const MOST_VALUES: usize = 1024;

impl Kind for Object {
    fn excess(&self) -> Option<String> {
        let values = self.spec.as_ref().and_then(|spec| spec.selector.as_ref()).map_or(0, size);
        let why = || {
            format!(
                "its selector has {values} labels and values, and of more than {MOST_VALUES} none is kept"
            )
        };
        (values > MOST_VALUES).then(why)
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        index.entry(namespace)?.budget(name).map(Meta::kept)
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::budget_names)
    }

    fn put(index: &mut Index, (): &(), key: Key, meta: Meta, object: &Self) -> bool {
        if object.excess().is_some() {
            return put(index, key, meta, Budget::default());
        }
        // Without a selector it protects nothing, unlike with an empty one.
        let written = object.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        match written.and_then(selector) {
            Some(selector) => {
                let (allowed, lets_unready_go) = (allowed(object), lets_unready_go(object));
                put(index, key, meta, Budget { selector, allowed, lets_unready_go, ..Budget::default() })
            }
            None => index.forget::<Self>(&(), &key),
        }
    }

    /// Which pods the budget selects is not known, and neither is how many of them may go: it counts as one that selects all pods
    /// of its namespace and allows no disruption. What was known of it before may allow what it forbids now.
    fn put_undecodable(index: &mut Index, key: Key, meta: Meta, _object: &Undecodable) -> bool {
        put(index, key, meta, Budget::default())
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_budget(name)
    }
}

fn put(index: &mut Index, (namespace, name): Key, meta: Meta, budget: Budget) -> bool {
    index.entry_mut(&namespace).put_budget(Budget { name, ..budget }, meta)
}

/// How many labels and values `selector` has.
fn size(selector: &LabelSelector) -> usize {
    let labels = selector.match_labels.as_ref().map_or(0, BTreeMap::len);
    let expressions = selector.match_expressions.iter().flatten();
    let sizes = expressions.map(|one| one.values.as_ref().map_or(0, Vec::len).saturating_add(1));
    sizes.fold(labels, usize::saturating_add)
}

/// What the disruption controller last allowed. While it has not seen the last change of the spec, nothing: then the
/// API server refuses every eviction.
fn allowed(budget: &Object) -> u32 {
    let Some(status) = &budget.status else { return 0 };
    if status.observed_generation.unwrap_or_default() < budget.metadata.generation.unwrap_or_default() {
        return 0;
    }
    count(status.disruptions_allowed.unwrap_or_default())
}

/// Whether the API server evicts pods that run and are not Ready without asking the budget.
fn lets_unready_go(budget: &Object) -> bool {
    let policy = budget.spec.as_ref().and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref());
    let is_healthy = budget.status.as_ref().is_some_and(|status| {
        status.desired_healthy > Some(0) && status.current_healthy >= status.desired_healthy
    });
    policy == Some("AlwaysAllow") || is_healthy
}
