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
    /// It says something else than these defaults.
    Change {
        /// Its id.
        uid: Arc<str>,
        /// What it is to say.
        defaults: Bounds,
    },
    /// Nobody wants it any more.
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
    /// `governing` is the name of the Queue that governs the namespace. Where there is none, the LimitRange stays as long
    /// as the quota that it makes bearable. What others give a default for is theirs to say.
    pub fn limit_range_due(&self, namespace: &Namespace, governing: Option<&str>) -> Option<LimitRangeDue> {
        let entry = self.namespaces.get(namespace)?;
        let wanted = match governing {
            Some(queue) => {
                let named = &entry.queue(queue)?.default_requests;
                let open = named.iter().filter(|(resource, _)| !entry.others_default(resource));
                open.map(|(resource, amount)| (resource.clone(), amount)).collect()
            }
            None if entry.observed_quota().is_some() => return None,
            None => Bounds::new(),
        };
        let kept = entry.limit_range(LIMIT_RANGE);
        match kept {
            None => (!wanted.is_empty()).then_some(LimitRangeDue::Create(wanted)),
            Some(kept) if !kept.ours => (!wanted.is_empty()).then_some(LimitRangeDue::Taken),
            Some(kept) if wanted.is_empty() => Some(LimitRangeDue::Delete {
                uid: kept.uid.clone(),
                resource_version: kept.resource_version.clone(),
            }),
            Some(kept) if kept.defaults == wanted && !kept.says_more => None,
            Some(kept) => Some(LimitRangeDue::Change { uid: kept.uid.clone(), defaults: wanted }),
        }
    }

    /// The namespaces with a LimitRange that Quotient keeps.
    pub fn namespaces_with_limit_range(&self) -> impl Iterator<Item = &Namespace> {
        let all = self.namespaces.iter();
        let ours = all.filter(|(_, entry)| entry.limit_range(LIMIT_RANGE).is_some_and(|kept| kept.ours));
        ours.map(|(namespace, _)| namespace)
    }
}
