//! Priority classes: which number a name stands for, where admission has not resolved it yet.
//!
//! A pod carries its priority; the template of an owner mostly carries only the name of a class.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::api::scheduling::v1::PriorityClass as Object;
use quotient_engine::names::Namespace;

use crate::index::Index;
use crate::table::{Kept, Key, Kind, KindId, Meta};

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
#[derive(Debug, Default)]
pub(crate) struct PriorityClasses(BTreeMap<Arc<str>, Class>);

#[derive(Debug)]
struct Class {
    meta: Meta,
    value: i32,
    is_default: bool,
}

impl PriorityClasses {
    /// The number that admission would give a pod that asks like this; 0 for a class that does not exist, of which
    /// admission would let no pod in.
    pub(crate) fn resolve(&self, asked: &AskedPriority) -> i32 {
        match asked {
            AskedPriority::Number(number) => *number,
            AskedPriority::Class(name) => {
                let built_in = || BUILT_IN.into_iter().find(|(class, _)| *class == &**name);
                let known = self.0.get(name).map(|class| class.value);
                known.or_else(|| built_in().map(|(_, value)| value)).unwrap_or_default()
            }
            // Of several defaults admission takes the lowest.
            AskedPriority::Default => {
                let defaults = self.0.values().filter(|class| class.is_default);
                defaults.map(|class| class.value).min().unwrap_or_default()
            }
        }
    }
}

impl Kind for Object {
    type Name = Arc<str>;
    const ID: KindId = KindId::PriorityClass;

    fn kept<'i>(index: &'i Index, (_, name): &Key) -> Option<Kept<'i>> {
        index.priority_classes.0.get(name).map(|class| class.meta.kept())
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.priority_classes.0.keys().map(|name| (Namespace::default(), name.clone()))
    }

    fn put(index: &mut Index, (_, name): Key, meta: Meta, object: &Self) -> bool {
        let value = object.value.unwrap_or_default();
        let is_default = object.global_default.unwrap_or_default();
        index.priority_classes.0.insert(name, Class { meta, value, is_default });
        index.show_priorities()
    }

    fn remove(index: &mut Index, (_, name): &Key) -> bool {
        index.priority_classes.0.remove(name);
        index.show_priorities()
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
