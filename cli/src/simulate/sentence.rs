//! Why a pod goes, and why nobody goes for a queue, as sentences.

use quotient_engine::amounts::Amounts;
use quotient_engine::plan::{Eviction, Plan, QueuePlan};
use quotient_engine::reason::Reason;

/// Why `eviction` is part of `plan`, for people.
pub(super) fn why(eviction: &Eviction, plan: &Plan) -> String {
    let queue = &eviction.queue;
    let used = eviction.used.compact();
    let numbers = plan.queues.get(queue);
    match (eviction.reason, &eviction.beneficiary) {
        (Reason::Overcommitted, _) => {
            let allocated = numbers.map(|numbers| &numbers.allocated);
            format!("{queue} uses {used} and is allocated {}", compact_or_nothing(allocated))
        }
        (_, Some(beneficiary)) => {
            let short = plan.queues.get(beneficiary).map(|numbers| &numbers.preempting);
            format!(
                "{beneficiary} is short of {}; {queue} uses {used} and deserves {}",
                compact_or_nothing(short),
                eviction.deserved.compact()
            )
        }
        (reason, None) => {
            format!("{reason}: {queue} uses {used} and deserves {}", eviction.deserved.compact())
        }
    }
}

/// Why nobody is evicted for a queue that is short, for people; none if it is not, or somebody is.
pub(super) fn why_nobody(queue: &QueuePlan) -> Option<String> {
    let why = match queue.starved? {
        Reason::Fenced => "is held outside the fence, where nobody is evicted for it",
        Reason::NothingToEvict => "is held by no pod that may be evicted",
        _ => return None,
    };
    Some(format!("{} of the {} that it deserves {why}", queue.preempting.compact(), queue.deserved.compact()))
}

fn compact_or_nothing(amounts: Option<&Amounts>) -> String {
    amounts.map_or_else(|| "0".to_owned(), Amounts::compact)
}
