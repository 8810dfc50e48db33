//! Why pods of a workload do not exist or do not start.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::ReplicaSet;
use quotient_crds::ConditionType;
use quotient_crds::names::QUOTA;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{Owner, Pod, Rejection, Shape};
use serde_json::Value;

use super::context::Context;
use crate::objects::{Kind, Object, ignores_evictions, text};
use crate::output::{Explanation, counted, duration, list, number, only, spaced};
use crate::queues::{QueueView, leaving, needs_a_person};

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let object = context.found().ok_or_else(|| context.missing())?;
    let mut explanation = context.explanation();
    let target = context.target;
    let names = context.creators(object);
    let owners = owners(context, object, &names);
    let wanted = owners.iter().map(|owner| owner.wanted).fold(0, u32::saturating_add);
    let pods = pods(context, &owners);
    let there = u32::try_from(pods.len()).unwrap_or(u32::MAX);
    explanation.headline = if wanted == 0 && owners.is_empty() {
        format!("{target} wants no pods.")
    } else {
        format!("{target} has {there} of {wanted} pods.")
    };
    let pending = pods.iter().filter(|pod| pod.node.is_none());
    let pending: BTreeSet<(String, String)> =
        pending.map(|pod| ("Pod".to_owned(), pod.name.to_string())).collect();
    let lacks_nothing = context.unmet(&names).is_empty();
    if there >= wanted && pending.is_empty() {
        // What the status may still list has been created since.
        explanation.headline.push_str(" None is missing.");
    } else if there >= wanted {
        explanation.headline = format!("{} {} have no node yet.", explanation.headline, pending.len());
        add_unmet(&mut explanation, context, &pending);
    } else if let Some(view) = context.queue() {
        if let Some(when) = rejected(context, &names) {
            let missing = wanted.saturating_sub(there);
            let are = if missing == 1 { "is" } else { "are" };
            explanation.headline =
                format!("{} {missing} {are} rejected by quota \"{QUOTA}\"{when}.", explanation.headline);
        }
        checks(&mut explanation, context, view, &owners);
        add_unmet(&mut explanation, context, &names);
        let listed = view.status.unmet.iter().map(|unmet| unmet.pods).fold(0, i32::saturating_add);
        if lacks_nothing && view.status.unmet_total.is_some_and(|total| total > listed) {
            explanation
                .step("the status of the Queue lists only the first workloads that wait, and not this one");
        } else if lacks_nothing {
            explanation
                .step("the Queue reports nothing in the way; the controller has not created the pods yet");
        }
    } else {
        explanation.check(
            false,
            format!("namespace {} has no Queue: no share keeps its pods from starting", context.namespace),
        );
        explanation.next = Some("See the events of the workload: kubectl describe.".to_owned());
    }
    if let Object::Job(job) = object
        && !ignores_evictions(job)
        && target.kind == Kind::Job
    {
        explanation.fact("Retries", RETRIES);
    }
    Ok(explanation)
}

/// What evictions do to a Job without a policy of its own.
const RETRIES: &str =
    "evictions count against backoffLimit, because no podFailurePolicy ignores DisruptionTarget";

/// What Kubernetes says if a pod does not fit into the quota of Quotient.
const EXCEEDED: &str = "exceeded quota: quotient";

/// `, last 12 s ago`, if the quota has rejected pods of these creators.
fn rejected(context: &Context<'_>, names: &BTreeSet<(String, String)>) -> Option<String> {
    let is_it = |event: &&Value| {
        names
            .contains(&(text(event, "/regarding/kind").to_owned(), text(event, "/regarding/name").to_owned()))
            && text(event, "/note").contains(EXCEEDED)
    };
    let times = ["/series/lastObservedTime", "/deprecatedLastTimestamp", "/eventTime"];
    let time = |event: &Value| times.iter().find_map(|pointer| text(event, pointer).parse().ok());
    if let Some(last) = context.question.events.iter().filter(is_it).filter_map(time).max() {
        return Some(format!(", last {} ago", context.ago(last)));
    }
    // Events are gone after an hour.
    let is_its = |set: &&Object| names.contains(&("ReplicaSet".to_owned(), set.name().to_owned()));
    let is_said = context.objects().filter(is_its).filter_map(Object::get).any(|set: &ReplicaSet| {
        let status = set.status.as_ref();
        let mut conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
        conditions.any(|one| one.message.as_ref().is_some_and(|message| message.contains(EXCEEDED)))
    });
    is_said.then(String::new)
}

/// The engine's view of what creates its pods.
fn owners<'s>(
    context: &'s Context<'_>,
    object: &Object,
    names: &BTreeSet<(String, String)>,
) -> Vec<&'s Owner> {
    let all = context.state().into_iter().flat_map(|state| &state.owners);
    let uid = object.metadata().uid.as_deref().unwrap_or_default();
    let is_its = |owner: &&Owner| {
        let name = owner.name.split('/').next().unwrap_or_default();
        owner.uid.as_str() == uid
            || owner.controller.as_ref().is_some_and(|controller| controller.uid.as_str() == uid)
            || names.contains(&(owner.kind.name().to_owned(), name.to_owned()))
    };
    all.filter(is_its).collect()
}

