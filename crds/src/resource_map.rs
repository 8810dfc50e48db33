//! Amounts by resource.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::ResourceQuantity;
use crate::validation_rules::{default_request_rules, resource_name_rules};

/// The most resources that one map of a spec may name.
pub const MAX_RESOURCES: u32 = 16;

/// The longest resource name that a map of a spec may have.
pub const MAX_RESOURCE_NAME_LENGTH: u32 = 253;

/// Amounts by resource name, as in a pod's requests: `cpu`, `memory`, `nvidia.com/gpu`.
///
/// Names and amounts are text as the user or the operator wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceMap(BTreeMap<String, ResourceQuantity>);

impl ResourceMap {
    /// A map that names no resource.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The amount of `resource`, if the map names it.
    pub fn get(&self, resource: &str) -> Option<&ResourceQuantity> {
        self.0.get(resource)
    }

    /// Sets the amount of `resource` and returns the one it had.
    pub fn insert(
        &mut self,
        resource: impl Into<String>,
        amount: impl Into<ResourceQuantity>,
    ) -> Option<ResourceQuantity> {
        self.0.insert(resource.into(), amount.into())
    }

    /// Resource names and amounts, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ResourceQuantity)> {
        self.0.iter().map(|(resource, amount)| (resource.as_str(), amount))
    }

    /// Whether the map names no resource.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The schema of a map that a user writes.
    ///
    /// Its bounds also keep the API server's estimate of the rules' cost small. `null` reads as left out.
    pub(crate) fn spec_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "nullable": true,
            "maxProperties": MAX_RESOURCES,
            "additionalProperties": ResourceQuantity::spec_schema(),
            "x-kubernetes-validations": resource_name_rules(MAX_RESOURCE_NAME_LENGTH),
        })
    }
}

impl ResourceMap {
    /// What `spec.defaultRequests` is where it is left out.
    pub fn default_requests() -> Self {
        Self::from([("cpu", "100m"), ("memory", "128Mi")])
    }

    /// The schema of what containers request by default: only of what a quota insists on.
    ///
    /// A default for devices would refuse containers, because a request for one without an equal limit is no valid one.
    pub(crate) fn default_requests_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Self::spec_schema(generator);
        schema.insert("x-kubernetes-validations".to_owned(), default_request_rules());
        schema
    }
}

/// The schema of a map that the operator reports: unbounded, because a cluster may have any number of resources.
impl JsonSchema for ResourceMap {
    fn schema_name() -> Cow<'static, str> {
        "ResourceMap".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": ResourceQuantity::json_schema(generator),
        })
    }
}

impl<R: Into<String>, A: Into<ResourceQuantity>> FromIterator<(R, A)> for ResourceMap {
    fn from_iter<I: IntoIterator<Item = (R, A)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(resource, amount)| (resource.into(), amount.into())).collect())
    }
}

impl<R: Into<String>, A: Into<ResourceQuantity>, const N: usize> From<[(R, A); N]> for ResourceMap {
    fn from(entries: [(R, A); N]) -> Self {
        entries.into_iter().collect()
    }
}
