//! A way through the world, told in short steps.

use std::fmt::Write as _;

use crate::action::Action;
use crate::cluster::{Cluster, Kind};
use crate::ledger::Ledger;
use crate::numbers::NAMES;
use crate::pods::count;
use crate::scenario::Scenario;
use crate::state_space::StateSpace;
use crate::world::World;
use crate::write::{Outcome, Write};

/// Tells what happens if `actions` follow each other from the beginning.
pub fn describe(space: &StateSpace, actions: &[Action]) -> String {
    let mut world = space.beginning();
    let mut printed = format!("At first: {}\n", state(&space.scenario, &world.cluster));
    for (number, action) in actions.iter().enumerate() {
        let Some(next) = space.after(&world, *action) else { continue };
        let what = step(space, &world, *action);
        let shown = state(&space.scenario, &next.cluster);
        let _ = writeln!(printed, "{:>3}. {what:<66} {shown}", number + 1);
        world = next;
    }
    printed
}

/// `a 4/4 use 4`: the quota, what of it is in force, and the pods.
fn state(scenario: &Scenario, cluster: &Cluster) -> String {
    let queue = |at: usize| {
        let quota = cluster.quotas[at].map_or("-".to_owned(), |quota| {
            if quota.hard == quota.enforced {
                quota.hard.to_string()
            } else {
                format!("{}(in force {})", quota.hard, quota.enforced)
            }
        });
        let pods = cluster.pods[at];
        let leaving = match count(pods.terminating) {
            0 => String::new(),
            leaving => format!("-{leaving}"),
        };
        let gated = match count(pods.gated) {
            0 => String::new(),
            gated => format!(" ({gated} gated)"),
        };
        format!("{} {quota}: {}{leaving}{gated}", NAMES[at], pods.charged())
    };
    scenario.each().map(queue).collect::<Vec<_>>().join(", ")
}

fn step(space: &StateSpace, world: &World, action: Action) -> String {
    let queue = |at: usize| NAMES[at];
    let leader = |op: usize| ["A", "B", "C"][op];
    match action {
        Action::Observe(op, kind) => format!("{} observations at {}", leader(op), kinds(kind)),
        Action::Plan(op, _) => {
            let after = space.after(world, action).unwrap_or_else(|| world.clone());
            let mut work = after.operators[op].work;
            let mut writes = Vec::new();
            while let Some(write) = work.next() {
                work.cross_off(&write);
                writes.push(self::write(&space.scenario, &write));
            }
            format!("{} plans: {}", leader(op), writes.join(", "))
        }
        Action::Write(op) => {
            let Some(write) = world.operators[op].work.next() else { return String::new() };
            let Some(sent) = write.sent(&world.sees(&space.scenario, op).quotas) else {
                return format!("{} leaves it: {}", leader(op), self::write(&space.scenario, &write));
            };
            format!("{}: {}", leader(op), done(space, world, &sent))
        }
        Action::Late(op) => {
            let Some(write) = world.operators[op].work.next() else { return String::new() };
            format!("{} times out: {}", leader(op), self::write(&space.scenario, &write))
        }
        Action::Land(slot) => {
            let Some(write) = world.late[slot] else { return String::new() };
            format!("late: {}", done(space, world, &write))
        }
        Action::Lose(_) => "a late write is lost".to_owned(),
        Action::Crash(op) => format!("{} dies and starts again", leader(op)),
        Action::Enforce(at) => format!("the quota of {} is in force", queue(at)),
        Action::Create(at) => format!("a pod of {} is created", queue(at)),
        Action::Bind(at) => format!("a pod of {} starts", queue(at)),
        Action::Gone(at, id) => format!("pod {}{id} is gone", queue(at)),
        Action::Die(at, id) => format!("pod {}{id} ends by itself", queue(at)),
        Action::Raise(at) => format!("a person raises the quota of {}", queue(at)),
        Action::Forget => "a person deletes the ledger".to_owned(),
        Action::Demand => {
            let next = &space.scenario.demands[usize::from(world.cluster.demand) + 1];
            let asks = space.scenario.each().map(|at| format!("{} asks for {}", queue(at), next[at]));
            asks.collect::<Vec<_>>().join(", ")
        }
    }
}

fn done(space: &StateSpace, world: &World, write: &Write) -> String {
    let mut cluster = world.cluster;
    let said = self::write(&space.scenario, write);
    match write.land(&mut cluster, 0) {
        Outcome::Done => said,
        Outcome::Conflict => format!("{said}: conflict"),
        Outcome::Nothing => format!("{said}: nothing to do"),
    }
}

fn write(scenario: &Scenario, write: &Write) -> String {
    match *write {
        Write::Ledger(write) => ledger(scenario, &write.ledger),
        Write::Quota(at, write) => format!("quota {} {}", NAMES[at], write.hard),
        Write::Evict(at, id) => format!("evict {}{id}", NAMES[at]),
        Write::LetIn(at, id) => format!("let in {}{id}", NAMES[at]),
    }
}

fn ledger(scenario: &Scenario, ledger: &Ledger) -> String {
    let entry = |at: usize| {
        ledger.entries[at].map_or("-".to_owned(), |entry| {
            if entry.granted == entry.largest {
                entry.granted.to_string()
            } else {
                format!("{}(≤{})", entry.granted, entry.largest)
            }
        })
    };
    format!("ledger {}", scenario.each().map(entry).collect::<Vec<_>>().join(" "))
}

const fn kinds(kind: Kind) -> &'static str {
    match kind {
        Kind::Queues => "Queues",
        Kind::Quotas => "quotas",
        Kind::Pods => "pods",
        Kind::Ledger => "the ledger",
    }
}
