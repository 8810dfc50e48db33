//! The gauges of all queues, computed from the last plan at every scrape.

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus::GaugeVec;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_engine::reasons::ShortReason;

use super::Terms;
use crate::metrics::catalogue::{
    Catalogue, Label, NAMESPACE, QUEUE, RESOURCE, Unit, base_units, label, metric,
};

/// Gauges labelled by namespace, queue and resource, state or reason, and the capacity by resource.
///
/// Between two scrapes they are empty: a cluster of many queues plans often and is scraped seldom.
#[derive(Clone, Debug)]
pub(super) struct Gauges {
    capacity: GaugeVec,
    offered: GaugeVec,
    unmanaged: GaugeVec,
    amounts: Amountful,
    stated: Stated,
    pods: GaugeVec,
    unmet_pods: GaugeVec,
    overdue_pods: GaugeVec,
    terminating_since: GaugeVec,
    withheld_evictions: GaugeVec,
}

/// The gauges that every leaf has for every governed resource.
#[derive(Clone, Debug)]
struct Amountful {
    deserved: GaugeVec,
    nominal: GaugeVec,
    allocated: GaugeVec,
    used: GaugeVec,
    demand: GaugeVec,
    preempting: GaugeVec,
}

/// The gauges of what specs state.
#[derive(Clone, Debug)]
struct Stated {
    guaranteed: GaugeVec,
    limit: GaugeVec,
    place: GaugeVec,
    weight: GaugeVec,
    mode: GaugeVec,
    paused: GaugeVec,
}

/// The most namespaces without a share that are shown by name: a cluster may have thousands, and each is a series.
const MOST_UNMANAGED: usize = 50;

/// The labels of a queue's amounts.
const AMOUNT: [Label; 3] = [NAMESPACE, QUEUE, RESOURCE];

