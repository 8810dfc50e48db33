//! The gauges of all queues, computed from the last plan at every scrape.

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::proto::Gauge;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan};

use super::Shown;
use super::conditions::ConditionGauges;
use crate::metrics::catalog::{
    Catalog, Label, NAMESPACE, QUEUE, RESOURCE, base_units, label, labels, metrics,
};
use crate::metrics::computed::Computed;
use crate::offered::Offer;

/// The most namespaces without a share that are shown by name: a cluster may have thousands, and each is a series.
const MOST_UNMANAGED: usize = 50;

/// The labels of a queue's amounts.
const AMOUNT: [Label; 3] = [NAMESPACE, QUEUE, RESOURCE];

metrics! {
    /// Gauges of all queues together.
    struct ClusterGauges: computed {
        capacity: Computed<Gauge> = "quotient_capacity", Amount, [RESOURCE] =>
            "The capacity that the queues share: that of the nodes that count or of --capacity, less what namespaces without a Queue use.";
        expandable: Computed<Gauge> = "quotient_capacity_expandable", Amount, [RESOURCE] =>
            "The part of the shared capacity that no node offers yet: what an autoscaler may still add, by --capacity or --expandable.";
        offered: Computed<Gauge> = "quotient_nodes_allocatable", Amount, [RESOURCE] =>
            "The capacity of the nodes that count, used or not.";
        unmanaged: Computed<Gauge> = "quotient_unmanaged_namespace_used", Amount, [NAMESPACE, RESOURCE] =>
            "Requests of bound pods in a namespace without a share. For each resource, the 50 namespaces with the most.";
    }
}

metrics! {
    /// Gauges of every queue, labeled by resource, state or reason as well.
    struct EachQueue: computed {
        deserved: Computed<Gauge> = "quotient_queue_deserved", Amount, AMOUNT =>
            "The deserved share at the current demand of all queues.";
        nominal: Computed<Gauge> = "quotient_queue_nominal", Amount, AMOUNT =>
            "The nominal share: the deserved share if every queue asked for everything.";
        allocated: Computed<Gauge> = "quotient_queue_allocated", Amount, AMOUNT =>
            "The allocated quota.";
        used: Computed<Gauge> = "quotient_queue_used", Amount, AMOUNT =>
            "The requests of the queue's pods, pending and terminating pods included.";
        demand: Computed<Gauge> = "quotient_queue_demand", Amount, AMOUNT =>
            "The demand of the queue, at most the capacity.";
        preempting: Computed<Gauge> = "quotient_queue_preempting", Amount, AMOUNT =>
            "The pending reclaim: the capacity that is free or being freed for the queue and not allocated yet.";
        guaranteed: Computed<Gauge> = "quotient_queue_guaranteed", Amount, AMOUNT =>
            "The amounts of spec.guaranteed. No series for a resource that it does not name.";
        limit: Computed<Gauge> = "quotient_queue_limit", Amount, AMOUNT =>
            "The amounts of spec.limit. No series for a resource that it does not name.";
        place: Computed<Gauge> = "quotient_queue_info", Info,
            [
                NAMESPACE,
                QUEUE,
                label("kind", "`Leaf` governs pods, `Parent` groups queues"),
                label("parent", "`namespace/name` of the parent queue, or empty"),
            ] =>
            "The tree of queues. Series of amounts and pods exist for leaf queues only, so that sums count nothing twice.";
        weight: Computed<Gauge> = "quotient_queue_weight", Count, [NAMESPACE, QUEUE] =>
            "The queue's weight among its siblings.";
        mode: Computed<Gauge> = "quotient_queue_mode_info", Info,
            [NAMESPACE, QUEUE, label("mode", "`Observe`, `Quota`, `Full`")] =>
            "How far Quotient goes in the queue: the lowest mode of the queue, its parents and the operator.";
        paused: Computed<Gauge> = "quotient_queue_paused", Truth, [NAMESPACE, QUEUE] =>
            "1 while a pause of the queue or of a parent queue lasts.";
        pods: Computed<Gauge> = "quotient_queue_pods", Count,
            [NAMESPACE, QUEUE, label("state", "`running`, `pending`, `gated`, `terminating`")] =>
            "The pods of the queue. Finished pods do not count.";
        unmet_pods: Computed<Gauge> = "quotient_queue_unmet_pods", Count,
            [NAMESPACE, QUEUE, label("reason", "`UnitAboveShare`, `ShareInUse`, `Fragmented`, …")] =>
            "Pods of the queue that cannot start now, rejected pods included, by reason.";
        overdue_pods: Computed<Gauge> = "quotient_queue_overdue_pods", Count, [NAMESPACE, QUEUE] =>
            "Pods of the queue that are terminating, a minute or more past their deadline.";
        terminating_since: Computed<Gauge> = "quotient_queue_terminating_since_timestamp_seconds", Timestamp, [NAMESPACE, QUEUE] =>
            "The time at which the pod of the queue began to terminate that has been terminating for the longest time. The series exists while one is.";
        withheld_evictions: Computed<Gauge> = "quotient_queue_withheld_evictions", Count, [NAMESPACE, QUEUE] =>
            "Pods of the queue that Quotient would evict if every queue were in mode Full and no queue were paused.";
    }
}

