//! PodGroups: objects of other schedulers that say how large a gang is. Read where the API serves them, never needed.

use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_engine::names::GangName;
use serde::Deserialize;
use serde_json::Value;

/// Who has its users name PodGroups; pods name theirs in one way each.
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
