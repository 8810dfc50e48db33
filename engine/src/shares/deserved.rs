//! What every queue deserves of every resource.

use crate::amounts::{Amount, Amounts, Resource};
use crate::snapshot::Queue;

use super::{Claim, divide};

/// The shares of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    pub(crate) demand: Amounts,
    pub(crate) deserved: Amounts,
    pub(crate) fair_share: Amounts,
    pub(crate) unmeetable: Amounts,
}

/// Divides `capacity` among `queues`, which are sorted by path.
pub(crate) fn shares(queues: &[&Queue], capacity: &Amounts, resources: &[Resource]) -> Vec<Shares> {
    let mut all = vec![Shares::default(); queues.len()];
    for resource in resources {
        let available = capacity.get(resource);
        let claims: Vec<Claim> = queues.iter().map(|queue| claim(queue, resource, available)).collect();
        let deserved = divide(available, &claims, resource.quantum());
        for (at, (shares, deserved)) in all.iter_mut().zip(deserved).enumerate() {
            let (Some(claim), Some(queue)) = (claims.get(at), queues.get(at)) else { continue };
            shares.demand.set(resource, claim.demand);
            shares.deserved.set(resource, deserved);
            shares.fair_share.set(resource, fair_share(&claims, at, deserved, queue, available, resource));
            let promised = queue.guaranteed.get(resource).unwrap_or_default();
            let missing = promised.less(available).max(claim.guaranteed.less(deserved));
            shares.unmeetable.set(resource, missing);
        }
    }
    all
}

/// What `queue` asks for of `resource`: what it states, or all the capacity, at most its limit.
///
/// A stated request leaves cpu and memory open, because every pod needs them, and asks for nothing else that it
/// does not name. No request at all asks for everything (S-PREEMPT §Preemption stage, Queue-3).
fn claim(queue: &Queue, resource: &Resource, capacity: Amount) -> Claim {
    let asked = match &queue.request {
        None => capacity,
        Some(request) => request.get(resource).unwrap_or(match resource {
            Resource::Cpu | Resource::Memory => capacity,
            Resource::Extended(_) => Amount::ZERO,
        }),
    };
    let demand = at_most(queue, resource, asked);
    let guaranteed = queue.guaranteed.get(resource).unwrap_or_default().min(demand);
    Claim { demand, guaranteed, weight: queue.weight }
}

fn at_most(queue: &Queue, resource: &Resource, amount: Amount) -> Amount {
    queue.limit.get(resource).map_or(amount, |limit| amount.min(limit))
}

/// What the queue at `at` would deserve if it asked for everything while the others ask for what they do.
fn fair_share(
    claims: &[Claim],
    at: usize,
    deserved: Amount,
    queue: &Queue,
    capacity: Amount,
    resource: &Resource,
) -> Amount {
    let everything = at_most(queue, resource, capacity);
    let guaranteed = queue.guaranteed.get(resource).unwrap_or_default().min(everything);
    let mut claims = claims.to_vec();
    match claims.get_mut(at) {
        // It asks for everything already.
        Some(claim) if claim.demand >= everything => return deserved,
        Some(claim) => *claim = Claim { demand: everything, guaranteed, weight: claim.weight },
        None => return deserved,
    }
    divide(capacity, &claims, resource.quantum()).get(at).copied().unwrap_or(deserved)
}