impl Gauges {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("The cluster");
        let capacity = into.asked_gauges(metric(
            "quotient_capacity",
            Unit::Amount,
            &[RESOURCE],
            "The capacity that the queues share: that of the nodes that count or of --capacity, less what namespaces without a Queue use.",
        ))?;
        let offered = into.asked_gauges(metric(
            "quotient_nodes_allocatable",
            Unit::Amount,
            &[RESOURCE],
            "The capacity of the nodes that count, used or not.",
        ))?;
        let unmanaged = into.asked_gauges(metric(
            "quotient_unmanaged_namespace_used",
            Unit::Amount,
            &[NAMESPACE, RESOURCE],
            "Requests of bound pods in a namespace without a share. For each resource, the 50 namespaces with the most.",
        ))?;
        into.under("Queues");
        let amounts = Amountful::declare(into)?;
        let stated = Stated::declare(into)?;
        let pods = into.asked_gauges(metric(
            "quotient_queue_pods",
            Unit::Count,
            &[NAMESPACE, QUEUE, label("state", "`running`, `pending`, `gated`, `terminating`")],
            "The pods of the queue. Finished pods do not count.",
        ))?;
        let unmet_pods = into.asked_gauges(metric(
            "quotient_queue_unmet_pods",
            Unit::Count,
            &[NAMESPACE, QUEUE, label("reason", "`UnitAboveShare`, `ShareInUse`, `Fragmented`, …")],
            "Pods of the queue that cannot start now, rejected pods included, by reason.",
        ))?;
        let overdue_pods = into.asked_gauges(metric(
            "quotient_queue_overdue_pods",
            Unit::Count,
            &[NAMESPACE, QUEUE],
            "Pods of the queue that are terminating, a minute or more past their deadline.",
        ))?;
        let terminating_since = into.asked_gauges(metric(
            "quotient_queue_terminating_since_timestamp_seconds",
            Unit::Timestamp,
            &[NAMESPACE, QUEUE],
            "The time at which the pod of the queue began to terminate that has been terminating for the longest time. The series exists while one is.",
        ))?;
        let withheld_evictions = into.asked_gauges(metric(
            "quotient_queue_withheld_evictions",
            Unit::Count,
            &[NAMESPACE, QUEUE],
            "Pods of the queue that Quotient would evict if every queue were in mode Full and no queue were paused.",
        ))?;
        Ok(Self {
            capacity,
            offered,
            unmanaged,
            amounts,
            stated,
            pods,
            unmet_pods,
            overdue_pods,
            terminating_since,
            withheld_evictions,
        })
    }

    pub(super) fn describe(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    /// What they show of `plan`. They are empty before and after.
    pub(super) fn of(&self, plan: &Plan, terms: &Terms) -> Vec<MetricFamily> {
        self.fill(plan, terms);
        let families = self.all().into_iter().flat_map(Collector::collect).collect();
        self.all().into_iter().for_each(GaugeVec::reset);
        families
    }

    fn all(&self) -> Vec<&GaugeVec> {
        let Stated { guaranteed, limit, place, weight, mode, paused } = &self.stated;
        let mut all = vec![
            &self.capacity,
            &self.offered,
            &self.unmanaged,
            guaranteed,
            limit,
            place,
            weight,
            mode,
            paused,
        ];
        all.extend(self.amounts.all());
        all.extend([&self.pods, &self.unmet_pods, &self.overdue_pods, &self.terminating_since]);
        all.push(&self.withheld_evictions);
        all
    }

    fn fill(&self, plan: &Plan, terms: &Terms) {
        for resource in &plan.resources {
            let set = |gauge: &GaugeVec, amounts: &Amounts| {
                let amount = base_units(resource, amounts.get(resource));
                gauge.with_label_values(&[resource.name()]).set(amount);
            };
            set(&self.capacity, &plan.capacity);
            set(&self.offered, &terms.offered);
            self.show_unmanaged(plan, resource);
        }
        for (name, queue) in &plan.queues {
            self.show_place(name, queue);
            self.show_reach(name, queue);
            if !queue.is_parent {
                self.show_leaf(plan, name, queue);
                self.show_terms(plan, name, terms);
            }
        }
        self.show_terminating(plan);
        self.show_withheld(plan);
    }

    /// Shows the namespaces without a share that use the most of `resource`.
    fn show_unmanaged(&self, plan: &Plan, resource: &Resource) {
        let amounts = plan.unmanaged.iter().map(|(namespace, used)| (used.get(resource), namespace));
        let mut used: Vec<(Amount, &Namespace)> =
            amounts.filter(|(amount, _)| amount.is_positive()).collect();
        used.sort_unstable_by(|one, other| other.cmp(one));
        for (amount, namespace) in used.into_iter().take(MOST_UNMANAGED) {
            let labels = [namespace.as_str(), resource.name()];
            self.unmanaged.with_label_values(&labels).set(base_units(resource, amount));
        }
    }

    fn show_place(&self, name: &QueueName, queue: &QueuePlan) {
        let kind = if queue.is_parent { "Parent" } else { "Leaf" };
        let parent = queue.parent.as_ref().map(ToString::to_string).unwrap_or_default();
        let labels = [name.namespace.as_str(), &name.name, kind, &parent];
        self.stated.place.with_label_values(&labels).set(1.0);
    }

    fn show_reach(&self, name: &QueueName, queue: &QueuePlan) {
        let (namespace, team) = (name.namespace.as_str(), name.name.as_ref());
        self.stated.mode.with_label_values(&[namespace, team, queue.reach.mode.name()]).set(1.0);
        let paused = f64::from(u8::from(queue.reach.pause.is_some()));
        self.stated.paused.with_label_values(&[namespace, team]).set(paused);
    }

    fn show_leaf(&self, plan: &Plan, name: &QueueName, queue: &QueuePlan) {
        let (namespace, team) = (name.namespace.as_str(), name.name.as_ref());
        for resource in &plan.resources {
            for (gauge, amounts) in self.amounts.with(queue) {
                let amount = base_units(resource, amounts.get(resource));
                gauge.with_label_values(&[namespace, team, resource.name()]).set(amount);
            }
        }
        let states = [
            ("running", queue.pods.running),
            ("pending", queue.pods.pending),
            ("gated", queue.pods.gated),
            ("terminating", queue.pods.terminating),
        ];
        for (state, count) in states {
            self.pods.with_label_values(&[namespace, team, state]).set(f64::from(count));
        }
        let mut unmet: BTreeMap<ShortReason, u32> = BTreeMap::new();
        for ask in &queue.unmet {
            let count = unmet.entry(ask.reason).or_default();
            *count = count.saturating_add(ask.pods);
        }
        for (reason, count) in unmet {
            self.unmet_pods.with_label_values(&[namespace, team, reason.name()]).set(f64::from(count));
        }
    }

    fn show_terms(&self, plan: &Plan, name: &QueueName, terms: &Terms) {
        let Some(stated) = terms.queues.get(name) else { return };
        let (namespace, team) = (name.namespace.as_str(), name.name.as_ref());
        self.stated.weight.with_label_values(&[namespace, team]).set(f64::from(stated.weight));
        for resource in &plan.resources {
            let labels = [namespace, team, resource.name()];
            for (gauge, bounds) in
                [(&self.stated.guaranteed, &stated.guaranteed), (&self.stated.limit, &stated.limit)]
            {
                if let Some(amount) = bounds.get(resource) {
                    gauge.with_label_values(&labels).set(base_units(resource, amount));
                }
            }
        }
    }

    /// Counts the pods that hang in Terminating, and says since when any is.
    fn show_terminating(&self, plan: &Plan) {
        for (name, since) in &plan.terminating_since {
            let labels = [name.namespace.as_str(), &name.name];
            self.terminating_since
                .with_label_values(&labels)
                .set(Duration::from_millis(u64::try_from(since.millis()).unwrap_or_default()).as_secs_f64());
        }
        let mut pods: BTreeMap<&Namespace, u32> = BTreeMap::new();
        for pod in &plan.overdue {
            let count = pods.entry(&pod.namespace).or_default();
            *count = count.saturating_add(1);
        }
        let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
        for (name, count) in leaves.filter_map(|(name, _)| Some((name, *pods.get(&name.namespace)?))) {
            let labels = [name.namespace.as_str(), &name.name];
            self.overdue_pods.with_label_values(&labels).set(f64::from(count));
        }
    }

    /// Counts the pods that a mode or a pause keeps.
    fn show_withheld(&self, plan: &Plan) {
        for eviction in &plan.withheld {
            let labels = [eviction.queue.namespace.as_str(), &eviction.queue.name];
            self.withheld_evictions.with_label_values(&labels).inc();
        }
    }
}

