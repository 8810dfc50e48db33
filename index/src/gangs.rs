//! Gangs: pods that say how many of them have to run for any to be of use, or name an object that says it.

use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_snapshot::Gang;
use quotient_snapshot::names::{GangName, OwnerUid};
use serde::Deserialize;
use serde_json::Value;

/// The projects whose users name PodGroups; pods name theirs in one way each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// The coscheduling plugin of scheduler-plugins.
    Coscheduling,
    /// Volcano.
    Volcano,
    /// KAI.
    Kai,
    /// Kubernetes itself.
    Kubernetes,
}

impl Family {
    /// The API group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Coscheduling => "scheduling.x-k8s.io",
            Self::Volcano => "scheduling.volcano.sh",
            Self::Kai => "scheduling.run.ai",
            Self::Kubernetes => "scheduling.k8s.io",
        }
    }
}

/// The name of a PodGroup within its namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupName {
    pub(crate) family: Family,
    pub(crate) name: Arc<str>,
}

impl GroupName {
    /// What its pods are members of.
    pub(crate) fn gang(&self) -> GangName {
        GangName::new(format!("podgroup.{}/{}", self.family.group(), self.name))
    }
}

/// A version in which the API may serve PodGroups.
pub trait Scheduler: Clone + Debug + Send + Sync + 'static {
    /// Whose it is.
    const FAMILY: Family;
    /// Its place among all of them.
    const PLACE: usize;
    /// Its version.
    const VERSION: &'static str;
    /// Where in the spec it says how many members have to run.
    const SIZE: &'static str;
}

macro_rules! schedulers {
    ($($(#[$doc:meta])* $name:ident = $place:literal, $family:ident, $version:literal, $size:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Scheduler for $name {
                const FAMILY: Family = Family::$family;
                const PLACE: usize = $place;
                const VERSION: &'static str = $version;
                const SIZE: &'static str = $size;
            }
        )*
    };
}

schedulers! {
    /// `scheduling.x-k8s.io/v1alpha1`, of scheduler-plugins.
    Coscheduling = 0, Coscheduling, "v1alpha1", "/minMember";
    /// `scheduling.volcano.sh/v1beta1`.
    Volcano = 1, Volcano, "v1beta1", "/minMember";
    /// `scheduling.run.ai/v2alpha2`.
    Kai = 2, Kai, "v2alpha2", "/minMember";
    /// `scheduling.k8s.io/v1alpha2`, of Kubernetes 1.36.
    KubernetesV1Alpha2 = 3, Kubernetes, "v1alpha2", "/schedulingPolicy/gang/minCount";
    /// `scheduling.k8s.io/v1alpha3`, of Kubernetes 1.37, which may serve it without the next one.
    KubernetesV1Alpha3 = 5, Kubernetes, "v1alpha3", "/schedulingPolicy/gang/minCount";
    /// `scheduling.k8s.io/v1beta1`, of Kubernetes 1.37.
    KubernetesV1Beta1 = 4, Kubernetes, "v1beta1", "/schedulingPolicy/gang/minCount";
}

/// A PodGroup, of which only the size matters here.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "")]
pub struct PodGroup<S> {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
    #[serde(skip)]
    scheduler: PhantomData<S>,
}

impl<S: Scheduler> PodGroup<S> {
    /// How many members have to run for any to be of use; 0 if it does not say, or says what is no number of pods.
    pub(crate) fn size(&self) -> u32 {
        let stated = self.spec.pointer(S::SIZE).and_then(Value::as_u64);
        stated.and_then(|size| u32::try_from(size).ok()).unwrap_or_default()
    }
}

impl<S: Scheduler> Resource for PodGroup<S> {
    type DynamicType = ();
    type Scope = kube::core::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "PodGroup".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        S::FAMILY.group().into()
    }

    fn version((): &()) -> Cow<'_, str> {
        S::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
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
