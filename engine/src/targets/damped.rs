//! Damping: a target that moved by next to nothing moves no quota.

use crate::amounts::{Amount, Amounts, Resource};
use crate::leaf::Leaf;

/// The difference has to be less than one part in this many.
const ONE_IN: i128 = 100;

/// `target`, or what the quota of the leaf allows already where that is a little less and no unit waits for it. Guarantees
/// are exact.
pub(super) fn damped(leaf: &Leaf<'_>, target: &Amounts, resources: &[Resource]) -> Amounts {
    let of_resource = |one: &Resource| {
        let aim = target.get(one);
        let stands = leaf.written(one).filter(|stands| is_a_little_less(*stands, aim));
        let guaranteed = leaf.queue.guaranteed.get(one).unwrap_or_default().min(aim);
        let is_enough = |stands: &Amount| {
            let waits = leaf.pending.iter().any(|pending| pending.requests.get(one).is_positive());
            !waits && *stands >= guaranteed.max(leaf.namespace_usage.charged.get(one).min(aim))
        };
        (one.clone(), stands.filter(is_enough).unwrap_or(aim))
    };
    resources.iter().map(of_resource).collect()
}

fn is_a_little_less(stands: Amount, aim: Amount) -> bool {
    stands < aim && (aim - stands).units().saturating_mul(ONE_IN) < aim.units()
}
