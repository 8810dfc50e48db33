//! What the API server said of one quota.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use kube::ResourceExt as _;
use quotient_crds::names::{
    FIELD_MANAGER, GENERATION_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, USAGE_RESYNC_KEY,
};
use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::ledger::{Generation, Seen};
use quotient_snapshot::names::{Namespace, QueueUid};

use super::bounds_from_hard;
use crate::meta::{Age, ResourceVersion};
use crate::owner_references::owning_queue;

/// The id that the API server gave to one life of one ResourceQuota.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuotaUid(Arc<str>);

impl QuotaUid {
    /// Wraps the text as it stands in the object's metadata.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as it stands in the object's metadata.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A ResourceQuota `quotient` as it was seen last: what a write of it has to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedQuota {
    /// Its id.
    pub uid: QuotaUid,
    /// Its version: tells which of two observations is newer. Admission moves it with every pod that it counts, so
    /// writes test uid and generation instead. None only in manifests.
    pub resource_version: Option<ResourceVersion>,
    /// The ledger's generation that its amounts belong to (annotation `quotient.dev/generation`). None if it
    /// was never stamped or the stamp is no number.
    pub generation: Option<Generation>,
    /// Whether its label says that Quotient keeps it; otherwise it only happens to have the name.
    pub ours: bool,
    /// The Queue that its only owner reference names.
    pub owner: Option<QueueUid>,
    /// `spec.hard`, of the resources that can be shared.
    pub hard: Bounds,
    /// `status.hard`, of the same: what admission enforces.
    pub enforced: Bounds,
    /// `status.used`, of the same: what admission has charged, pods that are not seen yet included.
    pub charged: Bounds,
    /// Whether it still names what it named only to be counted anew.
    pub marked: bool,
    /// Whether admission enforces what it named only for that.
    pub enforces_mark: bool,
    /// The field manager that wrote something of `spec` last, if not we; none if there is none or it is unknown.
    pub edited_by: Option<Arc<str>>,
}

impl ObservedQuota {
    pub(crate) fn of(quota: &ResourceQuota, uid: &str) -> Self {
        let spec = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref());
        let marked = spec.is_some_and(|hard| hard.contains_key(USAGE_RESYNC_KEY));
        let status = quota.status.as_ref().and_then(|status| status.hard.as_ref());
        let used = quota.status.as_ref().and_then(|status| status.used.as_ref());
        let generation = quota.annotations().get(GENERATION_ANNOTATION);
        let keeper = quota.labels().get(MANAGED_BY_LABEL);
        Self {
            uid: QuotaUid::new(uid),
            resource_version: ResourceVersion::of(&quota.metadata),
            generation: generation.and_then(|text| Generation::from_stamp(text)),
            ours: keeper.is_some_and(|keeper| keeper == MANAGED_BY_QUOTIENT),
            owner: owning_queue(&quota.metadata),
            hard: spec.map(bounds_from_hard).unwrap_or_default(),
            enforced: status.map(bounds_from_hard).unwrap_or_default(),
            charged: used.map(bounds_from_hard).unwrap_or_default(),
            marked,
            enforces_mark: status.is_some_and(|hard| hard.contains_key(USAGE_RESYNC_KEY)),
            edited_by: edited_by(&quota.metadata),
        }
    }

    /// What a write of it tests before it lands, and changes.
    pub(crate) fn stamp(&self) -> (&QuotaUid, Option<Generation>) {
        (&self.uid, self.generation)
    }

    /// What the ledger is laid beside.
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen {
            stamp: self.generation,
            hard: &self.hard,
            enforced: &self.enforced,
            ours: self.ours,
            owner: self.owner.as_ref(),
        }
    }

    /// What admission enforces.
    pub(crate) fn in_effect(&self) -> (&Bounds, bool) {
        (&self.enforced, self.enforces_mark)
    }

    pub(crate) fn age(&self) -> Age {
        self.resource_version.as_ref().map(ResourceVersion::age).unwrap_or_default()
    }
}

/// The last manager, other than us, of anything in the spec. A manager that overwrites a field takes it from the former one, so
/// a manager that is left has its own amounts there.
fn edited_by(metadata: &ObjectMeta) -> Option<Arc<str>> {
    let entries = metadata.managed_fields.as_deref().unwrap_or_default();
    let of_spec = |entry: &&ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref();
        entry.subresource.is_none() && fields.is_some_and(|fields| fields.0.get("f:spec").is_some())
    };
    let others =
        entries.iter().filter(of_spec).filter(|entry| entry.manager.as_deref() != Some(FIELD_MANAGER));
    let last = others.max_by_key(|entry| entry.time.as_ref().map(|time| time.0))?;
    last.manager.as_deref().map(Into::into)
}

/// What is remembered of quotas as a kind.
#[derive(Debug, Default)]
pub(crate) struct QuotaKind {
    /// The quotas that were newer than every pod when they were seen, by age.
    pub(crate) ahead: BTreeSet<(Age, Namespace)>,
    /// How often the quota controller was seen to change what a quota of ours enforces.
    pub(crate) enforced: u64,
}
