//! The kinds of objects that are written: where the API serves them, and how the view keeps an answer.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{LimitRange, ResourceQuota};
use kube::Resource;
use quotient_crds::{Queue, QueueJob};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{OwnerKind, ScaleTargetKind};
use quotient_index::pods::LeanPod;
use quotient_index::{Decoded, Index, Kind as IndexKind};
use serde::de::DeserializeOwned;

macro_rules! kinds {
    ($($name:ident = $object:ty),+ $(,)?) => {
        /// A kind of object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Kind {
            $($name),+
        }

        impl Kind {
            /// Where the API serves its objects in `namespace`.
            pub(crate) fn path(self, namespace: &Namespace) -> String {
                match self {
                    $(Self::$name => <$object>::url_path(&(), Some(namespace.as_str()))),+
                }
            }

            /// Keeps the object that an answer has as text. Says whether a decision depends on the
            /// difference, and why the object cannot be decoded if that is so.
            pub(crate) fn keep(self, index: &mut Index, answer: &str) -> (bool, Result<(), String>) {
                match self {
                    $(Self::$name => keep::<$object>(index, answer)),+
                }
            }

            /// Forgets this life of an object. Says whether a decision depends on the difference.
            pub(crate) fn forget(self, index: &mut Index, namespace: &Namespace, name: &str, uid: &str) -> bool {
                match self {
                    $(Self::$name => index.delete::<$object>(&(), namespace.as_str(), name, uid)),+
                }
            }
        }
    };
}

kinds!(
    DaemonSet = DaemonSet,
    Deployment = Deployment,
    Job = Job,
    LimitRange = LimitRange,
    Pod = LeanPod,
    Queue = Queue,
    QueueJob = QueueJob,
    ReplicaSet = ReplicaSet,
    ResourceQuota = ResourceQuota,
    StatefulSet = StatefulSet,
);

impl Kind {
    /// The kind of a controller. Nothing grants to write objects of other operators, which try again by themselves.
    pub(crate) const fn of_owner(kind: OwnerKind) -> Option<Self> {
        match kind {
            OwnerKind::ReplicaSet => Some(Self::ReplicaSet),
            OwnerKind::StatefulSet => Some(Self::StatefulSet),
            OwnerKind::DaemonSet => Some(Self::DaemonSet),
            // A task of a QueueJob is an owner in the engine and one Job in the cluster.
            OwnerKind::Job | OwnerKind::QueueJob => Some(Self::Job),
            OwnerKind::Configured(_) => None,
        }
    }

    /// The kind of what states a size.
    pub(crate) const fn of_scale_target(kind: ScaleTargetKind) -> Self {
        match kind {
            ScaleTargetKind::Deployment => Self::Deployment,
            ScaleTargetKind::ReplicaSet => Self::ReplicaSet,
            ScaleTargetKind::StatefulSet => Self::StatefulSet,
            ScaleTargetKind::Job => Self::Job,
        }
    }
}

fn keep<K>(index: &mut Index, answer: &str) -> (bool, Result<(), String>)
where
    K: IndexKind<DynamicType = ()> + DeserializeOwned,
{
    match serde_json::from_str::<Decoded<K>>(answer) {
        Ok(object) => {
            let changed = index.apply_reply(&object);
            (changed, object.0.map(|_| ()).map_err(|undecodable| undecodable.error))
        }
        Err(error) => (false, Err(error.to_string())),
    }
}

/// Reads an object from an answer. Of its `managedFields` only what can be read is read, so a tenant cannot make a call that
/// was carried out look like one that failed.
pub(crate) fn decode<K: DeserializeOwned + 'static>(answer: &str) -> Result<K, String> {
    let decoded: Decoded<K> = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    decoded.0.map_err(|undecodable| undecodable.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_managed_fields_makes_no_call_look_lost() {
        let answer = serde_json::json!({
            "metadata": {"name": "web", "managedFields": [{"manager": "odd", "time": "9999-12-31T23:59:59Z"}]},
            "spec": {"selector": {}, "template": {}},
        });
        let answer = answer.to_string();
        assert!(decode::<Deployment>(&answer).is_ok());
        assert!(serde_json::from_str::<Deployment>(&answer).is_err(), "it can be decoded after all");
    }
}
