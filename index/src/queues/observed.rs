//! What the API server said of one Queue beyond its spec.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::QueueStatus;
use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::names::QueueUid;

use crate::meta::ResourceVersion;

/// A Queue as it was seen last: what the operator needs to write its status only when that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedQueue {
    /// Its id.
    pub uid: QueueUid,
    /// Its version.
    pub resource_version: Option<ResourceVersion>,
    /// The generation of its spec, to be reported as observed.
    pub generation: Option<i64>,
    /// Whether its deletion was requested.
    pub deleting: bool,
    /// Its status as it stands, none if it never had one or cannot be decoded.
    pub status: Option<QueueStatus>,
    /// The requests that containers of its namespace get where they name none; nothing if that cannot be read.
    pub default_requests: Bounds,
}

impl ObservedQueue {
    /// Of a Queue that could not be decoded there is no spec, and maybe no status.
    pub(crate) fn of(
        metadata: &ObjectMeta,
        uid: &str,
        status: Option<&QueueStatus>,
        default_requests: Bounds,
    ) -> Self {
        Self {
            uid: QueueUid::from(uid),
            resource_version: ResourceVersion::of(metadata),
            generation: metadata.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            status: status.cloned(),
            default_requests,
        }
    }
}
