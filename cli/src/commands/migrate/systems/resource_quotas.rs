//! Plain ResourceQuotas and LimitRanges.

use quotient_crds::ResourceMap;
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUOTA};
use quotient_engine::names::Namespace;
use quotient_index::IndexSettings;
use serde_json::Value;

use super::{Draft, Drafts, Object, Objects, Reading, System, entry, list};
use crate::objects::{ApiKind, plain};

pub(super) const SYSTEM: System = System {
    name: "resourcequota",
    signs: &[],
    kinds: &[
        ApiKind::new("v1", "ResourceQuota", "resourcequotas"),
        ApiKind::new("v1", "LimitRange", "limitranges"),
    ],
    fields: include_str!("resource_quotas.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    let protected = IndexSettings::default().protected;
    let is_wanted = |object: &Object<'_>| {
        object.metadata("labels", MANAGED_BY_LABEL) != Some(MANAGED_BY_QUOTIENT)
            && !protected.contains(&Namespace::from(object.namespace))
    };
    for quota in objects.of_kind("", "ResourceQuota").filter(is_wanted) {
        let draft = entry(drafts, quota.namespace, || format!("the quotas of namespace {}", quota.namespace));
        draft.namespaces.insert(quota.namespace.to_owned());
        if quota.name == QUOTA {
            let advice =
                "Quotient takes a quota of this name over: create it again under another name before";
            draft.refuse(&quota.origin(), "metadata.name", &Value::from(QUOTA), advice);
        }
        draft.read(reading, quota);
    }
    for range in objects.of_kind("", "LimitRange").filter(is_wanted) {
        let Some(draft) = drafts.get_mut(range.namespace) else { continue };
        draft.read(reading, range);
        default_requests(draft, list(range.value.pointer("/spec/limits")).iter());
    }
    Ok(())
}

/// The requests of containers that name none, by the limits of a LimitRange: `defaultRequest`, or else `default`.
pub(super) fn default_requests<'v>(draft: &mut Draft, limits: impl Iterator<Item = &'v Value>) {
    for limit in limits.filter(|limit| limit.get("type").and_then(Value::as_str) == Some("Container")) {
        for resource in ["cpu", "memory"] {
            let of = |field: &str| limit.get(field).and_then(|amounts| amounts.get(resource));
            let Some(amount) = of("defaultRequest").or_else(|| of("default")) else { continue };
            draft.spec.default_requests.get_or_insert_with(ResourceMap::new).insert(resource, plain(amount));
        }
    }
}
