//! How priority classes come in.

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::api::scheduling::v1::PriorityClass as Object;
use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::priority_classes::{AskedPriority, Class};

impl Kind for Object {
    fn kept<'i>(index: &'i Index, (): &(), (_, name): &Key) -> Option<Kept<'i>> {
        index.priority_classes.0.get(name).map(|class| class.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.priority_classes.0.keys().map(|name| (Namespace::default(), name.clone()))
    }

    fn put(index: &mut Index, (): &(), (_, name): Key, meta: Meta, object: &Self) -> bool {
        let value = object.value.unwrap_or_default();
        let is_default = object.global_default.unwrap_or_default();
        index.priority_classes.0.insert(name, Class { meta, value, is_default });
        index.show_priorities()
    }

    fn remove(index: &mut Index, (): &(), (_, name): &Key) -> bool {
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
