//! What has to hold over a whole history.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quotient_advance::{advance, settle};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{GangName, Namespace, PodUid, QueueName};
use quotient_engine::plan::{Eviction, Plan, QueuePlan};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::Snapshot;

use super::laws::{admitted, lacks_at_least};
use super::{describe, describe_step, laws};
use crate::contents::{charged, leaves, pods};

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
    /// What each asks for, and what it holds of that for ever: pods that prove of no use, or of use after all, ask for less or
    /// more in their time.
    asks: BTreeMap<QueueName, (Amounts, Amounts)>,
    /// The pods that were there at the beginning.
    old: BTreeSet<PodUid>,
    /// The pods that came since then and took their queues above their targets: they are lent what they hold. A loan is an
    /// amount, so another newcomer of the queue may be evicted in place of the pod that came with it.
    lent: Vec<(Namespace, PodUid, Amounts)>,
    /// Which queues lost pods of what they held too much of and had not been lent, and what these requested.
    losers: Vec<(QueueName, Amounts)>,
    /// For which queues pods went, and the most that they lacked.
    gainers: BTreeMap<QueueName, Amounts>,
    /// Evicted pods whose beneficiaries still lack what was taken.
    owed: Vec<Owed>,
}

#[derive(Debug)]
struct Owed {
    namespace: Namespace,
    requests: Amounts,
    beneficiary: QueueName,
    /// What the beneficiary lacks now of what is short.
    lacks: Amounts,
    /// The target of its queue then.
    target: Amounts,
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
            .map_err(|error| TestCaseError::fail(format!("{error} in\n{}", describe(world))))
    }

    fn checked_step(&mut self, world: &Snapshot, settled: bool) -> Result<Step, TestCaseError> {
        let (before, decided) = if settled { settle(world) } else { (world.clone(), plan(world)) };
        self.steps += 1;
        if std::env::var_os("HISTORY_TRACE").is_some() {
            eprint!("{}", describe_step(self.steps, &before, &decided));
        }
        laws::same_plan_on_shuffled_input(&before, &decided, self.steps)?;
        laws::no_queue_takes_from_itself(&decided)?;
        let seen = admitted(&before);
        laws::no_queue_falls_below_a_guarantee(&seen, &decided)?;
        if settled {
            laws::while_victims_leave_no_other_goes(&before, &decided)?;
        }
        for eviction in &decided.evictions {
            prop_assert!(
                self.evicted.insert(eviction.pod.uid.clone()),
                "{:?} is evicted twice",
                eviction.pod
            );
        }
        let advanced = advance(&before, &decided);
        let (then, after) = (plan(&advanced.snapshot), admitted(&advanced.snapshot));
        laws::nothing_newly_over_granted(&admitted(world), (&plan(world), &decided), &after, &then)?;
        self.nothing_goes_back_and_forth(&seen, &decided, &after)?;
        let rests = advanced.rests(world);
        Ok(Step { snapshot: advanced.snapshot, plan: decided, rests })
    }

    /// While nothing changes from outside, no queue gains what would hold a pod that it lost, no newcomer is evicted but one
    /// of a queue that was lent as much since then (pods above targets are loans, which overlap and know no nodes) or with
    /// its gang, of which a part is such a loan, and
    /// the equal of an evicted pod does not come back while the queue that it went for still lacks; but for what went
    /// although its queue deserved it, because a gang or a node went as a whole. Less than such a pod is what a claim lacks
    /// after the last of its queue's surplus pods has gone.
    fn nothing_goes_back_and_forth(
        &mut self,
        before: &Snapshot,
        decided: &Plan,
        after: &Snapshot,
    ) -> Result<(), TestCaseError> {
        let since = &mut self.since;
        // Pods without a queue, and those on nodes that are lost, take capacity with them: a change from outside.
        // So do pods that are never evicted: what they hold is deducted before anything is divided.
        let kept = |name: &QueueName, queue: &QueuePlan| {
            if laws::is_spared(before, name) { queue.used.clone() } else { Amounts::new() }
        };
        let asks = |(name, queue): (&QueueName, &QueuePlan)| {
            (name.clone(), (queue.demand.clone(), kept(name, queue)))
        };
        let asks = decided.queues.iter().map(asks).collect();
        if since.old.is_empty() || since.capacity != decided.capacity || since.asks != asks {
            *since = Since::beginning(before, decided, asks);
        }
        since.evict(before, decided).map_err(TestCaseError::fail)?;
        let still: BTreeSet<&PodUid> = pods(after).map(|(_, pod)| &pod.uid).collect();
        if pods(before).any(|(_, pod)| !still.contains(&pod.uid) && !self.evicted.contains(&pod.uid)) {
            // Another plan made room.
            *since = Since::default();
            return Ok(());
        }
        let known: BTreeSet<&PodUid> = pods(before).map(|(_, pod)| &pod.uid).collect();
        for (namespace, pod) in pods(after).filter(|(_, pod)| !known.contains(&pod.uid)) {
            let holds = charged(&after.namespaces[namespace]);
            let replaces = |owed: &&Owed| {
                // Of what the beneficiary has no lack of, others may be lent what is idle.
                let lost = owed.requests.resources().filter(|one| owed.lacks.get(one).is_positive());
                let mut again = lost.filter(|one| holds.get(one) > owed.target.get(one));
                owed.namespace == *namespace
                    && owed.requests.fits_in(pod.requests())
                    && again.next().is_some()
            };
            let lost = since.owed.iter().find(replaces);
            prop_assert!(lost.is_none(), "{} comes in place of {:?}", pod.uid, lost);
            let mut leaves = leaves(decided).filter(|(name, _)| name.namespace == *namespace);
            let is_lent = leaves.any(|(_, queue)| pod.requests().overlaps(&holds.less(&queue.target)));
            let loan = || (namespace.clone(), pod.uid.clone(), pod.requests().clone());
            since.lent.extend(is_lent.then(loan));
        }
        Ok(())
    }
}

