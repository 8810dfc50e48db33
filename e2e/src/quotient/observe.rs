//! What a user sees: Queues with their shares, and the quotas that stand.

use std::collections::BTreeMap;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ListParams;
use kube::{Api, ResourceExt as _};
use quotient_crds::{ConditionType, Queue};
use quotient_invariants::Amounts;

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
        let status = queue.status.clone().unwrap_or_default();
        let said = serde_json::to_value(&status)?;
        let is_true = |kind: &ConditionType| {
            status.condition(*kind).filter(|condition| condition.status == "True").map(|c| c.reason.clone())
        };
        Ok(Self {
            is_reported: queue.status.is_some(),
            nominal: Amounts::at(&said, "/nominal"),
            deserved: Amounts::at(&said, "/deserved"),
            allocated: Amounts::at(&said, "/allocated"),
            used: Amounts::at(&said, "/used"),
            preempting: Amounts::at(&said, "/preempting"),
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
    Ok(Amounts::at(&serde_json::to_value(hard)?, ""))
}
