//! Priorities, as admission resolves them from classes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::objects::Object;
use k8s_openapi::api::core::v1::PodSpec;
use quotient_index::Index;

/// The classes that every API server has by itself.
const BUILT_IN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// Gives pods the priority that admission would have given them. The classes are in `index` already; owners'
/// templates are resolved there.
pub(super) fn prioritize(objects: &mut [Object], index: &Index) {
    for object in objects {
        if let Object::Pod(pod) = object
            && pod.spec.as_ref().is_some_and(|spec| spec.priority.is_none())
            && let Some(spec) = &mut Arc::make_mut(pod).spec
        {
            spec.priority = Some(index.priority_of(spec));
        }
    }
}

/// The classes that pods or templates name and that no manifest describes: admission would refuse such pods.
pub(super) fn unknown_classes(objects: &[Object]) -> BTreeSet<&str> {
    let described = objects.iter().filter(|object| matches!(object, Object::PriorityClass(_)));
    let described = described.filter_map(|class| class.metadata().name.as_deref());
    let known: BTreeSet<&str> = described.chain(BUILT_IN).collect();
    let named = objects.iter().filter_map(|object| match object {
        Object::Pod(pod) => class(pod.spec.as_ref()?),
        _ => class(object.template()?.spec.as_ref()?),
    });
    named.filter(|name| !known.contains(name)).collect()
}

/// The class that has to be known for the priority to be known.
fn class(spec: &PodSpec) -> Option<&str> {
    let class = spec.priority_class_name.as_deref().filter(|class| !class.is_empty());
    class.filter(|_| spec.priority.is_none())
}
