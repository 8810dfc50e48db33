//! The Queue of one namespace, as its use suggests.

use quotient_advance::settle;
use quotient_crds::{MAX_WEIGHT, Mode, QueueSpec, ResourceMap};
use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::Namespace;
use quotient_index::IndexSettings;
use quotient_index::quotas::bounds_from_hard;

use crate::commands::check::lacks_requests;
use crate::manifests::{Cluster, Object};
use crate::output::counted;
use crate::proposals::ProposedQueue;

/// What is proposed for one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub(crate) namespace: String,
    /// What its pods request now.
    pub(crate) used: Amounts,
    pub(crate) weight: i128,
    /// How many workloads have containers without requests.
    pub(crate) lacking: usize,
    /// The ResourceQuotas that will act as limits.
    quotas: Vec<String>,
    /// What they bound together.
    pub(crate) bounds: Bounds,
}

/// One for each namespace with pods and without a Queue, but not for those of Kubernetes and of the operator.
pub(crate) fn proposals(cluster: &Cluster) -> Vec<Proposal> {
    let whole = whole(cluster);
    let protected = IndexSettings::default().protected;
    let is_system = |name: &Namespace| {
        protected.contains(name)
            || cluster.operator.as_ref().is_some_and(|operator| operator.namespace == name.as_str())
    };
    let namespaces = cluster.snapshot.namespaces.iter();
    let unmanaged = namespaces.filter(|(name, state)| state.queues.is_empty() && !is_system(name));
    unmanaged
        .filter_map(|(name, state)| {
            let mut used = Amounts::new();
            let mut pods = state.pods.iter().filter(|pod| pod.is_charged()).peekable();
            pods.peek()?;
            pods.for_each(|pod| used.add_all(pod.requests()));
            let (quotas, bounds) = quotas(cluster, name.as_str());
            Some(Proposal {
                namespace: name.to_string(),
                weight: percentage(&used, &whole),
                used,
                lacking: lacking(cluster, name.as_str()),
                quotas,
                bounds,
            })
        })
        .collect()
}

/// What the nodes offer, or what is shared out if that is more.
pub(crate) fn whole(cluster: &Cluster) -> Amounts {
    let mut offered = Amounts::new();
    for node in cluster.snapshot.nodes.values().filter(|node| node.counts) {
        offered.add_all(&node.allocatable);
    }
    settle(&cluster.snapshot).1.capacity.max(&offered)
}

/// The largest part of the whole, in percent, rounded, at least 1.
pub(crate) fn percentage(used: &Amounts, whole: &Amounts) -> i128 {
    let parts = used.iter().filter_map(|(resource, amount)| {
        let whole = whole.get(resource).units();
        amount.units().saturating_mul(100).saturating_add(whole / 2).checked_div(whole)
    });
    parts.max().unwrap_or(1).max(1)
}

fn lacking(cluster: &Cluster, namespace: &str) -> usize {
    let here =
        cluster.objects.iter().filter(|object| object.metadata().namespace.as_deref() == Some(namespace));
    let templates = here.filter(|object| object.controller().is_none()).filter_map(Object::template);
    templates.filter(|template| lacks_requests(template)).count()
}

/// The ResourceQuotas in words, and the lowest bound of each resource.
fn quotas(cluster: &Cluster, namespace: &str) -> (Vec<String>, Bounds) {
    let mut told = Vec::new();
    let mut lowest = Bounds::new();
    for object in &cluster.objects {
        let Object::ResourceQuota(quota) = object else { continue };
        let Some(hard) = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref()) else { continue };
        let bounds = bounds_from_hard(hard);
        if quota.metadata.namespace.as_deref() != Some(namespace) || bounds.is_empty() {
            continue;
        }
        let name = quota.metadata.name.as_deref().unwrap_or_default();
        told.push(format!("{name} ({})", bounds.amounts().compact()));
        for (resource, amount) in bounds.iter() {
            let known = lowest.get(resource).unwrap_or(amount);
            lowest.set(resource.clone(), known.min(amount));
        }
    }
    (told, lowest)
}

impl Proposal {
    /// The Queue, with what it was made from in a comment.
    pub(crate) fn queue(&self) -> ProposedQueue {
        let weight = i32::try_from(self.weight).unwrap_or(MAX_WEIGHT);
        let default_requests = (self.lacking > 0).then(ResourceMap::default_requests);
        ProposedQueue {
            namespace: self.namespace.clone(),
            name: self.namespace.clone(),
            spec: QueueSpec { weight, default_requests, mode: Mode::Observe, ..QueueSpec::default() },
            comments: vec![format!("Pods of {} requested {}.", self.namespace, self.used)],
        }
    }

    /// What to know about it.
    pub(crate) fn note(&self) -> String {
        let quotas =
            self.quotas.iter().map(|quota| format!("its ResourceQuota {quota} stays and acts as a limit"));
        let lacking = (self.lacking > 0)
            .then(|| format!("{} without requests", counted(self.lacking, "workload", "workloads")));
        quotas.chain(lacking).collect::<Vec<_>>().join("; ")
    }
}