/// The gauges that a scrape computes.
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

    pub(super) fn all(&self) -> Vec<&dyn Collector> {
        [self.cluster.all(), self.queues.all(), self.conditions.all()].concat()
    }

    pub(super) fn fill(&self, shown: &Shown) {
        let Some((plan, offer)) = &shown.plan else { return };
        self.fill_plan(plan, offer);
        for (queue, conditions) in &shown.conditions {
            for condition in conditions {
                self.conditions.fill(queue, condition);
            }
        }
    }

    fn fill_plan(&self, plan: &Plan, offer: &Offer) {
        for resource in &plan.resources {
            let show = |gauge: &Computed<Gauge>, amounts: &Amounts| {
                gauge.show(&[resource.name()], base_units(resource, amounts.get(resource)));
            };
            show(&self.cluster.capacity, &plan.capacity);
            show(&self.cluster.expandable, &offer.expandable);
            show(&self.cluster.offered, &offer.offered);
            self.show_unmanaged(plan, resource);
        }
        for (name, queue) in &plan.queues {
            self.show_queue(name, queue);
        }
        for (name, queue) in plan.leaves() {
            self.show_leaf(plan, name, queue);
        }
        self.show_terminating(plan);
        // The pods that a mode or a pause keeps.
        for (queue, count) in counted(plan.withheld.iter().map(|eviction| (&eviction.queue, 1))) {
            self.queues.withheld_evictions.show(&labels(queue, &[]), f64::from(count));
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
            self.cluster.unmanaged.show(&labels, base_units(resource, amount));
        }
    }

    fn show_queue(&self, name: &QueueName, queue: &QueuePlan) {
        let kind = if queue.is_parent { "Parent" } else { "Leaf" };
        let parent = queue.parent.as_ref().map(ToString::to_string).unwrap_or_default();
        self.queues.place.show(&labels(name, &[kind, &parent]), 1.0);
        self.queues.mode.show(&labels(name, &[queue.reach.mode.name()]), 1.0);
        let paused = f64::from(u8::from(queue.reach.pause.is_some()));
        self.queues.paused.show(&labels(name, &[]), paused);
    }

    fn show_leaf(&self, plan: &Plan, name: &QueueName, queue: &QueuePlan) {
        for resource in &plan.resources {
            let (gauges, labels) = (&self.queues, labels(name, &[resource.name()]));
            for (gauge, amounts) in [
                (&gauges.deserved, &queue.deserved),
                (&gauges.nominal, &queue.nominal),
                (&gauges.allocated, &queue.allocated),
                (&gauges.used, &queue.used),
                (&gauges.demand, &queue.demand),
                (&gauges.preempting, &queue.preempting),
            ] {
                gauge.show(&labels, base_units(resource, amounts.get(resource)));
            }
            for (gauge, bounds) in [(&gauges.guaranteed, &queue.guaranteed), (&gauges.limit, &queue.limit)] {
                if let Some(amount) = bounds.get(resource) {
                    gauge.show(&labels, base_units(resource, amount));
                }
            }
        }
        self.queues.weight.show(&labels(name, &[]), f64::from(queue.weight));
        let states = [
            ("running", queue.pods.running),
            ("pending", queue.pods.pending),
            ("gated", queue.pods.gated),
            ("terminating", queue.pods.terminating),
        ];
        for (state, count) in states {
            self.queues.pods.show(&labels(name, &[state]), f64::from(count));
        }
        for (reason, count) in counted(queue.unmet.iter().map(|unmet| (unmet.reason, unmet.pods))) {
            self.queues.unmet_pods.show(&labels(name, &[reason.name()]), f64::from(count));
        }
    }

    /// Counts the pods that hang in Terminating, and says since when any is.
    fn show_terminating(&self, plan: &Plan) {
        for (name, since) in &plan.terminating_since {
            let since = Duration::from_millis(u64::try_from(since.millis()).unwrap_or_default());
            self.queues.terminating_since.show(&labels(name, &[]), since.as_secs_f64());
        }
        let pods = counted(plan.overdue.iter().map(|pod| (&pod.namespace, 1)));
        for (name, count) in plan.leaves().filter_map(|(name, _)| Some((name, *pods.get(&name.namespace)?))) {
            self.queues.overdue_pods.show(&labels(name, &[]), f64::from(count));
        }
    }
}

/// The sum of each key's counts.
fn counted<K: Ord>(counts: impl Iterator<Item = (K, u32)>) -> BTreeMap<K, u32> {
    let mut sums: BTreeMap<K, u32> = BTreeMap::new();
    for (key, count) in counts {
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(count);
    }
    sums
}
