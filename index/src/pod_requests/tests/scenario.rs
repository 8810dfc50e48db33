//! Pods written as text.

use std::str::FromStr;

use crate::pod_requests::{Container, InitContainer, Observed, PodRequests};
use quotient_snapshot::amounts::{Amount, Amounts, Bounds, Quantity, Resource};

/// The pod that `text` describes.
///
/// One line a part: `container`, `sidecar`, `init`, `pod-level` or `overhead` with amounts; `infeasible` alone.
/// Behind the amounts of a container or a sidecar, `has` tells what it has and `allocated` what is allocated.
///
/// ```text
/// container cpu 1, memory 1Gi has cpu 2 allocated cpu 2
/// ```
pub(super) fn pod(text: &str) -> PodRequests {
    let mut pod = PodRequests::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (part, rest) = line.split_once(' ').unwrap_or((line, ""));
        match part {
            "container" => pod.containers.push(container(rest)),
            "sidecar" => pod.init_containers.push(InitContainer::Sidecar(container(rest))),
            "init" => pod.init_containers.push(InitContainer::Step(amounts(rest))),
            "pod-level" => pod.pod_level = pairs(rest).collect::<Bounds>(),
            "overhead" => pod.overhead = amounts(rest),
            "infeasible" => pod.resize_infeasible = true,
            other => panic!("no part of a pod: {other:?}"),
        }
    }
    pod
}

fn container(text: &str) -> Container {
    let Some((requests, observed)) = text.split_once("has") else {
        return Container { requests: amounts(text), observed: None };
    };
    let (actual, allocated) = observed.split_once("allocated").unwrap_or((observed, ""));
    let observed = Observed { actual: amounts(actual), allocated: amounts(allocated) };
    Container { requests: amounts(requests), observed: Some(observed) }
}

fn amounts(text: &str) -> Amounts {
    pairs(text).collect()
}

fn pairs(text: &str) -> impl Iterator<Item = (Resource, Amount)> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, quantity) = pair.split_once(' ').unwrap();
        let resource = Resource::from_name(name);
        let amount = resource.rounded_up(Quantity::from_str(quantity).unwrap());
        (resource, amount)
    })
}
