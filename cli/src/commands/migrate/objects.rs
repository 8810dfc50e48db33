//! The objects that are migrated, as plain values.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::objects::text;
use crate::snapshot::Snapshot;

/// One object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'s> {
    pub(super) kind: &'s str,
    pub(super) namespace: &'s str,
    pub(super) name: &'s str,
    pub(super) value: &'s Value,
}

/// Every object once, in the order of groups, kinds, namespaces and names.
#[derive(Debug)]
pub(super) struct Objects<'s>(BTreeMap<[&'s str; 4], Object<'s>>);

impl<'s> Objects<'s> {
    pub(super) fn of(snapshot: &'s Snapshot) -> Self {
        let objects = snapshot.entries.iter().filter_map(|entry| {
            let (kind, namespace, name) = (entry.kind(), entry.namespace(), entry.name());
            Some((
                [entry.group(), kind, namespace, name],
                Object { kind, namespace, name, value: entry.json()? },
            ))
        });
        Self(objects.collect())
    }

    /// The objects of one kind of one API group.
    pub(super) fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Object<'s>> {
        let of = move |key: &[&str; 4]| key.first() == Some(&group) && key.get(1) == Some(&kind);
        self.0.iter().filter(move |(key, _)| of(key)).map(|(_, object)| *object)
    }
}

impl<'s> Object<'s> {
    /// `ClusterQueue team-a`, `ResourceQuota team-a/old`.
    pub(super) fn origin(&self) -> String {
        let Self { kind, namespace, name, .. } = self;
        if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
    }

    /// The text at a pointer; empty if there is none.
    pub(super) fn text(&self, pointer: &str) -> &'s str {
        text(self.value, pointer)
    }

    /// The value of a label or an annotation.
    pub(super) fn metadata(&self, field: &str, name: &str) -> Option<&'s str> {
        self.value.get("metadata")?.get(field)?.get(name)?.as_str()
    }

    /// The texts of a list at a pointer.
    pub(super) fn texts(&self, pointer: &str) -> impl Iterator<Item = &'s str> {
        let list = self.value.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }
}
