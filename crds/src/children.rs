//! Whose parent a queue may be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LabelSelector;
use crate::validation_rules::child_namespaces_rules;

/// Which queues a parent accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Children {
    /// The namespaces whose queues may name this one in their parentRef. Both sides have to agree: this field
    /// alone makes no queue a child. Default: {from: Same}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<ChildNamespaces>,
}

/// The namespaces whose queues a parent accepts.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
