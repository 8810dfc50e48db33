//! The amounts of every queue as gauges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use prometheus::{GaugeVec, Opts, Registry};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::reason::Reason;

/// Gauges labelled by namespace, queue and resource or reason, and the capacity by resource.
///
/// A series disappears with its queue.
#[derive(Clone, Debug)]
pub struct QueueGauges {
    capacity: GaugeVec,
    deserved: GaugeVec,
    allocated: GaugeVec,
    used: GaugeVec,
    demand: GaugeVec,
    preempting: GaugeVec,
    unmet_pods: GaugeVec,
    shown: Arc<Mutex<Shown>>,
}

/// The series that exist.
#[derive(Debug, Default)]
struct Shown {
    amounts: BTreeSet<(QueueName, Resource)>,
    unmet: BTreeSet<(QueueName, Reason)>,
}

/// The labels of a queue's series.
const LABELS: [&str; 3] = ["namespace", "queue", "resource"];

impl QueueGauges {
    pub(super) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            let vector = GaugeVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(vector.clone()))?;
            Ok::<GaugeVec, prometheus::Error>(vector)
        };
        Ok(Self {
            capacity: gauges(
                "quotient_capacity",
                "What there is to share, in cores, bytes or devices.",
                &["resource"],
            )?,
            deserved: gauges(
                "quotient_queue_deserved",
                "The queue's fair share for what all ask for now, in cores, bytes or devices.",
                &LABELS,
            )?,
            allocated: gauges(
                "quotient_queue_allocated",
                "What the queue's quota allows, in cores, bytes or devices.",
                &LABELS,
            )?,
            used: gauges(
                "quotient_queue_used",
                "What the queue's pods request, in cores, bytes or devices.",
                &LABELS,
            )?,
            demand: gauges(
                "quotient_queue_demand",
                "What the queue asks for, at most the capacity, in cores, bytes or devices.",
                &LABELS,
            )?,
            preempting: gauges(
                "quotient_queue_preempting",
                "What the queue deserves and others still hold, in cores, bytes or devices.",
                &LABELS,
            )?,
            unmet_pods: gauges(
                "quotient_queue_unmet_pods",
                "How many pods of the queue cannot start now, by what stands in the way.",
                &["namespace", "queue", "reason"],
            )?,
            shown: Arc::default(),
        })
    }

    /// Shows `plan`, and drops the series of queues and resources that are no longer in it.
    pub fn show(&self, plan: &Plan) {
        let mut current = Shown { unmet: self.show_unmet(plan), ..Shown::default() };
        for resource in &plan.resources {
            self.capacity
                .with_label_values(&[resource.name()])
                .set(base_units(resource, plan.capacity.get(resource)));
            // Leaves only: a parent's amounts are the sums of theirs, and would be counted twice.
            for (name, queue) in plan.queues.iter().filter(|(_, queue)| !queue.is_parent) {
                let labels = [name.namespace.as_str(), &name.name, resource.name()];
                let set = |gauge: &GaugeVec, amounts: &Amounts| {
                    gauge.with_label_values(&labels).set(base_units(resource, amounts.get(resource)));
                };
                set(&self.deserved, &queue.deserved);
                set(&self.allocated, &queue.allocated);
                set(&self.used, &queue.used);
                set(&self.demand, &queue.demand);
                set(&self.preempting, &queue.preempting);
                current.amounts.insert((name.clone(), resource.clone()));
            }
        }
        self.replace(current);
    }

    /// Counts the pods that wait, and returns the series for them.
    fn show_unmet(&self, plan: &Plan) -> BTreeSet<(QueueName, Reason)> {
        let mut pods: BTreeMap<(QueueName, Reason), u32> = BTreeMap::new();
        for (name, queue) in plan.queues.iter().filter(|(_, queue)| !queue.is_parent) {
            for unmet in &queue.unmet {
                let count = pods.entry((name.clone(), unmet.reason)).or_default();
                *count = count.saturating_add(unmet.pods);
            }
        }
        for ((name, reason), count) in &pods {
            let labels = [name.namespace.as_str(), &name.name, reason.name()];
            self.unmet_pods.with_label_values(&labels).set(f64::from(*count));
        }
        pods.into_keys().collect()
    }

    /// Drops every queue's series: another replica reports them now.
    pub fn clear(&self) {
        self.replace(Shown::default());
        self.capacity.reset();
    }

    fn replace(&self, current: Shown) {
        // A panic elsewhere leaves a complete set behind: it is replaced in one step.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, resource) in shown.amounts.difference(&current.amounts) {
            let labels = [name.namespace.as_str(), &name.name, resource.name()];
            for gauge in [&self.deserved, &self.allocated, &self.used, &self.demand, &self.preempting] {
                // Only fails where there is no such series.
                let _ = gauge.remove_label_values(&labels);
            }
        }
        for (name, reason) in shown.unmet.difference(&current.unmet) {
            let labels = [name.namespace.as_str(), &name.name, reason.name()];
            let _ = self.unmet_pods.remove_label_values(&labels);
        }
        *shown = current;
    }
}

