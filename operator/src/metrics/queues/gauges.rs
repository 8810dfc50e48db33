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

use super::conditions::ConditionGauges;
use super::{Shown, Terms};
use crate::metrics::catalog::{
    Catalog, Label, NAMESPACE, QUEUE, RESOURCE, base_units, label, labels, metrics,
};

/// The most namespaces without a share that are shown by name: a cluster may have thousands, and each is a series.
const MOST_UNMANAGED: usize = 50;

/// The labels of a queue's amounts.
const AMOUNT: [Label; 3] = [NAMESPACE, QUEUE, RESOURCE];

metrics! {
    /// Gauges of all queues together.
    struct ClusterGauges: computed {
        capacity: GaugeVec = "quotient_capacity", Amount, [RESOURCE] =>
            "The capacity that the queues share: that of the nodes that count or of --capacity, less what namespaces without a Queue use.";
        offered: GaugeVec = "quotient_nodes_allocatable", Amount, [RESOURCE] =>
            "The capacity of the nodes that count, used or not.";
        unmanaged: GaugeVec = "quotient_unmanaged_namespace_used", Amount, [NAMESPACE, RESOURCE] =>
            "Requests of bound pods in a namespace without a share. For each resource, the 50 namespaces with the most.";
    }
}

metrics! {
    /// Gauges of every queue, labeled by resource, state or reason as well.
    struct EachQueue: computed {
        deserved: GaugeVec = "quotient_queue_deserved", Amount, AMOUNT =>
            "The deserved share at the current demand of all queues.";
        nominal: GaugeVec = "quotient_queue_nominal", Amount, AMOUNT =>
            "The nominal share: the deserved share if every queue asked for everything.";
        allocated: GaugeVec = "quotient_queue_allocated", Amount, AMOUNT =>
            "The allocated quota.";
        used: GaugeVec = "quotient_queue_used", Amount, AMOUNT =>
            "The requests of the queue's pods, pending and terminating pods included.";
        demand: GaugeVec = "quotient_queue_demand", Amount, AMOUNT =>
            "The demand of the queue, at most the capacity.";
        preempting: GaugeVec = "quotient_queue_preempting", Amount, AMOUNT =>
            "The pending reclaim: the capacity that is free or being freed for the queue and not allocated yet.";
        guaranteed: GaugeVec = "quotient_queue_guaranteed", Amount, AMOUNT =>
            "The amounts of spec.guaranteed. No series for a resource that it does not name.";
        limit: GaugeVec = "quotient_queue_limit", Amount, AMOUNT =>
            "The amounts of spec.limit. No series for a resource that it does not name.";
        place: GaugeVec = "quotient_queue_info", Info,
            [
                NAMESPACE,
                QUEUE,
                label("kind", "`Leaf` governs pods, `Parent` groups queues"),
                label("parent", "`namespace/name` of the parent queue, or empty"),
            ] =>
            "The tree of queues. Series of amounts and pods exist for leaf queues only, so that sums count nothing twice.";
        weight: GaugeVec = "quotient_queue_weight", Count, [NAMESPACE, QUEUE] =>
            "The queue's weight among its siblings.";
        mode: GaugeVec = "quotient_queue_mode_info", Info,
            [NAMESPACE, QUEUE, label("mode", "`Observe`, `Quota`, `Full`")] =>
            "How far Quotient goes in the queue: the lowest mode of the queue, its parents and the operator.";
        paused: GaugeVec = "quotient_queue_paused", Truth, [NAMESPACE, QUEUE] =>
            "1 while a pause of the queue or of a parent queue lasts.";
        pods: GaugeVec = "quotient_queue_pods", Count,
            [NAMESPACE, QUEUE, label("state", "`running`, `pending`, `gated`, `terminating`")] =>
            "The pods of the queue. Finished pods do not count.";
        unmet_pods: GaugeVec = "quotient_queue_unmet_pods", Count,
            [NAMESPACE, QUEUE, label("reason", "`UnitAboveShare`, `ShareInUse`, `Fragmented`, …")] =>
            "Pods of the queue that cannot start now, rejected pods included, by reason.";
        overdue_pods: GaugeVec = "quotient_queue_overdue_pods", Count, [NAMESPACE, QUEUE] =>
            "Pods of the queue that are terminating, a minute or more past their deadline.";
        terminating_since: GaugeVec = "quotient_queue_terminating_since_timestamp_seconds", Timestamp, [NAMESPACE, QUEUE] =>
            "The time at which the pod of the queue began to terminate that has been terminating for the longest time. The series exists while one is.";
        withheld_evictions: GaugeVec = "quotient_queue_withheld_evictions", Count, [NAMESPACE, QUEUE] =>
            "Pods of the queue that Quotient would evict if every queue were in mode Full and no queue were paused.";
    }
}

/// The gauges that a scrape computes.
///
/// Between two scrapes they are empty: a cluster of many queues plans often and is scraped seldom.
#[derive(Clone, Debug)]
pub(super) struct Gauges {
    cluster: ClusterGauges,
    queues: EachQueue,
    conditions: ConditionGauges,
}

