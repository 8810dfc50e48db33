//! What the API server said of one Queue beyond its spec.

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
