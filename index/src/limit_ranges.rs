//! What containers request that do not say it: the LimitRange `quotient`, and the defaults of others.
//!
//! No decision about shares depends on it. What is to be written follows from what is kept here alone, and which owners
//! have templates that a quota refuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::ResourceExt as _;
use quotient_crds::names::{LIMIT_RANGE, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};
use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::names::QueueUid;

use crate::meta::ResourceVersion;
use crate::owner_references::owning_queue;
use crate::reading::{Reading, Rounding};

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

/// The one type of item that defaults are in.
const CONTAINER: &str = "Container";

/// A LimitRange as it was seen last.
#[derive(Debug)]
pub(crate) struct ObservedLimitRange {
    pub(crate) name: Arc<str>,
    pub(crate) uid: Arc<str>,
    pub(crate) resource_version: Option<ResourceVersion>,
    /// Whether Quotient keeps it: its name and its label say so.
    pub(crate) ours: bool,
    /// The Queue that its only owner reference names.
    pub(crate) owner: Option<QueueUid>,
    /// What containers request by it that do not say it, of the resources that can be shared.
    pub(crate) defaults: Bounds,
    /// Whether it says anything beside.
    pub(crate) says_more: bool,
}

impl ObservedLimitRange {
    /// What is kept of `object`; none if it is of no concern.
    pub(crate) fn of(object: &LimitRange, name: Arc<str>, uid: Arc<str>) -> Option<Self> {
        let keeper = object.labels().get(MANAGED_BY_LABEL);
        let has_our_name = *name == *LIMIT_RANGE;
        let items = object.spec.as_ref().map_or(&[][..], |spec| &spec.limits);
        let defaults = defaults(items);
        (has_our_name || !defaults.is_empty()).then(|| Self {
            ours: has_our_name && keeper.is_some_and(|keeper| keeper == MANAGED_BY_QUOTIENT),
            uid,
            owner: owning_queue(&object.metadata),
            resource_version: ResourceVersion::of(&object.metadata),
            says_more: says_more(items, &defaults),
            name,
            defaults,
        })
    }

    /// Whether it says the same as `other`, and is the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.uid, self.ours, &self.owner, &self.defaults, self.says_more)
            == (&other.uid, other.ours, &other.owner, &other.defaults, other.says_more)
    }
}

fn defaults(items: &[LimitRangeItem]) -> Bounds {
    let of_containers = items.iter().filter(|item| item.type_ == CONTAINER);
    of_containers.fold(Bounds::new(), |defaults, item| {
        let list = default_request(item);
        let read: Bounds =
            Reading::default().list(Some(&list), Rounding::Up, format_args!("spec.limits.defaultRequest"));
        defaults.max(&read)
    })
}

/// The default request, with what the API server fills in when it stores a LimitRange, and a manifest leaves to it: the default
/// limit stands in for a default request, and the maximum for that. If there is none of these, the minimum does.
fn default_request(item: &LimitRangeItem) -> BTreeMap<String, Quantity> {
    let LimitRangeItem { default, default_request, max, min, .. } = item;
    [min, max, default, default_request]
        .into_iter()
        .flatten()
        .flatten()
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

/// Whether there is more in `items` than one that gives these defaults.
fn says_more(items: &[LimitRangeItem], defaults: &Bounds) -> bool {
    let [item] = items else { return !items.is_empty() };
    let LimitRangeItem { default, default_request, max, max_limit_request_ratio, min, type_ } = item;
    let count = |list: &Option<BTreeMap<String, Quantity>>| list.as_ref().map_or(0, BTreeMap::len);
    type_ != CONTAINER
        || [default, max, max_limit_request_ratio, min].into_iter().any(|list| count(list) > 0)
        || count(default_request) != defaults.iter().count()
}
