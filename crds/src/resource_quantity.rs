//! One amount of one resource, as text.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::validation_rules::{QUANTITY, amount_rules};

/// The longest text that a quantity in a spec may have.
///
/// It bounds what the API server reckons for the rules on amounts; the longest useful ones have about 20
/// characters.
pub const MAX_QUANTITY_LENGTH: u32 = 32;

/// A Kubernetes quantity such as `500m`, `4` or `10Gi`, kept as the text it was written as.
///
/// It reads JSON strings and numbers and writes strings. Equality is that of the text: `1` and `1000m` differ
/// here. The text is not checked while reading: the schema refuses nonsense in the cluster, and the
/// code that computes with it parses it and can name the object and the field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct ResourceQuantity(String);

impl ResourceQuantity {
    /// The text of the quantity.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The schema of an amount that a user writes, with the rules that hold for it alone.
    pub(crate) fn spec_schema() -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "pattern": QUANTITY,
            "maxLength": MAX_QUANTITY_LENGTH,
            "x-kubernetes-validations": amount_rules(),
        })
    }
}

impl fmt::Display for ResourceQuantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for ResourceQuantity {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for ResourceQuantity {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<i64> for ResourceQuantity {
    fn from(whole: i64) -> Self {
        Self(whole.to_string())
    }
}

impl TryFrom<Value> for ResourceQuantity {
    type Error = &'static str;

    fn try_from(written: Value) -> Result<Self, Self::Error> {
        match written {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            // YAML's `.inf` and `.nan` are null in JSON.
            _ => Err("write a Kubernetes quantity, such as \"500m\", 4 or \"10Gi\""),
        }
    }
}

/// The schema of an amount that the operator reports: it is never refused.
impl JsonSchema for ResourceQuantity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ResourceQuantity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = Schema::default();
        schema.insert("x-kubernetes-int-or-string".into(), json!(true));
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_text_is_kept() {
        for text in ["500m", "1.50", "10Gi", "1e3", "+4", "0"] {
            let quantity: ResourceQuantity = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(quantity.as_str(), text);
            assert_eq!(serde_json::to_value(&quantity).unwrap(), json!(text));
        }
    }

    #[test]
    fn numbers_become_text() {
        let yaml = "[4, -1, 18446744073709551615, 0.5, 1.5, 1e3]";
        let quantities: Vec<ResourceQuantity> = serde_yaml_ng::from_str(yaml).unwrap();
        let texts: Vec<&str> = quantities.iter().map(ResourceQuantity::as_str).collect();
        assert_eq!(texts, ["4", "-1", "18446744073709551615", "0.5", "1.5", "1000.0"]);
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_an_example() {
        for yaml in [".inf", ".nan", "true", "[1]", "{cpu: 1}", "null"] {
            let error = serde_yaml_ng::from_str::<ResourceQuantity>(yaml).unwrap_err().to_string();
            assert!(error.contains("such as \"500m\", 4 or \"10Gi\""), "{yaml}: {error}");
        }
    }
}
