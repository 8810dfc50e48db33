//! How the API serves a kind.

use quotient_index::WorkloadKind;
use serde_json::Value;

/// A kind, as the API serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApiKind {
    /// Group and version.
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) is_namespaced: bool,
    /// Whether decisions go on where the API does not serve it.
    pub(crate) is_optional: bool,
    /// Which of its objects matter; empty for all.
    pub(crate) field_selector: &'static str,
}

impl ApiKind {
    pub(crate) const fn new(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self { api_version, kind, plural, is_namespaced: true, is_optional: false, field_selector: "" }
    }

    pub(crate) const fn of_cluster(self) -> Self {
        Self { is_namespaced: false, ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// A kind of the operator's setting. The process ends soon, and the settings are read once.
    pub(crate) fn configured(kind: &WorkloadKind) -> Self {
        let plural: &'static str = Box::leak(kind.plural.clone().into_boxed_str());
        Self::new(kind.api_version(), kind.kind(), plural)
    }

    /// The path of its list.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("/{root}/{}/namespaces/{namespace}/{}", self.api_version, self.plural),
            None => format!("/{root}/{}/{}", self.api_version, self.plural),
        }
    }

    /// An object of a list, which leaves kind and version out, with both.
    pub(crate) fn complete(&self, mut object: Value) -> Value {
        if let Value::Object(fields) = &mut object {
            fields.entry("apiVersion").or_insert_with(|| self.api_version.into());
            fields.entry("kind").or_insert_with(|| self.kind.into());
        }
        object
    }

    /// `jobs.batch`: what kubectl calls it.
    pub(crate) fn resource(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.to_owned(),
        }
    }
}
