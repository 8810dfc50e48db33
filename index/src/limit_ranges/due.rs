//! What is to become of the LimitRange of a namespace.

use std::sync::Arc;

use quotient_engine::amounts::Bounds;

use crate::ResourceVersion;

/// What is to be done with the LimitRange of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitRangeDue {
    /// There is none: it is to be created with these defaults.
    Create(Bounds),
    /// It says something else than these defaults, or another Queue owns it.
    Change {
        /// Its id.
        uid: Arc<str>,
        /// What it is to say.
        defaults: Bounds,
        /// Whether the Queue has yet to own it.
        disowned: bool,
    },
    /// Its Queue names no default requests any more, or others give them.
    Delete {
        /// Its id.
        uid: Arc<str>,
        /// Its version, none only in manifests.
        resource_version: Option<ResourceVersion>,
    },
    /// There is one of that name which Quotient does not keep.
    Taken,
}

impl LimitRangeDue {
    /// What the LimitRange is to say; nothing if it is to go.
    pub fn defaults(&self) -> Bounds {
        match self {
            Self::Create(defaults) | Self::Change { defaults, .. } => defaults.clone(),
            Self::Delete { .. } | Self::Taken => Bounds::new(),
        }
    }
}
