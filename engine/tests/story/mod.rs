//! Scenarios as text: what a test says of a cluster, and what it is told back.
//!
//! ```text
//! node n1 cpu=6 memory=15Gi labels=zone:a
//! queue a weight=2 request=cpu:5,memory:10Gi
//! quota a cpu=3 memory=9Gi
//! owner a/web replicas=3 cpu=1 memory=1Gi pods=web-1..2 node=n1
//! pod a/p1 cpu=2 memory=1Gi node=n1 started=10
//! budget a/web allowed=1 selects=app:web
//! then after=60
//! owner a/web replicas=5 cpu=1 memory=1Gi
//! delete pod a/p1
//! ```
//!
//! A queue has the name of its namespace unless `name=` says otherwise. Pods run on no particular node unless
//! told `node=`, `pending` or `terminating`; a terminating pod was deleted, and with `evicted` evicted. Times are seconds,
//! and a scenario begins at 1000. It is about the resources of its nodes, unless `settings resources=cpu` says otherwise.
//! `pod a/p1..3 cpu=2 started=10+5` is three pods, started at 10, 15 and 20; `queue a,b` is two queues. What follows a `then`
//! happens when everything before has come to rest: a line replaces the object of its name, or deletes it. Every word is
//! explained where it is read, in `parse`.

#![allow(dead_code, reason = "every test file uses its part of it")]

pub(crate) mod full;
pub(crate) mod parse;
mod print;
mod range;

use std::fmt;

use expect_test::Expect;
use quotient_advance::{advance, settle};
use quotient_engine::planner::plan;

pub(crate) use parse::{Scenario, parse, parts};
pub(crate) use print::{print, print_passed_over, print_writes};
use print::{print_changes, print_later, print_left_over, print_shares};
use range::folded;

/// A random scenario. Where it breaks a law it is printed as it can be played.
#[derive(Clone)]
pub(crate) struct Drawn(pub(crate) String);

impl fmt::Debug for Drawn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\n{}", self.0)
    }
}

/// More steps than any story takes.
const MOST_STEPS: usize = 100;

/// Plays `scenario` to its end, and wants to be told this.
pub(crate) fn plays(scenario: &str, expected: &Expect) {
    expected.assert_eq(&folded(&play(scenario)));
}

/// Decides once on `scenario`, and wants to be told this.
pub(crate) fn decides(scenario: &str, expected: &Expect) {
    expected.assert_eq(&folded(&decide(scenario)));
}

/// Decides once on `scenario`, and wants to be told these deserved shares.
pub(crate) fn shares(scenario: &str, expected: &Expect) {
    expected.assert_eq(&print_shares(&plan(&parse(scenario))));
}

/// Decides once on `scenario` with its quotas settled, and wants to be told this of what happens: what goes, what is protected,
/// what waits for other things than evictions, and what is odd later.
pub(crate) fn explains(scenario: &str, expected: &Expect) {
    expected.assert_eq(&explained(scenario));
}

fn explained(scenario: &str) -> String {
    without_the_usual(&folded(&explain(scenario)))
}

/// `printed` without the numbers of queues that have what they need or get it by evictions. One line has no end.
fn without_the_usual(printed: &str) -> String {
    let is_usual = |line: &&str| {
        let is_queue = line.contains(": deserved ") && !line.contains("unmeetable");
        let waits = line.contains('(') && !line.contains("(WaitingForPreemption)");
        line.starts_with("step ") || line.ends_with(": WaitingForPreemption") || (is_queue && !waits)
    };
    let lines: Vec<&str> = printed.lines().filter(|line| !is_usual(line)).map(str::trim).collect();
    match lines.as_slice() {
        [] => "nothing".to_owned(),
        [line] => (*line).to_owned(),
        lines => lines.join("\n") + "\n",
    }
}

/// Decides once on `scenario` with its quotas settled: no pod is evicted, and what is told contains `reason`.
pub(crate) fn no_pod_goes(scenario: &str, reason: &str) {
    let printed = explain_first(scenario);
    assert!(!printed.contains("evict"), "{printed}");
    assert!(printed.contains(reason), "{printed}");
}

/// Decides once on `scenario` as it stands, and tells what is to be written, evicted and waited for.
pub(crate) fn decide(scenario: &str) -> String {
    let plan = plan(&parse(scenario));
    print(1, &plan, &[]) + &print_writes(&plan)
}

/// Decides once on `scenario` with its quotas settled, and tells which pods a rule protected from that.
///
/// Most stories go on in one way: pods leave, others start in their room, and the scenario rests. Only what is different is told.
pub(crate) fn explain(scenario: &str) -> String {
    explain_first(scenario) + &afterwards(scenario)
}

fn explain_first(scenario: &str) -> String {
    let (_, plan) = settle(&parse(scenario));
    print(1, &plan, &[]) + &print_passed_over(&plan)
}

/// What is done in later steps than the first one, until `scenario` rests, and which pods wait for room then.
fn afterwards(scenario: &str) -> String {
    let (mut snapshot, mut printed) = (parse(scenario), String::new());
    for step in 1..=MOST_STEPS {
        let (settled, plan) = settle(&snapshot);
        if step > 1 {
            printed.push_str(&print_later(&plan));
        }
        let advanced = advance(&settled, &plan);
        if advanced.rests(&settled) {
            return printed + &print_left_over(&plan);
        }
        snapshot = advanced.snapshot;
    }
    panic!("does not come to rest: {scenario}");
}

/// Plays `scenario` to its end and tells every step; of each queue only what changes.
pub(crate) fn play(scenario: &str) -> String {
    let Scenario { beginning: mut snapshot, then } = parts(scenario);
    let mut then = then.into_iter();
    let (mut printed, mut before) = (String::new(), Vec::new());
    for step in 1..=MOST_STEPS {
        let (settled, plan) = settle(&snapshot);
        let advanced = advance(&settled, &plan);
        printed.push_str(&print_changes(step, &plan, &advanced.started, &mut before));
        let moves = !plan.queue_jobs.is_empty() && !advanced.rests(&settled);
        snapshot = advanced.snapshot;
        let is_still = plan.evictions.is_empty() && plan.shortened.is_empty() && plan.scalings.is_empty();
        if !moves && is_still && advanced.started.is_empty() {
            let Some(then) = then.next() else { return printed };
            printed.push_str(&then.announcement());
            then.happen(&mut snapshot);
        }
    }
    printed + "does not come to rest\n"
}
