//! One way in which a named perturbation is played.

use std::time::Duration;

use quotient_invariants::Tolerance;
use serde_json::Value;

pub(super) use crate::campaign::trial::DOWN;
use crate::campaign::trial::{BLIND, Expectation, LAG, Trial};
use crate::campaign::workloads::{self, Case};
use crate::faults::{Act, Event, Fault, Match, OperatorOptions, WatchFault, WatchMatch, WatchWhat, What};
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::seconds;
use crate::trace::Verb;

impl Trial {
    /// This workload with one operator; it has to end where it ends without faults, with no more evictions.
    pub(super) fn of(workload: &str) -> Self {
        Self::on(&workloads::named(workload).unwrap_or_else(|| panic!("there is no workload {workload}")))
    }

    /// The same of a workload of its own.
    pub(super) fn on(case: &Case) -> Self {
        let tolerance = Tolerance { lag: LAG, repeats: true, progress: true, ..case.tolerance.clone() };
        Self { tolerance, ..case.reference() }
    }

    /// With this fault of the first operator's requests.
    pub(super) fn fault(self, on: Match, what: What) -> Self {
        self.faults(on, what, 0, 1)
    }

    /// The same so many times, after so many that pass.
    pub(super) fn faults(mut self, on: Match, what: What, skip: u32, times: u32) -> Self {
        self.operators[0].faults.push(Fault::on(on, what).skip(skip).times(times));
        self
    }

    /// With so many of these events of the first operator's watches.
    pub(super) fn watch(mut self, on: WatchMatch, what: WatchWhat, times: u32) -> Self {
        self.operators[0].watch_faults.push(WatchFault::on(on, what).times(times));
        self.tolerance.progress = false;
        self
    }

    /// With this on the first operator's command line.
    pub(super) fn flag(mut self, flag: &str) -> Self {
        self.operators[0].flags.push(flag.to_owned());
        self
    }

    /// With another operator from the beginning.
    pub(super) fn operator(mut self, options: OperatorOptions) -> Self {
        self.operators.push(options);
        self
    }

    /// The first operator, to be changed.
    pub(super) fn first(mut self, change: impl FnOnce(&mut OperatorOptions)) -> Self {
        change(&mut self.operators[0]);
        self
    }

    /// This is done at a time.
    pub(super) fn at(self, second: u64, act: Act) -> Self {
        self.at_millis(1000 * second, act)
    }

    /// The same to the millisecond.
    pub(super) fn at_millis(mut self, millis: u64, act: Act) -> Self {
        self.acts.push((Duration::from_millis(millis), act));
        self
    }

    /// This is there from the beginning.
    pub(super) fn with(mut self, kind: Kind, object: Value) -> Self {
        self.case.workload.objects.push((kind, object));
        self
    }

    /// No operator is blamed for what it cannot know.
    pub(super) fn blind(mut self) -> Self {
        self.tolerance.lag = BLIND;
        self.tolerance.progress = false;
        self
    }

    /// It takes so long until it is noticed, where nothing happens meanwhile.
    pub(super) fn heals_after(mut self, seconds: u64) -> Self {
        self.quiet = Some(Duration::from_secs(seconds));
        self
    }

    /// It may end in another way.
    pub(super) fn otherwise(mut self) -> Self {
        self.ends_alike = false;
        self
    }

    /// More may have to go.
    pub(super) fn lets_in(mut self) -> Self {
        self.counts_evictions = false;
        self
    }

    /// It ends in this other way, with at most so many evictions.
    pub(super) fn ends(mut self, end: impl FnOnce(Workload) -> Workload, evictions: usize) -> Self {
        self.case.workload = end(self.case.workload);
        self.case.evictions = 0..=evictions;
        self
    }

    /// And this has to be so in the end.
    pub(super) fn expect(mut self, what: &'static str, holds: fn(&crate::World) -> bool) -> Self {
        self.expects.push(Expectation { what, holds });
        self
    }
}

// ===== words to write plays with =====

/// The example of S-PREEMPT.
pub(super) fn newcomer() -> Trial {
    Trial::of("newcomer")
}

/// Writes of the quota of a namespace: the first creates it, the following ones change it.
pub(super) fn quota_change(namespace: &str) -> Match {
    Match { namespace: Some(namespace.to_owned()), ..Match::requests(Verb::Patch, Kind::ResourceQuota) }
}

pub(super) fn quota_create(namespace: &str) -> Match {
    Match { namespace: Some(namespace.to_owned()), ..Match::requests(Verb::Create, Kind::ResourceQuota) }
}

pub(super) fn statuses() -> Match {
    Match { subresource: Some("status"), ..Match::requests(Verb::Patch, Kind::Queue) }
}

/// Everything from one second to another.
pub(super) fn from_to(from: u64, until: u64) -> Match {
    Match { from: seconds(from), until: Some(seconds(until)), ..Match::default() }
}

pub(super) fn ends_of(kind: Kind) -> WatchMatch {
    WatchMatch { event: Some(Event::Deleted), ..WatchMatch::of(kind) }
}

/// The kinds that an operator watches and that are there in every workload.
pub(super) const WATCHED: [Kind; 5] = [Kind::Pod, Kind::ResourceQuota, Kind::Queue, Kind::Node, Kind::Job];
