//! What freeing a node costs: the fewer and the less important its victims, the better (S-HARDEN, S-MCM).

use std::cmp::Reverse;

use super::search::Resident;
use crate::names::{PodName, PodUid};
use crate::plan::Stage;
use crate::reclaim::candidate::Candidate;
use crate::time::Timestamp;

/// The cost of the victims of one node; the lowest wins. Ends in what no two pods share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// Victims that should go only when nothing else is left.
    protected: usize,
    /// Members of gangs that are undone.
    gang_members: usize,
    /// The furthest stage among the victims: S-MCM puts the life cycle before priority, so that a choice does not
    /// change while its victims move on.
    stage: Option<Stage>,
    /// The highest priority among the victims.
    priority: i32,
    /// How many pods go.
    pods: usize,
    /// How little the ask likes the node.
    dislike: Reverse<i64>,
    /// The victim that would go last.
    last: Option<Turn>,
}

/// When a pod goes among those of its class: started and created last, higher name first.
type Turn = (Reverse<Option<Timestamp>>, Reverse<Timestamp>, Reverse<PodName>, Reverse<PodUid>);

impl Score {
    pub(super) fn of(victims: &[Resident<'_>], preference: i64) -> Self {
        let candidates = || victims.iter().map(|resident| &resident.candidate);
        let pods = |candidate: &Candidate<'_>| candidate.pods().len();
        let last = candidates().map(|candidate| {
            let pod = candidate.pod;
            (Reverse(pod.started), Reverse(pod.created), Reverse(pod.name.clone()), Reverse(pod.uid.clone()))
        });
        Self {
            protected: candidates().filter(|candidate| candidate.protected).map(pods).sum(),
            gang_members: candidates().filter(|candidate| candidate.gang.is_some()).map(pods).sum(),
            stage: candidates().map(|candidate| candidate.stage).max(),
            priority: candidates().map(|candidate| candidate.pod.priority).max().unwrap_or(i32::MIN),
            pods: candidates().map(pods).sum(),
            dislike: Reverse(preference),
            last: last.max(),
        }
    }
}
