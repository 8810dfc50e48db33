//! What is asked of the server, and what it answers.

use std::sync::Arc;

use serde_json::Value;

use super::Failure;
use crate::objects::{Key, Kind};
use crate::trace::Verb;

/// One request for one object or for many.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is to be done.
    pub verb: Verb,
    /// To which object; without a name to the kind.
    pub key: Key,
    /// To which part of it: `status`, `eviction`, `binding`; empty for all of it.
    pub subresource: &'static str,
    /// What was sent.
    pub body: Body,
    /// Which objects, of a list or a watch.
    pub query: Query,
}

/// What is sent along.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Body {
    /// Nothing.
    #[default]
    Nothing,
    /// An object, or the options of a deletion.
    Object(Arc<Value>),
    /// Operations one after the other (RFC 6902).
    JsonPatch(Arc<Value>),
    /// What is to be different (RFC 7386).
    MergePatch(Arc<Value>),
}

impl Body {
    /// As it was sent.
    pub(super) fn value(&self) -> Option<Arc<Value>> {
        match self {
            Self::Nothing => None,
            Self::Object(value) | Self::JsonPatch(value) | Self::MergePatch(value) => Some(Arc::clone(value)),
        }
    }
}

/// Which objects, and how many at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Phases of pods that are left out.
    pub(crate) phases_left_out: Vec<String>,
    /// The most objects on a page.
    pub(crate) limit: Option<usize>,
    /// Where the former page ended.
    pub(crate) after: Option<String>,
    /// The version from which on changes are wanted.
    pub(crate) version: Option<u64>,
    /// How long to watch.
    pub(crate) seconds: Option<u64>,
    /// Whether a watch is to hear of versions that do not concern it.
    pub(crate) bookmarks: bool,
    /// Whether only the metadata is wanted.
    pub(crate) only_metadata: bool,
}

impl Query {
    /// Whether `object` is wanted.
    pub(crate) fn selects(&self, object: &Value) -> bool {
        !self.phases_left_out.iter().any(|phase| phase == crate::objects::object::phase(object))
    }
}

impl Call {
    /// A request for this object.
    pub fn new(verb: Verb, key: Key) -> Self {
        Self { verb, key, subresource: "", body: Body::Nothing, query: Query::default() }
    }

    /// Creates `object`.
    pub fn create(kind: Kind, object: Value) -> Self {
        let key = Key::of(kind, &object);
        Self { body: Body::Object(Arc::new(object)), ..Self::new(Verb::Create, key) }
    }

    /// Puts `object` in the place of what is there.
    pub fn update(kind: Kind, object: Value) -> Self {
        let key = Key::of(kind, &object);
        Self { body: Body::Object(Arc::new(object)), ..Self::new(Verb::Update, key) }
    }

    /// Changes what `patch` says.
    pub fn merge(key: Key, patch: Value) -> Self {
        Self { body: Body::MergePatch(Arc::new(patch)), ..Self::new(Verb::Patch, key) }
    }

    /// Deletes it, with these options.
    pub fn delete(key: Key, options: Value) -> Self {
        Self { body: Body::Object(Arc::new(options)), ..Self::new(Verb::Delete, key) }
    }

    /// The same for a part of the object.
    pub fn on(mut self, subresource: &'static str) -> Self {
        self.subresource = subresource;
        self
    }
}

/// What became of a request.
pub type Reply = Result<Answer, Failure>;

/// What the server answers to a request that it carried out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// What is sent back.
    pub body: Arc<Value>,
}

impl Answer {
    pub(super) const fn new(code: u16, body: Arc<Value>) -> Self {
        Self { code, body }
    }
}
