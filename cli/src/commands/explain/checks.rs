//! Whether the Queue lets one more pod of a workload start, looked at from the outside to the inside.

use std::collections::BTreeMap;

use quotient_crds::ConditionType;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::snapshot::{Owner, Quota, Rejection, Shape};

use super::context::Context;
use super::queue::not_reported;
use crate::output::{Explanation, list, number, only, spaced};
use crate::queues::QueueView;

/// How the operator and the API server name a container without requests.
const NO_REQUESTS: [&str; 2] = ["demands a request", "must specify"];

/// Adds what is in order and what is not.
pub(super) fn add(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView, owners: &[&Owner]) {
    if view.is_unknown() {
        explanation.check(false, not_reported(view));
    } else if let Some((reason, message)) = view.stalled() {
        let queue = view.name.in_words();
        explanation.check(false, format!("Queue {queue} has no share ({reason}): {message}"));
        explanation.needs_a_person = true;
    } else {
        let quota = context.state().and_then(|state| state.quota.as_ref());
        ready(explanation, view, quota);
        requests(explanation, view, owners, quota);
        if let Some(owner) = owners.iter().find(|owner| owner.wanted > 0) {
            one_pod(explanation, context, view, &owner.shape);
        }
    }
}

/// How the Queue and its quota stand.
fn ready(explanation: &mut Explanation, view: &QueueView, quota: Option<&Quota>) {
    let queue = view.name.in_words();
    match (view.condition(ConditionType::Ready, "False"), quota) {
        (Some((_, message)), _) => explanation.check(false, format!("Queue {queue} is not Ready: {message}")),
        (None, Some(quota)) if quota.hard == quota.enforced => {
            explanation.check(true, format!("Queue {queue} is Ready, its quota is enforced"));
        }
        (None, Some(_)) => {
            explanation
                .check(false, format!("Queue {queue} is Ready, its quota is written and not enforced yet"));
        }
        (None, None) => explanation.check(true, format!("Queue {queue} is Ready")),
    }
    if let Some(message) = view.quota_left_alone() {
        explanation.step(message);
    }
}

/// Whether all containers have the requests that the quota demands.
fn requests(explanation: &mut Explanation, view: &QueueView, owners: &[&Owner], quota: Option<&Quota>) {
    let is_reported = view.status.unmet.iter().any(|unmet| {
        let is_its = owners.iter().any(|owner| *owner.name == *unmet.name);
        is_its && NO_REQUESTS.iter().any(|words| unmet.message.contains(words))
    });
    let lacks_some = |owner: &&Owner| matches!(owner.rejection(quota), Some(Rejection::Unspecified(_)));
    if is_reported || owners.iter().any(lacks_some) {
        explanation.check(false, "a container sets no cpu or memory request, and no LimitRange gives one");
    } else {
        explanation.check(true, "all containers set requests, or have defaults");
    }
}

/// Whether one more pod fits into the share, on a node and into the quota.
fn one_pod(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView, shape: &Shape) {
    let each = view.shared(&shape.requests);
    if each.is_empty() {
        return;
    }
    let deserved = only(&view.deserved(), &each);
    let fits = each.fits_in(&deserved);
    let relation = if each == deserved {
        "is as large as"
    } else if fits {
        "is smaller than"
    } else {
        "is larger than"
    };
    let node = fitting_node(context, shape).filter(|_| fits).unwrap_or_default();
    let text = format!("one pod ({}) {relation} the share ({}){node}", spaced(&each), spaced(&deserved));
    explanation.check(fits, text);
    let has_quota = context.state().is_some_and(|state| state.quota.is_some());
    if has_quota || view.quota_left_alone().is_none() {
        room(explanation, view, &each);
    }
}

/// Whether the quota has room for one more pod.
fn room(explanation: &mut Explanation, view: &QueueView, each: &Amounts) {
    let (allocated, used) = (view.allocated(), view.used());
    let with_one = used.plus(each);
    let short = each.resources().filter(|resource| with_one.get(resource) > allocated.get(resource));
    let short = list(short.map(|resource| {
        let allocated = Amounts::from_iter([(resource.clone(), allocated.get(resource))]);
        let used = number(resource, used.get(resource));
        format!("{used} of its {}", spaced(&allocated).replace("nothing", "0"))
    }));
    if short.is_empty() {
        explanation.check(true, "the quota has room for one more pod");
    } else {
        explanation.check(false, format!("the queue uses {short} quota"));
    }
}

/// ` and fits a node (node-7: 6 cpu free)`; none where nodes or their pods were not read.
fn fitting_node(context: &Context<'_>, shape: &Shape) -> Option<String> {
    context.cluster.plan()?;
    let snapshot = &context.cluster.snapshot;
    let mut used: BTreeMap<&NodeName, Amounts> = BTreeMap::new();
    for pod in snapshot.namespaces.values().flat_map(|state| &state.pods).filter(|pod| pod.is_charged()) {
        if let Some(node) = &pod.node {
            used.entry(node).or_default().add_all(pod.requests());
        }
    }
    let free = |name: &NodeName, allocatable: &Amounts| {
        used.get(name).map_or_else(|| allocatable.clone(), |used| allocatable.less(used))
    };
    let suits = snapshot.nodes.iter().filter(|(name, node)| {
        node.counts && shape.placement.allows(name.as_str(), &node.labels, &node.taints)
    });
    let mut rooms = suits.map(|(name, node)| (name, free(name, &node.allocatable)));
    let found = rooms.find(|(_, free)| shape.requests.fits_in(free));
    Some(match found {
        Some((name, free)) => {
            format!(" and fits a node ({name}: {} free)", spaced(&only(&free, &shape.requests)))
        }
        None => ", and no node has room for it now".to_owned(),
    })
}
