//! Gangs: pods that say how many of them have to run for any to be of use, or name an object that says it.

mod pod_group;
mod stated;

pub(crate) use pod_group::GroupName;
pub use pod_group::{
    Coscheduling, Family, Kai, KubernetesV1Alpha2, KubernetesV1Alpha3, KubernetesV1Beta1, PodGroup,
    Scheduler, Volcano,
};
pub(crate) use stated::{Stated, stated};
