//! What the comments of `values.yaml` say of its keys.

use serde_yaml_ng::Value;

/// A value that can be set, with what is said of it.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// Its path, with dots.
    pub(crate) path: String,
    /// What follows `# --`.
    pub(crate) description: String,
    /// What follows `# @schema`.
    pub(crate) schema: Option<serde_json::Value>,
    /// The default.
    pub(crate) default: Value,
}

impl Key {
    /// The default as the flag's text.
    pub(crate) fn flag_text(&self) -> String {
        match &self.default {
            Value::String(text) => text.clone(),
            Value::Sequence(items) if items.is_empty() => String::new(),
            Value::Mapping(items) if items.is_empty() => String::new(),
            other => serde_yaml_ng::to_string(other).unwrap().trim_end().to_owned(),
        }
    }
}

/// Every key that is described, in order. One without a description is described by what is inside it: it is taken for
/// a group, and must have keys.
pub(crate) fn keys(yaml: &str) -> Vec<Key> {
    let values: Value = serde_yaml_ng::from_str(yaml).unwrap();
    let mut keys: Vec<Key> = Vec::new();
    let mut path: Vec<(usize, &str)> = Vec::new();
    let (mut description, mut schema) = (String::new(), None);
    // Below a described key everything is its default.
    let mut inside: Option<usize> = None;
    for line in yaml.lines() {
        let indent = line.len().saturating_sub(line.trim_start().len());
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            let comment = comment.trim();
            if let Some(start) = comment.strip_prefix("-- ") {
                start.clone_into(&mut description);
            } else if let Some(json) = comment.strip_prefix("@schema ") {
                schema = Some(serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}")));
            } else if !description.is_empty() {
                description = format!("{description} {comment}");
            }
            continue;
        }
        let Some((name, rest)) = line.split_once(':').filter(|_| !line.starts_with('-')) else {
            if line.is_empty() {
                inside = None;
            }
            continue;
        };
        if inside.is_some_and(|outer| indent > outer) {
            continue;
        }
        inside = None;
        path.retain(|(outer, _)| *outer < indent);
        path.push((indent, name));
        let is_group = description.is_empty() && rest.trim().is_empty();
        if is_group {
            continue;
        }
        inside = Some(indent);
        let default = path.iter().try_fold(&values, |value, (_, name)| value.get(*name));
        keys.push(Key {
            path: path.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("."),
            description: std::mem::take(&mut description),
            schema: schema.take(),
            default: default.unwrap_or_else(|| panic!("{path:?} is not there")).clone(),
        });
    }
    keys
}
