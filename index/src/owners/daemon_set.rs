//! DaemonSets: one pod on every node that they select.

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use quotient_engine::snapshot::OwnerKind;

use super::kind::OwnerObject;

impl OwnerObject for DaemonSet {
    const KIND: OwnerKind = OwnerKind::DaemonSet;

    fn wanted(&self) -> u32 {
        let desired = self.status.as_ref().map(|status| status.desired_number_scheduled);
        desired.and_then(|desired| u32::try_from(desired).ok()).unwrap_or_default()
    }

    fn written(&self) -> u32 {
        self.wanted()
    }

    /// Its nodes say how many pods it wants, whatever its annotations say.
    fn wanted_at(&self, _: u32) -> u32 {
        self.wanted()
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().map(|spec| &spec.template)
    }
}
