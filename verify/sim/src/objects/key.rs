//! Which object.

use std::fmt;

use serde_json::Value;

use super::{Kind, Name, object};

/// Kind, namespace and name of an object. Ordered so that the objects of one kind, and of one namespace among them,
/// follow each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The kind.
    pub kind: Kind,
    /// The namespace; empty for kinds without.
    pub namespace: Name,
    /// The name.
    pub name: Name,
}

impl Key {
    /// The object of this kind, namespace and name.
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }

    /// Of `value`, which says itself what it is called.
    pub fn of(kind: Kind, value: &Value) -> Self {
        Self::new(kind, object::namespace(value), object::name(value))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => write!(formatter, "{:?} {}", self.kind, self.name),
            namespace => write!(formatter, "{:?} {namespace}/{}", self.kind, self.name),
        }
    }
}
