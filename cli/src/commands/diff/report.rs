//! A difference for programs.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::{Amounts, Resource};
use serde::Serialize;

use super::Diff;
use super::comparison::{Evicted, QueueDiff};
use super::gates::Verdict;
use crate::output::quantities;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    changes: Vec<String>,
    queues: Vec<QueueReport>,
    evictions: Vec<EvictionReport>,
    evictions_anyway: usize,
    blocked_by_budgets: usize,
    guarantees_unmeetable: Vec<String>,
    stalled: Vec<String>,
    unmet: Vec<String>,
    /// Absent if nothing came to rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    longest_grace_seconds: Option<u32>,
    gates: Vec<GateReport>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct QueueReport {
    queue: String,
    deserved: Moved,
    used: Moved,
    started: usize,
}

/// Absent where the queue does not exist.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Moved {
    before: Option<BTreeMap<String, String>>,
    after: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct EvictionReport {
    pod: String,
    queue: String,
    workload: Option<String>,
    beneficiary: Option<String>,
    reason: &'static str,
    requests: BTreeMap<String, String>,
    grace_seconds: Option<u32>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GateReport {
    gate: String,
    passed: bool,
    message: String,
}

pub(super) fn report(diff: &Diff) -> Report {
    let comparison = &diff.comparison;
    Report {
        changes: diff.changes.clone(),
        queues: comparison.queues.iter().map(queue).collect(),
        evictions: comparison.evicted.iter().map(eviction).collect(),
        evictions_anyway: comparison.evicted_anyway,
        blocked_by_budgets: comparison.blocked,
        guarantees_unmeetable: comparison.unmeetable.clone(),
        stalled: comparison.stalled.clone(),
        unmet: comparison.unmet.clone(),
        steps: comparison.steps,
        longest_grace_seconds: comparison.longest_grace(),
        gates: diff.verdicts.iter().map(gate).collect(),
    }
}

fn queue(queue: &QueueDiff) -> QueueReport {
    QueueReport {
        queue: queue.name.to_string(),
        deserved: moved(&queue.deserved),
        used: moved(&queue.used),
        started: queue.started,
    }
}

/// Both sides name the resources of either.
fn moved((before, after): &(Option<Amounts>, Option<Amounts>)) -> Moved {
    let named = before.iter().chain(after).flat_map(Amounts::resources).cloned();
    let resources: Vec<Resource> = named.collect::<BTreeSet<_>>().into_iter().collect();
    let text = |amounts: &Option<Amounts>| amounts.as_ref().map(|amounts| quantities(amounts, &resources));
    Moved { before: text(before), after: text(after) }
}

fn eviction(evicted: &Evicted) -> EvictionReport {
    let resources: Vec<Resource> = evicted.requests.resources().cloned().collect();
    EvictionReport {
        pod: evicted.pod.clone(),
        queue: evicted.queue.to_string(),
        workload: evicted.workload.clone(),
        beneficiary: evicted.beneficiary.as_ref().map(ToString::to_string),
        reason: evicted.reason.name(),
        requests: quantities(&evicted.requests, &resources),
        grace_seconds: evicted.grace_seconds,
    }
}

fn gate(verdict: &Verdict) -> GateReport {
    GateReport { gate: verdict.gate.to_string(), passed: verdict.is_passed, message: verdict.message.clone() }
}
