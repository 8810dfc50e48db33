//! The scenarios that are exhausted: small ones with every change, large ones on demand.

use crate::cluster::Kind;
use crate::rules::{Protocol, Rules};
use crate::scenario::{Faults, Scenario};

/// Everything but pods may be seen late.
const ALL_BUT_PODS: &[Kind] = &[Kind::Queues, Kind::Quotas, Kind::Ledger];

/// Everything may be seen late.
const ALL: &[Kind] = &[Kind::Queues, Kind::Quotas, Kind::Pods, Kind::Ledger];

/// What the protocol would be with one rule more.
const AND_USED: Protocol = Protocol::Ledger(Rules::AndUsed);

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

/// Seconds each.
pub fn small() -> Vec<Scenario> {
    let two = 2;
    vec![
        Scenario { faults: CRASH_LATE, ..halves("halves, one leader, crash, late write") },
        Scenario { operators: two, faults: CRASH_LATE, ..halves("halves, two leaders, crash, late write") },
        Scenario { operators: two, faults: CRASH_LATE, ..free("free, two leaders, crash, late write") },
        Scenario { operators: two, faults: CRASH, ..thirds("thirds, two leaders, crash") },
        Scenario {
            operators: two,
            faults: CRASH,
            lagging: &[Kind::Quotas],
            ..free("free, two leaders, crash, quotas lag")
        },
        Scenario {
            operators: two,
            faults: CRASH,
            lagging: &[Kind::Ledger],
            ..free("free, two leaders, crash, ledger lags")
        },
        Scenario {
            operators: two,
            lagging: &[Kind::Queues, Kind::Ledger],
            ..free("free, two leaders, Queues and ledger lag")
        },
        Scenario {
            operators: two,
            lagging: &[Kind::Quotas, Kind::Ledger],
            ..halves("halves, two leaders, quotas and ledger lag")
        },
        Scenario {
            lagging: ALL_BUT_PODS,
            faults: CRASH_LATE,
            ..free("free, one leader, crash, late write, all but pods lag")
        },
        Scenario { operators: two, lagging: &[Kind::Pods], ..halves("halves, two leaders, pods lag") },
        Scenario {
            operators: two,
            faults: Faults { deaths: 2, ..CRASH },
            ..halves("halves, two leaders, crash, two pods end")
        },
        Scenario {
            faults: Faults { losses: 1, ..CRASH_LATE },
            ..free("free, one leader, crash, late write, ledger lost")
        },
        Scenario {
            operators: two,
            faults: Faults { losses: 1, ..NO_FAULTS },
            ..halves("halves, two leaders, ledger lost")
        },
        Scenario {
            operators: two,
            faults: Faults { losses: 1, ..NO_FAULTS },
            ..free("free, two leaders, ledger lost")
        },
        Scenario {
            operators: two,
            faults: Faults { raises: 1, ..CRASH },
            ..halves("halves, two leaders, crash, quota raised by hand")
        },
        Scenario {
            operators: two,
            faults: CRASH,
            ..newcomer("a Queue for a full namespace, two leaders, crash")
        },
        Scenario { faults: CRASH, ..gated_halves("gated halves, one leader, crash") },
        Scenario { faults: CRASH_LATE, ..gated_free("gated free, one leader, crash, late write") },
        Scenario {
            operators: two,
            faults: CRASH_LATE,
            ..gated_free("gated free, two leaders, crash, late write")
        },
        Scenario { operators: two, faults: CRASH, ..gated_halves("gated halves, two leaders, crash") },
        Scenario {
            operators: two,
            lagging: &[Kind::Ledger],
            ..gated_free("gated free, two leaders, ledger lags")
        },
        Scenario { lagging: &[Kind::Pods], ..gated_free("gated free, one leader, pods lag") },
        Scenario {
            operators: two,
            lagging: &[Kind::Pods],
            ..gated_free("gated free, two leaders, pods lag")
        },
        Scenario { protocol: AND_USED, lagging: ALL, ..free("free, one leader, all lag, with status.used") },
    ]
}

/// Minutes each.
pub fn large() -> Vec<Scenario> {
    let two = 2;
    let hard = Faults { crashes: 2, late: 2, ..NO_FAULTS };
    vec![
        Scenario {
            operators: two,
            faults: CRASH_LATE,
            starts_at_once: false,
            ..thirds("thirds, two leaders, crash, late write, pods start later")
        },
        Scenario {
            operators: two,
            faults: hard,
            ..thirds("thirds, two leaders, two crashes, two late writes")
        },
        Scenario { operators: 3, faults: CRASH_LATE, ..thirds("thirds, three leaders, crash, late write") },
        Scenario {
            operators: two,
            lagging: &[Kind::Quotas, Kind::Pods],
            ..halves("halves, two leaders, quotas and pods lag")
        },
        Scenario {
            operators: two,
            lagging: &[Kind::Quotas, Kind::Pods],
            protocol: AND_USED,
            ..halves("halves, two leaders, quotas and pods lag, with status.used")
        },
        Scenario {
            operators: two,
            faults: Faults { losses: 1, late: 1, ..NO_FAULTS },
            ..free("free, two leaders, late write, ledger lost")
        },
        Scenario {
            operators: two,
            faults: Faults { raises: 1, late: 1, ..NO_FAULTS },
            ..halves("halves, two leaders, late write, quota raised by hand")
        },
        Scenario { operators: two, lagging: &[Kind::Quotas], ..thirds("thirds, two leaders, quotas lag") },
        Scenario {
            operators: two,
            lagging: &[Kind::Queues, Kind::Quotas],
            ..free("free, two leaders, Queues and quotas lag")
        },
    ]
}
