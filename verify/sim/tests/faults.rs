//! Faults of requests do what they say, and the operator comes through.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::faults::{Act, Fault, Match, What};
use quotient_sim::faults::{OperatorOptions, StaleView};
use quotient_sim::objects::Kind;
use quotient_sim::scenario::workload;
use quotient_sim::trace::{Trace, Verb};

use super::{settle, world_of};

const SECOND: Duration = Duration::from_secs(1);

/// The newcomer's scenario with these operators. It has to end as without faults, and every fault has to hit.
fn newcomer(operators: Vec<OperatorOptions>) -> (World, Trace) {
    let (world, trace) = settled(operators);
    assert_eq!(workload::newcomer().differences(&world), Vec::<String>::new(), "{}", trace.text());
    (world, trace)
}

/// The same, however it ends.
fn settled(operators: Vec<OperatorOptions>) -> (World, Trace) {
    let workload = workload::newcomer();
    let mut world = world_of(&workload, 11, operators);
    let wrong = settle(&workload, &mut world);
    let trace = world.trace();
    assert_eq!(wrong, Vec::<String>::new(), "{}", trace.text());
    (world, trace)
}

fn hit<'a>(trace: &'a Trace, fault: &'a str) -> Vec<&'a quotient_sim::trace::Record> {
    let is = |name: &std::sync::Arc<str>| name.starts_with(fault);
    trace.records.iter().filter(|record| record.fault.as_ref().is_some_and(is)).collect()
}

#[test]
fn a_crash_before_a_write_loses_it_and_one_after_does_not() {
    for (what, applied) in [(What::CrashBefore(SECOND), false), (What::CrashAfter(SECOND), true)] {
        let (world, trace) =
            newcomer(vec![OperatorOptions::default().fault(Fault::on(Match::evictions(), what))]);
        let [record] = hit(&trace, "Crash")[..] else { panic!("{}", trace.text()) };
        assert_eq!((record.write.is_some(), record.life), (applied, 0));
        let [exit] = &world.cluster().operator(0).unwrap().exits()[..] else { panic!("one crash") };
        assert_eq!((exit.why.as_str(), exit.time), ("crashed", record.time));
        let after = trace.records.iter().filter(|record| &*record.client == "quotient-0" && record.life == 0);
        assert!(
            after.map(|record| record.number).max() <= Some(record.number),
            "nothing is asked after death"
        );
        assert_eq!(world.evictions(), 2);
    }
}

#[test]
fn a_lost_reply_is_a_write_without_an_answer() {
    for what in [What::ReplyLost, What::ReplyReset, What::ReplyError(504), What::ReplyError(500)] {
        let (world, trace) =
            newcomer(vec![OperatorOptions::default().fault(Fault::on(Match::evictions(), what))]);
        let [record] = hit(&trace, "Reply")[..] else { panic!("{}", trace.text()) };
        assert!(record.evicted());
        assert_eq!(world.evictions(), 2, "{}", trace.text());
    }
}

#[test]
fn refusals_and_broken_connections_change_nothing() {
    let refused = |what: What, run: fn(Vec<OperatorOptions>) -> (World, Trace)| {
        let name = what.to_string();
        let (world, trace) = run(vec![OperatorOptions::default().fault(Fault::on(Match::evictions(), what))]);
        let [record] = hit(&trace, &name)[..] else { panic!("{}", trace.text()) };
        assert_eq!((record.write, world.evictions()), (None, 2), "{}", trace.text());
    };
    for code in [404, 409, 429, 500, 503, 504] {
        refused(What::Reject(code), newcomer);
    }
    for what in [What::Reset, What::Lost, What::Busy(Some(1))] {
        refused(what, newcomer);
    }
    // What says that this pod may not be evicted has another one evicted in its place.
    for code in [403, 422] {
        refused(What::Reject(code), settled);
    }
}

#[test]
fn a_delayed_write_arrives_although_its_client_is_gone() {
    let quota = Match::requests(Verb::Patch, Kind::ResourceQuota);
    let delay = What::Delay(Duration::from_secs(20));
    let (_, trace) = newcomer(vec![OperatorOptions::default().fault(Fault::on(quota, delay))]);
    let [record] = hit(&trace, "Delay")[..] else { panic!("{}", trace.text()) };
    // By then it has been written anew, and the generation that it was decided on is gone.
    assert_eq!((record.code, record.write), (422, None), "{}", trace.text());
}

#[test]
fn an_operator_that_starts_in_the_past_acts_on_it_until_it_catches_up() {
    let view = StaleView { behind: 20, until: Duration::from_secs(130) };
    let late =
        OperatorOptions { view: Some(view), ..OperatorOptions::default() }.flag("--leader-elect=false");
    let start = What::Then(Box::new(Act::Start(late)));
    let (_, trace) = newcomer(vec![OperatorOptions::default().fault(Fault::on(Match::evictions(), start))]);
    let lists =
        trace.records.iter().filter(|record| &*record.client == "quotient-1" && record.verb == Verb::List);
    let newest = |record: &&quotient_sim::trace::Record| {
        let before = trace.records[..usize::try_from(record.number).unwrap()].iter().rev();
        before.map(|record| record.version).max()
    };
    assert!(
        lists.clone().count() >= 10 && lists.clone().all(|record| Some(record.version) < newest(&record))
    );
}
