//! Deployments and autoscalers (HPA): what they say of the size of other objects.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::{DeploymentSpec, RollingUpdateDeployment};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::DeclaredReplicas;
use crate::meta::Meta;

/// What is kept of one Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeploymentSize {
    pub(crate) meta: Meta,
    pub(crate) declared: DeclaredReplicas,
    /// Whether it removes an older pod only after a newer one is available.
    pub(crate) surges_first: bool,
}

/// What the API server fills in for `maxSurge` and `maxUnavailable`, in percent.
const DEFAULT_PERCENT: u32 = 25;

/// Whether a Deployment of so many `replicas` removes an older pod only after a newer one is available.
///
/// As the Deployment controller reckons: `maxSurge` is rounded up and `maxUnavailable` down, and if both come to 0,
/// `maxUnavailable` is 1. So it is with the defaults up to three replicas.
pub(crate) fn surges_first(spec: &DeploymentSpec, replicas: u32) -> bool {
    let strategy = spec.strategy.as_ref();
    let is_rolling = strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("Recreate");
    let update = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
    let part = |of: fn(&RollingUpdateDeployment) -> Option<&IntOrString>| update.and_then(of);
    let unavailable = part(|update| update.max_unavailable.as_ref());
    let surge = part(|update| update.max_surge.as_ref());
    is_rolling
        && spec.paused != Some(true)
        && count(unavailable, replicas, |share| share.checked_div(100)) == 0
        && count(surge, replicas, |share| Some(share.div_ceil(100))) > 0
}

/// A number of pods, or a percentage of `replicas` rounded by `round`; what cannot be read counts as none.
fn count(value: Option<&IntOrString>, replicas: u32, round: fn(u64) -> Option<u64>) -> u64 {
    let percent = |percent: u32| round(u64::from(percent).saturating_mul(u64::from(replicas)));
    let count = match value {
        None => percent(DEFAULT_PERCENT),
        Some(IntOrString::Int(count)) => u64::try_from(*count).ok(),
        Some(IntOrString::String(text)) => {
            text.strip_suffix('%').and_then(|text| text.parse().ok()).and_then(percent)
        }
    };
    count.unwrap_or_default()
}

/// What is kept of one autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Autoscaler {
    pub(crate) meta: Meta,
    /// The kind and the name of what it scales.
    pub(crate) target: (Arc<str>, Arc<str>),
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn surges(update: &Value, replicas: u32) -> bool {
        let spec = json!({"selector": {}, "template": {}, "strategy": {"rollingUpdate": update}});
        surges_first(&serde_json::from_value(spec).unwrap(), replicas)
    }

    #[test]
    fn the_defaults_keep_every_pod_of_up_to_three() {
        assert_eq!(
            [1, 2, 3, 4, 100].map(|replicas| surges(&json!({}), replicas)),
            [true, true, true, false, false]
        );
        assert!(surges_first(&DeploymentSpec::default(), 3));
    }

    #[test]
    fn numbers_and_percentages_are_rounded_as_by_the_controller() {
        assert!(surges(&json!({"maxUnavailable": 0, "maxSurge": 1}), 9));
        assert!(!surges(&json!({"maxUnavailable": 1, "maxSurge": 1}), 9));
        assert!(surges(&json!({"maxUnavailable": "10%", "maxSurge": "10%"}), 9));
        assert!(!surges(&json!({"maxUnavailable": "10%", "maxSurge": "10%"}), 10));
        // Both come to 0, so the controller takes one of the older pods.
        assert!(!surges(&json!({"maxUnavailable": "10%", "maxSurge": 0}), 9));
        assert!(!surges(&json!({"maxUnavailable": 0, "maxSurge": "x"}), 9));
    }

    #[test]
    fn other_strategies_and_paused_rollouts_wait_for_no_room() {
        let spec = |more: Value| {
            let mut spec = json!({"selector": {}, "template": {}});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            surges_first(&serde_json::from_value(spec).unwrap(), 1)
        };
        assert!(spec(json!({})));
        assert!(!spec(json!({"strategy": {"type": "Recreate"}})));
        assert!(!spec(json!({"paused": true})));
    }
}
