//! The rows of `top`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::snapshot::Pod;
use serde::Serialize;
use serde::ser::SerializeMap;

use super::{Sort, What};
use crate::manifests::Cluster;
use crate::objects::Object;
use crate::output::{Cell, Colour, sum};
use crate::queues::{QueueView, Selected, amounts, governing};

/// A queue, a namespace or a workload.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Row {
    pub(super) name: String,
    pub(super) namespace: String,
    /// The queue that governs it; none if it is unmanaged.
    queue: Option<String>,
    pods: usize,
    #[serde(serialize_with = "quantities")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    pub(super) used: Amounts,
    #[serde(serialize_with = "quantities")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    deserved: Amounts,
    #[serde(serialize_with = "quantities")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    over: Amounts,
    #[serde(serialize_with = "quantities")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    borrowed: Amounts,
    #[serde(serialize_with = "quantities")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    lent: Amounts,
}

/// Amounts as Kubernetes quantities.
fn quantities<S: serde::Serializer>(amounts: &Amounts, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (resource, amount) in amounts.iter() {
        map.serialize_entry(resource.name(), &resource.format(amount))?;
    }
    map.end()
}

impl Row {
    /// Whether one of the Queues that are looked at governs it.
    pub(super) const fn is_managed(&self) -> bool {
        self.queue.is_some()
    }

    fn new(name: String, namespace: &str, queue: Option<&QueueView>) -> Self {
        Self {
            name,
            namespace: namespace.to_owned(),
            queue: queue.map(|view| view.name.in_words()),
            ..Self::default()
        }
    }

    fn add(&mut self, pod: &Pod) {
        self.pods = self.pods.saturating_add(1);
        self.used.add_all(pod.requests());
    }

    pub(super) fn cells(&self, what: What, selected: Option<&Selected>) -> Vec<Cell> {
        let amount = |amounts: &Amounts| -> Cell {
            selected.map_or_else(|| amounts.compact(), |selected| selected.text(amounts)).into()
        };
        let queue = match &self.queue {
            Some(queue) => Cell::from(queue),
            None => Cell::new("- (unmanaged)", Colour::Notice),
        };
        let mut cells = vec![Cell::from(&self.name)];
        match what {
            What::Queues => {}
            What::Namespaces => cells.push(queue),
            What::Workloads => cells.extend([Cell::from(&self.namespace), queue]),
        }
        cells.extend([self.pods.to_string().into(), amount(&self.used)]);
        if what == What::Queues {
            cells.extend([&self.deserved, &self.over, &self.borrowed, &self.lent].map(amount));
        }
        cells
    }
}

/// The leaf queues.
pub(super) fn of_queues(views: &[QueueView]) -> Vec<Row> {
    let leaves = views.iter().filter(|view| !view.is_parent());
    leaves
        .map(|view| {
            let status = &view.status;
            let (used, deserved) = (view.used(), view.deserved());
            let pods = status.pods.unwrap_or_default();
            let pods = pods.running.saturating_add(pods.pending).saturating_add(pods.terminating);
            Row {
                pods: usize::try_from(pods).unwrap_or_default(),
                over: used.less(&deserved),
                borrowed: amounts(status.borrowed.as_ref()),
                lent: amounts(status.lent.as_ref()),
                used,
                deserved,
                ..Row::new(view.name.in_words(), view.name.namespace.as_str(), Some(view))
            }
        })
        .collect()
}

/// The namespaces with pods.
pub(super) fn of_namespaces(cluster: &Cluster, views: &[QueueView]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, state) in &cluster.snapshot.namespaces {
        let mut row = Row::new(name.to_string(), name.as_str(), governing(views, name.as_str()));
        state.pods.iter().filter(|pod| pod.is_charged()).for_each(|pod| row.add(pod));
        if row.pods > 0 {
            rows.push(row);
        }
    }
    rows
}

/// The workloads that people know: the Deployment rather than its ReplicaSets; bare pods by themselves.
pub(super) fn of_workloads(cluster: &Cluster, views: &[QueueView]) -> Vec<Row> {
    let owners: BTreeMap<&str, &OwnerReference> = cluster
        .objects
        .iter()
        .filter(|object| !matches!(object, Object::Pod(_)))
        .filter_map(|object| Some((object.metadata().uid.as_deref()?, object.controller()?)))
        .collect();
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for (namespace, state) in &cluster.snapshot.namespaces {
        for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
            let name = match &pod.metadata.owner {
                Some(owner) => top_name(&owner.kind, &owner.name, owner.uid.as_str(), &owners),
                None => format!("Pod {}", pod.name),
            };
            let key = (namespace.to_string(), name.clone());
            let view = governing(views, namespace.as_str());
            rows.entry(key).or_insert_with(|| Row::new(name, namespace.as_str(), view)).add(pod);
        }
    }
    rows.into_values().collect()
}

/// Kind and name of the topmost controller.
fn top_name(kind: &str, name: &str, uid: &str, owners: &BTreeMap<&str, &OwnerReference>) -> String {
    let (mut kind, mut name, mut uid) = (kind, name, uid);
    // No chain of controllers is as long; a circle would be.
    for _ in 0..8 {
        let Some(owner) = owners.get(uid) else { break };
        (kind, name, uid) = (&owner.kind, &owner.name, &owner.uid);
    }
    format!("{kind} {name}")
}

/// Most first; equals by name.
pub(super) fn sort(rows: &mut [Row], by: Sort, selected: Option<&Selected>, cluster: &Cluster) {
    let capacity = sum(cluster.snapshot.nodes.values().map(|node| &node.allocatable));
    let size = |amounts: &Amounts| match selected {
        Some(selected) => amounts.get(&selected.resource).units(),
        None => amounts
            .iter()
            .map(|(resource, amount)| part(amount.units(), resource, &capacity))
            .max()
            .unwrap_or(0),
    };
    rows.sort_by(|one, other| {
        let keys = |row: &Row| match by {
            Sort::Used => size(&row.used),
            Sort::Over => size(&row.over),
            Sort::Name => 0,
        };
        keys(other)
            .cmp(&keys(one))
            .then_with(|| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)))
    });
}

/// Millionths of the cluster; of what the cluster does not have, all of it.
fn part(units: i128, resource: &Resource, capacity: &Amounts) -> i128 {
    units.saturating_mul(1_000_000).checked_div(capacity.get(resource).units()).unwrap_or(1_000_000)
}
