//! What freeing a node costs: the fewer and the less important its victims, the better (S-HARDEN, S-MCM).

use std::cmp::Reverse;

use crate::amounts::Amounts;
use crate::candidates::{Candidate, Turn, part, sum, turn};
use crate::choice::simulation::Level;
use crate::nodes::{At, NodeResources};
use crate::plan::Stage;
use crate::shares::Fraction;
use crate::snapshot::Shape;

/// The cost of the victims of one node; the lowest wins. Ends in what no two pods share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score<'a> {
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
    /// How little the pending pod prefers the node.
    dislike: Reverse<i64>,
    /// The victim that would go last.
    last: Option<Turn<'a>>,
}

impl<'a> Score<'a> {
    /// The cost of `victims` for a pod of `shape` on the node at `at`, but for the level; `scale` is what there is of each
    /// resource.
    pub(crate) fn of(
        victims: &[Candidate<'a>],
        node_resources: &NodeResources<'_>,
        at: At,
        shape: &Shape,
        scale: &Amounts,
    ) -> Self {
        let pods = |counts: &dyn Fn(&Candidate<'a>) -> bool| {
            victims.iter().filter(|one| counts(one)).map(|one| one.pods().len()).sum()
        };
        Self {
            protected: pods(&|candidate| candidate.protected),
            running: victims.iter().any(|candidate| candidate.stage != Stage::NotRunning),
            level: Reverse(Level::new()),
            gang_members: pods(&Candidate::goes_after_single_pods),
            stage: victims.iter().map(|candidate| candidate.stage).max(),
            priority: victims.iter().map(|candidate| candidate.pod.priority).max().unwrap_or(i32::MIN),
            pods: victims.iter().map(|candidate| candidate.everything().count()).sum(),
            excess: excess(victims, &node_resources.shortfall(at, shape).unwrap_or_default(), scale),
            dislike: Reverse(node_resources.preference(at, shape)),
            last: victims.iter().map(|candidate| turn(candidate.pod)).max(),
        }
    }

    /// The same where the queue that is the least above its target is so far above it.
    pub(crate) fn at_level(&self, level: Level) -> Self {
        Self { level: Reverse(level), ..self.clone() }
    }

    /// The same where a queue that is so far above its target is above those of the level.
    pub(super) fn below(&self, above: Fraction) -> Self {
        let mut score = self.clone();
        score.level.0.insert(1, above);
        score
    }
}

/// What `victims` free beyond `needed`, summed over the resources in parts of what there is.
fn excess(victims: &[Candidate<'_>], needed: &Amounts, scale: &Amounts) -> i128 {
    let beyond = sum(victims).less(needed);
    beyond.iter().map(|(one, amount)| part(amount, scale.get(one))).fold(0, i128::saturating_add)
}
