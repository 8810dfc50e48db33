//! What the pods of a template request where its containers name nothing: what a LimitRange fills in when a pod is created.

use k8s_openapi::api::core::v1::PodSpec;
use quotient_snapshot::Unspecified;
use quotient_snapshot::amounts::{Amount, Amounts, Resource};

use super::read::{names, requests};
use super::{InitContainer, PodRequests, unspecified};

/// The requests for cpu and memory of a template in which some container names none, for any default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Defaultable {
    cpu: Box<[Together]>,
    memory: Box<[Together]>,
}

/// Containers that run at the same time, and what the runtime class adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Together {
    /// What they name.
    named: Amount,
    /// How many of them name nothing.
    unspecified: u32,
}

impl Together {
    fn and(self, named: Amount, is_unspecified: bool) -> Self {
        Self {
            named: self.named + named,
            unspecified: self.unspecified.saturating_add(u32::from(is_unspecified)),
        }
    }
}

impl Defaultable {
    /// That of a template with this spec, if some container names no request. Where the pod as a whole requests something, its
    /// containers do not matter.
    pub(crate) fn of(spec: Option<&PodSpec>) -> Option<Box<Self>> {
        let spec = spec.filter(|spec| unspecified(Some(spec)) != Unspecified::default())?;
        let requests = requests(spec);
        let of = |resource: &Resource| together(spec, &requests, resource);
        Some(Box::new(Self { cpu: of(&Resource::Cpu), memory: of(&Resource::Memory) }))
    }

    /// What a pod requests that is charged for `requests` otherwise, if each container that names nothing gets this `default`.
    pub(crate) fn fill(&self, requests: &Amounts, default: impl Fn(&Resource) -> Amount) -> Amounts {
        let mut filled = requests.clone();
        for (resource, all) in [(Resource::Cpu, &self.cpu), (Resource::Memory, &self.memory)] {
            let default = default(&resource);
            let most = all.iter().map(|one| one.named + default.times(one.unspecified)).max();
            filled.set(&resource, most.unwrap_or_default());
        }
        filled
    }
}

/// The containers that run at the same time in each step of the start, and those that run in the end.
fn together(spec: &PodSpec, requests: &PodRequests, resource: &Resource) -> Box<[Together]> {
    let overhead = Together { named: requests.overhead.get(resource), unspecified: 0 };
    let (mut all, mut sidecars) = (Vec::new(), overhead);
    for (written, read) in spec.init_containers.iter().flatten().zip(&requests.init_containers) {
        let is_unspecified = !names(written, resource.name());
        match read {
            InitContainer::Step(requests) => all.push(sidecars.and(requests.get(resource), is_unspecified)),
            InitContainer::Sidecar(sidecar) => {
                sidecars = sidecars.and(sidecar.requests.get(resource), is_unspecified);
            }
        }
    }
    let containers = spec.containers.iter().zip(&requests.containers);
    all.push(containers.fold(sidecars, |running, (written, read)| {
        running.and(read.requests.get(resource), !names(written, resource.name()))
    }));
    all.into()
}
