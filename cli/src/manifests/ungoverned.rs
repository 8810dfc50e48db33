//! Owners in namespaces in which there is nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::objects::Object;
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Snapshot;
use quotient_engine::time::Timestamp;
use quotient_index::{Index, Indexed};

/// A name that no pod has.
const GUEST: &str = "/";

/// The snapshot, with owners also where nothing else is. The operator need not look there, for there is nothing to
/// share out; but what their pods take from the others counts once they are created.
pub(super) fn with_every_owner(index: &mut Index, objects: &[Object], now: Timestamp) -> Snapshot {
    let owners = objects.iter().filter(|object| object.kind().owns_pods());
    let namespaces: BTreeSet<&str> =
        owners.filter_map(|owner| owner.metadata().namespace.as_deref()).collect();
    // A pod that holds nothing shows its namespace, and leaves again.
    let finished = PodStatus { phase: Some("Succeeded".to_owned()), ..PodStatus::default() };
    let guest = |namespace: &str| Pod {
        metadata: ObjectMeta {
            name: Some(GUEST.to_owned()),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        status: Some(finished.clone()),
        ..Pod::default()
    };
    for namespace in &namespaces {
        index.apply(&guest(namespace));
    }
    let mut snapshot = index.snapshot(now);
    for namespace in namespaces {
        if let Some(state) = snapshot.namespaces.get_mut(&Namespace::from(namespace)) {
            Arc::make_mut(state).pods.retain(|pod| pod.name.as_str() != GUEST);
        }
    }
    snapshot
}
