//! What an object says of itself, and what a PodDisruptionBudget asks to be kept.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};
use serde_json::Value;

use super::decode::text;

/// Whether an eviction does not count as a failure of the Job.
pub(crate) fn ignores_evictions(job: &Job) -> bool {
    let policy = job.spec.as_ref().and_then(|spec| spec.pod_failure_policy.as_ref());
    policy.is_some_and(|policy| {
        policy.rules.iter().any(|rule| {
            let mut conditions = rule.on_pod_conditions.iter().flatten();
            rule.action == "Ignore" && conditions.any(|condition| condition.type_ == "DisruptionTarget")
        })
    })
}

/// Whether Quotient wrote an object.
pub(crate) fn is_ours(metadata: &ObjectMeta) -> bool {
    let label = metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED_BY_LABEL));
    label.is_some_and(|label| label == MANAGED_BY_QUOTIENT)
}

/// Whether garbage collection deletes an object with its Queue.
pub(crate) fn goes_with_queue(metadata: &ObjectMeta) -> bool {
    metadata.owner_references.iter().flatten().any(|owner| owner.kind == "Queue")
}

/// The label that marks the objects of the chart, and its value.
pub(crate) const PART_OF: (&str, &str) = ("app.kubernetes.io/part-of", "quotient");

/// Whether an object is the Deployment of the operator.
pub(crate) fn is_operator(object: &Value) -> bool {
    let (label, quotient) = PART_OF;
    let labels = object.pointer("/metadata/labels");
    text(object, "/kind") == "Deployment" && labels.is_some_and(|labels| labels[label] == quotient)
}

/// The beginning of the environment variables that stand for flags of the operator.
pub(crate) const VARIABLES: &str = "QUOTIENT_";

/// The bound that a budget sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `minAvailable`: so many healthy pods are kept.
    Kept(Share),
    /// `maxUnavailable`: so many of those that should be there may be missing.
    Missing(Share),
    /// Neither is given: the disruption controller then allows nothing.
    Unstated,
}

/// A number of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Pods(u32),
    /// Of those that their owners want.
    Percent(u32),
}

impl Bound {
    /// What `budget` says; else what is wrong with it.
    pub(crate) fn of(budget: &PodDisruptionBudget) -> Result<Self, String> {
        let spec = budget.spec.as_ref();
        let kept = spec.and_then(|spec| spec.min_available.as_ref());
        let missing = spec.and_then(|spec| spec.max_unavailable.as_ref());
        match (kept, missing) {
            (None, None) => Ok(Self::Unstated),
            (Some(kept), None) => Share::read("minAvailable", kept).map(Self::Kept),
            (None, Some(missing)) => Share::read("maxUnavailable", missing).map(Self::Missing),
            (Some(_), Some(_)) => {
                Err("spec.minAvailable and spec.maxUnavailable: give one of them".to_owned())
            }
        }
    }
}

impl Share {
    fn read(field: &str, written: &IntOrString) -> Result<Self, String> {
        let (read, text) = match written {
            IntOrString::Int(pods) => (u32::try_from(*pods).ok().map(Self::Pods), pods.to_string()),
            IntOrString::String(text) => {
                let percent = text.strip_suffix('%').and_then(|number| number.parse().ok());
                (percent.filter(|percent| *percent <= 100).map(Self::Percent), format!("{text:?}"))
            }
        };
        read.ok_or_else(|| {
            format!("spec.{field} is {text}: write a number of pods, or a percentage such as \"50%\"")
        })
    }

    /// The number that it means where `wanted` pods should be there, rounded up.
    pub(crate) fn of(self, wanted: u32) -> u32 {
        match self {
            Self::Pods(pods) => pods,
            Self::Percent(percent) => {
                let hundredths = u64::from(wanted).saturating_mul(u64::from(percent));
                u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
            }
        }
    }
}
