//! Why pods of a workload do not exist or do not start.

use std::collections::BTreeSet;

use quotient_engine::amounts::Amounts;
use quotient_engine::names::Namespace;
use quotient_engine::plan::Eviction;
use quotient_engine::reason::Reason;
use quotient_engine::snapshot::{Owner, Pod};

use super::evicted::ignores_evictions;
use super::explanation::Explanation;
use super::scene::Scene;
use super::target::Target;
use crate::commands::status::needs_a_person;
use crate::manifests::{Kind, Object};
use crate::output::{counted, duration};
use crate::queues::{QueueView, amounts};

pub(super) fn explain(scene: &Scene<'_>, target: &Target) -> Result<Explanation, String> {
    let object = scene.object(target.kind, &target.name);
    let object = object.ok_or_else(|| format!("there is no {target} in namespace {}", scene.namespace))?;
    let mut told = Explanation::of(target.kind.name(), &scene.namespace, &target.name);
    let names = scene.creators(object);
    let owners = owners(scene, object, &names);
    let wanted = owners.iter().map(|owner| owner.wanted).fold(0, u32::saturating_add);
    let there = pods(scene, &owners);
    told.headline = if wanted == 0 && owners.is_empty() {
        format!("{target} wants no pods.")
    } else {
        format!("{target} has {there} of {wanted} pods.")
    };
    let pending = pending(scene, &owners);
    let lacks_nothing = scene.unmet(&names).is_empty();
    if there >= wanted && pending.is_empty() {
        // What the status may still list has been created since.
        told.headline.push_str(" None is missing.");
    } else if there >= wanted {
        told.headline = format!("{} {} have no node yet.", told.headline, pending.len());
        add_unmet(&mut told, scene, &pending);
    } else if let Some(view) = scene.queue() {
        checks(&mut told, scene, view, &owners);
        add_unmet(&mut told, scene, &names);
        let listed = view.status.unmet.iter().map(|unmet| unmet.pods).fold(0, i32::saturating_add);
        if lacks_nothing && view.status.unmet_total.is_some_and(|total| total > listed) {
            told.step("the status of the Queue lists only the first workloads that wait, and not this one");
        } else if lacks_nothing {
            told.step("the Queue reports nothing in the way; the controller has not created the pods yet");
        }
    } else {
        told.check(
            false,
            format!("namespace {} has no Queue: no share keeps its pods from starting", scene.namespace),
        );
        told.next = Some("See the events of the workload: kubectl describe.".to_owned());
    }
    if let Object::Job(job) = object
        && !ignores_evictions(job)
        && target.kind == Kind::Job
    {
        told.fact(
            "Retries",
            "evictions count against backoffLimit, because no podFailurePolicy ignores DisruptionTarget",
        );
    }
    Ok(told)
}

/// The engine's view of what creates its pods.
fn owners<'s>(scene: &'s Scene<'_>, object: &Object, names: &BTreeSet<(String, String)>) -> Vec<&'s Owner> {
    let all = scene.state().into_iter().flat_map(|state| &state.owners);
    let uid = object.metadata().uid.as_deref().unwrap_or_default();
    let is_its = |owner: &&Owner| {
        let name = owner.name.split('/').next().unwrap_or_default();
        owner.uid.as_str() == uid
            || owner.controller.as_ref().is_some_and(|controller| controller.uid.as_str() == uid)
            || names.contains(&(owner.kind.name().to_owned(), name.to_owned()))
    };
    all.filter(is_its).collect()
}

/// How many of their pods exist and are not ending.
fn pods(scene: &Scene<'_>, owners: &[&Owner]) -> u32 {
    let pods = scene.state().into_iter().flat_map(|state| &state.pods);
    let is_theirs = |pod: &&Pod| pod.is_live() && owners.iter().any(|owner| pod.owner() == Some(&owner.uid));
    u32::try_from(pods.filter(is_theirs).count()).unwrap_or(u32::MAX)
}

/// How the operator and the API server name a container without requests.
const NO_REQUESTS: [&str; 2] = ["demands a request", "must specify"];

/// Those of their pods that no node has taken, as kind and name.
fn pending(scene: &Scene<'_>, owners: &[&Owner]) -> BTreeSet<(String, String)> {
    let pods = scene.state().into_iter().flat_map(|state| &state.pods);
    let is_theirs = |pod: &&Pod| {
        pod.is_live() && pod.node.is_none() && owners.iter().any(|owner| pod.owner() == Some(&owner.uid))
    };
    pods.filter(is_theirs).map(|pod| ("Pod".to_owned(), pod.name.to_string())).collect()
}

