//! The Queue of one namespace, as its use suggests.

use quotient_crds::{MAX_WEIGHT, Mode, QueueSpec, ResourceMap};
use quotient_engine::advance::settle;
use quotient_engine::amounts::Amounts;
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
    pub(super) namespace: String,
    /// What its pods request now.
    pub(super) used: Amounts,
    pub(super) weight: i128,
    /// How many workloads have containers without requests.
    pub(super) lacking: usize,
    /// The ResourceQuotas that will act as limits.
    quotas: Vec<String>,
}

/// One for each namespace with pods and without a Queue, but not for those of Kubernetes and of the operator.
pub(crate) fn proposals(cluster: &Cluster) -> Vec<Proposal> {
    let capacity = settle(&cluster.snapshot).1.capacity;
    let mut offered = Amounts::new();
    for node in cluster.snapshot.nodes.values().filter(|node| node.counts) {
        offered.add_all(&node.allocatable);
    }
    let whole = capacity.max(&offered);
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
            Some(Proposal {
                namespace: name.to_string(),
                weight: percentage(&used, &whole),
                used,
                lacking: lacking(cluster, name.as_str()),
                quotas: quotas(cluster, name.as_str()),
            })
        })
        .collect()
}

/// The largest part of the whole, in percent, rounded, at least 1.
fn percentage(used: &Amounts, whole: &Amounts) -> i128 {
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

fn quotas(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let told = cluster.objects.iter().filter_map(|object| {
        let Object::ResourceQuota(quota) = object else { return None };
        let bounds = bounds_from_hard(quota.spec.as_ref()?.hard.as_ref()?);
        let is_here = quota.metadata.namespace.as_deref() == Some(namespace);
        let name = quota.metadata.name.as_deref().unwrap_or_default();
        (is_here && !bounds.is_empty()).then(|| format!("{name} ({})", bounds.amounts().compact()))
    });
    told.collect()
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
    pub(super) fn note(&self) -> String {
        let quotas =
            self.quotas.iter().map(|quota| format!("its ResourceQuota {quota} stays and acts as a limit"));
        let lacking = (self.lacking > 0)
            .then(|| format!("{} without requests", counted(self.lacking, "workload", "workloads")));
        quotas.chain(lacking).collect::<Vec<_>>().join("; ")
    }
}
