//! The containers of a pod.

use quotient_engine::amounts::Amounts;

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
#[expect(
    clippy::large_enum_variant,
    reason = "a pod has few init containers, and they live only until its requests are known"
)]
pub enum InitContainer {
    /// Runs to its end before the next is started, with these requests. What the kubelet reports of it does
    /// not count: it cannot be resized.
    Step(Amounts),
    /// A sidecar (`restartPolicy: Always`): is started and stays.
    Sidecar(Container),
}

impl Container {
    /// A container that the kubelet does not report yet.
    pub fn requesting(requests: Amounts) -> Self {
        Self { requests, observed: None }
    }

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
