//! What an object's own metadata says of its size.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{
    REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION, WITHIN_QUEUE_ANNOTATION, WITHIN_QUEUE_NEVER,
};
use quotient_engine::reason::Reason;

/// What stands in the object that says how many pods are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The size in its spec.
    pub written: u32,
    /// The size before Quotient lowered it.
    pub former: Option<u32>,
    /// Why it is not to be changed, as far as the object itself says.
    pub left_alone: Option<Reason>,
}

impl Said {
    /// Reads `metadata` of an object whose spec says `written`.
    pub fn of(metadata: &ObjectMeta, written: u32) -> Self {
        let annotation = |name: &str| metadata.annotations.as_ref()?.get(name).map(String::as_str);
        let number = |name: &str| annotation(name).and_then(|text| text.parse::<u32>().ok());
        let opted_out = annotation(WITHIN_QUEUE_ANNOTATION) == Some(WITHIN_QUEUE_NEVER);
        let lowered = number(REPLICAS_BEFORE_ANNOTATION).zip(number(REPLICAS_LOWERED_ANNOTATION));
        let (former, changed) = match lowered {
            Some((before, to)) if to == written && before > written => (Some(before), false),
            // Whoever changed it since means what it says now.
            Some((_, to)) => (None, to != written),
            None => (None, false),
        };
        let left_alone = opted_out.then_some(Reason::OptedOut);
        Self { written, former, left_alone: left_alone.or(changed.then_some(Reason::SizeSetByAnother)) }
    }
}

/// The controller of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Controller {
    pub(crate) kind: ControllerKind,
    pub(crate) name: Arc<str>,
    pub(crate) uid: Arc<str>,
}

/// The kinds of controllers, as far as sizes depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllerKind {
    /// It says the size.
    Deployment,
    /// It leaves the size of what it creates to others once that is there.
    CronJob,
    /// Nobody knows what it does about the size.
    Other,
}

impl ControllerKind {
    fn of(kind: &str) -> Self {
        match kind {
            "Deployment" => Self::Deployment,
            "CronJob" => Self::CronJob,
            _ => Self::Other,
        }
    }
}

impl Controller {
    pub(crate) fn of(metadata: &ObjectMeta) -> Option<Self> {
        let mut owners = metadata.owner_references.iter().flatten();
        let controller = owners.find(|owner| owner.controller == Some(true))?;
        Some(Self {
            kind: ControllerKind::of(&controller.kind),
            name: controller.name.as_str().into(),
            uid: controller.uid.as_str().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn said(annotations: &[(&str, &str)], written: u32) -> (Option<u32>, Option<Reason>) {
        let annotations: BTreeMap<String, String> =
            annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let metadata = ObjectMeta { annotations: Some(annotations), ..ObjectMeta::default() };
        let said = Said::of(&metadata, written);
        (said.former, said.left_alone)
    }

    #[test]
    fn a_size_that_was_lowered_is_remembered_as_long_as_nobody_else_changes_it() {
        let (before, to) = (REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION);
        assert_eq!(said(&[], 3), (None, None));
        assert_eq!(said(&[(before, "5"), (to, "3")], 3), (Some(5), None));
        assert_eq!(said(&[(before, "5"), (to, "3")], 4), (None, Some(Reason::SizeSetByAnother)));
        assert_eq!(said(&[(before, "5"), (to, "3")], 5), (None, Some(Reason::SizeSetByAnother)));
        // What cannot be read, or makes no sense, was not written by Quotient.
        assert_eq!(said(&[(before, "many"), (to, "3")], 3), (None, None));
        assert_eq!(said(&[(before, "2"), (to, "3")], 3), (None, None));
        assert_eq!(said(&[(before, "5")], 3), (None, None));
    }

    #[test]
    fn who_opts_out_is_left_alone_and_still_gets_its_size_back() {
        let (before, to) = (REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION);
        let opted_out = (WITHIN_QUEUE_ANNOTATION, WITHIN_QUEUE_NEVER);
        assert_eq!(said(&[opted_out], 3), (None, Some(Reason::OptedOut)));
        assert_eq!(said(&[opted_out, (before, "5"), (to, "3")], 3), (Some(5), Some(Reason::OptedOut)));
        assert_eq!(said(&[(WITHIN_QUEUE_ANNOTATION, "never")], 3), (None, None));
    }
}
