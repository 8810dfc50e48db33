//! Paths to fields of an object, such as `spec.workerGroupSpecs[*].template`.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// What stands for every item of a list.
const EACH_ITEM: &str = "[*]";

/// A path to one field, or with `[*]` to the same field in every item of a list or in every value of a map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct FieldPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    EachItem,
}

impl TryFrom<String> for FieldPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        };
        let mut steps = Vec::new();
        for part in text.split('.') {
            let name = part.strip_suffix(EACH_ITEM);
            let field = name.unwrap_or(part);
            if !is_name(field) {
                return Err(format!(
                    "read path {text:?}: write fields with dots between them and [*] after a list, such as \
                     spec.groups[*].template"
                ));
            }
            steps.push(Step::Field(field.to_owned()));
            steps.extend(name.map(|_| Step::EachItem));
        }
        Ok(Self { text, steps })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FieldPath {
    /// How many `[*]` it has.
    pub(super) fn lists(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::EachItem).count()
    }

    /// What stands there in `object`, in the order of the lists: an entry for each item, none where the item lacks the field.
    ///
    /// A list that is absent has no items. What is neither list nor map counts as one item without the field.
    pub(super) fn find<'v>(&self, object: &'v Value) -> Vec<Option<&'v Value>> {
        self.steps.iter().fold(vec![Some(object)], |found, step| match step {
            Step::Field(name) => {
                found.into_iter().map(|value| value?.get(name).filter(|value| !value.is_null())).collect()
            }
            Step::EachItem => found.into_iter().flatten().flat_map(items).collect(),
        })
    }
}

fn items(value: &Value) -> Vec<Option<&Value>> {
    match value {
        Value::Array(items) => items.iter().map(Some).collect(),
        Value::Object(fields) => fields.values().map(Some).collect(),
        _ => vec![None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(path: &str, object: &Value) -> String {
        let path = FieldPath::try_from(path.to_owned()).unwrap();
        let found: Vec<String> = path
            .find(object)
            .into_iter()
            .map(|value| value.map_or_else(|| "-".to_owned(), ToString::to_string))
            .collect();
        found.join(" ")
    }

    #[test]
    fn fields_items_and_values_are_found_in_order() {
        let object = json!({"spec": {
            "size": 3,
            "none": null,
            "groups": [{"n": 1, "parts": [{"n": 5}, {"n": 6}]}, {}, {"n": 2, "parts": [{}]}],
            "roles": {"worker": {"n": 8}, "master": {"n": 7}},
        }});
        for (path, expected) in [
            ("spec.size", "3"),
            ("spec.none", "-"),
            ("spec.missing.size", "-"),
            ("spec.groups[*].n", "1 - 2"),
            ("spec.groups[*].parts[*].n", "5 6 -"),
            ("spec.roles[*].n", "7 8"),
            ("spec.missing[*].n", ""),
            ("spec.size[*].n", "-"),
        ] {
            assert_eq!(found(path, &object), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_named() {
        for text in ["", ".spec", "spec.", "spec..a", "spec[0].a", "spec[*]a", "[*]", "spec.a b", "$.spec"] {
            let error = FieldPath::try_from(text.to_owned()).unwrap_err();
            assert!(error.starts_with(&format!("read path {text:?}: ")), "{error}");
        }
    }
}
