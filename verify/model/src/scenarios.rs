//! The scenarios that are exhausted: small ones with every change, large ones on demand.

use crate::cluster::{KINDS, Kind};
use crate::rules::{Protocol, Rules};
use crate::scenario::{Faults, Scenario};

/// Everything but pods may be seen late.
const ALL_BUT_PODS: &[Kind] = &[Kind::Queues, Kind::Quotas, Kind::Ledger];

/// One kind may be seen late.
const QUOTAS: &[Kind] = &[Kind::Quotas];
const PODS: &[Kind] = &[Kind::Pods];
const LEDGER: &[Kind] = &[Kind::Ledger];

/// Nothing goes wrong.
const NO_FAULTS: Faults = Faults { crashes: 0, late: 0, deaths: 0, raises: 0, losses: 0 };
/// An operator dies once.
const CRASH: Faults = Faults { crashes: 1, ..NO_FAULTS };
/// An operator dies once, and a write lands late.
const CRASH_LATE: Faults = Faults { late: 1, ..CRASH };

/// Four units, all of them held by `a`; `b` asks for its half.
pub fn halves(name: &'static str) -> Scenario {
    Scenario {
        name,
        protocol: Protocol::REAL,
        capacity: 4,
        queues: 2,
        demands: vec![[4, 4, 0]],
        quotas: [Some(4), Some(0), None],
        ledger: true,
        gated: None,
        pods: [4, 0, 0],
        operators: 1,
        lagging: &[],
        starts_at_once: true,
        faults: NO_FAULTS,
    }
}

/// Four units, two of them free; first `b` asks for both, then `b` and `c` for one each.
pub fn free(name: &'static str) -> Scenario {
    Scenario {
        queues: 3,
        demands: vec![[2, 2, 0], [2, 1, 1]],
        quotas: [Some(2), Some(0), Some(0)],
        pods: [2, 0, 0],
        ..halves(name)
    }
}

/// Four units, all of them held by `a`; first `b` asks for its share, then `c` as well.
pub fn thirds(name: &'static str) -> Scenario {
    Scenario {
        queues: 3,
        demands: vec![[4, 4, 0], [4, 4, 1]],
        quotas: [Some(4), Some(0), Some(0)],
        pods: [4, 0, 0],
        ..halves(name)
    }
}

/// `a` has filled the cluster before it had a Queue and a quota; `b` asks for its half.
fn newcomer(name: &'static str) -> Scenario {
    Scenario { quotas: [None, Some(0), None], ..halves(name) }
}

/// Four units, all of them held by `a`; `b` asks for its half, and its pods wait gated.
pub fn gated_halves(name: &'static str) -> Scenario {
    Scenario { quotas: [Some(4), Some(4), None], gated: Some([4, 0, 0]), ..halves(name) }
}

/// The same with two units that are free; first `b` asks for both, then `b` and `c` for one each.
pub fn gated_free(name: &'static str) -> Scenario {
    Scenario { quotas: [Some(2), Some(2), Some(0)], gated: Some([2, 0, 0]), ..free(name) }
}

impl Scenario {
    /// The same with so many leaders.
    fn leaders(self, operators: usize) -> Self {
        Self { operators, ..self }
    }

    /// The same where this may go wrong.
    fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// The same where watches of these kinds may lag.
    fn lagging(self, lagging: &'static [Kind]) -> Self {
        Self { lagging, ..self }
    }

    /// The same where quotas tell what is charged.
    fn with_used(self) -> Self {
        Self { protocol: Protocol::Ledger(Rules::AndUsed), ..self }
    }
}

/// Seconds each.
pub fn small() -> Vec<Scenario> {
    let ends = Faults { deaths: 2, ..CRASH };
    let lost = Faults { losses: 1, ..NO_FAULTS };
    let crash_late_lost = Faults { losses: 1, ..CRASH_LATE };
    let raised = Faults { raises: 1, ..CRASH };
    vec![
        halves("halves, one leader, crash, late write").faults(CRASH_LATE),
        halves("halves, two leaders, crash, late write").leaders(2).faults(CRASH_LATE),
        free("free, two leaders, crash, late write").leaders(2).faults(CRASH_LATE),
        thirds("thirds, two leaders, crash").leaders(2).faults(CRASH),
        free("free, two leaders, crash, quotas lag").leaders(2).faults(CRASH).lagging(QUOTAS),
        free("free, two leaders, crash, ledger lags").leaders(2).faults(CRASH).lagging(LEDGER),
        free("free, two leaders, Queues and ledger lag").leaders(2).lagging(&[Kind::Queues, Kind::Ledger]),
        halves("halves, two leaders, quotas and ledger lag")
            .leaders(2)
            .lagging(&[Kind::Quotas, Kind::Ledger]),
        free("free, one leader, crash, late write, all but pods lag")
            .lagging(ALL_BUT_PODS)
            .faults(CRASH_LATE),
        halves("halves, two leaders, pods lag").leaders(2).lagging(PODS),
        halves("halves, two leaders, crash, two pods end").leaders(2).faults(ends),
        free("free, one leader, crash, late write, ledger lost").faults(crash_late_lost),
        halves("halves, two leaders, ledger lost").leaders(2).faults(lost),
        free("free, two leaders, ledger lost").leaders(2).faults(lost),
        halves("halves, two leaders, crash, quota raised by hand").leaders(2).faults(raised),
        newcomer("a Queue for a full namespace, two leaders, crash").leaders(2).faults(CRASH),
        gated_halves("gated halves, one leader, crash").faults(CRASH),
        gated_free("gated free, one leader, crash, late write").faults(CRASH_LATE),
        gated_free("gated free, two leaders, crash, late write").leaders(2).faults(CRASH_LATE),
        gated_halves("gated halves, two leaders, crash").leaders(2).faults(CRASH),
        gated_free("gated free, two leaders, ledger lags").leaders(2).lagging(LEDGER),
        gated_free("gated free, one leader, pods lag").lagging(PODS),
        gated_free("gated free, two leaders, pods lag").leaders(2).lagging(PODS),
        free("free, one leader, all lag, with status.used").with_used().lagging(&KINDS),
    ]
}

/// Minutes each.
pub fn large() -> Vec<Scenario> {
    let later = thirds("thirds, two leaders, crash, late write, pods start later");
    let hard = Faults { crashes: 2, late: 2, ..NO_FAULTS };
    let late_lost = Faults { losses: 1, late: 1, ..NO_FAULTS };
    let late_raised = Faults { raises: 1, late: 1, ..NO_FAULTS };
    let lagging = &[Kind::Quotas, Kind::Pods];
    let used = "halves, two leaders, quotas and pods lag, with status.used";
    vec![
        Scenario { starts_at_once: false, ..later.leaders(2).faults(CRASH_LATE) },
        thirds("thirds, two leaders, two crashes, two late writes").leaders(2).faults(hard),
        thirds("thirds, three leaders, crash, late write").leaders(3).faults(CRASH_LATE),
        halves("halves, two leaders, quotas and pods lag").leaders(2).lagging(lagging),
        halves(used).with_used().leaders(2).lagging(lagging),
        free("free, two leaders, late write, ledger lost").leaders(2).faults(late_lost),
        halves("halves, two leaders, late write, quota raised by hand").leaders(2).faults(late_raised),
        thirds("thirds, two leaders, quotas lag").leaders(2).lagging(QUOTAS),
        free("free, two leaders, Queues and quotas lag").leaders(2).lagging(&[Kind::Queues, Kind::Quotas]),
    ]
}
