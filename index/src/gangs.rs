//! Gangs: pods that say how many of them have to run for any to be of use.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_engine::names::{GangName, OwnerUid};
use quotient_engine::snapshot::Gang;
use serde_json::Value;

/// The gang that a pod with this metadata is a member of. `owner` is the pod's controller.
///
/// Said by our annotations or, where they say nothing, by what other gang schedulers have their users write. Groups
/// whose size stands in an object of their own are not known here. A size that is no number, or zero, is none.
pub(crate) fn gang(metadata: &ObjectMeta, owner: Option<&OwnerUid>) -> Option<Gang> {
    let stated = Stated { labels: metadata.labels.as_ref(), annotations: metadata.annotations.as_ref() };
    stated
        .ours(owner)
        .or_else(|| stated.coscheduling())
        .or_else(|| stated.kueue())
        .or_else(|| stated.volcano())
        .or_else(|| stated.yunikorn(owner))
}

/// What an object's metadata states, as pairs of texts.
#[derive(Clone, Copy)]
struct Stated<'a> {
    labels: Option<&'a BTreeMap<String, String>>,
    annotations: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Stated<'a> {
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

    /// The coscheduling plugin in its first form; in its later one the size stands in an object of its own.
    fn coscheduling(self) -> Option<Gang> {
        let min = self.label("pod-group.scheduling.sigs.k8s.io/min-available")?;
        sized(self.label("pod-group.scheduling.sigs.k8s.io/name")?, min)
    }

    /// Kueue's groups of plain pods: all of them, or none.
    fn kueue(self) -> Option<Gang> {
        let total = self.annotation("kueue.x-k8s.io/pod-group-total-count")?;
        sized(self.label("kueue.x-k8s.io/pod-group-name")?, total)
    }

    /// Volcano; mostly the size stands in an object of its own.
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