impl Gauges {
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        let cluster = ClusterGauges::declare(into.under("The cluster"))?;
        let queues = EachQueue::declare(into.under("Queues"))?;
        Ok(Self { cluster, queues, conditions: ConditionGauges::declare(into)? })
    }

    pub(super) fn describe(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    /// What is `shown` by them. They are empty before and after.
    pub(super) fn of(&self, shown: &Shown) -> Vec<MetricFamily> {
        if let Some((plan, terms)) = &shown.plan {
            self.fill(plan, terms);
        }
        for (queue, conditions) in &shown.conditions {
            for condition in conditions {
                self.conditions.fill(queue, condition);
            }
        }
        let families = self.all().into_iter().flat_map(Collector::collect).collect();
        self.all().into_iter().for_each(GaugeVec::reset);
        families
    }

    fn all(&self) -> Vec<&GaugeVec> {
        [self.cluster.all(), self.queues.all(), self.conditions.all()].concat()
    }

    fn fill(&self, plan: &Plan, terms: &Terms) {
        for resource in &plan.resources {
            let set = |gauge: &GaugeVec, amounts: &Amounts| {
                let amount = base_units(resource, amounts.get(resource));
                gauge.with_label_values(&[resource.name()]).set(amount);
            };
            set(&self.cluster.capacity, &plan.capacity);
            set(&self.cluster.offered, &terms.offered);
            self.show_unmanaged(plan, resource);
        }
        for (name, queue) in &plan.queues {
            self.show_queue(name, queue);
            if !queue.is_parent {
                self.show_leaf(plan, name, queue);
                self.show_terms(plan, name, terms);
            }
        }
        self.show_terminating(plan);
        // The pods that a mode or a pause keeps.
        for eviction in &plan.withheld {
            self.queues.withheld_evictions.with_label_values(&labels(&eviction.queue, &[])).inc();
        }
    }

    /// Shows the namespaces without a share that use the most of `resource`.
    fn show_unmanaged(&self, plan: &Plan, resource: &Resource) {
        let amounts = plan.unmanaged.iter().map(|(namespace, used)| (used.get(resource), namespace));
        let mut used: Vec<(Amount, &Namespace)> =
            amounts.filter(|(amount, _)| amount.is_positive()).collect();
        used.sort_unstable_by(|one, other| other.cmp(one));
        for (amount, namespace) in used.into_iter().take(MOST_UNMANAGED) {
            let labels = [namespace.as_str(), resource.name()];
            self.cluster.unmanaged.with_label_values(&labels).set(base_units(resource, amount));
        }
    }

    fn show_queue(&self, name: &QueueName, queue: &QueuePlan) {
        let kind = if queue.is_parent { "Parent" } else { "Leaf" };
        let parent = queue.parent.as_ref().map(ToString::to_string).unwrap_or_default();
        self.queues.place.with_label_values(&labels(name, &[kind, &parent])).set(1.0);
        self.queues.mode.with_label_values(&labels(name, &[queue.reach.mode.name()])).set(1.0);
        let paused = f64::from(u8::from(queue.reach.pause.is_some()));
        self.queues.paused.with_label_values(&labels(name, &[])).set(paused);
    }

    fn show_leaf(&self, plan: &Plan, name: &QueueName, queue: &QueuePlan) {
        for resource in &plan.resources {
            let gauges = &self.queues;
            for (gauge, amounts) in [
                (&gauges.deserved, &queue.deserved),
                (&gauges.nominal, &queue.nominal),
                (&gauges.allocated, &queue.allocated),
                (&gauges.used, &queue.used),
                (&gauges.demand, &queue.demand),
                (&gauges.preempting, &queue.preempting),
            ] {
                let amount = base_units(resource, amounts.get(resource));
                gauge.with_label_values(&labels(name, &[resource.name()])).set(amount);
            }
        }
        let states = [
            ("running", queue.pods.running),
            ("pending", queue.pods.pending),
            ("gated", queue.pods.gated),
            ("terminating", queue.pods.terminating),
        ];
        for (state, count) in states {
            self.queues.pods.with_label_values(&labels(name, &[state])).set(f64::from(count));
        }
        let mut unmet: BTreeMap<ShortReason, u32> = BTreeMap::new();
        for pending in &queue.unmet {
            let count = unmet.entry(pending.reason).or_default();
            *count = count.saturating_add(pending.pods);
        }
        for (reason, count) in unmet {
            self.queues.unmet_pods.with_label_values(&labels(name, &[reason.name()])).set(f64::from(count));
        }
    }

    fn show_terms(&self, plan: &Plan, name: &QueueName, terms: &Terms) {
        let Some(stated) = terms.queues.get(name) else { return };
        self.queues.weight.with_label_values(&labels(name, &[])).set(f64::from(stated.weight));
        for resource in &plan.resources {
            let labels = labels(name, &[resource.name()]);
            for (gauge, bounds) in
                [(&self.queues.guaranteed, &stated.guaranteed), (&self.queues.limit, &stated.limit)]
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
            let since = Duration::from_millis(u64::try_from(since.millis()).unwrap_or_default());
            self.queues.terminating_since.with_label_values(&labels(name, &[])).set(since.as_secs_f64());
        }
        let mut pods: BTreeMap<&Namespace, u32> = BTreeMap::new();
        for pod in &plan.overdue {
            let count = pods.entry(&pod.namespace).or_default();
            *count = count.saturating_add(1);
        }
        let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
        for (name, count) in leaves.filter_map(|(name, _)| Some((name, *pods.get(&name.namespace)?))) {
            self.queues.overdue_pods.with_label_values(&labels(name, &[])).set(f64::from(count));
        }
    }
}
