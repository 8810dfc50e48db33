//! One execution and what the invariant checker finds in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quotient_invariants::{InvariantChecker, Tolerance, Verb, Violation, Write};

use crate::World;
use crate::campaign::storms::storms;
use crate::campaign::workloads::Case;
use crate::clock::SimClock;
use crate::controllers::Lags;
use crate::faults::{Act, Fault, OperatorOptions, Tamper, What};
use crate::objects::Kind;
use crate::operators::Exit;
use crate::trace::{Record, Trace};

/// How the names of operators begin in a trace.
pub(crate) const OPERATOR: &str = "quotient-";
/// For how long something may go on, in simulated time.
const LIMIT: Duration = Duration::from_secs(7200);
/// For how long nothing is written at rest, where that has to come about within a limit.
const QUIET: Duration = Duration::from_secs(75);
/// For how long an operator may not know what others do, if nothing hides it, in milliseconds.
pub(crate) const LAG: i64 = 8_000;

/// The same if something does: for as long as anything lasts.
pub(crate) const BLIND: i64 = 1_000_000;

/// How long nothing runs after a crash.
pub(crate) const DOWN: Duration = Duration::from_secs(1);

/// The flag with which an operator leads whatever the Lease says.
pub(crate) const WITHOUT_LEASE: &str = "--leader-elect=false";
/// How long at least an operator that differs from another one lets a status stand before it puts it right again.
const IN_TURNS: Duration = Duration::from_secs(25);

/// A workload with everything that goes wrong with it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The workload.
    pub case: Case,
    /// The operators that run from the beginning.
    pub operators: Vec<OperatorOptions>,
    /// What is done to the cluster beside the workload.
    pub acts: Vec<(Duration, Act)>,
    /// What the operators are not blamed for.
    pub tolerance: Tolerance,
    /// For how long nothing has to be written for it to count as at rest; by itself, if none.
    pub quiet: Option<Duration>,
    /// How long it may take to come to rest; by itself, if none.
    pub limit: Option<Duration>,
    /// Whether it has to end where it ends without faults.
    pub ends_alike: bool,
    /// Whether no more pods may be evicted than the workload says.
    pub counts_evictions: bool,
    /// What else has to be so in the end.
    pub expects: Vec<Expectation>,
    /// Whether a part of an operator has to panic, and may.
    pub panics: bool,
    /// How fast the cluster is.
    pub lags: Lags,
    /// Which execution.
    pub seed: u64,
}

/// Something that has to be so in the end, beside shares and promises.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// In words.
    pub what: &'static str,
    /// Whether it is so.
    pub holds: fn(&World) -> bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Broken promises.
    pub violations: Vec<Violation>,
    /// What is not as it has to be in the end: unmet ends, too many evictions, parts that panicked.
    pub misses: Vec<String>,
    /// How many pods were evicted.
    pub evictions: usize,
    /// When the last thing happened.
    pub settled: Option<Duration>,
    /// Everything that happened.
    pub trace: Trace,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.misses.is_empty()
    }

    /// What is wrong, a line each.
    pub fn findings(&self) -> Vec<String> {
        let violations = self.violations.iter().map(ToString::to_string);
        violations.chain(self.misses.iter().cloned()).collect()
    }
}

impl Trial {
    /// The same with operators that are broken: each by a layer of its own, those that are started later included.
    #[must_use]
    pub fn broken(mut self, mut layer: impl FnMut() -> Arc<dyn Tamper>) -> Self {
        for options in &mut self.operators {
            tamper(options, &mut layer);
        }
        self
    }

    /// Plays it to its end.
    pub fn run(&self) -> Verdict {
        let mut world = World::with_lags(self.seed, self.lags);
        self.case.workload.build(&world);
        for options in &self.operators {
            world.start(options.clone());
        }
        for (time, act) in &self.acts {
            world.at(*time, act.clone());
        }
        let settled = self.until_settled(&mut world);
        let trace = world.trace();
        let one_ignores = self.operators.iter().any(ignores_the_lease);
        let settled = settled.or_else(|| {
            one_ignores.then(|| in_turns(&trace, world.elapsed(), self.limit.unwrap_or(LIMIT))).flatten()
        });
        let checker = check_trace(&trace, &self.tolerance, settled);
        let evictions = checker.evicted_of_admitted();
        let mut misses = self.misses(&world, settled, evictions);
        misses.extend(storms(&trace));
        misses.extend(self.panics_missed(&world));
        Verdict { violations: checker.violations().to_vec(), misses, evictions, settled, trace }
    }

    fn until_settled(&self, world: &mut World) -> Option<Duration> {
        if let Some(limit) = self.limit {
            world.run_for(self.case.workload.length.saturating_sub(world.elapsed()));
            return world.run_until_quiet(QUIET, limit);
        }
        let settled = self.case.workload.run(world);
        self.quiet.map_or(settled, |quiet| world.run_until_nothing_moves(quiet, LIMIT))
    }

    /// Panics that should not be, or the one that is not there.
    fn panics_missed(&self, world: &World) -> Vec<String> {
        let mut panics = Vec::new();
        for link in world.cluster().operators() {
            let exits = link.exits().into_iter().filter(Exit::is_panic);
            panics.extend(exits.map(|exit| format!("{} panicked: {}", link.name(), exit.why)));
        }
        match (self.panics, panics.is_empty()) {
            (false, _) => panics,
            (true, false) => Vec::new(),
            (true, true) => vec!["nothing panicked".to_owned()],
        }
    }

