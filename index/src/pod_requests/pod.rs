//! The requests of a pod as a whole, and of its containers.

use quotient_snapshot::amounts::{Amounts, Bounds, Resource};

/// Everything in a pod that says how much it requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodRequests {
    /// The ordinary containers.
    pub containers: Vec<Container>,
    /// The init containers, in the order of the spec.
    pub init_containers: Vec<InitContainer>,
    /// What the pod as a whole requests (`spec.resources.requests`). Where it names cpu, memory or huge pages,
    /// the containers do not matter, zero included; other resources in it are ignored.
    pub pod_level: Bounds,
    /// What its runtime class adds (`spec.overhead`).
    pub overhead: Amounts,
    /// Whether the pod has the condition `PodResizePending` with the reason `Infeasible`.
    pub resize_infeasible: bool,
}

impl PodRequests {
    /// What the pod is charged for.
    ///
    /// The larger, per resource, of what its containers need together and what starting them needs; replaced
    /// by what is requested for the pod as a whole; plus its overhead. While nothing is requested for the pod
    /// as a whole, that is at least what each single container counts, and one more container never makes it
    /// less.
    pub fn effective(&self) -> Amounts {
        let mut effective = self.of_containers();
        for (resource, amount) in self.pod_level.iter() {
            if is_pod_level(resource) {
                effective.set(resource, amount);
            }
        }
        effective.add_all(&self.overhead);
        effective
    }

    fn of_containers(&self) -> Amounts {
        let mut sidecars = Amounts::new();
        let mut starting = Amounts::new();
        for container in &self.init_containers {
            match container {
                // Runs beside the sidecars before it and none behind it.
                InitContainer::Step(requests) => {
                    let mut step = sidecars.clone();
                    step.add_all(requests);
                    starting = starting.max(&step);
                }
                InitContainer::Sidecar(sidecar) => sidecars.add_all(&sidecar.counted(self.resize_infeasible)),
            }
        }
        // All sidecars together run until the end, so as steps of the start they need no look of their own.
        let mut running = sidecars;
        for container in &self.containers {
            running.add_all(&container.counted(self.resize_infeasible));
        }
        running.max(&starting)
    }
}

/// Whether Kubernetes lets a pod request `resource` as a whole.
fn is_pod_level(resource: &Resource) -> bool {
    match resource {
        Resource::Cpu | Resource::Memory => true,
        Resource::Extended(name) => name.starts_with("hugepages-"),
    }
}

/// A container that runs as long as its pod: an ordinary one or a sidecar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// What its spec requests, with what the API server fills in: limits stand in for requests not given.
    pub requests: Amounts,
    /// What the kubelet reports. Nothing unless the container's status has `resources`, even if it has
    /// `allocatedResources`.
    pub observed: Option<Observed>,
}

/// What the kubelet reports of a running container. Differs from the spec while a resize is on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// What the container has: `resources.requests` of its status.
    pub actual: Amounts,
    /// What the node has set aside for it: `allocatedResources` of its status.
    pub allocated: Amounts,
}

/// A container that is started before the ordinary ones, in the order of the pod's spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitContainer {
    /// Runs to its end before the next is started, with these requests. What the kubelet reports of it does
    /// not count: it cannot be resized.
    Step(Amounts),
    /// A sidecar (`restartPolicy: Always`): is started and stays.
    Sidecar(Container),
}

impl Container {
    /// What counts: a resize upwards from the moment it is asked for, one downwards when it has happened, one
    /// that the node can never do not at all.
    pub(super) fn counted(&self, resize_infeasible: bool) -> Amounts {
        match &self.observed {
            None => self.requests.clone(),
            Some(Observed { actual, allocated }) => {
                let held = actual.max(allocated);
                if resize_infeasible { held } else { held.max(&self.requests) }
            }
        }
    }
}