impl Since {
    fn beginning(before: &Snapshot, decided: &Plan, asks: BTreeMap<QueueName, (Amounts, Amounts)>) -> Self {
        let old = pods(before).map(|(_, pod)| pod.uid.clone()).collect();
        Self { capacity: decided.capacity.clone(), asks, old, ..Self::default() }
    }

    /// Whether the queue of an evicted pod was lent what that pod holds: to the pod itself, or to another one. Each loan
    /// ends once.
    fn ends_a_loan(&mut self, eviction: &Eviction) -> bool {
        let pod = &eviction.pod;
        let own = self.lent.iter().position(|(_, uid, _)| *uid == pod.uid);
        let of_queue = |(namespace, _, requests): &(Namespace, PodUid, Amounts)| {
            *namespace == pod.namespace && requests.overlaps(&eviction.requests)
        };
        let loan = own.or_else(|| self.lent.iter().position(of_queue));
        loan.map(|loan| self.lent.remove(loan)).is_some()
    }

    /// Notes which queue loses what for which; says if one loses what it was given.
    fn evict(&mut self, before: &Snapshot, decided: &Plan) -> Result<(), String> {
        // A gang goes as a whole, and its queue may have a part of that again.
        let gangs: BTreeMap<&PodUid, (&Namespace, &GangName)> =
            pods(before).filter_map(|(name, pod)| Some((&pod.uid, (name, &pod.gang()?.name)))).collect();
        let newcomers = decided.evictions.iter().filter(|eviction| !self.old.contains(&eviction.pod.uid));
        let (lent, others): (Vec<_>, Vec<_>) =
            newcomers.collect::<Vec<_>>().into_iter().partition(|eviction| self.ends_a_loan(eviction));
        let lent: BTreeSet<_> = lent.iter().filter_map(|eviction| gangs.get(&eviction.pod.uid)).collect();
        let goes_with_its_gang =
            |eviction: &&Eviction| gangs.get(&eviction.pod.uid).is_some_and(|gang| lent.contains(gang));
        if let Some(eviction) = others.into_iter().find(|eviction| !goes_with_its_gang(eviction)) {
            return Err(format!("{:?} was admitted and is evicted", eviction.pod));
        }
        for eviction in &decided.evictions {
            let pod = &eviction.pod;
            let target = decided.queues.get(&eviction.queue).map(|queue| queue.target.clone());
            let target = target.unwrap_or_default();
            let is_above = |(one, _): (&Resource, Amount)| eviction.used.get(one) > target.get(one);
            // Of a queue that still holds too much more may go, and then a small pod has room again; so it has at once where
            // larger ones went, or a gang as a whole.
            let rest = eviction.used.less(&lost(decided, &eviction.queue));
            let gives_more = eviction.requests.resources().any(|one| rest.get(one) > target.get(one));
            let has_room = eviction.requests.fits_in(&target.less(&rest)) || gangs.contains_key(&pod.uid);
            let is_loss = eviction.requests.iter().any(is_above) && !gives_more && !has_room;
            // A newcomer has ended a loan, and an older pod may go in the place of one.
            if is_loss && self.old.contains(&pod.uid) && !self.ends_a_loan(eviction) {
                self.losers.push((eviction.queue.clone(), eviction.requests.clone()));
            }
            if let Some(gainer) = &eviction.beneficiary {
                let gained = self.gainers.entry(gainer.clone()).or_default();
                *gained = gained.max(&decided.queues[gainer].lacking);
            }
            self.owed.extend(eviction.beneficiary.clone().map(|beneficiary| Owed {
                namespace: pod.namespace.clone(),
                requests: eviction.requests.clone(),
                lacks: short_of(before, decided, &beneficiary),
                beneficiary,
                target: target.clone(),
            }));
        }
        let regains = |(queue, lost): &&(QueueName, Amounts)| {
            self.gainers.get(queue).is_some_and(|gained| lost.fits_in(gained))
        };
        let both: Vec<_> = self.losers.iter().filter(regains).collect();
        if !both.is_empty() {
            return Err(format!("{both:?} lose and gain"));
        }
        // A queue that makes no use of what it claims lacks nothing.
        self.owed.retain_mut(|owed| {
            owed.lacks = short_of(before, decided, &owed.beneficiary);
            owed.lacks.overlaps(&owed.requests)
        });
        Ok(())
    }
}

/// What pods of `queue` request that go now.
fn lost(decided: &Plan, queue: &QueueName) -> Amounts {
    let mut lost = Amounts::new();
    let of_queue = decided.evictions.iter().filter(|eviction| eviction.queue == *queue);
    of_queue.for_each(|eviction| lost.add_all(&eviction.requests));
    lost
}

/// What `queue` lacks beside what it is granted, of resources of which less than that is free: a unit lacks all of its
/// requests, while others may be lent what is plenty.
fn short_of(before: &Snapshot, decided: &Plan, queue: &QueueName) -> Amounts {
    let mut free = decided.capacity.clone();
    leaves(decided)
        .for_each(|(_, queue)| free.subtract_all(&queue.used.max(&queue.allocated.min(&queue.target))));
    lacks_at_least(before, decided, queue)
        .iter()
        .filter(|(one, amount)| *amount > free.get(one))
        .map(|(one, amount)| (one.clone(), amount))
        .collect()
}
