//! Where the time goes: the way of a share from the demand to the pod that runs in the room that was freed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::measures::{evictions, gone, millis_between, times};
use super::{PodTimes, Scenario};
use crate::quotient::OPERATOR_USER;
use crate::testbed::AuditEvent;

/// What is told that there is room for its rejected pods.
const OWNERS: [&str; 4] = ["daemonsets", "jobs", "replicasets", "statefulsets"];

/// A step on that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// The ledger says what is granted.
    Granted,
    /// A quota that shrinks is written.
    Shrunk,
    /// That is enforced.
    Fenced,
    /// The eviction is received.
    Evicted,
    /// The pod is gone.
    Gone,
    /// The gainer's quota is raised into its room.
    Raised,
    /// That is enforced.
    InForce,
    /// A pod of the gainer is rejected by the quota.
    Rejected,
    /// The controller of rejected pods is told that there is room.
    Notified,
    /// The gainer's pod is created.
    Created,
    /// Its scheduling gate is removed.
    Ungated,
    /// It is bound.
    Bound,
    /// It runs.
    Running,
}

impl Step {
    /// All of them, in order and in words.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Granted, "ledger written"),
        (Self::Shrunk, "holder's quota written"),
        (Self::Fenced, "holder's quota enforced"),
        (Self::Evicted, "eviction received"),
        (Self::Gone, "victim gone"),
        (Self::Raised, "gainer's quota written"),
        (Self::InForce, "gainer's quota enforced"),
        (Self::Rejected, "pod rejected by the quota"),
        (Self::Notified, "controller told of room"),
        (Self::Created, "pod created"),
        (Self::Ungated, "gate removed"),
        (Self::Bound, "bound"),
        (Self::Running, "running"),
    ];
}

/// By step, in milliseconds since the demand, the times at which it happened for the first, second, … pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline(pub BTreeMap<Step, Vec<u64>>);

impl Timeline {
    /// Of what happened from `demand` on.
    pub fn new(
        scenario: &Scenario,
        demand: Timestamp,
        events: &[AuditEvent],
        pods: &BTreeMap<String, PodTimes>,
    ) -> Self {
        let gains = |namespace: &str| scenario.outcome.gains.iter().any(|(name, _)| name == namespace);
        let quotas = |of_gainers: bool, subresource: &str, by_operator: bool| {
            let of_quotas = events
                .iter()
                .filter(|event| event.resource == "resourcequotas" && event.subresource == subresource);
            let done = of_quotas.filter(|event| event.is_write() && event.succeeded());
            let there = done.filter(|event| gains(&event.namespace) == of_gainers);
            let by_writer = there.filter(|event| (event.user == OPERATOR_USER) == by_operator);
            by_writer.map(|event| if by_operator { event.received } else { event.answered }).collect()
        };
        let ledger =
            events.iter().filter(|event| event.resource == "configmaps" && event.user == OPERATOR_USER);
        let at_gainers = |is_step: &dyn Fn(&AuditEvent) -> bool| -> Vec<Timestamp> {
            let steps = events.iter().filter(|event| gains(&event.namespace) && is_step(event));
            steps.map(|event| event.received).collect()
        };
        let is_patch = |event: &AuditEvent| {
            event.user == OPERATOR_USER
                && event.verb == "patch"
                && event.subresource.is_empty()
                && event.succeeded()
        };
        let of_gainers = |of: fn(&PodTimes) -> Option<Timestamp>| times(scenario, demand, pods, of);
        let steps = [
            (Step::Granted, ledger.filter(|event| event.is_write()).map(|event| event.received).collect()),
            (Step::Shrunk, quotas(false, "", true)),
            (Step::Fenced, quotas(false, "status", false)),
            (Step::Evicted, evictions(events).map(|event| event.received).collect()),
            (Step::Gone, gone(demand, pods)),
            (Step::Raised, quotas(true, "", true)),
            (Step::InForce, quotas(true, "status", false)),
            (
                Step::Rejected,
                at_gainers(&|event| event.is_about("pods") && event.verb == "create" && event.code == 403),
            ),
            (
                Step::Notified,
                at_gainers(&|event| is_patch(event) && OWNERS.contains(&event.resource.as_str())),
            ),
            (Step::Created, of_gainers(|pod| pod.created)),
            (Step::Ungated, at_gainers(&|event| is_patch(event) && event.resource == "pods")),
            (Step::Bound, of_gainers(|pod| pod.bound)),
            (Step::Running, of_gainers(|pod| pod.running)),
        ];
        let millis = |times: Vec<Timestamp>| {
            let mut millis: Vec<u64> = times.into_iter().map(|time| millis_between(demand, time)).collect();
            // Requests are noted when they are answered, in another order than they came in.
            millis.sort_unstable();
            millis
        };
        Self(steps.into_iter().map(|(step, times)| (step, millis(times))).collect())
    }

    /// When a step happened first, for the middle one, and last.
    pub fn span(&self, step: Step) -> Option<[u64; 3]> {
        let times = self.0.get(&step)?;
        Some([*times.first()?, *times.get(times.len().saturating_sub(1) / 2)?, *times.last()?])
    }
}
