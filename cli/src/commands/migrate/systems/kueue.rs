//! Kueue: `ClusterQueue`, `LocalQueue` and `Cohort`.

use std::collections::BTreeMap;

use quotient_engine::amounts::{Amount, Bounds, Resource};
use serde_json::{Value, json};

use super::super::draft::amount;
use super::{Draft, Drafts, Keys, Object, Objects, Reading, System, add_namespaces, entry};
use crate::objects::ApiKind;

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

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    let mut own: BTreeMap<String, Bounds> = BTreeMap::new();
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
        let quotas = quotas(draft, queue);
        bound(draft, &quotas);
        own.insert(queue.name.to_owned(), nominal(&quotas));
    }
    cohorts(objects, reading, drafts, &mut own);
    let locals: Vec<Object<'_>> = objects.of_kind(GROUP, "LocalQueue").collect();
    add_namespaces(drafts, locals.iter().map(|local| (local.text("/spec/clusterQueue"), local.namespace)));
    for local in locals {
        if let Some(draft) = drafts.get_mut(local.text("/spec/clusterQueue")) {
            draft.read(reading, local);
        }
    }
    Ok(())
}

/// A cohort may have the name of a `ClusterQueue`.
fn cohort_name(drafts: &Drafts, name: &str) -> String {
    let is_taken = drafts.get(name).is_some_and(|draft| draft.origin.starts_with("ClusterQueue"));
    if is_taken { format!("{name}-cohort") } else { name.to_owned() }
}

fn cohorts(
    objects: &Objects<'_>,
    reading: &Reading,
    drafts: &mut Drafts,
    own: &mut BTreeMap<String, Bounds>,
) {
    for cohort in objects.of_kind(GROUP, "Cohort") {
        let name = cohort_name(drafts, cohort.name);
        let mut draft = Draft::of(cohort.origin());
        draft.read(reading, cohort);
        let quotas = quotas(&mut draft, cohort);
        own.insert(name.clone(), nominal(&quotas));
        drafts.insert(name, draft);
    }
    // A cohort exists as soon as a queue names it.
    let named: Vec<(String, String)> = (drafts.iter())
        .filter_map(|(name, draft)| Some((name.clone(), cohort_name(drafts, draft.parent.as_ref()?))))
        .collect();
    for (name, cohort) in named {
        let draft = entry(drafts, &cohort, || format!("Cohort {cohort}"));
        draft.is_parent = true;
        if let Some(draft) = drafts.get_mut(&name) {
            draft.parent = Some(cohort);
        }
    }
    let parents: Vec<String> =
        drafts.iter().filter(|(_, draft)| draft.is_parent).map(|(name, _)| name.clone()).collect();
    for name in parents {
        let total = total(&name, drafts, own, 0);
        let has_own = own.get(&name).is_some_and(|own| !own.is_empty());
        if let Some(draft) = drafts.get_mut(&name) {
            // Nothing is borrowed from outside the root of a cohort.
            if draft.parent.is_none() {
                draft.limit = total.clone();
            }
            if has_own {
                draft.guaranteed = total;
            }
        }
    }
}

/// The nominal quotas of a cohort and of everything below it. Cohorts in a circle end at the depth that no real tree has.
fn total(name: &str, drafts: &Drafts, own: &BTreeMap<String, Bounds>, depth: usize) -> Bounds {
    const DEEPEST: usize = 16;
    let mut total = own.get(name).cloned().unwrap_or_default();
    let children = drafts.iter().filter(|(_, draft)| draft.parent.as_deref() == Some(name));
    for (child, _) in children.filter(|_| depth < DEEPEST) {
        for (resource, amount) in self::total(child, drafts, own, depth.saturating_add(1)).iter() {
            let known = total.get(resource).unwrap_or_default();
            total.set(resource.clone(), known + amount);
        }
    }
    total
}

/// The quotas of an object by resource, all flavors together.
fn quotas(draft: &mut Draft, object: Object<'_>) -> BTreeMap<Resource, Quota> {
    let list =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found: BTreeMap<Resource, Quota> = BTreeMap::new();
    for group in object.value.get("spec").map(|spec| list(spec, "resourceGroups")).unwrap_or_default() {
        let flavors = list(&group, "flavors");
        if flavors.len() > 1 {
            for name in flavors.iter().filter_map(|flavor| flavor.get("name")) {
                let advice = "shares go by resource names: the quotas of all flavors are added up";
                draft.refuse(&object.origin(), "spec.resourceGroups.flavors.name", name, advice);
            }
        }
        for quota in flavors.iter().flat_map(|flavor| list(flavor, "resources")) {
            let read = |field: &str| {
                let value = quota.get(field)?;
                Some((value, amount(quota.get("name")?.as_str()?, value, Keys::Resources)))
            };
            match read("nominalQuota") {
                Some((_, Ok((resource, nominal)))) => {
                    let borrowing =
                        read("borrowingLimit").and_then(|(_, read)| read.ok()).map(|(_, most)| most);
                    let known = found.get(&resource).copied();
                    let known = known
                        .unwrap_or(Quota { nominal: Amount::default(), borrowing: Some(Amount::default()) });
                    let borrowing = known.borrowing.zip(borrowing).map(|(one, other)| one + other);
                    found.insert(resource, Quota { nominal: known.nominal + nominal, borrowing });
                }
                Some((value, Err(advice))) => {
                    let name = quota.get("name").and_then(Value::as_str).unwrap_or_default();
                    draft.refuse(&object.origin(), &format!("nominalQuota of {name}"), value, &advice);
                }
                None => {}
            }
        }
    }
    found
}

fn nominal(quotas: &BTreeMap<Resource, Quota>) -> Bounds {
    quotas.iter().map(|(resource, quota)| (resource.clone(), quota.nominal)).collect()
}

/// Without a cohort there is nothing to borrow.
fn bound(draft: &mut Draft, quotas: &BTreeMap<Resource, Quota>) {
    draft.guaranteed = nominal(quotas);
    for (resource, Quota { nominal, borrowing }) in quotas {
        let borrowing = if draft.parent.is_none() { Some(Amount::default()) } else { *borrowing };
        if let Some(borrowing) = borrowing {
            draft.limit.set(resource.clone(), *nominal + borrowing);
        }
    }
}
