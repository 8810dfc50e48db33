//! What pods state of their gang, in the words of the schedulers of gangs.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_engine::names::{GangName, OwnerUid};
use quotient_engine::snapshot::Gang;
use serde_json::Value;

use super::{Family, GroupName};

/// What a pod states of its gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// Its name and its size.
    Whole(Gang),
    /// The PodGroup that has its size.
    Group(GroupName),
}

/// What a pod with this metadata and spec states of its gang. `owner` is the pod's controller.
///
/// Our annotations come first, and what stands with the pod before what stands elsewhere. A size that is no number, or
/// zero, is none.
pub(crate) fn stated(
    metadata: &ObjectMeta,
    spec: Option<&PodSpec>,
    owner: Option<&OwnerUid>,
) -> Option<Stated> {
    let texts = Texts { labels: metadata.labels.as_ref(), annotations: metadata.annotations.as_ref() };
    let whole = texts
        .ours(owner)
        .or_else(|| texts.coscheduling())
        .or_else(|| texts.kueue())
        .or_else(|| texts.volcano())
        .or_else(|| texts.yunikorn(owner));
    whole.map(Stated::Whole).or_else(|| texts.pod_group(spec).map(Stated::Group))
}

/// What an object's metadata states, as pairs of texts.
#[derive(Clone, Copy)]
struct Texts<'a> {
    labels: Option<&'a BTreeMap<String, String>>,
    annotations: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Texts<'a> {
    fn label(self, key: &str) -> Option<&'a str> {
        self.labels?.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn annotation(self, key: &str) -> Option<&'a str> {
        self.annotations?.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Without a name the owner is the gang.
    fn ours(self, owner: Option<&OwnerUid>) -> Option<Gang> {
        let min = self.annotation(GANG_MIN_AVAILABLE_ANNOTATION)?;
        sized(self.annotation(GANG_ANNOTATION).or(owner.map(OwnerUid::as_str))?, min)
    }

    /// The PodGroup that the pod names.
    fn pod_group(self, spec: Option<&PodSpec>) -> Option<GroupName> {
        let core = spec.and_then(|spec| spec.scheduling_group.as_ref()?.pod_group_name.as_deref());
        let volcano = || self.annotation("scheduling.volcano.sh/group-name");
        let named = [
            (Family::Kubernetes, core.filter(|name| !name.is_empty())),
            (Family::Coscheduling, self.label("scheduling.x-k8s.io/pod-group")),
            (Family::Volcano, self.annotation("scheduling.k8s.io/group-name").or_else(volcano)),
            (Family::Kai, self.annotation("pod-group-name")),
        ];
        let (family, name) = named.into_iter().find_map(|(family, name)| Some((family, name?)))?;
        Some(GroupName { family, name: name.into() })
    }

    /// The coscheduling plugin in its first form; in its later one the size stands in a PodGroup.
    fn coscheduling(self) -> Option<Gang> {
        let min = self.label("pod-group.scheduling.sigs.k8s.io/min-available")?;
        sized(self.label("pod-group.scheduling.sigs.k8s.io/name")?, min)
    }

    /// Kueue's groups of plain pods: all of them, or none.
    fn kueue(self) -> Option<Gang> {
        let total = self.annotation("kueue.x-k8s.io/pod-group-total-count")?;
        sized(self.label("kueue.x-k8s.io/pod-group-name")?, total)
    }

    /// Volcano; mostly the size stands in a PodGroup.
    fn volcano(self) -> Option<Gang> {
        let min = self.annotation("scheduling.volcano.sh/group-min-member")?;
        let name = self.annotation("scheduling.volcano.sh/group-name");
        sized(name.or_else(|| self.annotation("scheduling.k8s.io/group-name"))?, min)
    }

    /// `YuniKorn`: a task group of an application, of pods that repeat the list of groups.
    fn yunikorn(self, owner: Option<&OwnerUid>) -> Option<Gang> {
        let group = self.annotation("yunikorn.apache.org/task-group-name")?;
        let groups: Value = serde_json::from_str(self.annotation("yunikorn.apache.org/task-groups")?).ok()?;
        let described =
            groups.as_array()?.iter().find(|one| one.get("name").is_some_and(|name| name == group));
        let min = described?.get("minMember")?.as_u64()?;
        let application = "yunikorn.apache.org/app-id";
        let application = self.annotation(application).or_else(|| self.label(application));
        let application = application.or_else(|| self.label("applicationId"));
        let application = application.or(owner.map(OwnerUid::as_str)).unwrap_or_default();
        sized(&format!("{application}/{group}"), &min.to_string())
    }
}

fn sized(name: &str, min: &str) -> Option<Gang> {
    let min_available = min.parse().ok().filter(|min| *min > 0)?;
    Some(Gang { name: GangName::from(name), min_available })
}
