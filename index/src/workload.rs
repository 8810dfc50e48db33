//! What controls an object, as its owner references name it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::Workload;

use crate::interned::Interned;

/// The controller of an object with this metadata. A manifest may leave its uid out.
pub(crate) fn controller(texts: &mut Interned<str>, metadata: &ObjectMeta) -> Option<Workload> {
    let mut owners = metadata.owner_references.iter().flatten();
    let controller = owners.find(|owner| owner.controller == Some(true))?;
    Some(Workload {
        api_version: texts.get(controller.api_version.as_str()),
        kind: texts.get(controller.kind.as_str()),
        name: texts.get(controller.name.as_str()),
        uid: OwnerUid::new(texts.get(controller.uid.as_str())),
    })
}
