//! One write that an API server carried out.

use serde_json::Value;

/// What was done to the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// It was not there before, or a subresource was posted (`pods/eviction`).
    Create,
    /// It was changed.
    #[default]
    Update,
    /// It was deleted, or marked for it.
    Delete,
}

/// One write, carried out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Write<'a> {
    /// Its place among all writes.
    pub index: u64,
    /// When it was carried out, in milliseconds.
    pub at: i64,
    /// Whether the operator asked for it.
    pub by_operator: bool,
    /// What was done.
    pub verb: Verb,
    /// The plural name of the resource, such as `resourcequotas`.
    pub resource: &'a str,
    /// `status`, `eviction`, or nothing.
    pub subresource: &'a str,
    /// The object's namespace; empty for nodes and namespaces.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// What was sent, where that matters: the body of an eviction.
    pub request: Option<&'a Value>,
    /// The object before it, if there was one.
    pub before: Option<&'a Value>,
    /// The object after it; none once it is gone.
    pub after: Option<&'a Value>,
}
