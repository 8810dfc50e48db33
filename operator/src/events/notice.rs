//! What is told of queues, QueueJobs, workloads and pods: the object that an event is about, and its sentences.

use k8s_openapi::api::core::v1::ObjectReference;
use quotient_engine::names::{Namespace, QueueName};

/// Something worth telling.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub(super) regarding: Regarding,
    /// The queue that it happened for.
    pub(super) beneficiary: Option<QueueName>,
    pub(super) type_: &'static str,
    pub(super) reason: &'static str,
    pub(super) action: &'static str,
    pub(super) note: String,
}

/// The object that a notice is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Regarding {
    /// A Queue. Its uid is looked up when the event is written.
    Queue(QueueName),
    /// Anything else.
    Object(ObjectReference),
}

impl Regarding {
    /// An object with this uid.
    pub(super) fn object(
        (api_version, kind): (&str, &str),
        namespace: &Namespace,
        name: &str,
        uid: &str,
    ) -> Self {
        Self::Object(reference((api_version, kind), namespace, name, Some(uid)))
    }
}

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

impl Notice {
    pub(super) fn normal(
        regarding: Regarding,
        reason: &'static str,
        action: &'static str,
        note: String,
    ) -> Self {
        Self { regarding, beneficiary: None, type_: "Normal", reason, action, note }
    }

    /// Pods or amounts are taken away, or a person has to act.
    pub(super) fn warning(
        regarding: Regarding,
        reason: &'static str,
        action: &'static str,
        note: String,
    ) -> Self {
        Self { type_: "Warning", ..Self::normal(regarding, reason, action, note) }
    }
}

#[cfg(test)]
impl Notice {
    /// `Reclaimed on Pod web-0: Evicted because …`.
    pub(crate) fn printed(&self) -> String {
        let (kind, name) = match &self.regarding {
            Regarding::Queue(queue) => ("Queue", &*queue.name),
            Regarding::Object(object) => (object.kind.as_deref().unwrap(), object.name.as_deref().unwrap()),
        };
        format!("{} on {kind} {name}: {}", self.reason, self.note)
    }
}
