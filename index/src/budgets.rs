//! PodDisruptionBudgets: how many pods the API server would let go now.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::policy::v1::PodDisruptionBudget as Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use quotient_engine::labels::Selector;
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Budget;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::namespace::BudgetNote;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;
use crate::selector::selector;

/// The most labels and values of one selector that are kept. Each is compared with every pod of the namespace; an object has room
/// for a hundred thousand. A budget with more counts like one that cannot be decoded.
const MOST_VALUES: usize = 1024;

/// What is remembered of budgets as a kind; the budgets themselves stand in their namespaces.
#[derive(Debug)]
pub(crate) struct BudgetKind(Relist<Key>);

type Key = (Namespace, Arc<str>);

impl Default for BudgetKind {
    fn default() -> Self {
        Self(Relist::idle())
    }
}

impl Keeps<Object> for Index {
    fn apply(&mut self, object: &Object) -> bool {
        // Without a selector it protects nothing, unlike with an empty one.
        let written = object.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        if <Self as Keeps<Object>>::excess(object).is_some() {
            return self.put_budget(&object.metadata, Some(Selector::default()), 0);
        }
        self.put_budget(&object.metadata, written.and_then(selector), allowed(object))
    }

    fn excess(object: &Object) -> Option<String> {
        let values = object.spec.as_ref().and_then(|spec| spec.selector.as_ref()).map_or(0, size);
        let why = || {
            format!(
                "its selector has {values} labels and values, and of more than {MOST_VALUES} none is kept"
            )
        };
        (values > MOST_VALUES).then(why)
    }

    /// Which pods the budget selects is not known, and neither is how many of them may go: it counts as one that selects all pods
    /// of its namespace and allows no disruption. What was known of it before may allow what it forbids now.
    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.put_budget(&object.metadata, Some(Selector::default()), 0)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), name.into());
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.budget(name));
        kept.is_some_and(|kept| *kept.uid == *uid) && self.remove_budget(&key)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            entry.budget_names().map(|name| (namespace.clone(), name.clone()))
        });
        self.budgets.0.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.budgets.0.finish();
        missing.iter().fold(false, |changed, key| self.remove_budget(key) | changed)
    }
}

impl Index {
    fn put_budget(&mut self, metadata: &ObjectMeta, selector: Option<Selector>, allowed: u32) -> bool {
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let key = (Namespace::from(metadata.namespace.as_deref().unwrap_or_default()), name);
        self.budgets.0.seen(&key);
        let age = Age::of(metadata);
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.budget(&key.1));
        if kept.is_some_and(|kept| age.is_stale_beside(kept.age)) {
            return false;
        }
        let Some(selector) = selector else {
            return kept.is_some() && self.remove_budget(&key);
        };
        let budget = Budget { name: key.1, selector, allowed };
        let note = BudgetNote { uid: (*uid).into(), age };
        self.namespaces.entry(key.0).or_default().put_budget(budget, note)
    }

    fn remove_budget(&mut self, key: &Key) -> bool {
        self.budgets.0.seen(key);
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        let changed = entry.remove_budget(&key.1);
        self.drop_if_empty(&key.0);
        changed
    }
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
    u32::try_from(status.disruptions_allowed.unwrap_or_default()).unwrap_or_default()
}
