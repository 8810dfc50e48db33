//! A difference for programs.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::plan::Eviction;

use super::Diff;
use super::comparison::{QueueDiff, workload_of};
use super::flags::Verdict;
use crate::commands::simulate::pod_name;
use crate::output::{all_quantities, quantities, report};

report! {
    pub(crate) struct Report(diff: &Diff) {
        changes: Vec<String> = diff.changes.clone(),
        queues: Vec<QueueReport> = diff.comparison.queues.iter().map(QueueReport::of).collect(),
        evictions: Vec<EvictionReport> = diff.comparison.evicted.iter().map(EvictionReport::of).collect(),
        evictions_anyway: usize = diff.comparison.evicted_anyway,
        blocked_by_budgets: usize = diff.comparison.blocked,
        guarantees_unmeetable: Vec<String> = diff.comparison.unmeetable.keys().cloned().collect(),
        stalled: Vec<String> = diff.comparison.stalled.clone(),
        unmet: Vec<String> = diff.comparison.unmet.clone(),
        /// Absent if nothing came to rest.
        #[serde(skip_serializing_if = "Option::is_none")]
        steps: Option<usize> = diff.comparison.steps,
        longest_grace_seconds: Option<u32> = diff.comparison.longest_grace(),
        gates: Vec<GateReport> = diff.verdicts.iter().map(GateReport::of).collect(),
    }

    struct QueueReport(diff: &QueueDiff) {
        queue: String = diff.name.to_string(),
        deserved: Moved = Moved::of(&diff.deserved, &resources(&diff.deserved)),
        used: Moved = Moved::of(&diff.used, &resources(&diff.used)),
        started: usize = diff.started,
    }

    /// Absent where the queue does not exist.
    struct Moved(both: &(Option<Amounts>, Option<Amounts>), resources: &[Resource]) {
        before: Option<BTreeMap<String, String>> = both.0.as_ref().map(|one| quantities(one, resources)),
        after: Option<BTreeMap<String, String>> = both.1.as_ref().map(|one| quantities(one, resources)),
    }

    struct EvictionReport(evicted: &Eviction) {
        pod: String = pod_name(&evicted.pod),
        queue: String = evicted.queue.to_string(),
        workload: Option<String> = workload_of(evicted),
        beneficiary: Option<String> = evicted.beneficiary.as_ref().map(ToString::to_string),
        reason: &'static str = evicted.reason.name(),
        requests: BTreeMap<String, String> = all_quantities(&evicted.requests),
        grace_seconds: Option<u32> = evicted.grace_seconds,
    }

    struct GateReport(verdict: &Verdict) {
        gate: String = verdict.gate.to_string(),
        passed: bool = verdict.is_passed,
        message: String = verdict.message.clone(),
    }
}

/// Both sides name the resources of either.
fn resources((before, after): &(Option<Amounts>, Option<Amounts>)) -> Vec<Resource> {
    let named = before.iter().chain(after).flat_map(Amounts::resources).cloned();
    named.collect::<BTreeSet<_>>().into_iter().collect()
}
