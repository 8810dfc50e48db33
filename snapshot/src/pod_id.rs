//! Which pod.

use crate::Pod;
use crate::names::{Namespace, PodName, PodUid};

/// One life of one pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodId {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: PodName,
    /// Its id; an eviction carries it, so that a successor of the same name is never hit.
    pub uid: PodUid,
}

impl PodId {
    /// Of a pod in `namespace`.
    pub fn of(namespace: &Namespace, pod: &Pod) -> Self {
        Self { namespace: namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() }
    }
}
