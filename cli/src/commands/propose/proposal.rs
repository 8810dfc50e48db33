//! The Queue of one namespace, as its use or its quotas suggest.

use quotient_advance::settle;
use quotient_crds::{MAX_WEIGHT, Mode, QueueSpec, ResourceMap};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Pod;
use quotient_index::IndexSettings;
use quotient_index::quotas::bounds_from_hard;

use crate::manifests::Cluster;
use crate::objects::{Object, lacks_requests};
use crate::output::{counted, spaced, sum};
use crate::proposals::{ProposedQueue, resource_map};
use crate::queues::percentage;

/// What the weights and guarantees follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// What pods request now.
    Usage,
    /// What ResourceQuotas allow, and for namespaces without one what pods request.
    Quotas,
}

/// What is proposed for one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// What its pods request now.
    pub(super) used: Amounts,
    /// How many workloads have containers without requests.
    pub(super) lacking: usize,
    /// What to know about it.
    pub(super) note: String,
    pub(crate) queue: ProposedQueue,
}

/// A namespace with pods and without a Queue.
struct Unmanaged {
    name: String,
    used: Amounts,
    /// Its ResourceQuotas in words, and the lowest bound of each resource.
    quotas: Vec<String>,
    bounds: Bounds,
}

/// One for each namespace with pods and without a Queue, but not for those of Kubernetes and of the operator.
pub(crate) fn proposals(cluster: &Cluster, basis: Basis) -> Vec<Proposal> {
    let whole = whole(cluster);
    let protected = IndexSettings::default().protected;
    let is_system = |name: &Namespace| {
        let operator = cluster.operator.as_ref();
        protected.contains(name) || operator.is_some_and(|operator| operator.namespace == name.as_str())
    };
    let namespaces = cluster.snapshot.namespaces.iter();
    let unmanaged = namespaces.filter(|(name, state)| state.queues.is_empty() && !is_system(name));
    let unmanaged: Vec<Unmanaged> = unmanaged
        .filter_map(|(name, state)| {
            let mut pods = state.pods.iter().filter(|pod| pod.is_charged()).peekable();
            pods.peek()?;
            let used = sum(pods.map(Pod::requests));
            let (quotas, bounds) = quotas(cluster, name.as_str());
            Some(Unmanaged { name: name.to_string(), used, quotas, bounds })
        })
        .collect();
    let are_met = sum(unmanaged.iter().map(|one| one.bounds.amounts())).fits_in(&whole);
    unmanaged.into_iter().map(|one| proposal(cluster, one, basis, &whole, are_met)).collect()
}

fn proposal(cluster: &Cluster, of: Unmanaged, basis: Basis, whole: &Amounts, are_met: bool) -> Proposal {
    let Unmanaged { name, used, quotas, bounds } = of;
    let mut comments = vec![format!("Pods of {name} requested {}.", spaced(&used))];
    let has_quota = !bounds.is_empty();
    if has_quota {
        comments.push(format!("Its quotas allow {}.", spaced(&bounds.amounts())));
    }
    let (basis_of_weight, guaranteed) = match basis {
        Basis::Quotas if has_quota => (bounds.amounts(), Some(bounds).filter(|_| are_met)),
        // A quota is a promise. Half of what is used leaves the other half to be shared, and all halves together fit.
        Basis::Usage if has_quota => (used.clone(), Some(half(&used, &bounds))),
        _ => (used.clone(), None),
    };
    let lacking = lacking(cluster, &name);
    let spec = QueueSpec {
        weight: i32::try_from(percentage(&basis_of_weight, whole)).unwrap_or(MAX_WEIGHT),
        guaranteed: guaranteed.as_ref().and_then(resource_map),
        default_requests: (lacking > 0).then(ResourceMap::default_requests),
        mode: Mode::Observe,
        ..QueueSpec::default()
    };
    let quotas = quotas.iter().map(|quota| format!("its ResourceQuota {quota} stays and acts as a limit"));
    let without =
        (lacking > 0).then(|| format!("{} without requests", counted(lacking, "workload", "workloads")));
    let note = quotas.chain(without).collect::<Vec<_>>().join("; ");
    Proposal { used, lacking, note, queue: ProposedQueue { namespace: name.clone(), name, spec, comments } }
}

/// Half of the amounts, in whole cpus, GiB and devices, and not above the bounds.
fn half(used: &Amounts, bounds: &Bounds) -> Bounds {
    let halves = used.iter().filter_map(|(resource, amount)| {
        let unit = match resource {
            Resource::Cpu => 1000,
            Resource::Memory => 1 << 30,
            Resource::Extended(_) => 1,
        };
        let whole = amount.units().div_euclid(2).div_euclid(unit).saturating_mul(unit);
        let half = Amount::new(whole).min(bounds.get(resource)?);
        half.is_positive().then(|| (resource.clone(), half))
    });
    halves.collect()
}

/// What the nodes offer, or what is shared out if that is more.
fn whole(cluster: &Cluster) -> Amounts {
    settle(&cluster.snapshot).1.capacity.max(&cluster.offered())
}

fn lacking(cluster: &Cluster, namespace: &str) -> usize {
    let here = cluster.objects.iter().filter(|object| object.namespace() == namespace);
    let templates = here.filter(|object| object.controller().is_none()).filter_map(Object::template);
    templates.filter(|template| lacks_requests(template)).count()
}

/// The ResourceQuotas in words, and the lowest bound of each resource.
fn quotas(cluster: &Cluster, namespace: &str) -> (Vec<String>, Bounds) {
    let mut told = Vec::new();
    let mut lowest = Bounds::new();
    for object in cluster.objects.iter().filter(|object| object.namespace() == namespace) {
        let Object::ResourceQuota(quota) = object else { continue };
        let Some(hard) = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref()) else { continue };
        let bounds = bounds_from_hard(hard);
        if bounds.is_empty() {
            continue;
        }
        told.push(format!("{} ({})", object.name(), spaced(&bounds.amounts())));
        for (resource, amount) in bounds.iter() {
            let known = lowest.get(resource).unwrap_or(amount);
            lowest.set(resource.clone(), known.min(amount));
        }
    }
    (told, lowest)
}
