//! Pods as a watch should deliver them: what the index reads of them, and nothing else.
//!
//! Most of a pod's JSON is what runs in its containers and who managed which field. To pass over that made a start with 20,000
//! pods cheaper by a good two fifths: 1.3 s of processor time until all was listed, and 2.3 s before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, Container, ContainerState, ContainerStatus, Pod, PodCondition, PodSchedulingGate,
    PodSchedulingGroup, PodSpec, PodStatus, ResourceRequirements, Toleration,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::Resource;
use serde::{Deserialize, Deserializer};

use crate::metadata::{Metadata, lean};

/// A pod without what the index does not read. Feed one index with whole pods or with these, not with both.
#[derive(Clone, Debug)]
pub struct LeanPod(pub Pod);

impl<'de> Deserialize<'de> for LeanPod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Whole { metadata, spec, status } = Whole::deserialize(deserializer)?;
        let (spec, status) = (spec.map(PodSpec::from), status.map(PodStatus::from));
        Ok(Self(Pod { metadata: metadata.into(), spec, status }))
    }
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    metadata: Metadata,
    spec: Option<Spec>,
    status: Option<Status>,
}

lean! {
    Spec => PodSpec {
        node_name: Option<String>,
        priority: Option<i32>,
        priority_class_name: Option<String>,
        termination_grace_period_seconds: Option<i64>,
        scheduling_group: Option<PodSchedulingGroup>,
        scheduling_gates: Option<Vec<PodSchedulingGate>>,
        #[serde(deserialize_with = "each::<OfContainer, _, _, _>")]
        containers: Vec<Container>,
        #[serde(deserialize_with = "each::<OfContainer, _, _, _>")]
        init_containers: Option<Vec<Container>>,
        resources: Option<ResourceRequirements>,
        overhead: Option<BTreeMap<String, Quantity>>,
        node_selector: Option<BTreeMap<String, String>>,
        affinity: Option<Affinity>,
        tolerations: Option<Vec<Toleration>>,
    }

    OfContainer => Container {
        #[serde(deserialize_with = "or_empty")]
        name: String,
        resources: Option<ResourceRequirements>,
        restart_policy: Option<String>,
    }

    Status => PodStatus {
        phase: Option<String>,
        start_time: Option<Time>,
        conditions: Option<Vec<PodCondition>>,
        #[serde(deserialize_with = "each::<OfContainerStatus, _, _, _>")]
        container_statuses: Option<Vec<ContainerStatus>>,
        #[serde(deserialize_with = "each::<OfContainerStatus, _, _, _>")]
        init_container_statuses: Option<Vec<ContainerStatus>>,
    }

    OfContainerStatus => ContainerStatus {
        #[serde(deserialize_with = "or_empty")]
        name: String,
        resources: Option<ResourceRequirements>,
        allocated_resources: Option<BTreeMap<String, Quantity>>,
        state: Option<ContainerState>,
        last_state: Option<ContainerState>,
    }
}

/// A list of lean parts, as a list of whole ones.
fn each<'de, L, W, O, D>(deserializer: D) -> Result<O, D::Error>
where
    L: Deserialize<'de>,
    W: From<L>,
    O: From<Vec<W>> + Default,
    D: Deserializer<'de>,
{
    let list = Option::<Vec<L>>::deserialize(deserializer)?;
    Ok(list.map(|list| list.into_iter().map(W::from).collect::<Vec<W>>().into()).unwrap_or_default())
}

fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Resource for LeanPod {
    type DynamicType = ();
    type Scope = <Pod as Resource>::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        Pod::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        Pod::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        Pod::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        Pod::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }
}
