//! What the operator wrote, by the API server's audit log.

use std::fmt;

use jiff::Timestamp;

use super::identity::OPERATOR_USER;
use crate::testbed::AuditEvent;

/// One write of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// When the API server received it.
    pub received: Timestamp,
    /// `create`, `patch`, ….
    pub verb: String,
    /// Resource and subresource, such as `pods/eviction`.
    pub resource: String,
    /// Namespace and name of the object.
    pub object: String,
    /// HTTP status of the answer.
    pub code: u16,
}

impl Write {
    /// Whether the answer was a success (2xx).
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

impl fmt::Display for Write {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { received, verb, resource, object, code } = self;
        write!(formatter, "{received} {verb} {resource} {object} -> {code}")
    }
}

/// The writes of the operator among `events`, the Lease left out.
pub fn writes_of_operator(events: &[AuditEvent]) -> Vec<Write> {
    events
        .iter()
        .filter(|event| event.user == OPERATOR_USER && event.is_write() && event.resource != "leases")
        .map(|event| Write {
            received: event.received,
            verb: event.verb.clone(),
            resource: if event.subresource.is_empty() {
                event.resource.clone()
            } else {
                format!("{}/{}", event.resource, event.subresource)
            },
            object: format!("{}/{}", event.namespace, event.name),
            code: event.code,
        })
        .collect()
}