/// What is in order and what is not, from the outside to the inside.
fn checks(told: &mut Explanation, scene: &Scene<'_>, view: &QueueView, owners: &[&Owner]) {
    let queue = view.name.in_words();
    if let Some((reason, message)) = view.stalled() {
        told.check(false, format!("Queue {queue} has no share ({reason}): {message}"));
        told.needs_a_person = true;
        return;
    }
    told.check(true, format!("Queue {queue} has a share"));
    let quota = scene.state().and_then(|state| state.quota.as_ref());
    if let Some(quota) = quota {
        let is_enforced = quota.hard == quota.enforced;
        let text =
            if is_enforced { "its quota is enforced" } else { "its quota is written and not enforced yet" };
        told.check(is_enforced, text);
    }
    let is_told = view.status.unmet.iter().any(|unmet| {
        let is_its = owners.iter().any(|owner| *owner.name == *unmet.name);
        is_its && NO_REQUESTS.iter().any(|words| unmet.message.contains(words))
    });
    let unspecified = is_told || owners.iter().any(|owner| !owner.unspecified.is_nothing());
    let text = if unspecified {
        "a container sets no cpu or memory request, and no LimitRange gives one"
    } else {
        "all containers set cpu and memory requests, or have defaults"
    };
    told.check(!unspecified, text);
    let deserved = amounts(view.status.deserved.as_ref());
    let allocated = amounts(view.status.allocated.as_ref());
    let used = amounts(view.status.used.as_ref());
    let each = owners.iter().find(|owner| owner.wanted > 0).map(|owner| &owner.shape.requests);
    let Some(each) = each.filter(|each| !each.is_empty()) else { return };
    let share: Amounts =
        each.resources().map(|resource| (resource.clone(), deserved.get(resource))).collect();
    let fits = each.fits_in(&deserved);
    let relation = if fits { "is within" } else { "is more than" };
    told.check(fits, format!("one pod ({each}) {relation} the deserved share ({share})"));
    let mut with_one = used.clone();
    with_one.add_all(each);
    let short: Vec<String> = each
        .resources()
        .filter(|resource| with_one.get(resource) > allocated.get(resource))
        .map(|resource| {
            let of = |amounts: &Amounts| resource.format(amounts.get(resource));
            format!("{} of {} {resource}", of(&used), of(&allocated))
        })
        .collect();
    if short.is_empty() {
        told.check(true, "the quota has room for one more pod");
    } else {
        told.check(false, format!("the pods of the queue use {} of its quota", short.join(", ")));
    }
}

/// What the queue's status says of these workloads.
pub(super) fn add_unmet(told: &mut Explanation, scene: &Scene<'_>, names: &BTreeSet<(String, String)>) {
    for unmet in scene.unmet(names) {
        let noun = if unmet.pods == 1 { "pod" } else { "pods" };
        told.step(format!("{} {noun} of {} {}: {}", unmet.pods, unmet.kind, unmet.name, unmet.message));
        told.reason.get_or_insert_with(|| unmet.reason.clone());
        told.needs_a_person |= needs_a_person(&unmet.reason);
    }
    if told.reason.is_none() {
        return;
    }
    told.next = Some(if told.needs_a_person {
        "The pods do not start until you change something.".to_owned()
    } else {
        let waits = told.reason.as_deref() == Some(Reason::WaitingForPreemption.name());
        let expected = if waits { expected(scene) } else { None };
        expected.unwrap_or_else(|| "Nothing to do: the pods start by themselves.".to_owned())
    });
}

/// When room will be free for the queue, by the grace of the pods that hold it: those that end, and those that are evicted next.
fn expected(scene: &Scene<'_>) -> Option<String> {
    let plan = scene.plan.as_ref()?;
    let queue = &scene.queue()?.name;
    let lacking = &plan.queues.get(queue)?.lacking;
    let now = scene.cluster.snapshot.now;
    let governed = |namespace: &Namespace| {
        let state = scene.cluster.snapshot.namespaces.get(namespace);
        state
            .and_then(|state| state.governing())
            .map_or_else(|| namespace.to_string(), |queue| queue.name.to_string())
    };
    let pods = scene.cluster.snapshot.namespaces.iter();
    let pods = pods.flat_map(|(namespace, state)| state.pods.iter().map(move |pod| (namespace, pod)));
    let ending = pods.filter_map(|(namespace, pod)| {
        let left = pod.deletion?.millis_since(now).div_euclid(1000);
        // One past its deadline may stay for ever.
        (left >= 0).then(|| (left, governed(namespace), pod.requests()))
    });
    let next = plan.evictions.iter().chain(&plan.waiting);
    let next = next.filter(|eviction| eviction.beneficiary.as_ref() == Some(queue)).filter_map(|eviction| {
        let grace = i64::from(eviction.grace_seconds.or_else(|| grace_of(scene, eviction))?);
        Some((grace, eviction.queue.name.to_string(), &eviction.requests))
    });
    let mut leaving: Vec<(i64, String, &Amounts)> =
        ending.chain(next).filter(|(_, _, requests)| requests.overlaps(lacking)).collect();
    leaving.sort_by_key(|(seconds, ..)| *seconds);
    let (mut free, mut from) = (Amounts::new(), BTreeSet::new());
    for (at, (seconds, queue, requests)) in leaving.into_iter().enumerate() {
        free.add_all(requests);
        from.insert(queue);
        if lacking.fits_in(&free) {
            let pods = counted(at.saturating_add(1), "pod", "pods");
            let from: Vec<String> = from.into_iter().collect();
            return Some(format!(
                "Room is free within {}, at the end of {pods} of {}. Nothing to do: the pods start by themselves.",
                duration(seconds.max(1)),
                from.join(", "),
            ));
        }
    }
    None
}

/// The grace of the pod itself.
fn grace_of(scene: &Scene<'_>, eviction: &Eviction) -> Option<u32> {
    let state = scene.cluster.snapshot.namespaces.get(&eviction.pod.namespace)?;
    state.pods.iter().find(|pod| pod.uid == eviction.pod.uid).map(|pod| pod.grace_seconds.into())
}
