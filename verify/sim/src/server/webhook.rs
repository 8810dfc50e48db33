//! Admission webhooks that refuse, or that do not answer.

use super::{Call, Failure};
use crate::objects::Kind;
use crate::trace::Verb;

/// A webhook between clients and the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Which verb it is asked about.
    pub verb: Verb,
    /// Of which kind.
    pub kind: Kind,
    /// `eviction`, or empty for the object itself.
    pub subresource: &'static str,
    /// In which namespace.
    pub namespace: String,
    /// The code of its refusal: 403 where it says no, 500 where it is down.
    pub code: u16,
}

impl Webhook {
    /// What it answers to `call`, if it is asked.
    pub(super) fn refuses(&self, call: &Call) -> Option<Failure> {
        let is_asked = self.verb == call.verb
            && self.kind == call.key.kind
            && self.subresource == call.subresource
            && *self.namespace == *call.key.namespace;
        is_asked.then(|| match self.code {
            403 => Failure::forbidden(&call.key, "admission webhook \"example.org\" denied the request"),
            code => {
                let why =
                    "Internal error occurred: failed calling webhook \"example.org\": connection refused";
                Failure::new(code, "InternalError", why)
            }
        })
    }
}
