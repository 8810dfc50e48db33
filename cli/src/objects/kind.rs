//! The kinds that are understood, how the API serves them, and objects of them.

use std::sync::{Arc, LazyLock};

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod, PodTemplateSpec, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource as _;
use quotient_crds::names::API_VERSION;
use quotient_crds::{Queue, QueueJob};
use quotient_index::{Index, POD_GROUPS, PodGroup, PodGroupApi, WorkloadKind};
use serde_json::{Value, json};

use super::decode::{decode, text, unknown_fields};

macro_rules! kinds {
    ($($kind:ident = $api:expr;)*) => {
        /// A kind of object that decisions depend on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Kind {
            $($kind,)*
            PodGroup,
        }

        impl Kind {
            /// Every kind. The list of pods takes longest, so it is read first.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)* Self::PodGroup];

            /// How the API serves it. Several groups serve PodGroups; this is one of them.
            pub(crate) const fn api(self) -> &'static ApiKind {
                match self {
                    $(Self::$kind => const { &$api },)*
                    Self::PodGroup => const { &ApiKind::new("scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups") },
                }
            }
        }

        /// An object of a kind that is understood. Clusters that differ in a few objects share the pods.
        #[derive(Debug)]
        pub(crate) enum Object {
            $($kind(Arc<$kind>),)*
            PodGroup(&'static PodGroupApi, Box<PodGroup>),
        }

        $(impl Typed for $kind {
            fn of(object: &Object) -> Option<&Self> {
                if let Object::$kind(object) = object { Some(object) } else { None }
            }
        })*

        impl Object {
            /// Reads `value` as an object of `kind`. The error names the field.
            pub(crate) fn read(kind: Kind, value: &Value) -> Result<Self, String> {
                match kind {
                    $(Kind::$kind => decode(value).map(|object| Self::$kind(Arc::new(object))),)*
                    Kind::PodGroup => {
                        let api_version = text(value, "/apiVersion");
                        let api = POD_GROUPS.iter().find(|api| api.api_version == api_version);
                        let api = api.ok_or_else(|| format!("apiVersion: no scheduler has PodGroups in {api_version}"))?;
                        decode(value).map(|group| Self::PodGroup(api, Box::new(group)))
                    }
                }
            }

            /// The paths of the fields of `value`, of which it was read, that its kind does not know.
            pub(crate) fn unknown_fields(&self, value: &Value) -> Vec<String> {
                match self {
                    $(Self::$kind(object) => unknown_fields(value, &**object),)*
                    Self::PodGroup(..) => Vec::new(),
                }
            }

            pub(crate) const fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind(_) => Kind::$kind,)*
                    Self::PodGroup(..) => Kind::PodGroup,
                }
            }

            pub(crate) fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(Self::$kind(object) => &object.metadata,)*
                    Self::PodGroup(_, object) => object.meta(),
                }
            }

            pub(crate) fn metadata_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $(Self::$kind(object) => &mut Arc::make_mut(object).metadata,)*
                    Self::PodGroup(_, object) => object.meta_mut(),
                }
            }

            /// Puts the object into the index. Of a Deployment only its size is kept there: its ReplicaSets stand for it.
            pub(crate) fn apply_to(&self, index: &mut Index) {
                match self {
                    $(Self::$kind(object) => index.apply(&**object),)*
                    Self::PodGroup(api, object) => index.apply_of(*api, &**object),
                };
            }
        }
    };
}

/// Finished pods use nothing of a share.
const UNFINISHED: &str = "status.phase!=Succeeded,status.phase!=Failed";

