//! ReplicaSets and StatefulSets: how many pods they want.

use k8s_openapi::api::apps::v1::{ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use quotient_engine::snapshot::OwnerKind;

use super::kind::OwnerObject;
use super::rejection::{Refusal, refusal};

impl OwnerObject for ReplicaSet {
    const KIND: OwnerKind = OwnerKind::ReplicaSet;

    fn wanted(&self) -> u32 {
        self.spec.as_ref().map(|spec| replicas(spec.replicas)).unwrap_or_default()
    }

    fn written(&self) -> u32 {
        self.wanted()
    }

    fn wanted_at(&self, size: u32) -> u32 {
        size
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().and_then(|spec| spec.template.as_ref())
    }

    fn refusal(&self) -> Refusal<'_> {
        refusal(self.status.as_ref())
    }
}

impl OwnerObject for StatefulSet {
    const KIND: OwnerKind = OwnerKind::StatefulSet;

    fn wanted(&self) -> u32 {
        self.spec.as_ref().map(|spec| replicas(spec.replicas)).unwrap_or_default()
    }

    fn written(&self) -> u32 {
        self.wanted()
    }

    fn wanted_at(&self, size: u32) -> u32 {
        size
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().map(|spec| &spec.template)
    }
}

/// The API server fills in 1; a manifest may leave it out.
fn replicas(written: Option<i32>) -> u32 {
    u32::try_from(written.unwrap_or(1)).unwrap_or_default()
}
