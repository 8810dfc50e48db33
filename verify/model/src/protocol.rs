//! How an operator decides and in which order it writes: the real protocol, and those that are known to be wrong.

use std::collections::BTreeSet;

use quotient_engine::plan::{Eviction, Plan, PodId, QueuePlan};
use quotient_engine::planner::plan;

use crate::cluster::Cluster;
use crate::ledger::{Entry, Ledger};
use crate::numbers::{NAMES, PerQueue};
use crate::pods::{count, ids};
use crate::rules::Protocol;
use crate::scenario::Scenario;
use crate::units::cpu;
use crate::view::snapshot;
use crate::with_ledger;
use crate::write::{Base, LedgerWrite, QuotaWrite, Work};

/// The plan that the engine makes of what is seen.
pub(crate) fn planned(scenario: &Scenario, seen: &Cluster) -> Plan {
    plan(&snapshot(scenario, seen))
}

impl Protocol {
    /// What an operator that sees `seen` is going to write.
    pub fn decide(self, scenario: &Scenario, seen: &Cluster, choice: u8) -> Work {
        match self {
            Self::AllAtOnce => all_at_once(scenario, seen),
            Self::NoWait => {
                let mut believed = *seen;
                for quota in believed.quotas.iter_mut().flatten() {
                    quota.enforced = quota.hard;
                }
                without_ledger(scenario, &believed)
            }
            Self::AnyVictims => {
                let mut work = without_ledger(scenario, seen);
                if choice == 1 {
                    let victims = work.evictions.iter_mut().zip(&seen.pods);
                    for (victims, pods) in victims {
                        *victims = ids(pods.staying())
                            .take(usize::from(count(*victims)))
                            .fold(0, |set, id| set | (1 << id));
                    }
                }
                work
            }
            Self::NoLedger => without_ledger(scenario, seen),
            Self::Copies => copies(scenario, seen),
            Self::Ledger(rules) => with_ledger::decide(scenario, seen, rules),
        }
    }
}

fn all_at_once(scenario: &Scenario, seen: &Cluster) -> Work {
    let plan = planned(scenario, seen);
    let mut work = Work::default();
    for (at, queue) in queues(scenario, &plan) {
        let deserved = cpu(&queue.deserved);
        if seen.quotas[at].map(|quota| quota.hard) != Some(deserved) {
            work.quotas[at] = Some(next_write(seen, at, deserved));
        }
    }
    work.evictions = victims(plan.evictions.iter().chain(&plan.waiting));
    work
}

fn without_ledger(scenario: &Scenario, seen: &Cluster) -> Work {
    let plan = planned(scenario, seen);
    let mut work = Work { evictions: victims(plan.evictions.iter()), ..Work::default() };
    for (at, queue) in queues(scenario, &plan) {
        if queue.quota_write.is_some() {
            work.quotas[at] = Some(next_write(seen, at, cpu(&queue.allocated)));
        }
    }
    work
}

/// The write of `hard` that only takes effect if no other writer has written the quota of `at` since it was seen.
fn next_write(seen: &Cluster, at: usize, hard: u8) -> QuotaWrite {
    match seen.quotas[at] {
        None => QuotaWrite { hard, lowers: true, generation: 1, based_on: Base::Absent },
        Some(quota) => QuotaWrite {
            hard,
            lowers: hard < quota.hard,
            generation: quota.generation + 1,
            based_on: Base::Stamped(quota.generation),
        },
    }
}

/// Decides on what the ledger says, and brings quotas to that whatever they say.
fn copies(scenario: &Scenario, seen: &Cluster) -> Work {
    let ledger = seen.ledger.unwrap_or_default();
    let mut believed = *seen;
    for (quota, entry) in believed.quotas.iter_mut().zip(&ledger.entries) {
        if let (Some(quota), Some(entry)) = (quota, entry) {
            quota.hard = entry.granted;
        }
    }
    let plan = planned(scenario, &believed);
    let mut work = Work { evictions: victims(plan.evictions.iter()), ..Work::default() };
    let mut next = ledger;
    for (at, queue) in queues(scenario, &plan) {
        let granted = cpu(&queue.allocated);
        next.entries[at] = Some(Entry { granted, largest: granted, owed: 0, changed: 1 });
        if seen.quotas[at].is_none_or(|quota| quota.hard != granted) {
            let lowers = seen.quotas[at].is_none_or(|quota| quota.hard > granted);
            work.quotas[at] =
                Some(QuotaWrite { hard: granted, lowers, generation: 1, based_on: Base::Anything });
        }
    }
    if next.entries != ledger.entries {
        work.ledger = Some(LedgerWrite {
            based_on: seen.ledger.map(|ledger| ledger.version),
            ledger: Ledger { version: 0, ..next },
        });
    }
    work
}

/// The plans of the scenario's queues, in order.
pub(crate) fn queues<'a>(
    scenario: &Scenario,
    plan: &'a Plan,
) -> impl Iterator<Item = (usize, &'a QueuePlan)> {
    assert_eq!(plan.queues.len(), scenario.queues, "every queue has a share");
    plan.queues.values().enumerate()
}

/// The victims, by queue.
pub(crate) fn victims<'a>(evictions: impl Iterator<Item = &'a Eviction>) -> PerQueue<u16> {
    by_queue(evictions.map(|eviction| &eviction.pod))
}

/// The pods whose gates are removed, by queue.
pub(crate) fn let_in(plan: &Plan) -> PerQueue<u16> {
    by_queue(plan.gate_removals.iter().map(|removal| &removal.pod))
}

fn by_queue<'a>(pods: impl Iterator<Item = &'a PodId>) -> PerQueue<u16> {
    let mut by_queue = PerQueue::default();
    let mut seen = BTreeSet::new();
    for pod in pods {
        assert!(seen.insert(pod), "no pod is named twice by one plan");
        let (queue, id) = pod.uid.as_str().split_once('-').expect("uids are queue and id");
        let at = NAMES.iter().position(|name| *name == queue).expect("pods are in queues");
        let id: u8 = id.parse().expect("only pods that are seen are named");
        by_queue[at] |= 1 << id;
    }
    by_queue
}
