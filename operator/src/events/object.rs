//! The objects that events are about.

use k8s_openapi::api::core::v1::ObjectReference;
use quotient_engine::names::Namespace;

/// The object of this kind and name in `namespace`. `kubectl describe` finds its events by the uid.
pub(super) fn reference(
    (api_version, kind): (&str, &str),
    namespace: &Namespace,
    name: &str,
    uid: Option<&str>,
) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(kind.to_owned()),
        namespace: Some(namespace.as_str().to_owned()),
        name: Some(name.to_owned()),
        uid: uid.map(ToOwned::to_owned),
        ..ObjectReference::default()
    }
}
