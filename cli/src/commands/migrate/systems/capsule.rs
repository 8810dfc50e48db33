//! Tenants and resource pools of Capsule.

use std::collections::BTreeMap;

use quotient_crds::LabelSelector;
use quotient_engine::amounts::Bounds;

use super::resource_quotas::default_requests;
use super::{Draft, Drafts, Object, Objects, Reading, System, add, entry, list};
use crate::objects::ApiKind;

const GROUP: &str = "capsule.clastix.io";

/// The label of the namespaces of a tenant.
const TENANT: &str = "capsule.clastix.io/tenant";

pub(super) const SYSTEM: System = System {
    name: "capsule",
    signs: &[TENANT],
    kinds: &[
        ApiKind::new("capsule.clastix.io/v1beta2", "Tenant", "tenants").of_cluster().optional(),
        ApiKind::new("capsule.clastix.io/v1beta2", "ResourcePool", "resourcepools").of_cluster().optional(),
        ApiKind::new("capsule.clastix.io/v1beta2", "ResourcePoolClaim", "resourcepoolclaims").optional(),
        ApiKind::new("capsule.clastix.io/v1beta2", "GlobalResourceQuota", "globalresourcequotas")
            .of_cluster()
            .optional(),
    ],
    fields: include_str!("capsule.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    for tenant in objects.of_kind(GROUP, "Tenant") {
        of_tenant(drafts, reading, objects, tenant);
    }
    for (kind, field) in [("ResourcePool", "selectors"), ("GlobalResourceQuota", "namespaceSelectors")] {
        for pool in objects.of_kind(GROUP, kind) {
            of_pool(drafts, reading, pool, field);
        }
    }
    let mut claimed: BTreeMap<&str, Bounds> = BTreeMap::new();
    for claim in objects.of_kind(GROUP, "ResourcePoolClaim") {
        let pool = [claim.text("/spec/pool"), claim.text("/status/pool/name")];
        let pool = pool.into_iter().find(|pool| !pool.is_empty()).unwrap_or_default();
        let mut one = Draft::of(claim.origin());
        one.read(reading, claim);
        // The claims of a namespace stack.
        let all = claimed.entry(claim.namespace).or_default();
        add(all, &one.guaranteed);
        let draft = leaf(drafts, pool, claim.namespace);
        draft.guaranteed = draft.guaranteed.max(all);
        draft.unmapped.append(&mut one.unmapped);
    }
    Ok(())
}

/// The parent queue of a pool, and a queue for each of its namespaces.
fn of_pool(drafts: &mut Drafts, reading: &Reading, pool: Object<'_>, field: &str) {
    let draft = entry(drafts, pool.name, || pool.origin());
    draft.read(reading, pool);
    draft.is_parent = true;
    match list(pool.value.pointer(&format!("/spec/{field}"))) {
        [] => {}
        [selector] => {
            let selector = serde_json::from_value(selector.clone()).ok();
            draft.accepts = draft.accepts.take().or(selector);
        }
        several => {
            let advice = "a parent queue has one selector: it accepts the namespaces of today by name";
            let number = format!("{} selectors", several.len());
            draft.refuse(&pool.origin(), &format!("spec.{field}"), &number.into(), advice);
        }
    }
    for namespace in pool.texts("/status/namespaces") {
        leaf(drafts, pool.name, namespace);
    }
}

/// The parent queue of a tenant, and a queue for each of its namespaces.
fn of_tenant(drafts: &mut Drafts, reading: &Reading, objects: &Objects<'_>, tenant: Object<'_>) {
    let mut whole = Draft::of(tenant.origin());
    whole.read(reading, tenant);
    whole.is_parent = true;
    let label = BTreeMap::from([(TENANT.to_owned(), tenant.name.to_owned())]);
    whole.accepts = Some(LabelSelector { match_labels: Some(label), match_expressions: None });
    let is_per_namespace = tenant.text("/spec/resourceQuotas/scope") == "Namespace";
    let mut each = Draft::of(tenant.origin());
    let ranges = list(tenant.value.pointer("/spec/limitRanges/items")).iter();
    default_requests(&mut each, ranges.flat_map(|range| list(range.get("limits"))));
    if is_per_namespace {
        each.guaranteed = std::mem::take(&mut whole.guaranteed);
        each.limit = std::mem::take(&mut whole.limit);
    }
    drafts.insert(tenant.name.to_owned(), whole);
    let labeled = objects.of_kind("", "Namespace").filter_map(|namespace| {
        (namespace.metadata("labels", TENANT) == Some(tenant.name)).then_some(namespace.name)
    });
    for namespace in tenant.texts("/status/namespaces").chain(labeled) {
        let draft = leaf(drafts, tenant.name, namespace);
        (draft.guaranteed, draft.limit) = (each.guaranteed.clone(), each.limit.clone());
        draft.spec.default_requests.clone_from(&each.spec.default_requests);
    }
}

/// The queue of one namespace; the first that names a namespace is its parent.
fn leaf<'d>(drafts: &'d mut Drafts, parent: &str, namespace: &str) -> &'d mut Draft {
    let key = format!("namespace {namespace}");
    let draft = entry(drafts, &key, || key.clone());
    draft.namespaces.insert(namespace.to_owned());
    if draft.parent.is_none() && !parent.is_empty() {
        draft.parent = Some(parent.to_owned());
    }
    draft
}