/// Their pods that exist and are not ending.
fn pods<'s>(context: &'s Context<'_>, owners: &[&Owner]) -> Vec<&'s Pod> {
    let pods = context.state().into_iter().flat_map(|state| &state.pods);
    let is_theirs = |pod: &&Pod| pod.is_live() && owners.iter().any(|owner| pod.owner() == Some(&owner.uid));
    pods.filter(is_theirs).collect()
}

/// How the operator and the API server name a container without requests.
const NO_REQUESTS: [&str; 2] = ["demands a request", "must specify"];

/// What is in order and what is not, from the outside to the inside.
fn checks(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView, owners: &[&Owner]) {
    let queue = view.name.in_words();
    if let Some((reason, message)) = view.stalled() {
        explanation.check(false, format!("Queue {queue} has no share ({reason}): {message}"));
        explanation.needs_a_person = true;
        return;
    }
    let quota = context.state().and_then(|state| state.quota.as_ref());
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
    let is_reported = view.status.unmet.iter().any(|unmet| {
        let is_its = owners.iter().any(|owner| *owner.name == *unmet.name);
        is_its && NO_REQUESTS.iter().any(|words| unmet.message.contains(words))
    });
    let lacks_requests = |owner: &&Owner| matches!(owner.rejection(quota), Some(Rejection::Unspecified(_)));
    let unspecified = is_reported || owners.iter().any(lacks_requests);
    let text = if unspecified {
        "a container sets no cpu or memory request, and no LimitRange gives one"
    } else {
        "all containers set requests, or have defaults"
    };
    explanation.check(!unspecified, text);
    let shape = owners.iter().find(|owner| owner.wanted > 0).map(|owner| &*owner.shape);
    if let Some(shape) = shape.filter(|shape| !shape.requests.is_empty()) {
        one_pod(explanation, context, view, shape);
    }
}

/// Whether one more pod fits into the share, on a node and into the quota.
fn one_pod(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView, shape: &Shape) {
    let each = &shape.requests;
    let (deserved, allocated, used) = (view.deserved(), view.allocated(), view.used());
    let fits = each.fits_in(&deserved);
    let relation = if fits { "is smaller than" } else { "is larger than" };
    let node = fitting_node(context, shape).filter(|_| fits).unwrap_or_default();
    explanation.check(
        fits,
        format!("one pod ({}) {relation} the share ({}){node}", spaced(each), spaced(&only(&deserved, each))),
    );
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

/// What the queue's status says of these workloads.
pub(super) fn add_unmet(
    explanation: &mut Explanation,
    context: &Context<'_>,
    names: &BTreeSet<(String, String)>,
) {
    for unmet in context.unmet(names) {
        explanation.reason.get_or_insert_with(|| unmet.reason.clone());
        explanation.needs_a_person |= needs_a_person(&unmet.reason);
        let waits = unmet.reason == ShortReason::WaitingForPreemption.name();
        let reclaimed = context.queue().filter(|_| waits).and_then(|view| reclaimed(context, view));
        explanation.step(reclaimed.unwrap_or_else(|| {
            let pods = counted(unmet.pods, "pod", "pods");
            format!("{pods} of {} {}: {}", unmet.kind, unmet.name, unmet.message)
        }));
    }
    if explanation.reason.is_none() {
        return;
    }
    explanation.next = Some(if explanation.needs_a_person {
        "The pods do not start until you change something.".to_owned()
    } else {
        let waits = explanation.reason.as_deref() == Some(ShortReason::WaitingForPreemption.name());
        let seconds = if waits { expected(context) } else { None };
        seconds.map_or_else(
            || "Nothing to do: the pods start by themselves.".to_owned(),
            |seconds| format!("Expected to start within {}. Nothing to do.", duration(seconds)),
        )
    });
}

/// `deserves 10 cpu: 2 cpu are being reclaimed from batch (2 pods terminating, 18 s of 30 s)`.
fn reclaimed(context: &Context<'_>, view: &QueueView) -> Option<String> {
    let leaving = leaving(view, &context.views, context.cluster)?;
    let lacking = view.deserved().less(&view.allocated());
    let (deserved, lacking) = (spaced(&only(&view.deserved(), &lacking)), spaced(&lacking));
    Some(format!(
        "deserves {deserved}: {lacking} are being reclaimed from {} ({})",
        leaving.from(),
        leaving.short()
    ))
}

/// Between the end of the pods and the start of new ones, in seconds: a quota rises, and a controller tries again.
const OVERHEAD: i64 = 3;

/// In how many seconds pods start, by the grace of the last pod that leaves for them.
fn expected(context: &Context<'_>) -> Option<i64> {
    let leaving = leaving(context.queue()?, &context.views, context.cluster)?;
    leaving.seconds_left().map(|seconds| seconds.saturating_add(OVERHEAD))
}
