//! What a user sees: Queues with their shares, and the quotas that stand.

use std::collections::BTreeMap;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ListParams;
use kube::{Api, ResourceExt as _};
use quotient_amounts::{Amounts, Resource};
use quotient_crds::{ConditionType, Queue, ResourceMap};

use crate::testbed::TestBed;

/// The numbers of one Queue as its status shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Whether its status says anything yet.
    pub is_reported: bool,
    /// Its nominal share.
    pub nominal: Amounts,
    /// What the queue deserves.
    pub deserved: Amounts,
    /// What its quota allows.
    pub allocated: Amounts,
    /// What its pods request.
    pub used: Amounts,
    /// What is promised and still held by others.
    pub preempting: Amounts,
    /// Whether it groups queues and governs no pods.
    pub is_parent: bool,
    /// `True` conditions with their reasons.
    pub conditions: BTreeMap<String, String>,
}

impl QueueView {
    fn of(queue: &Queue) -> anyhow::Result<Self> {
        let is_reported = queue.status.is_some();
        let status = queue.status.clone().unwrap_or_default();
        let read =
            |map: &Option<ResourceMap>| map.as_ref().map_or_else(|| Ok(Amounts::new()), amounts_of_map);
        let is_true = |kind: &ConditionType| {
            status.condition(*kind).filter(|condition| condition.status == "True").map(|c| c.reason.clone())
        };
        Ok(Self {
            is_reported,
            nominal: read(&status.nominal)?,
            deserved: read(&status.deserved)?,
            allocated: read(&status.allocated)?,
            used: read(&status.used)?,
            preempting: read(&status.preempting)?,
            is_parent: queue.spec.children.is_some(),
            conditions: ConditionType::ALL
                .iter()
                .filter_map(|kind| Some((kind.as_str().to_owned(), is_true(kind)?)))
                .collect(),
        })
    }
}

/// Every Queue by namespace and name.
pub async fn queues(bed: &TestBed) -> anyhow::Result<BTreeMap<String, QueueView>> {
    let queues: Api<Queue> = Api::all(bed.client());
    let list = queues.list(&ListParams::default()).await.context("listing Queues")?;
    let views = list.items.iter().map(|queue| {
        let name = format!("{}/{}", queue.namespace().unwrap_or_default(), queue.name_any());
        Ok((name, QueueView::of(queue)?))
    });
    views.collect()
}

/// One Queue.
pub async fn queue(bed: &TestBed, namespace: &str, name: &str) -> anyhow::Result<QueueView> {
    let queues: Api<Queue> = Api::namespaced(bed.client(), namespace);
    let queue = queues.get(name).await.with_context(|| format!("reading Queue {namespace}/{name}"))?;
    QueueView::of(&queue)
}

/// `spec.hard` of every ResourceQuota `quotient`, by namespace.
pub async fn quotas(bed: &TestBed) -> anyhow::Result<BTreeMap<String, Amounts>> {
    let quotas: Api<ResourceQuota> = Api::all(bed.client());
    let list = quotas.list(&ListParams::default()).await.context("listing quotas")?;
    let ours = list.items.into_iter().filter(|quota| quota.metadata.name.as_deref() == Some("quotient"));
    ours.map(|quota| {
        let hard = quota.spec.and_then(|spec| spec.hard).unwrap_or_default();
        Ok((quota.metadata.namespace.unwrap_or_default(), quota_amounts(&hard)?))
    })
    .collect()
}

/// The amounts of a quota: `requests.cpu` is cpu.
pub fn quota_amounts(hard: &BTreeMap<String, Quantity>) -> anyhow::Result<Amounts> {
    let pairs =
        hard.iter().map(|(name, quantity)| (name.strip_prefix("requests.").unwrap_or(name), &quantity.0));
    amounts(pairs.map(|(name, text)| (name, text.as_str())))
}

fn amounts_of_map(map: &ResourceMap) -> anyhow::Result<Amounts> {
    amounts(map.iter().map(|(name, quantity)| (name, quantity.as_str())))
}

/// Amounts from pairs of a resource and a quantity, such as `cpu` and `1500m`.
pub fn amounts<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> anyhow::Result<Amounts> {
    pairs
        .map(|(name, text)| {
            let resource = Resource::from_name(name);
            let quantity = text.parse().with_context(|| format!("reading the amount of {name}"))?;
            let amount = resource.rounded_up(quantity);
            Ok((resource, amount))
        })
        .collect()
}
