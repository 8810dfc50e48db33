//! Taints of nodes, and what pods tolerate.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Taint as WrittenTaint, Toleration as Written};
use quotient_engine::snapshot::{Taint, TaintEffect, Toleration};

/// The taints of nodes that are not Ready, whose `NoExecute` admission lets every pod tolerate for five minutes.
const NOT_READY: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// The toleration as the engine reads it; none for one that tolerates nothing, and for the two that admission
/// adds to every pod: they say how long it stays on a node that is lost, and pods are started only on others. The
/// template of an owner does not have them, and its pods should have the same shape.
pub(super) fn toleration(written: &Written) -> Option<Toleration> {
    let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let value = match written.operator.as_deref() {
        None | Some("" | "Equal") => Some(written.value.clone().unwrap_or_default()),
        Some("Exists") => None,
        Some(_) => return None,
    };
    let effect = match some(&written.effect) {
        Some(effect) => Some(self::effect(&effect)?),
        None => None,
    };
    let key = some(&written.key);
    let stays_a_while = effect == Some(TaintEffect::NoExecute)
        && value.is_none()
        && key.as_deref().is_some_and(|key| NOT_READY.contains(&key));
    (!stays_a_while).then_some(Toleration { key, value, effect })
}

/// The taints of a node, without when they were added. One with an unknown effect does nothing.
pub(crate) fn taints(written: &[WrittenTaint]) -> Arc<[Taint]> {
    let taints = written.iter().filter_map(|taint| {
        let value = taint.value.clone().unwrap_or_default();
        Some(Taint { key: taint.key.clone(), value, effect: effect(&taint.effect)? })
    });
    taints.collect()
}

fn effect(name: &str) -> Option<TaintEffect> {
    match name {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
