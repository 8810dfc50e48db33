//! Priority classes: which number a name stands for, where admission has not resolved it yet.
//!
//! A pod carries its priority; the template of an owner mostly carries only the name of a class.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::api::scheduling::v1::PriorityClass as Object;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// The classes that every API server creates for itself; manifests rarely repeat them.
const BUILT_IN: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// How the template of an owner asks for a priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedPriority {
    /// By its number.
    Number(i32),
    /// By the name of a class.
    Class(Arc<str>),
    /// Not at all.
    Default,
}

impl AskedPriority {
    /// What `spec` asks for.
    pub(crate) fn of(spec: &PodSpec) -> Self {
        let class = spec.priority_class_name.as_deref().filter(|class| !class.is_empty());
        match (spec.priority, class) {
            (Some(number), _) => Self::Number(number),
            (None, Some(class)) => Self::Class(class.into()),
            (None, None) => Self::Default,
        }
    }
}

/// Every PriorityClass that the API server knows: a handful.
#[derive(Debug)]
pub(crate) struct PriorityClasses {
    entries: BTreeMap<Arc<str>, Class>,
    relist: Relist<Arc<str>>,
}

#[derive(Debug)]
struct Class {
    uid: Arc<str>,
    age: Age,
    value: i32,
    is_default: bool,
}

impl Default for PriorityClasses {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), relist: Relist::idle() }
    }
}

impl PriorityClasses {
    /// The number that admission would give a pod that asks like this; 0 for a class that does not exist, of which
    /// admission would let no pod in.
    pub(crate) fn resolve(&self, asked: &AskedPriority) -> i32 {
        match asked {
            AskedPriority::Number(number) => *number,
            AskedPriority::Class(name) => {
                let built_in = || BUILT_IN.into_iter().find(|(class, _)| *class == &**name);
                let known = self.entries.get(name).map(|class| class.value);
                known.or_else(|| built_in().map(|(_, value)| value)).unwrap_or_default()
            }
            // Of several defaults admission takes the lowest.
            AskedPriority::Default => {
                let defaults = self.entries.values().filter(|class| class.is_default);
                defaults.map(|class| class.value).min().unwrap_or_default()
            }
        }
    }
}

impl Keeps<Object> for Index {
    fn apply(&mut self, object: &Object) -> bool {
        let Some(uid) = uid_of(&object.metadata) else { return false };
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let age = Age::of(&object.metadata);
        self.priority_classes.relist.seen(&name.into());
        if self.priority_classes.entries.get(name).is_some_and(|kept| age.is_stale_beside(kept.age)) {
            return false;
        }
        let class = Class {
            uid: (*uid).into(),
            age,
            value: object.value.unwrap_or_default(),
            is_default: object.global_default.unwrap_or_default(),
        };
        self.priority_classes.entries.insert(name.into(), class);
        self.show_priorities()
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.priority_classes.relist.seen(&object.key().1);
        false
    }

    fn delete(&mut self, _namespace: &str, name: &str, uid: &str) -> bool {
        if self.priority_classes.entries.get(name).is_none_or(|kept| *kept.uid != *uid) {
            return false;
        }
        self.priority_classes.relist.seen(&name.into());
        self.priority_classes.entries.remove(name);
        self.show_priorities()
    }

    fn relist_begin(&mut self) {
        self.priority_classes.relist.begin(self.priority_classes.entries.keys().cloned());
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.priority_classes.relist.finish();
        for name in &missing {
            self.priority_classes.entries.remove(name);
        }
        !missing.is_empty() && self.show_priorities()
    }
}

impl Index {
    /// The priority that admission would give a pod with this spec: its own number, that of its class, or that of the
    /// default class. For pods of manifests, which no admission has seen; the classes must have been applied before.
    pub fn priority_of(&self, spec: &PodSpec) -> i32 {
        self.priority_classes.resolve(&AskedPriority::of(spec))
    }

    /// Classes change almost never, so every owner is looked at. Says whether a decision depends on the difference.
    fn show_priorities(&mut self) -> bool {
        let Self { namespaces, priority_classes, .. } = self;
        let changed = namespaces
            .values_mut()
            .fold(false, |changed, entry| entry.set_owner_priorities(priority_classes) | changed);
        self.show_queue_jobs() | changed
    }
}
