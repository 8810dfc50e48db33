//! What becomes of each field of another system: one table a system, and every field that is in no table is reported.

use serde_json::Value;

/// A field of a kind, and what becomes of it. The longest field that a path begins with counts.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    /// The path from the object; `*` stands for any one name. Places in lists are left out.
    pub(super) field: &'static str,
    pub(super) becomes: Becomes,
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// The weight. If several fields have one, the first row counts.
    Weight,
    /// Amounts by resource; the text says where the resource stands.
    Amounts(Part, Keys),
    /// The amount of one resource.
    Amount(Part, &'static str, Unit),
    /// The name of the parent queue.
    Parent,
    /// One of these values.
    Choice(&'static [(&'static str, Meaning)]),
    /// A duration.
    Duration(Delay),
    /// The system's own code reads it, or it only describes.
    Known,
    /// Nothing: what to do instead.
    Nothing(&'static str),
}

/// Which amounts of a Queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Guaranteed,
    Limit,
    /// A bound that is neither; the flag `--quotas-as` decides.
    Bound,
}

/// How a map of amounts names resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// As pods do.
    Resources,
    /// As a ResourceQuota does.
    Quota,
}

/// The unit of a plain number; -1 is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Millicpu,
    Megabytes,
    Devices,
}

/// What one value of a field means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// What a Queue does anyway.
    Default,
    ReclaimNone,
    ReclaimSubtree,
    NeverEvicted,
    PreemptLowerPriority,
    Nothing(&'static str),
}

/// Which field a duration becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    MinRuntime,
    ReclaimAfter,
}

impl Row {
    pub(super) const fn new(kind: &'static str, field: &'static str, becomes: Becomes) -> Self {
        Self { kind, field, becomes }
    }
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
            for (name, value) in fields {
                // Some systems have points in names: `properties: {preemption.policy: fence}`.
                walk(found, path.iter().copied().chain(name.split('.')).collect(), value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(found, path.clone(), item)),
        value => found.push(Leaf { path, value }),
    }
}

/// The row for a path, and what of the path is behind the row's field.
pub(super) fn find<'r, 'p, 'v>(
    rows: &'r [Row],
    kind: &str,
    path: &'p [&'v str],
) -> Option<(&'r Row, &'p [&'v str])> {
    let length = |row: &Row| row.field.split('.').count();
    let fits = |row: &&Row| {
        let named = row.field.split('.').zip(path).all(|(wanted, name)| wanted == "*" || wanted == *name);
        row.kind == kind && named && length(row) <= path.len()
    };
    let row = rows.iter().filter(fits).max_by_key(|row| length(row))?;
    Some((row, path.get(length(row)..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_field_counts() {
        const ROWS: [Row; 2] =
            [Row::new("Queue", "spec", Becomes::Known), Row::new("Queue", "spec.*.cpu", Becomes::Weight)];
        let found = |path: &[&str]| find(&ROWS, "Queue", path).map(|(row, rest)| (row.field, rest.len()));
        assert_eq!(found(&["spec", "limit", "cpu"]), Some(("spec.*.cpu", 0)));
        assert_eq!(found(&["spec", "limit", "memory"]), Some(("spec", 2)));
        assert_eq!(found(&["status"]), None);
    }

    #[test]
    fn every_value_is_a_leaf() {
        let object =
            json!({"spec": {"a": {"x/y.z": 1, "empty": {}}, "list": [{"b": 2}, {"b": 3}], "no": null}});
        let paths: Vec<String> = leaves(&object, &["spec"]).iter().map(|leaf| leaf.path.join("|")).collect();
        assert_eq!(paths, ["spec|a|x/y|z", "spec|list|b", "spec|list|b"]);
    }
}
