//! What one run of a scenario comes to.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{PodTimes, Scenario};
use crate::bench::Cost;
use crate::quotient::OPERATOR_USER;
use crate::testbed::AuditEvent;

/// The user agent of the player of the scenario.
const PLAYER: &str = "quotient-testbed";

/// The numbers of one run. Times are milliseconds since the first request of the demand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measures {
    /// The first eviction was received by the API server.
    pub first_eviction: Option<u64>,
    /// The first of the pods that are waited for runs.
    pub first_running: Option<u64>,
    /// Half of them.
    pub half_running: Option<u64>,
    /// The last of them.
    pub last_running: Option<u64>,
    /// Evictions until then.
    pub victims: u32,
    /// The fewest with which it could have been done.
    pub fewest: Option<u32>,
    /// Evictions after that, without a new request.
    pub later_evictions: u32,
    /// From the moment that a victim is gone until the pod in its place is bound: median and worst, milliseconds.
    pub idle_median: Option<u64>,
    /// The worst of these.
    pub idle_worst: Option<u64>,
    /// Writes of the operator by verb and resource, the Lease apart, its evictions among them.
    pub writes: BTreeMap<String, u32>,
    /// Writes of all clients but the player: what the control plane does with pods that come and go.
    pub writes_of_others: BTreeMap<String, u32>,
    /// Processor time of the operator, milliseconds.
    pub cpu: u64,
    /// The most memory that the operator ever had, KiB.
    pub peak_memory: u64,
    /// What it had from the demand on, every two seconds, KiB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<u64>,
}

impl Measures {
    /// Of what happened from `demand` on; the outcome was there when it was `done`.
    pub fn new(
        scenario: &Scenario,
        demand: Timestamp,
        done: Timestamp,
        cost: &Cost,
        pods: &BTreeMap<String, PodTimes>,
        memory: Vec<u64>,
    ) -> Self {
        let events = cost.events.as_slice();
        let after = |time: Timestamp| millis_between(demand, time);
        let evictions: Vec<Timestamp> = evictions(events).map(|event| event.received).collect();
        let running = times(scenario, demand, pods, |pod| pod.running);
        let (writes, others): (Vec<_>, Vec<_>) = events
            .iter()
            .filter(|event| event.is_write() && event.succeeded() && event.resource != "leases")
            .filter(|event| !event.user_agent.starts_with(PLAYER))
            .partition(|event| event.user == OPERATOR_USER);
        let idle = idle(scenario, demand, pods);
        let until_done = evictions.iter().filter(|time| **time <= done).count();
        Self {
            first_eviction: evictions.iter().min().map(|time| after(*time)),
            first_running: running.first().map(|time| after(*time)),
            half_running: running.get(running.len().saturating_sub(1) / 2).map(|time| after(*time)),
            last_running: running.last().map(|time| after(*time)),
            victims: number(until_done),
            fewest: scenario.outcome.fewest,
            later_evictions: number(evictions.len().saturating_sub(until_done)),
            idle_median: idle.get(idle.len().saturating_sub(1) / 2).copied(),
            idle_worst: idle.last().copied(),
            writes: by_kind(&writes),
            writes_of_others: by_kind(&others),
            cpu: u64::try_from(cost.cpu().as_millis()).unwrap_or(u64::MAX),
            peak_memory: cost.after.memory.peak,
            memory,
        }
    }

    /// The most memory in each of so many parts of the time.
    pub fn memory_in_parts(&self, parts: usize) -> Vec<u64> {
        let length = self.memory.len().div_ceil(parts).max(1);
        let most = |samples: &[u64]| samples.iter().max().copied().unwrap_or_default();
        self.memory.chunks(length).map(most).collect()
    }

    /// The most memory in the second quarter of the time, when it has warmed up, and in the last one.
    pub fn memory_early_and_late(&self) -> (u64, u64) {
        let quarters = self.memory_in_parts(4);
        let of = |quarter: Option<&u64>| quarter.copied().unwrap_or_default();
        (of(quarters.get(1)), of(quarters.iter().skip(2).next_back()))
    }

    /// Evictions until the outcome is there, and after that.
    pub fn all_evictions(&self) -> u32 {
        self.victims.saturating_add(self.later_evictions)
    }

    /// All writes of the operator.
    pub fn all_writes(&self) -> u32 {
        self.writes.values().copied().fold(0, u32::saturating_add)
    }

    /// All writes of others.
    pub fn all_writes_of_others(&self) -> u32 {
        self.writes_of_others.values().copied().fold(0, u32::saturating_add)
    }
}

/// The operator's evictions that were carried out.
pub(super) fn evictions(events: &[AuditEvent]) -> impl Iterator<Item = &AuditEvent> {
    events
        .iter()
        .filter(|event| event.is_about("pods/eviction") && event.succeeded() && event.user == OPERATOR_USER)
}

/// Of the pods that are waited for and came after `demand` the times of one event, in order.
pub(super) fn times(
    scenario: &Scenario,
    demand: Timestamp,
    pods: &BTreeMap<String, PodTimes>,
    of: impl Fn(&PodTimes) -> Option<Timestamp>,
) -> Vec<Timestamp> {
    let is_awaited =
        |pod: &&PodTimes| scenario.outcome.gains.iter().any(|(namespace, _)| *namespace == pod.namespace);
    let mut times: Vec<_> =
        pods.values().filter(is_awaited).filter_map(of).filter(|time| *time >= demand).collect();
    times.sort_unstable();
    times
}

/// When pods that had been told to leave were gone, in order.
pub(super) fn gone(demand: Timestamp, pods: &BTreeMap<String, PodTimes>) -> Vec<Timestamp> {
    let left = pods.values().filter(|pod| pod.leaving.is_some()).filter_map(|pod| pod.gone);
    let mut gone: Vec<_> = left.filter(|time| *time >= demand).collect();
    gone.sort_unstable();
    gone
}

/// The nth victim gone leaves its room to the nth pod that is bound.
fn idle(scenario: &Scenario, demand: Timestamp, pods: &BTreeMap<String, PodTimes>) -> Vec<u64> {
    let gone = gone(demand, pods);
    let bound = times(scenario, demand, pods, |pod| pod.bound);
    // One large pod needs all that have gone.
    let one_by_one = gone.len() == bound.len();
    let last = gone.last().copied();
    let freed = gone.iter().copied().map(|time| if one_by_one { Some(time) } else { last });
    let mut idle: Vec<u64> =
        freed.flatten().zip(bound).map(|(gone, bound)| millis_between(gone, bound)).collect();
    idle.sort_unstable();
    idle
}

fn by_kind(events: &[&AuditEvent]) -> BTreeMap<String, u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for event in events {
        let slash = if event.subresource.is_empty() { "" } else { "/" };
        let kind = format!("{} {}{slash}{}", event.verb, event.resource, event.subresource);
        let count = counts.entry(kind).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// Zero if `to` is earlier: two clocks of one machine are read at slightly different moments.
pub(super) fn millis_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond().saturating_sub(from.as_millisecond())).unwrap_or(0)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
