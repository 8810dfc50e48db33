//! What guarantees leave to take and to ask for (S-HARDEN): two vectors that look at guaranteed amounts alone.

use crate::amounts::{Amounts, Bounds};

/// What a queue uses above its guaranteed amounts; of a resource without a guarantee everything.
///
/// S-HARDEN §How `GetPreemptableResource` works: guaranteed 5, used 6 leaves 1; guaranteed cpu and used memory leaves
/// the memory; without a guarantee all is preemptable.
pub fn preemptable(used: &Amounts, guaranteed: &Bounds) -> Amounts {
    used.less(&guaranteed.amounts())
}

/// What a queue lacks of its guaranteed amounts, negative where it is above them; nothing is said of a resource
/// without a guarantee.
///
/// S-HARDEN §How `GetRemainingGuaranteedResource` works.
pub fn remaining(used: &Amounts, guaranteed: &Bounds) -> Bounds {
    guaranteed.iter().map(|(resource, amount)| (resource.clone(), amount - used.get(resource))).collect()
}

/// [`remaining`] along a path to the root: per resource the least that any queue of the path lacks.
pub fn remaining_on_path<'a>(path: impl IntoIterator<Item = (&'a Amounts, &'a Bounds)>) -> Bounds {
    let mut least = Bounds::new();
    for (used, guaranteed) in path {
        for (resource, amount) in remaining(used, guaranteed).iter() {
            let known = least.get(resource).unwrap_or(amount);
            least.set(resource.clone(), known.min(amount));
        }
    }
    least
}
