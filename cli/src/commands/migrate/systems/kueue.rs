//! Kueue: `ClusterQueue`, `LocalQueue` and `Cohort`.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::{Amount, Bounds, Resource};
use serde_json::{Value, json};

use super::super::draft::amount;
use super::{Draft, Drafts, Keys, Object, Objects, Reading, System, add, add_namespaces, entry, list};
use crate::objects::{ApiKind, text};

const GROUP: &str = "kueue.x-k8s.io";

/// The label by which Kueue takes a workload.
pub(crate) const QUEUE_NAME: &str = "kueue.x-k8s.io/queue-name";

pub(super) const SYSTEM: System = System {
    name: "kueue",
    signs: &[QUEUE_NAME],
    kinds: &[
        ApiKind::new("kueue.x-k8s.io/v1beta2", "ClusterQueue", "clusterqueues").of_cluster().optional(),
        ApiKind::new("kueue.x-k8s.io/v1beta1", "ClusterQueue", "clusterqueues").of_cluster().optional(),
        ApiKind::new("kueue.x-k8s.io/v1beta2", "LocalQueue", "localqueues").optional(),
        ApiKind::new("kueue.x-k8s.io/v1beta1", "LocalQueue", "localqueues").optional(),
        ApiKind::new("kueue.x-k8s.io/v1beta2", "Cohort", "cohorts").of_cluster().optional(),
        ApiKind::new("kueue.x-k8s.io/v1beta1", "Cohort", "cohorts").of_cluster().optional(),
    ],
    fields: include_str!("kueue.yaml"),
    draft,
};

/// What the flavors of one resource have together.
#[derive(Clone, Copy, Debug)]
struct Quota {
    nominal: Amount,
    /// None if one flavor borrows without limit.
    borrowing: Option<Amount>,
}

/// The quotas of a `ClusterQueue` or a Cohort.
type Quotas = BTreeMap<Resource, Quota>;

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    let mut own: BTreeMap<String, Quotas> = BTreeMap::new();
    for queue in objects.of_kind(GROUP, "ClusterQueue") {
        let draft = entry(drafts, queue.name, || queue.origin());
        draft.read(reading, queue);
        // Left out, it means that the queue takes nothing back.
        if queue.value.pointer("/spec/preemption/reclaimWithinCohort").is_none() && draft.parent.is_some() {
            draft.set(&json!({"reclaim": {"from": "None"}}))?;
        }
        if let Some(selector) = queue.value.pointer("/spec/namespaceSelector") {
            draft.accepts = serde_json::from_value(selector.clone()).ok();
        }
        own.insert(queue.name.to_owned(), quotas(draft, queue));
    }
    let queues: BTreeSet<String> = drafts.keys().cloned().collect();
    // A cohort may have the name of a ClusterQueue.
    let cohort_name =
        |name: &str| if queues.contains(name) { format!("{name}-cohort") } else { name.to_owned() };
    for cohort in objects.of_kind(GROUP, "Cohort") {
        let name = cohort_name(cohort.name);
        let draft = entry(drafts, &name, || cohort.origin());
        draft.is_parent = true;
        draft.read(reading, cohort);
        own.insert(name, quotas(draft, cohort));
    }
    let mut named = BTreeSet::new();
    for draft in drafts.values_mut() {
        draft.parent = draft.parent.take().map(|cohort| cohort_name(&cohort));
        named.extend(draft.parent.clone());
    }
    // A cohort exists as soon as a queue names it.
    for cohort in named {
        entry(drafts, &cohort, || format!("Cohort {cohort}")).is_parent = true;
    }
    bound(drafts, &own);
    for local in objects.of_kind(GROUP, "LocalQueue") {
        let queue = local.text("/spec/clusterQueue");
        add_namespaces(drafts, std::iter::once((queue, local.namespace)));
        if let Some(draft) = drafts.get_mut(queue) {
            draft.read(reading, local);
        }
    }
    Ok(())
}

/// Guarantees nominal quotas, and limits what is borrowed.
fn bound(drafts: &mut Drafts, own: &BTreeMap<String, Quotas>) {
    let totals: Vec<Bounds> = drafts.keys().map(|name| total(name, drafts, own, 0)).collect();
    let nothing = Quotas::new();
    for ((name, draft), total) in drafts.iter_mut().zip(totals) {
        let own = own.get(name).unwrap_or(&nothing);
        let borrowed = |(resource, quota): (&Resource, &Quota)| {
            Some((resource.clone(), total.get(resource)? + quota.borrowing?))
        };
        draft.limit = match draft.parent {
            Some(_) => own.iter().filter_map(borrowed).collect(),
            // Nothing is borrowed from outside the root of a cohort.
            None => total.clone(),
        };
        if !own.is_empty() {
            draft.guaranteed = total;
        }
    }
}

/// The nominal quotas of a queue or a cohort, with everything below it. Cohorts in a circle end at the depth of no real tree.
fn total(name: &str, drafts: &Drafts, own: &BTreeMap<String, Quotas>, depth: usize) -> Bounds {
    const DEEPEST: usize = 16;
    let quotas = own.get(name).into_iter().flatten();
    let mut total: Bounds = quotas.map(|(resource, quota)| (resource.clone(), quota.nominal)).collect();
    let children = drafts.iter().filter(|(_, draft)| draft.parent.as_deref() == Some(name));
    for (child, _) in children.filter(|_| depth < DEEPEST) {
        add(&mut total, &self::total(child, drafts, own, depth.saturating_add(1)));
    }
    total
}

/// The quotas of an object by resource, all flavors together.
fn quotas(draft: &mut Draft, object: Object<'_>) -> Quotas {
    let mut found = Quotas::new();
    for group in list(object.value.pointer("/spec/resourceGroups")) {
        let flavors = list(group.get("flavors"));
        for name in flavors.iter().filter_map(|flavor| flavor.get("name")).filter(|_| flavors.len() > 1) {
            let advice = "shares go by resource names: the quotas of all flavors are added up";
            draft.refuse(&object.origin(), "spec.resourceGroups.flavors.name", name, advice);
        }
        for quota in flavors.iter().flat_map(|flavor| list(flavor.get("resources"))) {
            if let Err((value, advice)) = add_quota(&mut found, quota) {
                let field = format!("nominalQuota of {}", text(quota, "/name"));
                draft.refuse(&object.origin(), &field, value, &advice);
            }
        }
    }
    found
}

/// Adds the quota of one resource in one flavor. The error has the amount that is none of a share, and says why.
fn add_quota<'v>(all: &mut Quotas, quota: &'v Value) -> Result<(), (&'v Value, String)> {
    let read = |field: &str| {
        let value = quota.get(field)?;
        Some(amount(text(quota, "/name"), value, Keys::Resources).map_err(|advice| (value, advice)))
    };
    let Some((resource, nominal)) = read("nominalQuota").transpose()? else { return Ok(()) };
    let borrowing = read("borrowingLimit").transpose()?.map(|(_, most)| most);
    let known = all
        .entry(resource)
        .or_insert(Quota { nominal: Amount::default(), borrowing: Some(Amount::default()) });
    known.nominal += nominal;
    known.borrowing = known.borrowing.zip(borrowing).map(|(one, other)| one + other);
    Ok(())
}
