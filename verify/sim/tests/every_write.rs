//! Every write of the newcomer's scenario, crashed before, crashed after, and its answer lost.
//!
//! A small campaign: the end has to be the same, and no pod more may go.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::faults::{Fault, OperatorOptions, What};
use quotient_sim::scenario::workload;

use super::{differences, settle, world_of};

/// The newcomer's scenario by this operator, and what is wrong in the end.
fn execution(options: OperatorOptions) -> (World, Vec<String>) {
    let workload = workload::newcomer();
    let mut world = world_of(&workload, 5, [options]);
    let mut wrong = settle(&workload, &mut world);
    wrong.extend(differences(&workload, &world));
    (world, wrong)
}

fn check(what: &What) {
    let (undisturbed, _) = execution(OperatorOptions::default());
    let writes = undisturbed.trace().asked_by("quotient-0").filter(|record| !record.is_lease()).count();
    let mut wrong = Vec::new();
    for write in 0..writes as u64 {
        let (_, found) = execution(OperatorOptions::default().fault(Fault::at_write(write, what.clone())));
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
