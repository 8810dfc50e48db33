//! What has to hold over a whole history.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quotient_engine::advance::{Advanced, advance, settle};
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::{Namespace, PodUid, QueueName};
use quotient_engine::plan::{Plan, plan};
use quotient_engine::snapshot::{Pod, Snapshot};

use super::{SCOPE, laws, tell};

/// What happened so far.
#[derive(Debug, Default)]
pub(crate) struct Chronicle {
    steps: usize,
    evicted: BTreeSet<PodUid>,
    since: Since,
}

/// What happened since anything but plans last changed the world.
#[derive(Debug, Default)]
struct Since {
    capacity: Amounts,
    /// The pods that were there at the beginning.
    old: BTreeSet<PodUid>,
    losers: BTreeSet<(QueueName, Resource)>,
    gainers: BTreeSet<(QueueName, Resource)>,
    /// Evicted pods whose beneficiaries still lack what was taken.
    owed: Vec<Owed>,
}

#[derive(Debug)]
struct Owed {
    namespace: Namespace,
    requests: Amounts,
    beneficiary: QueueName,
}

/// A step of the world.
pub(crate) struct Step {
    pub(crate) snapshot: Snapshot,
    pub(crate) plan: Plan,
    /// Whether nothing changed.
    pub(crate) rests: bool,
}

impl Chronicle {
    /// Something happens to the world from outside.
    pub(crate) fn event(&mut self) {
        self.since = Since::default();
    }

    /// One step of the world, with its quotas in force beforehand or not, in which every law holds.
    pub(crate) fn step(&mut self, world: &Snapshot, settled: bool) -> Result<Step, TestCaseError> {
        self.checked_step(world, settled)
            .map_err(|error| TestCaseError::fail(format!("{error} in\n{}", tell(world))))
    }

    fn checked_step(&mut self, world: &Snapshot, settled: bool) -> Result<Step, TestCaseError> {
        let (before, decided) = if settled { settle(world) } else { (world.clone(), plan(world)) };
        self.steps += 1;
        laws::same_plan_on_shuffled_input(&before, &decided, self.steps)?;
        laws::nobody_takes_from_itself(&decided)?;
        laws::nobody_is_taken_below_a_guarantee(&before, &decided)?;
        if settled {
            laws::victims_on_their_way_change_no_choice(&before, &decided)?;
        }
        for eviction in &decided.evictions {
            prop_assert!(
                self.evicted.insert(eviction.pod.uid.clone()),
                "{:?} is evicted twice",
                eviction.pod
            );
        }
        let advanced = advance(&before, &decided);
        laws::nothing_newly_over_granted(world, &plan(world), &decided, &advanced.snapshot)?;
        self.nothing_goes_back_and_forth(&before, &decided, &advanced)?;
        let rests = advanced.rests(world);
        Ok(Step { snapshot: advanced.snapshot, plan: decided, rests })
    }

    /// While nothing changes from outside, nobody both gains and loses, no newcomer is evicted, and the equal of an
    /// evicted pod does not come back while whoever it went for still lacks.
    fn nothing_goes_back_and_forth(
        &mut self,
        before: &Snapshot,
        decided: &Plan,
        advanced: &Advanced,
    ) -> Result<(), TestCaseError> {
        let since = &mut self.since;
        // Pods without a queue, and those on nodes that are lost, take capacity with them: a change from outside.
        if since.old.is_empty() || since.capacity != decided.capacity {
            let (capacity, old) =
                (decided.capacity.clone(), pods(before).map(|(_, pod)| pod.uid.clone()).collect());
            *since = Since { capacity, old, ..Since::default() };
        }
        for eviction in &decided.evictions {
            let pod = &eviction.pod;
            prop_assert!(since.old.contains(&pod.uid), "{:?} was admitted and is evicted", pod);
            for (resource, _) in eviction.requests.iter() {
                if eviction.used.get(resource) > eviction.deserved.get(resource) {
                    since.losers.insert((eviction.queue.clone(), resource.clone()));
                }
                let gainer = eviction.beneficiary.as_ref();
                let gains = |name: &&QueueName| decided.queues[*name].preempting.get(resource).is_positive();
                since.gainers.extend(gainer.filter(gains).map(|name| (name.clone(), resource.clone())));
            }
            since.owed.extend(eviction.beneficiary.clone().map(|beneficiary| Owed {
                namespace: pod.namespace.clone(),
                requests: eviction.requests.clone(),
                beneficiary,
            }));
        }
        let both: Vec<_> = since.losers.intersection(&since.gainers).collect();
        prop_assert!(both.is_empty(), "{:?} lose and gain", both);
        since.owed.retain(|owed| {
            decided
                .queues
                .get(&owed.beneficiary)
                .is_some_and(|queue| queue.preempting.overlaps(&owed.requests))
        });
        let still: BTreeSet<&PodUid> = pods(&advanced.snapshot).map(|(_, pod)| &pod.uid).collect();
        if pods(before).any(|(_, pod)| !still.contains(&pod.uid) && !self.evicted.contains(&pod.uid)) {
            // Somebody else made room.
            *since = Since::default();
            return Ok(());
        }
        if !SCOPE.victims_stay_away || (!SCOPE.scopes_are_stable && laws::has_scopes(before)) {
            return Ok(());
        }
        let known: BTreeSet<&PodUid> = pods(before).map(|(_, pod)| &pod.uid).collect();
        for (namespace, pod) in pods(&advanced.snapshot).filter(|(_, pod)| !known.contains(&pod.uid)) {
            let replaces =
                |owed: &&Owed| owed.namespace == *namespace && owed.requests.fits_in(pod.requests());
            let lost = since.owed.iter().find(replaces);
            prop_assert!(lost.is_none(), "{} comes in place of {:?}", pod.uid, lost);
        }
        Ok(())
    }
}

fn pods(snapshot: &Snapshot) -> impl Iterator<Item = (&Namespace, &Pod)> {
    snapshot.namespaces.iter().flat_map(|(name, state)| state.pods.iter().map(move |pod| (name, pod)))
}
