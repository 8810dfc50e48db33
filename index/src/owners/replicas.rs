//! ReplicaSets, StatefulSets and DaemonSets: how many pods they want, and why their pods are refused.

use k8s_openapi::api::apps::v1::{DaemonSet, ReplicaSet, ReplicaSetStatus, StatefulSet};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use quotient_crds::names::QUOTA;
use quotient_snapshot::OwnerKind;
use quotient_snapshot::amounts::Amounts;

use super::kind::OwnerObject;
use crate::quotas::bounds_from_hard;
use crate::reading::count;

impl OwnerObject for ReplicaSet {
    const KIND: OwnerKind = OwnerKind::ReplicaSet;

    fn wanted(&self) -> u32 {
        self.spec.as_ref().map_or(0, |spec| replicas(spec.replicas))
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().and_then(|spec| spec.template.as_ref())
    }

    fn refusal(&self) -> Refusal<'_> {
        refusal(self.status.as_ref())
    }
}

impl OwnerObject for StatefulSet {
    const KIND: OwnerKind = OwnerKind::StatefulSet;

    fn wanted(&self) -> u32 {
        self.spec.as_ref().map_or(0, |spec| replicas(spec.replicas))
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().map(|spec| &spec.template)
    }
}

/// The API server fills in 1; a manifest may leave it out.
fn replicas(written: Option<i32>) -> u32 {
    count(written.unwrap_or(1))
}

impl OwnerObject for DaemonSet {
    const KIND: OwnerKind = OwnerKind::DaemonSet;

    fn wanted(&self) -> u32 {
        self.status.as_ref().map_or(0, |status| count(status.desired_number_scheduled))
    }

    /// Its nodes say how many pods it wants, whatever its annotations say.
    fn wanted_at(&self, _: u32) -> u32 {
        self.wanted()
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().map(|spec| &spec.template)
    }
}

/// The most characters of the API server's words that are kept.
const MOST: usize = 240;

/// What stands before the reason in every refusal of admission: `pods "web-x2x9f" is forbidden: `.
const FORBIDDEN: &str = " is forbidden: ";

/// What a ReplicaSet says of the last pod that was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Refusal<'a> {
    /// None was, since pods were last created.
    #[default]
    None,
    /// The quota `quotient` is used up: the pod waits. It requested this, of the resources that there was too little of.
    QuotaUsedUp(Amounts),
    /// Anything else, in the API server's words.
    Other(&'a str),
}

/// Reads the condition `ReplicaFailure`.
pub(super) fn refusal(status: Option<&ReplicaSetStatus>) -> Refusal<'_> {
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let mut failures = conditions.iter().filter(|one| one.type_ == "ReplicaFailure" && one.status == "True");
    // The same condition says that a pod could not be deleted.
    let created = failures.find(|one| one.reason.as_deref() != Some("FailedDelete"));
    let Some(message) = created.and_then(|one| one.message.as_deref()).filter(|text| !text.trim().is_empty())
    else {
        return Refusal::None;
    };
    if let Some((_, counted)) = message.split_once(&format!("exceeded quota: {QUOTA},")) {
        return Refusal::QuotaUsedUp(requested(counted));
    }
    let why = message.split_once(FORBIDDEN).map_or(message, |(_, why)| why);
    let end = why.char_indices().nth(MOST).map_or(why.len(), |(at, _)| at);
    Refusal::Other(why.get(..end).unwrap_or(why))
}

/// What a pod requested of which admission says ` requested: requests.cpu=1100m,requests.memory=1Gi, used: …`.
fn requested(counted: &str) -> Amounts {
    let amounts =
        counted.trim_start().strip_prefix("requested: ").and_then(|text| text.split_once(", used: "));
    let pairs = amounts.into_iter().flat_map(|(requested, _)| requested.split(','));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    let requested = pairs.map(|(key, text)| (key.to_owned(), Quantity(text.to_owned()))).collect();
    bounds_from_hard(&requested).amounts()
}