/// `amount` in cores, bytes or devices.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "metrics are floats; nothing is decided by them"
)]
fn base_units(resource: &Resource, amount: Amount) -> f64 {
    let units = amount.units() as f64;
    match resource {
        Resource::Cpu => units / 1000.0,
        Resource::Memory | Resource::Extended(_) => units,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::{Encoder, TextEncoder};
    use quotient_engine::plan::{Asker, PodCounts, QueuePlan, Unmet};

    fn lines(registry: &Registry) -> Vec<String> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&registry.gather(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(ToOwned::to_owned).collect()
    }

    fn plan(queues: &[&str]) -> Plan {
        let some: Amounts = [(Resource::Cpu, Amount::new(1500))].into_iter().collect();
        let none = Amounts::new();
        let queue = QueuePlan {
            uid: "1".into(),
            is_parent: false,
            parent: None,
            demand: some.clone(),
            deserved: some.clone(),
            fair_share: some.clone(),
            allocated: some.clone(),
            used: none.clone(),
            preempting: none.clone(),
            unmeetable: none,
            pods: PodCounts::default(),
            quota_write: None,
            quota_in_force: true,
            starved: None,
            ..QueuePlan::default()
        };
        Plan {
            resources: vec![Resource::Cpu],
            capacity: some,
            queues: queues.iter().map(|name| (QueueName::new("a", *name), queue.clone())).collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn a_series_comes_and_goes_with_its_queue() {
        let registry = Registry::new();
        let gauges = QueueGauges::register(&registry).unwrap();
        gauges.show(&plan(&["team"]));
        let shown = lines(&registry);
        assert!(shown.contains(&r#"quotient_capacity{resource="cpu"} 1.5"#.to_owned()), "{shown:?}");
        let deserved = r#"quotient_queue_deserved{namespace="a",queue="team",resource="cpu"} 1.5"#;
        assert!(shown.contains(&deserved.to_owned()), "{shown:?}");
        assert!(shown.contains(&deserved.replace("deserved", "used").replace("1.5", "0")), "{shown:?}");

        gauges.show(&plan(&["other"]));
        let shown = lines(&registry).join("\n");
        assert!(!shown.contains("team") && shown.contains("other"), "{shown}");

        gauges.clear();
        assert_eq!(lines(&registry), Vec::<String>::new());
    }

    #[test]
    fn pods_that_wait_are_counted_by_what_stands_in_their_way() {
        let registry = Registry::new();
        let gauges = QueueGauges::register(&registry).unwrap();
        let unmet =
            |pods, reason| Unmet { who: Asker::Pod("web-0".into()), pods, requests: Amounts::new(), reason };
        let mut plan = plan(&["team"]);
        for queue in plan.queues.values_mut() {
            queue.unmet = vec![
                unmet(2, Reason::Fragmented),
                unmet(1, Reason::NoNodeFits),
                unmet(3, Reason::Fragmented),
            ];
        }
        gauges.show(&plan);
        let waiting = || {
            let all = lines(&registry).into_iter();
            all.filter_map(|line| line.strip_prefix("quotient_queue_unmet_pods").map(ToOwned::to_owned))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            waiting(),
            [
                r#"{namespace="a",queue="team",reason="Fragmented"} 5"#,
                r#"{namespace="a",queue="team",reason="NoNodeFits"} 1"#
            ]
        );
        for queue in plan.queues.values_mut() {
            queue.unmet.truncate(1);
        }
        gauges.show(&plan);
        assert_eq!(waiting(), [r#"{namespace="a",queue="team",reason="Fragmented"} 2"#]);
        gauges.clear();
        assert_eq!(lines(&registry), Vec::<String>::new());
    }
}
