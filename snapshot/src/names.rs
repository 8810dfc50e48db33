//! Names and ids, each a type of its own so that none is taken for another.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Defines cheap-to-clone, ordered names.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// The default is the empty name, which nothing in a cluster has.
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text as it stands in the cluster.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text as it stands in the cluster.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, without a copy of it.
            pub fn shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    )+};
}

names! {
    /// A namespace.
    Namespace;
    /// A node's name.
    NodeName;
    /// A pod's name within its namespace. It may come back; a [`PodUid`] never does.
    PodName;
    /// The id that the API server gave to one life of one pod.
    PodUid;
    /// The id that the API server gave to one life of one Queue.
    QueueUid;
    /// The id that the API server gave to one life of one QueueJob.
    QueueJobUid;
    /// The id that the API server gave to the controller of a pod: its ReplicaSet, StatefulSet, Job, ….
    OwnerUid;
    /// The name of a gang within its namespace.
    GangName;
}

/// A Queue's namespace and name: its identity in plans, messages and tie-breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueueName {
    /// The namespace that the Queue is in.
    pub namespace: Namespace,
    /// The Queue's name there.
    pub name: Arc<str>,
}

impl QueueName {
    /// Names the Queue `name` in `namespace`.
    pub fn new(namespace: impl Into<Namespace>, name: impl Into<Arc<str>>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The queue as sentences name it: `namespace/name` only where the two differ.
    pub fn in_words(&self) -> String {
        if self.namespace.as_str() == &*self.name { self.name.to_string() } else { self.to_string() }
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}/{}", self.namespace, self.name))
    }
}
