//! Sizes: which object says how many pods an owner wants, and whether Quotient may change what it says.
//!
//! A ReplicaSet of a Deployment wants what its Deployment says, so both are read together. An owner that something else
//! keeps at its size (an autoscaler, an operator, a person who has just changed it) is left alone: lowering it would
//! only be corrected.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::{DeploymentSpec, RollingUpdateDeployment};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use quotient_crds::names::{
    REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION, WITHIN_QUEUE_ANNOTATION, WITHIN_QUEUE_NEVER,
};
use quotient_snapshot::reasons::KeptReason;

use crate::meta::Meta;

/// Where the Deployment controller notes the revision of a template.
const REVISION_ANNOTATION: &str = "deployment.kubernetes.io/revision";

/// What stands in the object that says how many pods are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredReplicas {
    /// The size in its spec.
    pub written: u32,
    /// The size before Quotient lowered it.
    pub original_replicas: Option<u32>,
    /// Why it is not to be changed, as far as the object itself says.
    pub left_alone: Option<KeptReason>,
    /// Of a Deployment and its ReplicaSets the revision of the template: the newest ReplicaSet has its Deployment's.
    pub revision: Option<u32>,
}

impl DeclaredReplicas {
    /// Reads `metadata` of an object whose spec says `written`.
    pub fn of(metadata: &ObjectMeta, written: u32) -> Self {
        let annotation = |name: &str| metadata.annotations.as_ref()?.get(name).map(String::as_str);
        let number = |name: &str| annotation(name).and_then(|text| text.parse::<u32>().ok());
        let opted_out = annotation(WITHIN_QUEUE_ANNOTATION) == Some(WITHIN_QUEUE_NEVER);
        let lowered = number(REPLICAS_BEFORE_ANNOTATION).zip(number(REPLICAS_LOWERED_ANNOTATION));
        let (former, changed) = match lowered {
            Some((before, to)) if to == written && before > written => (Some(before), false),
            // A later writer means what it says now.
            Some((_, to)) => (None, to != written),
            None => (None, false),
        };
        let left_alone = opted_out.then_some(KeptReason::OptedOut);
        Self {
            written,
            original_replicas: former,
            left_alone: left_alone.or(changed.then_some(KeptReason::SizeSetByAnother)),
            revision: annotation(REVISION_ANNOTATION).and_then(|text| text.parse().ok()),
        }
    }
}

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
pub fn surges_first(spec: &DeploymentSpec, replicas: u32) -> bool {
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
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    fn said(annotations: &[(&str, &str)], written: u32) -> (Option<u32>, Option<KeptReason>) {
        let annotations: BTreeMap<String, String> =
            annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let metadata = ObjectMeta { annotations: Some(annotations), ..ObjectMeta::default() };
        let declared = DeclaredReplicas::of(&metadata, written);
        (declared.original_replicas, declared.left_alone)
    }

    #[test]
    fn a_size_that_was_lowered_is_remembered_until_another_writer_changes_it() {
        let (before, to) = (REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION);
        assert_eq!(said(&[], 3), (None, None));
        assert_eq!(said(&[(before, "5"), (to, "3")], 3), (Some(5), None));
        assert_eq!(said(&[(before, "5"), (to, "3")], 4), (None, Some(KeptReason::SizeSetByAnother)));
        assert_eq!(said(&[(before, "5"), (to, "3")], 5), (None, Some(KeptReason::SizeSetByAnother)));
        // What cannot be read, or makes no sense, was not written by Quotient.
        assert_eq!(said(&[(before, "many"), (to, "3")], 3), (None, None));
        assert_eq!(said(&[(before, "2"), (to, "3")], 3), (None, None));
        assert_eq!(said(&[(before, "5")], 3), (None, None));
    }

    #[test]
    fn who_opts_out_is_left_alone_and_still_gets_its_size_back() {
        let (before, to) = (REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION);
        let opted_out = (WITHIN_QUEUE_ANNOTATION, WITHIN_QUEUE_NEVER);
        assert_eq!(said(&[opted_out], 3), (None, Some(KeptReason::OptedOut)));
        assert_eq!(said(&[opted_out, (before, "5"), (to, "3")], 3), (Some(5), Some(KeptReason::OptedOut)));
        assert_eq!(said(&[(WITHIN_QUEUE_ANNOTATION, "never")], 3), (None, None));
    }

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
