//! Objects of the API: their kinds, which one is meant, and what stands in them.

mod key;
mod kind;
pub mod object;

use std::sync::Arc;

pub use key::Key;
pub use kind::Kind;

/// A name that many records share.
pub type Name = Arc<str>;
