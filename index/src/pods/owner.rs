//! Who would recreate a pod.

use std::borrow::Cow;

use k8s_openapi::api::core::v1::Pod;

/// The uid of the pod's controller. A manifest may leave it out; there the controller's kind and name stand in
/// for it.
pub(super) fn controller(pod: &Pod) -> Option<Cow<'_, str>> {
    let metadata = &pod.metadata;
    let mut owners = metadata.owner_references.iter().flatten();
    let controller = owners.find(|owner| owner.controller == Some(true))?;
    if !controller.uid.is_empty() {
        return Some(Cow::Borrowed(&controller.uid));
    }
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    Some(Cow::Owned(format!("{namespace}/{}/{}", controller.kind, controller.name)))
}
