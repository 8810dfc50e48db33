//! Which pods of a queue may be evicted at all.

use super::order::class;
use crate::amounts::Amounts;
use crate::plan::Stage;
use crate::snapshot::{NamespaceState, Phase, Pod};

/// A pod that may be evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) pod: &'a Pod,
    pub(crate) stage: Stage,
}

/// The pods of a namespace that may be evicted and would help with `ask`, least protected first.
///
/// Never: finished pods (they hold nothing), terminating ones (they reduce the need already), mirror and
/// DaemonSet pods, system-critical priorities. `frees_room` says whether somebody else could use what a pod
/// leaves behind.
pub(crate) fn candidates<'a>(
    state: &'a NamespaceState,
    ask: &Amounts,
    frees_room: impl Fn(&Pod) -> bool,
) -> Vec<Candidate<'a>> {
    let mut candidates: Vec<Candidate<'_>> = state
        .pods
        .iter()
        .filter(|pod| pod.is_charged() && !pod.is_terminating() && pod.immunity.is_none())
        .filter(|pod| frees_room(pod))
        .filter(|pod| ask.resources().any(|resource| pod.requests.get(resource).is_positive()))
        .map(|pod| Candidate { pod, stage: stage(pod) })
        .collect();
    candidates.sort_by(|a, b| class(a).cmp(&class(b)).then_with(|| super::order::preference(a, b)));
    candidates
}

fn stage(pod: &Pod) -> Stage {
    if pod.phase == Phase::Running { Stage::Committed } else { Stage::NotRunning }
}
