//! What tells objects, their lives and their versions apart, how new a stored object is, and the times in it.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use quotient_snapshot::names::Namespace;
use quotient_snapshot::time::Timestamp;

/// What tells one object of a kind from another: its namespace, empty for kinds that are in none, and its name.
pub(crate) type Key = (Namespace, Arc<str>);

/// The namespace of an object, empty if it is in none, and its name.
pub(crate) fn key(ObjectMeta { namespace, name, .. }: &ObjectMeta) -> Key {
    (namespace.as_deref().unwrap_or_default().into(), name.as_deref().unwrap_or_default().into())
}

/// What tells one life and one version of an object from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Its uid.
    pub(crate) uid: Arc<str>,
    /// How new it is.
    pub(crate) age: Age,
}

impl Meta {
    /// The same for comparison.
    pub(crate) fn kept(&self) -> Kept<'_> {
        Kept { uid: &self.uid, age: self.age }
    }
}

/// The uid and the age of what is kept of an object.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'k> {
    pub(crate) uid: &'k str,
    pub(crate) age: Age,
}

impl<'k> Kept<'k> {
    /// That of an object of this version, none only in manifests.
    pub(crate) fn of(uid: &'k str, version: Option<&ResourceVersion>) -> Self {
        Self { uid, age: version.map(ResourceVersion::age).unwrap_or_default() }
    }
}

/// The resourceVersion of an object, as the precondition of a write wants it: verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// Wraps the text as it stands in an object's metadata.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as it stands in the object's metadata.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether what has this version, object or list, was written before what has the `other`.
    pub fn is_older_than(&self, other: &Self) -> bool {
        self.age() < other.age()
    }

    pub(crate) fn of(metadata: &ObjectMeta) -> Option<Self> {
        metadata.resource_version.as_deref().filter(|text| !text.is_empty()).map(Self::new)
    }

    pub(crate) fn age(&self) -> Age {
        Age::from_text(&self.0)
    }
}

/// A resourceVersion as a number that grows with every write; 0 where there is none, as in manifests.
///
/// Kubernetes promises this order for objects of one kind since 1.35, and it always held with etcd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(u64);

impl Age {
    pub(crate) fn of(metadata: &ObjectMeta) -> Self {
        metadata.resource_version.as_deref().map(Self::from_text).unwrap_or_default()
    }

    fn from_text(text: &str) -> Self {
        Self(text.parse().unwrap_or_default())
    }

    /// Whether an object of this age must not replace one of age `kept`.
    pub(crate) fn is_stale_beside(self, kept: Self) -> bool {
        self.0 != 0 && self < kept
    }
}

/// The engine's timestamp of a time in an API object; fractions of a millisecond are dropped.
pub fn timestamp(time: &Time) -> Timestamp {
    Timestamp::from_millis(time.0.as_millisecond())
}