impl Stated {
    fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        let guaranteed = into.asked_gauges(metric(
            "quotient_queue_guaranteed",
            Unit::Amount,
            &AMOUNT,
            "The amounts of spec.guaranteed. No series for a resource that it does not name.",
        ))?;
        let limit = into.asked_gauges(metric(
            "quotient_queue_limit",
            Unit::Amount,
            &AMOUNT,
            "The amounts of spec.limit. No series for a resource that it does not name.",
        ))?;
        let place = into.asked_gauges(metric(
            "quotient_queue_info",
            Unit::Info,
            &[
                NAMESPACE,
                QUEUE,
                label("kind", "`Leaf` governs pods, `Parent` groups queues"),
                label("parent", "`namespace/name` of the parent queue, or empty"),
            ],
            "The tree of queues. Series of amounts and pods exist for leaf queues only, so that sums count nothing twice.",
        ))?;
        let weight = into.asked_gauges(metric(
            "quotient_queue_weight",
            Unit::Count,
            &[NAMESPACE, QUEUE],
            "The queue's weight among its siblings.",
        ))?;
        let mode = into.asked_gauges(metric(
            "quotient_queue_mode_info",
            Unit::Info,
            &[NAMESPACE, QUEUE, label("mode", "`Observe`, `Quota`, `Full`")],
            "How far Quotient goes in the queue: the lowest mode of the queue, its parents and the operator.",
        ))?;
        let paused = into.asked_gauges(metric(
            "quotient_queue_paused",
            Unit::Truth,
            &[NAMESPACE, QUEUE],
            "1 while a pause of the queue or of a parent queue lasts.",
        ))?;
        Ok(Self { guaranteed, limit, place, weight, mode, paused })
    }
}

impl Amountful {
    fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        let mut gauges = |name, help| into.asked_gauges(metric(name, Unit::Amount, &AMOUNT, help));
        Ok(Self {
            deserved: gauges(
                "quotient_queue_deserved",
                "The deserved share at the current demand of all queues.",
            )?,
            nominal: gauges(
                "quotient_queue_nominal",
                "The nominal share: the deserved share if every queue asked for everything.",
            )?,
            allocated: gauges("quotient_queue_allocated", "The allocated quota.")?,
            used: gauges(
                "quotient_queue_used",
                "The requests of the queue's pods, pending and terminating pods included.",
            )?,
            demand: gauges("quotient_queue_demand", "The demand of the queue, at most the capacity.")?,
            preempting: gauges(
                "quotient_queue_preempting",
                "The pending reclaim: the capacity that is free or being freed for the queue and not allocated yet.",
            )?,
        })
    }

    fn all(&self) -> [&GaugeVec; 6] {
        [&self.deserved, &self.nominal, &self.allocated, &self.used, &self.demand, &self.preempting]
    }

    fn with<'a>(&'a self, queue: &'a QueuePlan) -> [(&'a GaugeVec, &'a Amounts); 6] {
        [
            (&self.deserved, &queue.deserved),
            (&self.nominal, &queue.nominal),
            (&self.allocated, &queue.allocated),
            (&self.used, &queue.used),
            (&self.demand, &queue.demand),
            (&self.preempting, &queue.preempting),
        ]
    }
}
