//! By what the pods of a template are known among those of others of the same object.

use k8s_openapi::api::core::v1::PodSpec;
use quotient_snapshot::Unspecified;
use quotient_snapshot::amounts::{Amounts, Resource};

use super::{effective_requests, unspecified};

/// What a template requests by itself, and what is filled in when a pod of it is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateRequests {
    stated: Amounts,
    /// What some container names no request for. Which default a pod got for it depends on when it was created.
    unspecified: Unspecified,
}

impl TemplateRequests {
    /// Those of a template with this spec.
    pub(crate) fn of(spec: Option<&PodSpec>) -> Self {
        Self { stated: effective_requests(spec, None).amounts, unspecified: unspecified(spec) }
    }

    /// Whether a pod that requests `amounts` may be of the template.
    pub(crate) fn fit(&self, amounts: &Amounts) -> bool {
        let is_stated = |one: &Resource, _| !self.unspecified.resources().any(|open| open == *one);
        self.stated.only(is_stated) == amounts.only(is_stated)
    }
}