    fn misses(&self, world: &World, settled: Option<Duration>, evictions: usize) -> Vec<String> {
        let mut misses = Vec::new();
        if settled.is_none() {
            misses.push("it does not come to rest".to_owned());
        }
        if self.ends_alike {
            misses.extend(self.case.workload.differences(world));
        }
        let unmet = self.expects.iter().filter(|expected| !(expected.holds)(world));
        misses.extend(unmet.map(|expected| format!("it is not so that {}", expected.what)));
        // Fewer suffice where a pod was gone before it had to go.
        if self.counts_evictions && evictions > *self.case.evictions.end() {
            misses.push(format!("{evictions} evictions, and not {:?}", self.case.evictions));
        }
        misses
    }
}

/// Whether the operator, or one that begins beside it, leads whatever the Lease says.
fn ignores_the_lease(options: &OperatorOptions) -> bool {
    let begins = |fault: &Fault| match &fault.what {
        What::First(act) | What::Then(act) => {
            matches!(&**act, Act::Start(second) if ignores_the_lease(second))
        }
        _ => false,
    };
    options.flags.iter().any(|flag| flag == WITHOUT_LEASE) || options.faults.iter().any(begins)
}

/// When everything but statuses came to rest, where two operators write these in turns.
///
/// Two that lead at the same time, which only one that ignores the Lease can do, may remember different things about demand
/// that was set aside or of loans, and each restores the statuses at most twice a minute. For half of `limit` no share, quota
/// or pod may move meanwhile.
fn in_turns(trace: &Trace, now: Duration, limit: Duration) -> Option<Duration> {
    let is_status = |record: &&Record| {
        record.kind == Kind::Queue && record.subresource == "status" && record.client.starts_with(OPERATOR)
    };
    let written = || trace.records.iter().filter(|record| record.write.is_some() && !record.is_lease());
    let last = written().rfind(|record| !is_status(record)).map(|record| record.time)?;
    let since = || written().filter(|record| record.time > last);
    let mut writes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for record in since() {
        let count = writes.entry((&*record.client, &*record.namespace)).or_default();
        *count = count.saturating_add(1);
    }
    let operators: BTreeSet<&str> = writes.keys().map(|(client, _)| *client).collect();
    let lasting = now.saturating_sub(last);
    let seldom = writes.values().all(|count| IN_TURNS * *count <= lasting);
    (operators.len() > 1 && lasting >= limit / 2 && seldom).then_some(last)
}

fn tamper(options: &mut OperatorOptions, layer: &mut dyn FnMut() -> Arc<dyn Tamper>) {
    options.tamper = Some(layer());
    for fault in &mut options.faults {
        if let What::First(act) | What::Then(act) = &mut fault.what
            && let Act::Start(second) = &mut **act
        {
            tamper(second, layer);
        }
    }
}

/// Shows a checker everything that was written.
fn check_trace(trace: &Trace, tolerance: &Tolerance, settled: Option<Duration>) -> InvariantChecker {
    let beginning = SimClock::date(Duration::ZERO).as_millisecond();
    let mut checker = InvariantChecker::new(tolerance.clone()).since(beginning);
    // An eviction of a pod that is on its way changes nothing, and is one all the same.
    let evicted = |record: &&Record| record.subresource == "eviction" && record.code == 201;
    let mut lives: BTreeMap<&str, (u32, Duration)> = BTreeMap::new();
    for record in &trace.records {
        let is_first = lives.is_empty();
        match disturbs(record, &mut lives) {
            Some(Disturbance::Begins) if !is_first => {
                checker.disturb(millis(record.time));
                checker.hand_over(millis(record.time));
            }
            Some(_) => checker.disturb(millis(record.time)),
            None => {}
        }
        if record.write.is_none() && !evicted(&record) {
            continue;
        }
        checker.see(&Write {
            index: record.number,
            at: millis(record.time),
            by_operator: record.client.starts_with(OPERATOR),
            verb: verb(record),
            resource: record.kind.facts().plural,
            subresource: record.subresource,
            namespace: &record.namespace,
            name: &record.name,
            request: record.asked.as_deref(),
            before: record.before.as_deref(),
            after: record.after.as_deref(),
        });
    }
    if let Some(settled) = settled {
        checker.rests(millis(settled));
    }
    checker
}

/// How long an operator says nothing at most: it renews its Lease more often.
const HEARD: Duration = Duration::from_secs(5);

/// What an operator has to deal with first.
enum Disturbance {
    /// An operator begins.
    Begins,
    /// A fault, a change by a user, or an operator that was cut off.
    Other,
}

/// What `record` is of that, if it is. `lives` says which life of each operator was heard of last, and when.
fn disturbs<'a>(record: &'a Record, lives: &mut BTreeMap<&'a str, (u32, Duration)>) -> Option<Disturbance> {
    if !record.client.starts_with(OPERATOR) {
        let is_of_users = matches!(&*record.client, "human" | "backup" | "horizontal-pod-autoscaler");
        return is_of_users.then_some(Disturbance::Other);
    }
    let before = lives.insert(&record.client, (record.life, record.time));
    if before.is_none_or(|(life, _)| life != record.life) {
        return Some(Disturbance::Begins);
    }
    let was_cut_off = before.is_some_and(|(_, heard)| record.time.saturating_sub(heard) > HEARD);
    (was_cut_off || record.fault.is_some()).then_some(Disturbance::Other)
}

fn verb(record: &Record) -> Verb {
    match (&record.before, &record.after) {
        (None, _) => Verb::Create,
        (Some(_), Some(_)) => Verb::Update,
        (Some(_), None) => Verb::Delete,
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
