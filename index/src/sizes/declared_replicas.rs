//! What an object's own metadata says of its size.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{
    REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION, WITHIN_QUEUE_ANNOTATION, WITHIN_QUEUE_NEVER,
};
use quotient_engine::reasons::KeptReason;

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
}
