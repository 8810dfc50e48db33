//! What a pod requests, read for the engine's rules.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::{
    Container as Written, ContainerStatus, Pod, PodSpec, PodStatus, PodTemplateSpec, ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use quotient_engine::amounts::Amounts;
use quotient_engine::pod_requests::{Container, InitContainer, Observed, PodRequests};

use crate::reading::{Reading, Rounding, UnreadableQuantity};

/// The quantities of the pod that cannot be read.
pub fn unreadable(pod: &Pod) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    effective_requests(pod.spec.as_ref(), pod.status.as_ref(), &mut reading);
    reading.unreadable
}

/// The quantities of an owner's pod template that cannot be read.
pub fn unreadable_in_template(template: &PodTemplateSpec) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    effective_requests(template.spec.as_ref(), None, &mut reading);
    for problem in &mut reading.unreadable {
        problem.field.insert_str(0, "spec.template.");
    }
    reading.unreadable
}

/// What a pod with this spec and status is charged for, of the resources that can be shared.
pub(crate) fn effective_requests(
    spec: Option<&PodSpec>,
    status: Option<&PodStatus>,
    reading: &mut Reading,
) -> Amounts {
    let Some(spec) = spec else { return Amounts::new() };
    PodReading { reading, status }.read(spec).effective()
}

struct PodReading<'a> {
    reading: &'a mut Reading,
    status: Option<&'a PodStatus>,
}

impl PodReading<'_> {
    fn read(&mut self, spec: &PodSpec) -> PodRequests {
        let observed = self.status.and_then(|status| status.container_statuses.as_deref());
        let observed_init = self.status.and_then(|status| status.init_container_statuses.as_deref());
        let containers = spec.containers.iter().map(|container| Container {
            requests: self.requests("containers", container),
            observed: self.observed("containerStatuses", observed, &container.name),
        });
        let containers = containers.collect();
        let init_containers = spec.init_containers.iter().flatten().map(|container| {
            let requests = self.requests("initContainers", container);
            if container.restart_policy.as_deref() == Some("Always") {
                let observed = self.observed("initContainerStatuses", observed_init, &container.name);
                InitContainer::Sidecar(Container { requests, observed })
            } else {
                InitContainer::Step(requests)
            }
        });
        let init_containers = init_containers.collect();
        let pod_level = spec.resources.as_ref().map(merged);
        PodRequests {
            containers,
            init_containers,
            pod_level: self.reading.list(
                pod_level.as_ref(),
                Rounding::Up,
                format_args!("spec.resources.requests"),
            ),
            overhead: self.up(spec.overhead.as_ref(), format_args!("spec.overhead")),
            resize_infeasible: self.status.is_some_and(resize_infeasible),
        }
    }

    fn requests(&mut self, list: &str, container: &Written) -> Amounts {
        let requests = container.resources.as_ref().map(merged);
        let name = &container.name;
        self.up(requests.as_ref(), format_args!("spec.{list}[{name}].resources.requests"))
    }

    fn observed(&mut self, list: &str, statuses: Option<&[ContainerStatus]>, name: &str) -> Option<Observed> {
        let status = statuses?.iter().find(|status| status.name == name)?;
        let actual = status.resources.as_ref()?;
        Some(Observed {
            actual: self
                .up(actual.requests.as_ref(), format_args!("status.{list}[{name}].resources.requests")),
            allocated: self.up(
                status.allocated_resources.as_ref(),
                format_args!("status.{list}[{name}].allocatedResources"),
            ),
        })
    }

    fn up(&mut self, list: Option<&BTreeMap<String, Quantity>>, field: fmt::Arguments<'_>) -> Amounts {
        self.reading.list(list, Rounding::Up, field)
    }
}

/// The requests, with a limit standing in where there is none: what the API server fills in when it stores a
/// pod, and what a manifest leaves to it.
fn merged(resources: &ResourceRequirements) -> BTreeMap<String, Quantity> {
    let mut requests = resources.limits.clone().unwrap_or_default();
    requests.extend(resources.requests.clone().unwrap_or_default());
    requests
}

/// Whether the node can never do what the pod's last resize asks for.
fn resize_infeasible(status: &PodStatus) -> bool {
    status.conditions.iter().flatten().any(|condition| {
        condition.type_ == "PodResizePending" && condition.reason.as_deref() == Some("Infeasible")
    })
}
