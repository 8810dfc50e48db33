//! What freeing a node costs: the fewer and the less important its victims, the better (S-HARDEN, S-MCM).

use std::cmp::Reverse;

use super::room::{At, NodeResources};
use super::search::NodeCandidate;
use crate::amounts::Amounts;
use crate::choice::candidate::Candidate;
use crate::choice::simulation::Level;
use crate::names::{PodName, PodUid};
use crate::plan::Stage;
use crate::snapshot::Shape;
use crate::time::Timestamp;

/// The cost of the victims of one node; the lowest wins. Ends in what no two pods share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    /// Victims that should go only when nothing else is left.
    protected: usize,
    /// Whether one of them runs: pods that do not run are evicted first, of every queue.
    running: bool,
    /// How far the queue is above its target that is the least above.
    level: Reverse<Level>,
    /// Members of gangs that are undone.
    gang_members: usize,
    /// The furthest stage among the victims: S-MCM puts the life cycle before priority, so that a choice does not
    /// change while its victims move on.
    stage: Option<Stage>,
    /// The highest priority among the victims.
    priority: i32,
    /// How many pods go.
    pods: usize,
    /// What goes beyond what is needed, in parts of what there is.
    excess: i128,
    /// How little the ask likes the node.
    dislike: Reverse<i64>,
    /// The victim that would go last.
    last: Option<Turn>,
}

/// When a pod goes among those of its class: started and created last, higher name first.
type Turn = (Reverse<Option<Timestamp>>, Reverse<Timestamp>, Reverse<PodName>, Reverse<PodUid>);

impl Score {
    /// The cost of `victims` for a pod of `shape` on the node at `at`, but for the level; `scale` is what there is of each
    /// resource.
    pub(crate) fn of(
        victims: &[NodeCandidate<'_>],
        node_resources: &NodeResources<'_>,
        at: At,
        shape: &Shape,
        scale: &Amounts,
    ) -> Self {
        let candidates = || victims.iter().map(|node_candidate| &node_candidate.candidate);
        let pods = |candidate: &Candidate<'_>| candidate.pods().len();
        let last = candidates().map(|candidate| {
            let pod = candidate.pod;
            (Reverse(pod.started), Reverse(pod.created), Reverse(pod.name.clone()), Reverse(pod.uid.clone()))
        });
        Self {
            protected: candidates().filter(|candidate| candidate.protected).map(pods).sum(),
            running: candidates().any(|candidate| candidate.stage != Stage::NotRunning),
            level: Reverse(Level::new()),
            gang_members: candidates().filter(|candidate| candidate.gang.is_some()).map(pods).sum(),
            stage: candidates().map(|candidate| candidate.stage).max(),
            priority: candidates().map(|candidate| candidate.pod.priority).max().unwrap_or(i32::MIN),
            pods: candidates().map(pods).sum(),
            excess: excess(victims, &node_resources.shortfall(at, shape).unwrap_or_default(), scale),
            dislike: Reverse(node_resources.preference(at, shape)),
            last: last.max(),
        }
    }

    /// The same where the queue that is the least above its target is so far above it.
    pub(crate) fn at_level(&self, level: Level) -> Self {
        Self { level: Reverse(level), ..self.clone() }
    }
}

/// Parts of one: fine enough to tell any two pods apart, coarse enough never to overflow.
const WHOLE: i128 = 1 << 40;

/// What `victims` free beyond `needed`, summed over the resources in parts of what there is.
fn excess(victims: &[NodeCandidate<'_>], needed: &Amounts, scale: &Amounts) -> i128 {
    let mut freed = Amounts::new();
    for node_candidate in victims {
        freed.add_all(node_candidate.candidate.requests());
    }
    let beyond = freed.less(needed);
    let parts = beyond.iter().map(|(resource, amount)| {
        let all = scale.get(resource).units();
        amount.units().saturating_mul(WHOLE).checked_div(all).unwrap_or(0)
    });
    parts.fold(0, i128::saturating_add)
}
