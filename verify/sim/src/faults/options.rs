//! How an operator is started.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use quotient_operator::args::Args;
use quotient_operator::clock::Clock;
use quotient_operator::decisions::Decisions;
use quotient_operator::identity::Identity;
use quotient_operator::settings::{LedgerSettings, Settings};

use super::{Fault, Tamper, WatchFault};
use crate::random::Lag;

/// The namespace that operators run in.
pub const NAMESPACE: &str = "quotient-system";

/// How an operator is started, and what will go wrong with it.
#[derive(Clone, Debug)]
pub struct OperatorOptions {
    /// Its command line, without the name of the program.
    pub flags: Vec<String>,
    /// How long a request takes to the server, and an answer back.
    pub lag: Lag,
    /// How long an event takes.
    pub watch_lag: Lag,
    /// How long it takes to make a plan.
    pub computing: Duration,
    /// How large its ledger may become, in bytes; as large as a ConfigMap if nothing is said.
    pub ledger_limit: Option<usize>,
    /// What becomes of its requests.
    pub faults: Vec<Fault>,
    /// What becomes of what it watches.
    pub watch_faults: Vec<WatchFault>,
    /// What its lists and watches show of the world, if that is not the newest.
    pub view: Option<StaleView>,
    /// What breaks it.
    pub tamper: Option<Arc<dyn Tamper>>,
    /// Where its decisions are kept; nowhere by default, because packing them takes longer than deciding.
    pub decisions: Decisions,
}

/// A view of the past: a server that lags behind, which shows nothing newer until it catches up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleView {
    /// How many versions it is behind when the operator starts.
    pub behind: u64,
    /// When it catches up.
    pub until: Duration,
}

impl Default for OperatorOptions {
    fn default() -> Self {
        Self {
            flags: Vec::new(),
            lag: Lag::new(1, 4),
            watch_lag: Lag::new(1, 8),
            computing: Duration::ZERO,
            ledger_limit: None,
            faults: Vec::new(),
            watch_faults: Vec::new(),
            view: None,
            tamper: None,
            decisions: Decisions::default(),
        }
    }
}

impl OperatorOptions {
    /// With this fault.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// With this fault of a watch.
    pub fn watch_fault(mut self, fault: WatchFault) -> Self {
        self.watch_faults.push(fault);
        self
    }

    /// With this on the command line.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// The settings of one life.
    pub(crate) fn settings(&self, identity: &str, clock: Clock) -> Settings {
        // The simulated API server gates pods as the policy of the chart does.
        let line = ["quotient-operator", "--gate-mode", "--identity", identity].into_iter();
        let args = Args::try_parse_from(line.chain(self.flags.iter().map(String::as_str)));
        let args = args.unwrap_or_else(|error| panic!("the operator's command line: {error}"));
        let settings = Settings::from_args(&args, NAMESPACE);
        let settings = settings.unwrap_or_else(|error| panic!("the operator's settings: {error}"));
        let ledger = LedgerSettings {
            limit: self.ledger_limit.unwrap_or(settings.ledger.limit),
            ..settings.ledger.clone()
        };
        Settings {
            clock,
            listen: None,
            scrape: None,
            decisions: self.decisions.clone(),
            ledger,
            identity: Identity::new(identity),
            ..settings
        }
    }
}
