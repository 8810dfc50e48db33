//! Where a queue takes its share from, and whose parent it may be, by requirements on labels with bounds.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;

use crate::validation_rules::{child_namespaces_rules, label_key_rules, label_requirement_rules};

/// The parent queue, by name.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParentRef {
    /// The namespace of the parent queue. Default: the namespace of this queue.
    #[serde(default)]
    #[schemars(schema_with = "namespace_schema")]
    pub namespace: Option<String>,

    /// The name of the parent queue. It must not be this queue itself.
    #[schemars(schema_with = "name_schema")]
    pub name: String,
}

/// A DNS label.
fn namespace_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "nullable": true,
        "minLength": 1,
        "maxLength": 63,
        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    })
}

/// A DNS subdomain.
fn name_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "minLength": 1,
        "maxLength": 253,
        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    })
}

/// Which queues a parent accepts.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Children {
    /// The namespaces whose queues may name this one in their parentRef. Both sides have to agree: this field
    /// alone makes no queue a child. Default: {from: Same}.
    pub namespaces: Option<ChildNamespaces>,
}

/// The namespaces whose queues a parent accepts.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = child_namespaces_rules()))]
pub struct ChildNamespaces {
    /// Which namespaces are meant. `Same`: the namespace of this queue alone. `All`: every namespace. `Selector`:
    /// those whose labels match selector. Default: `Same`.
    #[serde(default)]
    pub from: NamespacesFrom,

    /// The labels that a namespace must have; given exactly when from is Selector. Every requirement has to be
    /// met; an empty selector matches every namespace. To name namespaces, use their label
    /// kubernetes.io/metadata.name. Example: {matchLabels: {org: research}}. A queue whose namespace does not
    /// match any more loses its share until it does.
    pub selector: Option<LabelSelector>,
}

/// How a parent names the namespaces that it accepts queues of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NamespacesFrom {
    /// Its own alone.
    #[default]
    Same,
    /// Every one.
    All,
    /// Those with certain labels.
    Selector,
}

/// The most entries that `matchLabels` and `matchExpressions` may have.
pub const MAX_LABEL_REQUIREMENTS: u32 = 16;

/// The most values that one requirement may list.
pub const MAX_LABEL_VALUES: u32 = 64;

/// The longest key of a label: a DNS subdomain, a slash and a name.
const MAX_LABEL_KEY_LENGTH: u32 = 317;

/// Requirements on the labels of an object: all of them have to be met. An empty one matches everything.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels by key, each with the value that it must have. Example: {org: research}. At most 16.
    #[serde(default)]
    #[schemars(schema_with = "match_labels_schema")]
    pub match_labels: Option<BTreeMap<String, String>>,

    /// Requirements of other kinds. Example: [{key: tier, operator: In, values: [gold, silver]}]. At most 16.
    #[schemars(length(max = MAX_LABEL_REQUIREMENTS))]
    pub match_expressions: Option<Vec<LabelRequirement>>,
}

/// One requirement on one label.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = label_requirement_rules()))]
pub struct LabelRequirement {
    /// The key of the label, such as tier or kubernetes.io/metadata.name.
    #[schemars(length(min = 1, max = MAX_LABEL_KEY_LENGTH))]
    pub key: String,

    /// What is required. `In`: the label has one of the values. `NotIn`: it has none of them, or is absent.
    /// `Exists`: it is there. `DoesNotExist`: it is absent.
    pub operator: LabelOperator,

    /// The values for `In` and `NotIn`, at least one and at most 64; none for `Exists` and `DoesNotExist`.
    #[serde(default)]
    #[schemars(schema_with = "values_schema")]
    pub values: Option<Vec<String>>,
}

/// What a requirement says of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LabelOperator {
    /// It has one of the values.
    In,
    /// It has none of the values, or is absent.
    NotIn,
    /// It is there.
    Exists,
    /// It is absent.
    DoesNotExist,
}

fn match_labels_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "maxProperties": MAX_LABEL_REQUIREMENTS,
        "additionalProperties": label_value(),
        "x-kubernetes-validations": label_key_rules(MAX_LABEL_KEY_LENGTH),
    })
}

fn values_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "nullable": true,
        "maxItems": MAX_LABEL_VALUES,
        "items": label_value(),
    })
}

/// What a label's value may be; it may also be empty.
fn label_value() -> Value {
    json!({
        "type": "string",
        "maxLength": 63,
        "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$",
    })
}
