//! The protocol of the operator: grants are made in the engine's ledger first.

use std::sync::Arc;

use quotient_engine as engine;
use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::ledger::{Seen, SeenPods};
use quotient_engine::names::Namespace;
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;

use crate::cluster::Cluster;
use crate::ledger::{Ledger, stamp};
use crate::protocol::{let_in, queues, victims};
use crate::rules::Rules;
use crate::scenario::Scenario;
use crate::units::only;
use crate::view::snapshot;
use crate::write::{Base, LedgerWrite, QuotaWrite, Work};

/// By queue what is seen of its quota, with the stamp that it bears, if there is one.
fn quotas<'a>(
    snapshot: &'a engine::snapshot::Snapshot,
    seen: &Cluster,
) -> impl Iterator<Item = (&'a Namespace, Option<Seen<'a>>)> {
    snapshot.namespaces.iter().zip(seen.quotas).map(|((name, state), stamped)| {
        let seen = state.quota.as_ref().map(|quota| Seen {
            stamp: stamped.map(|stamped| stamp(stamped.generation)),
            hard: &quota.hard,
            enforced: &quota.enforced,
            ours: true,
            owner: quota.owner.as_ref(),
        });
        (name, seen)
    })
}

/// The ledger is laid beside the quotas, the plan is made of both, and what it grants is written to the ledger before
/// anything else.
pub(crate) fn decide(scenario: &Scenario, seen: &Cluster, rules: Rules) -> Work {
    let as_seen = snapshot(scenario, seen);
    let mut snapshot = as_seen.clone();
    let found = seen.ledger.map(Ledger::to_engine);
    // One that is behind although it was just read was lost in between.
    let found = found.filter(|_| !rules.rereads() || !seen.is_behind());
    let ledger = found.clone().unwrap_or_else(|| {
        let standing = quotas(&as_seen, seen).filter_map(|(name, quota)| Some((name, quota?)));
        let ledger = engine::ledger::Ledger::rebuild(standing, as_seen.now);
        if rules == Rules::AllButLeap { without_leap(ledger) } else { ledger }
    });
    for (name, seen) in quotas(&as_seen, seen) {
        let mut quota = ledger.quota(name, seen);
        if let Some(quota) = quota.as_mut().filter(|_| rules == Rules::AllButHold) {
            quota.unconfirmed = Bounds::new();
            quota.unstamped = false;
        }
        let state = snapshot.namespaces.get_mut(name).expect("it was just there");
        Arc::make_mut(state).quota = quota;
    }
    let is_awaited = seen.pods_are_older && rules != Rules::AllButPods;
    let pods = if is_awaited { SeenPods::Older } else { SeenPods::UpToLedger };
    snapshot.grant_gate = ledger.grant_gate(&snapshot.namespaces, pods, snapshot.now);

    let plan = plan(&snapshot);
    let mut next = plan.ledger_after(&ledger, &snapshot);
    if let Some(next) = next.as_mut().filter(|_| rules == Rules::OwedUnwritten) {
        next.entries.values_mut().for_each(|entry| entry.owed = Amounts::new());
    }
    if rules == Rules::OwedAfterLoss && found.is_none() {
        owe_what_is_granted(next.get_or_insert_with(|| ledger.clone()), &plan);
    }
    // One that was made up has to be there before anything is done in its name.
    let to_write = next.clone().or_else(|| found.is_none().then(|| ledger.clone()));
    let ledger = next.unwrap_or(ledger);
    let mut work = Work {
        evictions: victims(plan.evictions.iter()),
        gates: let_in(&plan),
        gates_first: rules == Rules::GatesFirst,
        ..Work::default()
    };
    work.ledger = to_write.map(|ledger| LedgerWrite {
        based_on: seen.ledger.map(|ledger| ledger.version),
        ledger: Ledger::of_engine(&ledger),
    });
    let ledger = Ledger::of_engine(&ledger);
    for (at, queue) in queues(scenario, &plan) {
        let Some(write) = &queue.quota_write else { continue };
        let based_on = match seen.quotas[at] {
            None => Base::Absent,
            Some(quota) if rules == Rules::AllButOrder => Base::Stamped(quota.generation),
            Some(_) => Base::UpTo(ledger.generation),
        };
        let generation = ledger.entries[at].expect("what is written was granted").changed;
        work.quotas[at] =
            Some(QuotaWrite { hard: only(&write.hard), lowers: write.lowers, generation, based_on });
    }
    work
}

/// The ledger as it would be if it began right after the latest stamp.
fn without_leap(mut ledger: engine::ledger::Ledger) -> engine::ledger::Ledger {
    let near = |generation: engine::ledger::Generation| {
        engine::ledger::Generation::new(generation.number() - engine::ledger::LOST)
    };
    ledger.generation = near(ledger.generation);
    ledger.entries.values_mut().for_each(|entry| entry.generation = near(entry.generation));
    ledger
}

/// Owes to each queue all of its deserved share, although it is granted already.
fn owe_what_is_granted(ledger: &mut engine::ledger::Ledger, plan: &Plan) {
    for (name, queue) in &plan.queues {
        if let Some(entry) = ledger.entries.get_mut(&name.namespace) {
            entry.owed = queue.deserved.clone();
        }
    }
}
