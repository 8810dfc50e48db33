//! What tells objects, their lives and their versions apart.

use std::sync::Arc;

use quotient_engine::names::Namespace;

use crate::resource_version::Age;

/// What tells one object of a kind from another: its namespace, empty for kinds that are in none, and its name.
pub(crate) type Key<N = Arc<str>> = (Namespace, N);

/// What tells one life and one version of an object from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
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
pub(crate) struct Kept<'k> {
    pub(crate) uid: &'k str,
    pub(crate) age: Age,
}
