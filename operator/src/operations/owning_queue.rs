//! The owner reference by which garbage collection deletes what Quotient keeps for a Queue.

use quotient_crds::names::API_VERSION;
use quotient_engine::names::{QueueName, QueueUid};
use serde_json::{Value, json};

/// The Queue that owns an object of its namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwningQueue<'a> {
    /// Its name.
    pub(super) name: &'a QueueName,
    /// Its id.
    pub(super) uid: &'a QueueUid,
}

impl OwningQueue<'_> {
    /// The owner references of the object: this one alone.
    ///
    /// `blockOwnerDeletion` stays unset. A Queue need not wait for its quota, and the admission plugin
    /// `OwnerReferencesPermissionEnforcement` would demand a right on `queues/finalizers`.
    pub(super) fn references(&self) -> Value {
        json!([{
            "apiVersion": API_VERSION,
            "kind": "Queue",
            "name": &*self.name.name,
            "uid": self.uid.as_str(),
            "controller": true,
        }])
    }

    /// The operation of a JSON patch that makes the Queue the only owner.
    pub(super) fn own(&self) -> Value {
        json!({"op": "add", "path": "/metadata/ownerReferences", "value": self.references()})
    }
}
