//! What a pod requests, read for the engine's rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::api::core::v1::{
    Container as Written, ContainerStatus, Pod, PodSpec, PodStatus, PodTemplateSpec, ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use quotient_snapshot::amounts::{Amounts, Resource};
use quotient_snapshot::{LeftOut, Shape, Unspecified};

use super::{Container, InitContainer, Observed, PodRequests};
use crate::placement::placement;
use crate::reading::{Reading, Rounding, UnreadableQuantity, governable};

/// The most resources of which the amounts that one pod requests are kept.
///
/// No node offers more. A pod may name as many as its object has room for, 12,000 and more; each would be looked at
/// wherever amounts are added up.
const MOST: usize = 64;

/// The quantities of the pod that cannot be read.
pub fn unreadable(pod: &Pod) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    read(pod.spec.as_ref(), pod.status.as_ref(), &mut reading);
    reading.unreadable
}

/// The quantities of an owner's pod template that cannot be read.
pub fn unreadable_in_template(template: &PodTemplateSpec) -> Vec<UnreadableQuantity> {
    let mut reading = Reading::default();
    read(template.spec.as_ref(), None, &mut reading);
    for problem in &mut reading.unreadable {
        problem.field.insert_str(0, "spec.template.");
    }
    reading.unreadable
}

/// What a pod requests.
#[derive(Debug, Default)]
pub(crate) struct Requested {
    /// What it is charged for, of the resources that can be shared.
    pub(crate) amounts: Amounts,
    /// What it is charged for beside that.
    pub(crate) left_out: LeftOut,
}

/// What a pod with this spec and status is charged for. Of more than [`MOST`] resources the first are kept: cpu, memory,
/// then others by name.
pub(crate) fn effective_requests(spec: Option<&PodSpec>, status: Option<&PodStatus>) -> Requested {
    let beyond = spec.map(beyond).unwrap_or_default();
    let left_out = LeftOut { resources: u32::try_from(beyond.len()).unwrap_or(u32::MAX), first: None };
    let amounts = read(spec, status, &mut Reading::without(beyond));
    Requested { amounts, left_out }
}

/// The shape of the pods of a template with this spec.
pub(crate) fn shape(spec: Option<&PodSpec>) -> Shape {
    let Requested { amounts, left_out } = effective_requests(spec, None);
    Shape { requests: amounts, placement: spec.map(placement).unwrap_or_default(), left_out }
}

fn read(spec: Option<&PodSpec>, status: Option<&PodStatus>, reading: &mut Reading) -> Amounts {
    let Some(spec) = spec else { return Amounts::new() };
    PodReading { reading, status }.read(spec).effective()
}

/// The containers of a pod, those that start it included.
fn containers(spec: &PodSpec) -> impl Iterator<Item = &Written> + Clone {
    spec.containers.iter().chain(spec.init_containers.iter().flatten())
}

/// The names of resources of which `spec` requests some and that are too many to be kept.
///
/// A request of 0 pushes no other request out, because it keeps a pod from no node.
fn beyond(spec: &PodSpec) -> BTreeSet<String> {
    let resources =
        containers(spec).filter_map(|container| container.resources.as_ref()).chain(&spec.resources);
    let lists = resources.flat_map(|resources| [&resources.requests, &resources.limits]);
    let lists = || lists.clone().chain([&spec.overhead]).flatten();
    if lists().fold(0usize, |names, list| names.saturating_add(list.len())) <= MOST {
        return BTreeSet::new();
    }
    let mut reading = Reading::default();
    let mut requested: BTreeMap<Resource, &str> = BTreeMap::new();
    for (name, text) in lists().flatten() {
        let Some(resource) = governable(name) else { continue };
        if reading.amount(&resource, &text.0, Rounding::Up, format_args!("")).is_positive() {
            requested.insert(resource, name);
        }
    }
    requested.into_values().skip(MOST).map(str::to_owned).collect()
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
        let pod_level = spec.resources.as_ref().map(|resources| pod_level(resources, spec));
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

/// The requests of the pod as a whole. A limit stands in for one of cpu or memory only if no container requests any: what they
/// request together comes first.
fn pod_level(resources: &ResourceRequirements, spec: &PodSpec) -> BTreeMap<String, Quantity> {
    let mut requests = resources.limits.clone().unwrap_or_default();
    requests.retain(|name, _| {
        !matches!(name.as_str(), "cpu" | "memory")
            || !containers(spec).any(|container| names(container, name))
    });
    requests.extend(resources.requests.clone().unwrap_or_default());
    requests
}

/// Whether the node can never do what the pod's last resize asks for.
fn resize_infeasible(status: &PodStatus) -> bool {
    status.conditions.iter().flatten().any(|condition| {
        condition.type_ == "PodResizePending" && condition.reason.as_deref() == Some("Infeasible")
    })
}

/// The resources that some container of `spec` names neither a request nor a limit for.
///
/// Quota admission demands a request of each container, init containers included, for cpu and memory alone. A limit
/// becomes the request where there is none, and a request of 0 is one. Where the pod as a whole requests something,
/// nothing is said: that depends on the version of Kubernetes.
pub(crate) fn unspecified(spec: Option<&PodSpec>) -> Unspecified {
    let Some(spec) = spec.filter(|spec| spec.resources.is_none()) else { return Unspecified::default() };
    let lacks = |resource: &str| containers(spec).any(|container| !names(container, resource));
    Unspecified { cpu: lacks("cpu"), memory: lacks("memory") }
}

/// What the pods of a template with this spec request, container by container.
pub(super) fn requests(spec: &PodSpec) -> PodRequests {
    PodReading { reading: &mut Reading::without(beyond(spec)), status: None }.read(spec)
}

/// Whether `container` names a request or a limit for `resource`.
pub(super) fn names(container: &Written, resource: &str) -> bool {
    let Some(resources) = &container.resources else { return false };
    let in_list = |list: &Option<BTreeMap<String, Quantity>>| {
        list.as_ref().is_some_and(|list| list.contains_key(resource))
    };
    in_list(&resources.requests) || in_list(&resources.limits)
}