kinds! {
    Pod = ApiKind { field_selector: UNFINISHED, ..ApiKind::new("v1", "Pod", "pods") };
    Namespace = ApiKind::new("v1", "Namespace", "namespaces").of_cluster();
    Node = ApiKind::new("v1", "Node", "nodes").of_cluster();
    Deployment = ApiKind::new("apps/v1", "Deployment", "deployments");
    ReplicaSet = ApiKind::new("apps/v1", "ReplicaSet", "replicasets");
    StatefulSet = ApiKind::new("apps/v1", "StatefulSet", "statefulsets");
    DaemonSet = ApiKind::new("apps/v1", "DaemonSet", "daemonsets");
    Job = ApiKind::new("batch/v1", "Job", "jobs");
    PodDisruptionBudget = ApiKind::new("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
    PriorityClass = ApiKind::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses").of_cluster();
    Queue = ApiKind::new(API_VERSION, "Queue", "queues");
    QueueJob = ApiKind::new(API_VERSION, "QueueJob", "queuejobs");
    ResourceQuota = ApiKind::new("v1", "ResourceQuota", "resourcequotas");
    LimitRange = ApiKind::new("v1", "LimitRange", "limitranges");
    HorizontalPodAutoscaler =
        ApiKind::new("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
}

/// PodGroups, as each of their APIs serves them.
pub(crate) static POD_GROUP_KINDS: LazyLock<Vec<ApiKind>> = LazyLock::new(|| {
    let kind = |api: &PodGroupApi| ApiKind::new(api.api_version, "PodGroup", "podgroups").optional();
    POD_GROUPS.iter().map(kind).collect()
});

/// A type of objects.
pub(crate) trait Typed {
    /// The object as this type, if it is of its kind.
    fn of(object: &Object) -> Option<&Self>;
}

/// The group in which Kubernetes once served what it serves elsewhere now.
const FORMER: &str = "extensions";

/// Another version of `HorizontalPodAutoscaler` that API servers take.
const FORMER_AUTOSCALING: &str = "autoscaling/v1";

/// An object of that version in the one that is read, with the only field of its spec that decisions depend on; it is the same
/// in both. None for every other object.
pub(crate) fn later_version(value: &Value) -> Option<Value> {
    let is_former = text(value, "/apiVersion") == FORMER_AUTOSCALING;
    is_former.then(|| {
        let api = Kind::HorizontalPodAutoscaler.api();
        json!({
            "apiVersion": api.api_version,
            "kind": api.kind,
            "metadata": value.get("metadata"),
            "spec": {"scaleTargetRef": value.pointer("/spec/scaleTargetRef")},
        })
    })
}

impl Kind {
    /// The kind of this name in this API group and version; none for one that no decision depends on.
    pub(crate) fn find(api_version: &str, name: &str) -> Result<Option<Self>, String> {
        let Some(kind) = Self::ALL.iter().copied().find(|kind| kind.name() == name) else { return Ok(None) };
        if kind == Self::PodGroup {
            let is_served = POD_GROUPS.iter().any(|served| served.api_version == api_version);
            return Ok(is_served.then_some(kind));
        }
        let served = kind.api().api_version;
        let is_former = kind == Self::HorizontalPodAutoscaler && api_version == FORMER_AUTOSCALING;
        if served == api_version || is_former {
            return Ok(Some(kind));
        }
        // Another group may have a kind of the same name, such as Queue of Volcano.
        if group(served) != group(api_version) && group(api_version) != FORMER {
            return Ok(None);
        }
        Err(format!("apiVersion: {name} is understood in {served}, not in {api_version}"))
    }

    /// Whether objects of the kind of this name are in no namespace, as far as the kind is understood.
    pub(crate) fn is_cluster_wide(name: &str) -> bool {
        Self::ALL.iter().any(|kind| kind.name() == name && !kind.is_namespaced())
    }

    pub(crate) const fn name(self) -> &'static str {
        self.api().kind
    }

    /// Whether its objects are in a namespace.
    pub(crate) const fn is_namespaced(self) -> bool {
        self.api().is_namespaced
    }

    /// Whether its objects create pods, themselves or through others.
    pub(crate) const fn owns_pods(self) -> bool {
        use Kind::{DaemonSet, Deployment, Job, QueueJob, ReplicaSet, StatefulSet};
        matches!(self, Deployment | ReplicaSet | StatefulSet | DaemonSet | Job | QueueJob)
    }
}

/// `Pod team-a/web-0`, `Node node-7`: an object in sentences; what is in no namespace has an empty one.
pub(crate) fn in_words(kind: &str, namespace: &str, name: &str) -> String {
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// The API group; empty for the core group.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl Object {
    /// The object as this type, if it is of its kind.
    pub(crate) fn get<T: Typed>(&self) -> Option<&T> {
        T::of(self)
    }

    /// Its name; empty if it has none.
    pub(crate) fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    /// Its namespace; empty if it is in none.
    pub(crate) fn namespace(&self) -> &str {
        self.metadata().namespace.as_deref().unwrap_or_default()
    }

    /// Its controller, if it names one.
    pub(crate) fn controller(&self) -> Option<&OwnerReference> {
        let mut owners = self.metadata().owner_references.iter().flatten();
        owners.find(|owner| owner.controller == Some(true))
    }

    /// What the pods look like that it creates; none for what creates no pods. A QueueJob's Jobs do that for it.
    pub(crate) fn template(&self) -> Option<&PodTemplateSpec> {
        match self {
            Self::Deployment(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::ReplicaSet(owner) => owner.spec.as_ref().and_then(|spec| spec.template.as_ref()),
            Self::StatefulSet(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::DaemonSet(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::Job(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            _ => None,
        }
    }
}

/// A kind, as the API serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApiKind {
    /// Group and version.
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) is_namespaced: bool,
    /// Whether decisions go on where the API does not serve it.
    pub(crate) is_optional: bool,
    /// Which of its objects matter; empty for all.
    pub(crate) field_selector: &'static str,
}

impl ApiKind {
    pub(crate) const fn new(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self { api_version, kind, plural, is_namespaced: true, is_optional: false, field_selector: "" }
    }

    pub(crate) const fn of_cluster(self) -> Self {
        Self { is_namespaced: false, ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Whether Quotient defines it, so that the API serves it only after an installation.
    pub(crate) fn is_ours(&self) -> bool {
        self.api_version == API_VERSION
    }

    /// A kind of the operator's setting. The process ends soon, and the settings are read once.
    pub(crate) fn configured(kind: &WorkloadKind) -> Self {
        let plural: &'static str = Box::leak(kind.plural.clone().into_boxed_str());
        Self::new(kind.api_version(), kind.kind(), plural)
    }

    /// The path of its list.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let namespace = namespace.filter(|_| self.is_namespaced).map(|name| format!("namespaces/{name}/"));
        format!("/{root}/{}/{}{}", self.api_version, namespace.unwrap_or_default(), self.plural)
    }

    /// An object of a list, which leaves kind and version out, with both.
    pub(crate) fn complete(&self, mut object: Value) -> Value {
        if let Value::Object(fields) = &mut object {
            fields.entry("apiVersion").or_insert_with(|| self.api_version.into());
            fields.entry("kind").or_insert_with(|| self.kind.into());
        }
        object
    }

    /// `jobs.batch`: what kubectl calls it.
    pub(crate) fn resource(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.to_owned(),
        }
    }
}
