//! Protocols that are known to be wrong: the model has to find out, and says how.

#![allow(missing_docs, reason = "tests")]

use expect_test::expect;
use quotient_model::check::{HEADING, refute};
use quotient_model::cluster::Kind;
use quotient_model::laws::{FEW, FREED, LOANS, NEED, ONCE, REST, ROOM};
use quotient_model::rules::Protocol;
use quotient_model::rules::Rules;
use quotient_model::scenario::{Faults, Scenario};
use quotient_model::scenarios::{free, gated_free, halves};

/// Asserts that `law` is broken, prints the shortest way there, and returns it.
fn refuted(scenario: &Scenario, law: &'static str) -> String {
    let found = refute(scenario, law);
    let way = found.broken.first().map(|(_, way)| way.as_str()).unwrap_or_default();
    println!("{HEADING}\n{found}\n\n{law}, and yet:\n{way}");
    assert_ne!(way, "", "the protocol is wrong, and nothing was found");
    way.to_owned()
}

#[test]
fn all_quotas_at_once() {
    refuted(&Scenario { protocol: Protocol::AllAtOnce, ..halves("all quotas at once") }, ROOM);
}

#[test]
fn no_wait_for_status_hard() {
    refuted(&Scenario { protocol: Protocol::NoWait, ..halves("no wait for status.hard") }, FEW);
}

#[test]
fn any_victims() {
    refuted(&Scenario { protocol: Protocol::AnyVictims, operators: 2, ..halves("any victims") }, NEED);
}

#[test]
fn no_ledger() {
    let two = Scenario { protocol: Protocol::NoLedger, operators: 2, ..free("no ledger") };
    expect![[r#"
        At first: a 2: 2, b 0: 0, c 0: 0
          1. A plans: quota b 2                                                 a 2: 2, b 0: 0, c 0: 0
          2. a asks for 2, b asks for 1, c asks for 1                           a 2: 2, b 0: 0, c 0: 0
          3. B plans: quota b 1, quota c 1                                      a 2: 2, b 0: 0, c 0: 0
          4. A: quota b 2                                                       a 2: 2, b 2(in force 0): 0, c 0: 0
          5. B: quota b 1: conflict                                             a 2: 2, b 2(in force 0): 0, c 0: 0
          6. B: quota c 1                                                       a 2: 2, b 2(in force 0): 0, c 1(in force 0): 0
          7. the quota of b is in force                                         a 2: 2, b 2: 0, c 1(in force 0): 0
          8. the quota of c is in force                                         a 2: 2, b 2: 0, c 1: 0
    "#]].assert_eq(&refuted(&two, ROOM));
}

#[test]
fn quotas_as_copies_of_the_ledger() {
    let scenario = free("quotas as copies of the ledger");
    refuted(&Scenario { protocol: Protocol::Copies, operators: 2, ..scenario }, ROOM);
}

#[test]
fn earlier_grants_forgotten() {
    let scenario = free("earlier grants forgotten");
    let (protocol, demands) = (Protocol::Ledger(Rules::AllButHold), vec![[2, 2, 0], [2, 0, 2]]);
    let faults = Faults { late: 1, ..Faults::default() };
    refuted(&Scenario { protocol, demands, faults, ..scenario }, ROOM);
}

#[test]
fn old_ledger_trusted() {
    let (protocol, lagging) = (Protocol::Ledger(Rules::AllButOrder), &[Kind::Queues, Kind::Ledger]);
    refuted(&Scenario { protocol, operators: 2, lagging, ..free("old ledger trusted") }, ROOM);
}

#[test]
fn ledger_made_up_with_the_next_generation() {
    let (protocol, faults) = (Protocol::Ledger(Rules::AllButLeap), Faults { losses: 1, ..Faults::default() });
    refuted(
        &Scenario { protocol, operators: 2, faults, ..free("a ledger made up with the next generation") },
        ROOM,
    );
}

#[test]
fn owed_not_written_before_it_is_freed() {
    let protocol = Protocol::Ledger(Rules::OwedUnwritten);
    refuted(&Scenario { protocol, ..halves("owed not written") }, FREED);
}

#[test]
fn a_rebuilt_ledger_owes_what_was_granted_since() {
    let (protocol, faults) =
        (Protocol::Ledger(Rules::OwedAfterLoss), Faults { losses: 1, ..Faults::default() });
    refuted(&Scenario { protocol, faults, ..halves("owed of a lost ledger") }, ONCE);
}

#[test]
fn gates_removed_before_the_ledger_is_written() {
    let protocol = Protocol::Ledger(Rules::GatesFirst);
    refuted(&Scenario { protocol, ..gated_free("gates first") }, LOANS);
}

#[test]
fn growth_with_pods_older_than_the_ledger() {
    let protocol = Protocol::Ledger(Rules::AllButPods);
    let scenario = gated_free("growth with old pods");
    refuted(&Scenario { protocol, operators: 2, lagging: &[Kind::Pods], ..scenario }, ROOM);
}

/// Without what quotas say is charged: `Rules::AndUsed`, as the operator does it, holds.
#[test]
fn pods_seen_later_than_quotas() {
    refuted(&Scenario { lagging: &[Kind::Pods], ..free("pods seen later than quotas") }, ROOM);
}

/// A model in which nothing happens cannot pass.
#[test]
fn no_operator_acts() {
    refuted(&Scenario { operators: 0, ..halves("no operator acts") }, REST);
}
