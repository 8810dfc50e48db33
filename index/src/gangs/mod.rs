//! Gangs: pods that say how many of them have to run for any to be of use, or name an object that says it.

mod kind;
mod pod_group;
mod stated;

use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Gang;

pub(crate) use pod_group::GroupName;
pub use pod_group::{
    Coscheduling, Family, Kai, KubernetesV1Alpha2, KubernetesV1Alpha3, KubernetesV1Beta1, PodGroup,
    Scheduler, Volcano,
};
pub(crate) use stated::{Stated, stated};

use crate::index::Index;

impl Index {
    /// The gang that `stated` means. One whose PodGroup was not seen has no size yet, and gets it when it is.
    pub(crate) fn gang(&self, namespace: &Namespace, stated: Stated) -> Gang {
        match stated {
            Stated::Whole(gang) => gang,
            Stated::Group(group) => {
                let entry = self.namespaces.get(namespace);
                let min_available = entry.and_then(|entry| entry.pod_group(&group)).unwrap_or_default();
                Gang { name: group.gang(), min_available }
            }
        }
    }
}
