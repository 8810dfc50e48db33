//! The objects that are migrated, as plain values, and what becomes of each field: one table a system, `systems/*.yaml`. A field
//! that is in no table is reported.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::Value;
use serde_yaml_ng::Mapping;

use crate::objects::{in_words, text};
use crate::snapshot::Snapshot;

/// Kinds with their fields, as paths from the object, and what becomes of each. `*` stands for any one name. Places in lists are
/// left out. The longest field that a path begins with counts.
#[derive(Debug)]
pub(super) struct Fields(BTreeMap<String, Vec<(String, Becomes)>>);

/// What becomes of a field.
#[derive(Clone, Debug, Deserialize)]
pub(super) enum Becomes {
    /// The weight. If several fields have one, the first counts.
    Weight,
    /// Amounts by resource; the text says where the resource stands.
    Amounts(Part, Keys),
    /// The amount of one resource: a plain number, which is a quantity with this suffix; -1 is no bound.
    Amount(Part, String, String),
    /// The name of the parent queue.
    Parent,
    /// One of these values.
    Choice(BTreeMap<String, Meaning>),
    /// A duration, which becomes the seconds of this field of a part of the spec.
    Duration(String, String),
    /// The system's own code reads it, or it only describes.
    Known,
    /// Nothing: what to do instead.
    Nothing(String),
}

/// Which amounts of a Queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
pub(crate) enum Part {
    Guaranteed,
    Limit,
    /// A bound that is neither; the flag `--quotas-as` decides which of them it becomes.
    #[value(skip)]
    Bound,
}

/// How a map of amounts names resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Keys {
    /// As pods do.
    Resources,
    /// As a ResourceQuota does.
    Quota,
}

/// What one value of a field means.
#[derive(Clone, Debug, Deserialize)]
pub(super) enum Meaning {
    /// These fields of the spec of a Queue; none if a Queue does that anyway.
    Spec(Value),
    /// Nothing: what to do instead.
    Nothing(String),
}

/// One value of an object: its path without places in lists, split at points, and the value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leaf<'v> {
    pub(super) path: Vec<&'v str>,
    pub(super) value: &'v Value,
}

/// The values below these fields, in the order of their names. Empty maps and lists say nothing.
pub(super) fn leaves<'v>(object: &'v Value, fields: &[&'v str]) -> Vec<Leaf<'v>> {
    let mut found = Vec::new();
    for field in fields {
        if let Some(value) = object.get(field) {
            walk(&mut found, vec![field], value);
        }
    }
    found
}

fn walk<'v>(found: &mut Vec<Leaf<'v>>, path: Vec<&'v str>, value: &'v Value) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            // The amounts of a quota with scopes bound only some pods.
            let is_scoped =
                ["scopes", "scopeSelector"].iter().any(|name| fields.get(*name).is_some_and(says));
            for (name, value) in fields.iter().filter(|(name, _)| !is_scoped || *name != "hard") {
                // Some systems have points in names: `properties: {preemption.policy: fence}`.
                walk(found, path.iter().copied().chain(name.split('.')).collect(), value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(found, path.clone(), item)),
        value => found.push(Leaf { path, value }),
    }
}

/// Whether a value, or one in it, is there.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => fields.values().any(says),
        Value::Array(items) => items.iter().any(says),
        _ => true,
    }
}

impl Fields {
    /// Reads the table of a system.
    pub(super) fn parse(text: &str) -> Result<Self, serde_yaml_ng::Error> {
        let kinds: BTreeMap<String, Mapping> = serde_yaml_ng::from_str(text)?;
        let mut tables: BTreeMap<String, Vec<(String, Becomes)>> = BTreeMap::new();
        for (kind, fields) in kinds {
            let table = tables.entry(kind).or_default();
            for (field, becomes) in fields {
                table.push((serde_yaml_ng::from_value(field)?, serde_yaml_ng::from_value(becomes)?));
            }
        }
        Ok(Self(tables))
    }

    /// The place of the field in the table of its kind, what becomes of it, and what of the path is behind it.
    pub(super) fn find<'p, 'v>(
        &self,
        kind: &str,
        path: &'p [&'v str],
    ) -> Option<(usize, &Becomes, &'p [&'v str])> {
        let length = |field: &str| field.split('.').count();
        let fits = |field: &str| {
            let named = field.split('.').zip(path).all(|(wanted, name)| wanted == "*" || wanted == *name);
            named && length(field) <= path.len()
        };
        let fields = self.0.get(kind)?.iter().enumerate().filter(|(_, (field, _))| fits(field));
        let (place, (field, becomes)) = fields.max_by_key(|(_, (field, _))| length(field))?;
        Some((place, becomes, path.get(length(field)..).unwrap_or_default()))
    }
}

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
        in_words(self.kind, self.namespace, self.name)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_longest_field_counts() {
        let fields = Fields::parse("Queue: {spec: Known, spec.*.cpu: Weight}").unwrap();
        let found = |path: &[&str]| fields.find("Queue", path).map(|(place, _, rest)| (place, rest.len()));
        assert_eq!(found(&["spec", "limit", "cpu"]), Some((1, 0)));
        assert_eq!(found(&["spec", "limit", "memory"]), Some((0, 2)));
        assert_eq!(found(&["status"]), None);
    }

    #[test]
    fn every_value_is_a_leaf() {
        let object =
            json!({"spec": {"a": {"x/y.z": 1, "empty": {}}, "list": [{"b": 2}, {"b": 3}], "no": null}});
        let paths: Vec<String> = leaves(&object, &["spec"]).iter().map(|leaf| leaf.path.join("|")).collect();
        assert_eq!(paths, ["spec|a|x/y|z", "spec|list|b", "spec|list|b"]);
        let hard = json!({"hard": {"cpu": 1}, "scopes": [], "scopeSelector": {"matchExpressions": []}});
        let scoped = json!({"hard": {"cpu": 1}, "scopes": ["BestEffort"]});
        let quotas = json!({"spec": [hard, scoped]});
        let paths: Vec<String> = leaves(&quotas, &["spec"]).iter().map(|leaf| leaf.path.join("|")).collect();
        assert_eq!(paths, ["spec|hard|cpu", "spec|scopes"]);
    }
}
