//! Whether, and since when, a node is Ready.

use k8s_openapi::api::core::v1::Node;
use quotient_engine::time::Timestamp;

use crate::time::timestamp;

/// What a node's Ready condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is not Ready, or unknown.
    NotReady,
    /// It is Ready since then.
    ReadySince(Timestamp),
    /// It is Ready without an end: a manifest does not repeat what a kubelet would say.
    Ready,
}

impl Readiness {
    /// What `node` reports. One without any condition is taken from a manifest and counts as Ready.
    pub(crate) fn of(node: &Node) -> Self {
        let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref());
        let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) else {
            return Self::Ready;
        };
        match conditions.iter().find(|condition| condition.type_ == "Ready") {
            Some(ready) if ready.status == "True" => ready
                .last_transition_time
                .as_ref()
                .map_or(Self::Ready, |time| Self::ReadySince(timestamp(time))),
            _ => Self::NotReady,
        }
    }

    /// The instant from which it has been Ready for `seconds`; none if it is not on the way there.
    pub(crate) fn ripe(self, seconds: i64) -> Option<Timestamp> {
        match self {
            Self::NotReady => None,
            Self::ReadySince(since) => Some(since.plus_seconds(seconds)),
            Self::Ready => Some(Timestamp::from_millis(i64::MIN)),
        }
    }
}
