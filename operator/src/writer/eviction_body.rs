//! What is sent to evict a pod.

use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, ObjectMeta, Preconditions};
use quotient_engine::plan::PodId;

/// The eviction of exactly this life of this pod: a successor under its name is not hit. It is given `grace_seconds`
/// to end, or its own grace.
///
/// Built by hand and posted to the subresource because kube's `Api::evict` spells `deleteOptions` wrong, and the
/// API server then drops the precondition without a word.
pub(super) fn eviction(pod: &PodId, grace_seconds: Option<u32>) -> Eviction {
    Eviction {
        metadata: ObjectMeta {
            name: Some(pod.name.as_str().to_owned()),
            namespace: Some(pod.namespace.as_str().to_owned()),
            ..ObjectMeta::default()
        },
        delete_options: Some(DeleteOptions {
            grace_period_seconds: grace_seconds.map(i64::from),
            preconditions: Some(Preconditions {
                uid: Some(pod.uid.as_str().to_owned()),
                ..Preconditions::default()
            }),
            ..DeleteOptions::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod() -> PodId {
        PodId { namespace: "a".into(), name: "web-0".into(), uid: "u1".into() }
    }

    #[test]
    fn the_uid_is_where_the_api_server_reads_it() {
        assert_eq!(
            serde_json::to_value(eviction(&pod(), None)).unwrap(),
            json!({
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": "web-0", "namespace": "a"},
                "deleteOptions": {"preconditions": {"uid": "u1"}},
            })
        );
    }

    #[test]
    fn a_grace_is_named_only_where_one_is_set() {
        for (grace, seconds) in [(Some(5), 5), (Some(0), 0)] {
            assert_eq!(
                serde_json::to_value(eviction(&pod(), grace)).unwrap()["deleteOptions"],
                json!({"gracePeriodSeconds": seconds, "preconditions": {"uid": "u1"}})
            );
        }
    }
}
