//! What is to become of the LimitRange of a namespace.

use std::sync::Arc;

use quotient_crds::names::LIMIT_RANGE;
use quotient_engine::amounts::Bounds;
use quotient_engine::names::Namespace;

use crate::ResourceVersion;
use crate::index::Index;

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

impl Index {
    /// What is to be done with the LimitRange of `namespace`; nothing if it is as it should be.
    ///
    /// `governing` is the name of the Queue that governs the namespace. Quotient leaves out every resource that another
    /// LimitRange gives a default for. It creates nothing for a Queue that is being deleted, and makes it the owner of nothing:
    /// garbage collection may have changed or deleted the LimitRange already.
    pub fn limit_range_due(&self, namespace: &Namespace, governing: &str) -> Option<LimitRangeDue> {
        let entry = self.namespaces.get(namespace)?;
        let queue = entry.queue(governing)?;
        let open = queue.default_requests.iter().filter(|(resource, _)| !entry.others_default(resource));
        let wanted: Bounds = open.map(|(resource, amount)| (resource.clone(), amount)).collect();
        let kept = entry.limit_range(LIMIT_RANGE);
        match kept {
            None => (!wanted.is_empty() && !queue.deleting).then_some(LimitRangeDue::Create(wanted)),
            Some(kept) if !kept.ours => (!wanted.is_empty()).then_some(LimitRangeDue::Taken),
            Some(kept) if wanted.is_empty() => Some(LimitRangeDue::Delete {
                uid: kept.uid.clone(),
                resource_version: kept.resource_version.clone(),
            }),
            Some(kept) => {
                let disowned = !queue.deleting && kept.owner.as_ref() != Some(&queue.uid);
                let says_it = kept.defaults == wanted && !kept.says_more;
                let uid = kept.uid.clone();
                (disowned || !says_it).then_some(LimitRangeDue::Change { uid, defaults: wanted, disowned })
            }
        }
    }
}
