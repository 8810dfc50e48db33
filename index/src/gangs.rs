//! Gangs: pods that say how many of them have to run for any to be of use, or name an object that says it.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::NamespaceResourceScope;
use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_snapshot::Gang;
use quotient_snapshot::names::{GangName, OwnerUid};
use serde::Deserialize;
use serde_json::Value;

/// The name of a PodGroup within its namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupName {
    /// Its API group: each has users of its own, and pods name theirs in one way each.
    pub(crate) api_group: &'static str,
    pub(crate) name: Arc<str>,
}

impl GroupName {
    /// What its pods are members of.
    pub(crate) fn gang(&self) -> GangName {
        GangName::new(format!("podgroup.{}/{}", self.api_group, self.name))
    }
}

/// A version in which an API may serve PodGroups.
#[derive(Clone, Copy, Debug)]
pub struct PodGroupApi {
    /// What metrics and messages call it, as kubectl does: `podgroups.VERSION.GROUP`.
    pub name: &'static str,
    /// Group and version.
    pub api_version: &'static str,
    /// The API group.
    pub(crate) group: &'static str,
    version: &'static str,
    /// Where in the spec a PodGroup says how many members have to run.
    size: &'static str,
}

macro_rules! pod_groups {
    ($($group:literal $version:literal $size:literal;)+) => {
        /// Every version in which an API may serve PodGroups.
        pub const POD_GROUPS: &[PodGroupApi] = &[$(PodGroupApi {
            name: concat!("podgroups.", $version, ".", $group),
            api_version: concat!($group, "/", $version),
            group: $group,
            version: $version,
            size: $size,
        }),+];
    };
}

pod_groups! {
    // Of the coscheduling plugin of scheduler-plugins.
    "scheduling.x-k8s.io" "v1alpha1" "/minMember";
    // Of Volcano.
    "scheduling.volcano.sh" "v1beta1" "/minMember";
    // Of KAI.
    "scheduling.run.ai" "v2alpha2" "/minMember";
    // Of Kubernetes 1.36.
    "scheduling.k8s.io" "v1alpha2" "/schedulingPolicy/gang/minCount";
    // Of Kubernetes 1.37, which may serve it without the next one.
    "scheduling.k8s.io" "v1alpha3" "/schedulingPolicy/gang/minCount";
    "scheduling.k8s.io" "v1beta1" "/schedulingPolicy/gang/minCount";
}

/// A PodGroup, of which only the size matters here.
#[derive(Clone, Debug, Deserialize)]
pub struct PodGroup {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
}

impl PodGroup {
    /// How many members have to run for any to be of use; 0 if it does not say, or says what is no number of pods.
    pub(crate) fn size(&self, api: &PodGroupApi) -> u32 {
        let stated = self.spec.pointer(api.size).and_then(Value::as_u64);
        stated.and_then(|size| u32::try_from(size).ok()).unwrap_or_default()
    }
}

impl Resource for PodGroup {
    type DynamicType = PodGroupApi;
    type Scope = NamespaceResourceScope;

    fn kind(_: &PodGroupApi) -> Cow<'_, str> {
        "PodGroup".into()
    }

    fn group(api: &PodGroupApi) -> Cow<'_, str> {
        api.group.into()
    }

    fn version(api: &PodGroupApi) -> Cow<'_, str> {
        api.version.into()
    }

    fn plural(_: &PodGroupApi) -> Cow<'_, str> {
        "podgroups".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

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
    let texts = Texts(metadata);
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
struct Texts<'a>(&'a ObjectMeta);

impl<'a> Texts<'a> {
    fn label(self, key: &str) -> Option<&'a str> {
        self.0.labels.as_ref()?.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn annotation(self, key: &str) -> Option<&'a str> {
        self.0.annotations.as_ref()?.get(key).map(String::as_str).filter(|text| !text.is_empty())
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
            ("scheduling.k8s.io", core.filter(|name| !name.is_empty())),
            ("scheduling.x-k8s.io", self.label("scheduling.x-k8s.io/pod-group")),
            ("scheduling.volcano.sh", self.annotation("scheduling.k8s.io/group-name").or_else(volcano)),
            ("scheduling.run.ai", self.annotation("pod-group-name")),
        ];
        let (api_group, name) = named.into_iter().find_map(|(group, name)| Some((group, name?)))?;
        Some(GroupName { api_group, name: name.into() })
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
