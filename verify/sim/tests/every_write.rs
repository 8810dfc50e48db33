//! Every write of the newcomer's scenario, crashed before, crashed after, and its answer lost.
//!
//! A small campaign: the end has to be the same, and no pod more may go.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::faults::{Fault, What};
use quotient_sim::operators::Exit;
use quotient_sim::scenario::workload;

const SEED: u64 = 5;

fn execution(options: OperatorOptions) -> (World, bool) {
    let workload = workload::newcomer();
    let mut world = World::new(SEED);
    workload.build(&world);
    world.start(options);
    let settled = workload.run(&mut world).is_some();
    (world, settled)
}

fn writes() -> u64 {
    let (world, _) = execution(OperatorOptions::default());
    let trace = world.trace();
    u64::try_from(trace.asked_by("quotient-0").filter(|record| !record.is_lease()).count()).unwrap()
}

fn check(what: &What) {
    let workload = workload::newcomer();
    let mut wrong = Vec::new();
    for write in 0..writes() {
        let (world, settled) =
            execution(OperatorOptions::default().fault(Fault::at_write(write, what.clone())));
        let operator = world.cluster().operator(0).unwrap();
        let mut found = workload.differences(&world);
        if !settled {
            found.push("never settles".to_owned());
        }
        if world.evictions() != workload.evictions {
            found.push(format!("{} evictions", world.evictions()));
        }
        if operator.faults_left() > 0 {
            found.push("the fault hit nothing".to_owned());
        }
        found.extend(operator.exits().into_iter().filter(Exit::is_panic).map(|exit| exit.why));
        if !found.is_empty() {
            wrong.push(format!("{what} at write {write}: {}", found.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crashed_before() {
    check(&What::CrashBefore(Duration::from_secs(1)));
}

#[test]
fn crashed_after() {
    check(&What::CrashAfter(Duration::from_secs(1)));
}

#[test]
fn answer_lost() {
    check(&What::ReplyLost);
}

#[test]
fn answer_is_an_error() {
    check(&What::ReplyError(504));
}

#[test]
fn connection_broken() {
    check(&What::Reset);
}

#[test]
fn server_busy() {
    check(&What::Reject(503));
}

#[test]
fn much_too_late() {
    check(&What::Delay(Duration::from_secs(17)));
}
