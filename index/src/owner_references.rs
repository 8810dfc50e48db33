//! What the owner references of an object name: its controller, or the Queue that owns it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quotient_crds::names::GROUP;
use quotient_snapshot::Workload;
use quotient_snapshot::names::{OwnerUid, QueueUid};

use crate::interned::Interned;

/// What follows the uid of an object in the uids of its further owners, one for each template; no uid contains it.
pub(crate) const MARK: char = '#';

/// The controller of an object with this metadata. A manifest may leave its uid out.
pub(crate) fn controller(texts: &mut Interned<str>, metadata: &ObjectMeta) -> Option<Workload> {
    let controller = controlling(metadata)?;
    Some(Workload {
        api_version: texts.get(controller.api_version.as_str()),
        kind: texts.get(controller.kind.as_str()),
        name: texts.get(controller.name.as_str()),
        uid: OwnerUid::new(texts.get(controller.uid.as_str())),
    })
}

/// The uid of the Queue that owns an object, if nothing else does.
///
/// Garbage collection deletes an object only when all of its owners are gone, so a second reference makes the first one
/// worthless.
pub(crate) fn owning_queue(metadata: &ObjectMeta) -> Option<QueueUid> {
    let [owner] = metadata.owner_references.as_deref()? else { return None };
    (is_ours(owner, "Queue") && owner.controller == Some(true)).then(|| QueueUid::from(owner.uid.as_str()))
}

/// The uid of the QueueJob that controls an object.
pub(crate) fn controlling_queue_job(metadata: &ObjectMeta) -> Option<&str> {
    controlling(metadata).filter(|owner| is_ours(owner, "QueueJob")).map(|owner| owner.uid.as_str())
}

/// The reference that names the controller.
pub(crate) fn controlling(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

fn is_ours(owner: &OwnerReference, kind: &str) -> bool {
    let group = owner.api_version.split_once('/').map(|(group, _)| group);
    group == Some(GROUP) && owner.kind == kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(references: &str) -> Option<String> {
        let metadata = format!("{{ownerReferences: {references}}}");
        let metadata: ObjectMeta = serde_yaml_ng::from_str(&metadata).unwrap();
        owning_queue(&metadata).map(|uid| uid.as_str().to_owned())
    }

    #[test]
    fn one_queue_owns_it_and_nothing_else() {
        let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, name: q, uid: u, controller: true}";
        let job = "{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, name: q, uid: u, controller: true}";
        assert_eq!(owner(&format!("[{queue}]")).as_deref(), Some("u"));
        for none in [
            "[]".to_owned(),
            format!("[{job}]"),
            format!("[{queue}, {job}]"),
            format!("[{}]", queue.replace("quotient.dev", "example.org")),
            format!("[{}]", queue.replace("controller: true", "controller: false")),
        ] {
            assert_eq!(owner(&none), None, "{none}");
        }
    }
}
