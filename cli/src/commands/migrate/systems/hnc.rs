//! Hierarchical Namespaces: the tree of namespaces, and hierarchical quotas on it.

use quotient_crds::{LabelOperator, LabelRequirement, LabelSelector};

use super::{Draft, Drafts, Objects, Reading, System, entry};
use crate::objects::ApiKind;

const GROUP: &str = "hnc.x-k8s.io";

/// How the labels end by which HNC tells the depth of a namespace in each tree.
pub(super) const DEPTH: &str = ".tree.hnc.x-k8s.io/depth";

pub(super) const SYSTEM: System = System {
    name: "hnc",
    signs: &[],
    kinds: &[
        ApiKind::new("hnc.x-k8s.io/v1alpha2", "HierarchyConfiguration", "hierarchyconfigurations").optional(),
        ApiKind::new("hnc.x-k8s.io/v1alpha2", "SubnamespaceAnchor", "subnamespaceanchors").optional(),
        ApiKind::new("hnc.x-k8s.io/v1alpha2", "HierarchicalResourceQuota", "hierarchicalresourcequotas")
            .optional(),
    ],
    fields: include_str!("hnc.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    for config in objects.of_kind(GROUP, "HierarchyConfiguration") {
        let draft = of_namespace(drafts, config.namespace);
        draft.read(reading, config);
        if let Some(parent) = draft.parent.clone() {
            of_namespace(drafts, &parent);
        }
    }
    for anchor in objects.of_kind(GROUP, "SubnamespaceAnchor") {
        of_namespace(drafts, anchor.namespace);
        let draft = of_namespace(drafts, anchor.name);
        draft.parent = Some(anchor.namespace.to_owned());
        draft.read(reading, anchor);
    }
    for quota in objects.of_kind(GROUP, "HierarchicalResourceQuota") {
        of_namespace(drafts, quota.namespace).read(reading, quota);
    }
    Ok(())
}

/// A namespace of the tree. Its descendants have a label that HNC keeps.
fn of_namespace<'d>(drafts: &'d mut Drafts, namespace: &str) -> &'d mut Draft {
    let draft = entry(drafts, namespace, || format!("namespace {namespace}"));
    draft.namespaces.insert(namespace.to_owned());
    draft.home = Some(namespace.to_owned());
    let key = format!("{namespace}{DEPTH}");
    let below = LabelRequirement { key, operator: LabelOperator::Exists, values: None };
    draft.accepts = Some(LabelSelector { match_labels: None, match_expressions: Some(vec![below]) });
    draft
}
