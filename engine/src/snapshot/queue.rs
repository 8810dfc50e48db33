//! A Queue as its administrator wrote it.

use std::sync::Arc;

use crate::amounts::Bounds;
use crate::names::QueueUid;
use crate::time::Timestamp;

/// What the engine needs to know of a Queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its id for life.
    pub uid: QueueUid,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// When it was created: the oldest in a namespace governs it.
    pub created: Timestamp,
    /// Its weight among its siblings; 0 receives only what nobody else wants.
    pub weight: u32,
    /// What it asks for; `None` asks for everything it can get. In a stated request, cpu and memory that are
    /// not named are unbounded and other resources are not asked for.
    pub request: Option<Bounds>,
    /// Lower bound on its share, as far as it asks for that much.
    pub guaranteed: Bounds,
    /// Upper bound on its share.
    pub limit: Bounds,
    /// What is wrong with its spec, if it could not be understood; the text is for its administrator.
    pub invalid: Option<Arc<str>>,
}
