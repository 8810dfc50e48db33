//! What every queue has, deserves and asks for.

mod conditions;
mod episodes;
mod evictions;
mod gauges;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::Histogram;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::reasons::EvictionReason;
use tokio::time::Instant;

use super::catalog::{Catalog, metrics};
use crate::lock::lock;
use crate::offered::Offer;
use episodes::Episodes;
use evictions::{EvictionCounters, Evictions};
use gauges::Gauges;

metrics! {
    /// How long queues waited, from a tenth of a second to almost two hours.
    struct Waits: registered {
        starved: Histogram = "quotient_queue_starvation_seconds", Seconds, [], doubling(0.1, 17) =>
            "How long queues were starved, counted when it ended.";
        preempting: Histogram = "quotient_preemption_convergence_seconds", Seconds, [], doubling(0.1, 17) =>
            "How long pods of other queues used a part of a queue's share, counted when none of them did any more.";
    }
}

/// The metrics of queues. A series disappears with its queue.
#[derive(Clone, Debug)]
pub struct QueueMetrics(Arc<Mutex<Shown>>);

/// What a scrape shows.
#[derive(Debug)]
struct Shown {
    plan: Option<(Arc<Plan>, Offer)>,
    /// The conditions of every Queue, without messages.
    conditions: BTreeMap<QueueName, Vec<Condition>>,
    /// What every leaf queue of the plan has lost.
    evictions: BTreeMap<QueueName, Evictions>,
    starved: Episodes,
    preempting: Episodes,
}

/// Computes all of it at a scrape.
#[derive(Debug)]
struct Scraped {
    gauges: Gauges,
    counters: EvictionCounters,
    shown: Arc<Mutex<Shown>>,
}

impl QueueMetrics {
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        let gauges = Gauges::declare(into)?;
        let waits = Waits::declare(into)?;
        let (starved, preempting) = (Episodes::new(waits.starved), Episodes::new(waits.preempting));
        let counters = EvictionCounters::declare(into.under("Evictions"))?;
        let (conditions, evictions) = (BTreeMap::new(), BTreeMap::new());
        let shown = Arc::new(Mutex::new(Shown { plan: None, conditions, evictions, starved, preempting }));
        into.collector(Scraped { gauges, counters, shown: Arc::clone(&shown) })?;
        Ok(Self(shown))
    }

    /// Shows `plan` from now on, and nothing of queues and resources that are not in it.
    pub fn show(&self, plan: &Arc<Plan>, offer: Offer) {
        let mut shown = lock(&self.0);
        let now = Instant::now();
        let starved = plan.leaves().map(|(name, queue)| (name, &queue.uid, queue.starved.is_some()));
        shown.starved.see(starved, now);
        let preempting = plan.leaves().map(|(name, queue)| (name, &queue.uid, !queue.lacking.is_empty()));
        shown.preempting.see(preempting, now);
        shown.conditions.retain(|name, _| plan.life(name).is_some());
        shown.evictions.retain(|name, _| plan.queues.get(name).is_some_and(|queue| !queue.is_parent));
        for (name, _) in plan.leaves() {
            if !shown.evictions.contains_key(name) {
                shown.evictions.insert(name.clone(), Evictions::default());
            }
        }
        shown.plan = Some((Arc::clone(plan), offer));
    }

    /// Shows the conditions of one Queue from now on.
    pub fn show_conditions(&self, queue: &QueueName, conditions: &[Condition]) {
        let without_message = |one: &Condition| Condition { message: String::new(), ..one.clone() };
        let conditions = conditions.iter().map(without_message).collect();
        lock(&self.0).conditions.insert(queue.clone(), conditions);
    }

    /// Counts one accepted eviction of a pod of `queue` that had run for so long.
    pub fn evicted(&self, queue: &QueueName, reason: EvictionReason, ran: Duration) {
        lock(&self.0).evictions.entry(queue.clone()).or_default().accept(reason, ran);
    }

    /// Counts one refused eviction of a pod of `queue`.
    pub fn refused(&self, queue: &QueueName, reason: &'static str) {
        lock(&self.0).evictions.entry(queue.clone()).or_default().refuse(reason);
    }

    /// What was counted for `queue`.
    #[cfg(test)]
    pub(crate) fn evictions(&self, queue: &QueueName) -> Evictions {
        lock(&self.0).evictions.get(queue).cloned().unwrap_or_default()
    }
}

impl Scraped {
    fn all(&self) -> Vec<&dyn Collector> {
        [self.gauges.all(), self.counters.all()].concat()
    }
}

impl Collector for Scraped {
    fn desc(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        // Held until all is collected, so that two scrapes do not show each series twice.
        let shown = lock(&self.shown);
        self.gauges.fill(&shown);
        for (queue, evictions) in &shown.evictions {
            self.counters.fill(queue, evictions);
        }
        self.all().into_iter().flat_map(Collector::collect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::{cpu, eviction, unmet};
    use expect_test::expect;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use prometheus::{Encoder, Registry, TextEncoder};
    use quotient_engine::amounts::{Amounts, Resource};
    use quotient_engine::plan::{Pause, PodId, QueuePlan, Reach};
    use quotient_engine::reasons::ShortReason;
    use quotient_engine::snapshot::Mode;
    use quotient_engine::time::Timestamp;

    /// The metrics of queues, and where they are scraped.
    struct Shown {
        registry: Registry,
        queues: QueueMetrics,
    }

    fn shown() -> Shown {
        let registry = Registry::new();
        let queues = QueueMetrics::declare(&mut Catalog::new(&registry)).unwrap();
        Shown { registry, queues }
    }

    impl Shown {
        /// What a scrape shows, without the comments and the histograms, which are there from the start.
        fn lines(&self) -> Vec<String> {
            let mut text = Vec::new();
            TextEncoder::new().encode(&self.registry.gather(), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let is_histogram = |line: &str| line.contains("_seconds_") && !line.contains("_seconds_total");
            let series = text.lines().filter(|line| !line.starts_with('#') && !is_histogram(line));
            series.map(ToOwned::to_owned).collect()
        }

        /// The lines that begin like this.
        fn of(&self, name: &str) -> Vec<String> {
            self.lines().into_iter().filter(|line| line.starts_with(name)).collect()
        }

        /// A scrape shows each of `expected`.
        #[track_caller]
        fn has(&self, expected: &[&str]) {
            let lines = self.lines();
            for expected in expected {
                assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
            }
        }
    }

    fn plan(queues: &[&str]) -> Arc<Plan> {
        let some: Amounts = cpu(1500);
        let queue = QueuePlan {
            uid: "1".into(),
            demand: some.clone(),
            deserved: some.clone(),
            nominal: some.clone(),
            allocated: some.clone(),
            quota_in_force: true,
            ..QueuePlan::default()
        };
        Arc::new(Plan {
            resources: vec![Resource::Cpu],
            capacity: some,
            queues: queues.iter().map(|name| (QueueName::new("a", *name), queue.clone())).collect(),
            ..Plan::default()
        })
    }

    #[test]
    fn a_scrape_shows_the_plan_and_nothing_of_the_one_before() {
        let shown = shown();
        let next = plan(&["other"]);
        let mut plan = plan(&["team"]);
        let name = QueueName::new("a", "team");
        let pod = |(namespace, name): (&str, &str)| PodId {
            namespace: namespace.into(),
            name: name.into(),
            uid: name.into(),
        };
        let decided = Arc::make_mut(&mut plan);
        decided.withheld = vec![eviction("p"), eviction("p")];
        decided.overdue = [("a", "web-0"), ("a", "web-1"), ("b", "web-0")].map(pod).to_vec();
        decided.terminating_since = [(name.clone(), Timestamp::from_seconds(1700))].into();
        let team = decided.queues.get_mut(&name).unwrap();
        let pause = Some(Pause { until: Timestamp::from_seconds(9), of: name.clone() });
        team.reach = Reach { mode: Mode::Quota, mode_of: None, pause };
        (team.weight, team.guaranteed, team.parent) = (3, cpu(500), Some(QueueName::new("org", "research")));
        let (fragmented, no_node) = (ShortReason::Fragmented, ShortReason::NoNodeFits);
        team.unmet = vec![unmet(2, fragmented), unmet(1, no_node), unmet(3, fragmented)];
        shown.queues.show(&plan, Offer { offered: cpu(4000), expandable: cpu(1000) });
        expect![[r#"
            quotient_capacity{resource="cpu"} 1.5
            quotient_capacity_expandable{resource="cpu"} 1
            quotient_evicted_pod_seconds_total{namespace="a",queue="team"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="Budget"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="Forbidden"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="Other"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="Overloaded"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="ServerError"} 0
            quotient_evictions_blocked_total{namespace="a",queue="team",reason="SeveralBudgets"} 0
            quotient_evictions_total{namespace="a",queue="team",reason="MovedAside"} 0
            quotient_evictions_total{namespace="a",queue="team",reason="Overcommitted"} 0
            quotient_evictions_total{namespace="a",queue="team",reason="Reclaimed"} 0
            quotient_nodes_allocatable{resource="cpu"} 4
            quotient_queue_allocated{namespace="a",queue="team",resource="cpu"} 1.5
            quotient_queue_demand{namespace="a",queue="team",resource="cpu"} 1.5
            quotient_queue_deserved{namespace="a",queue="team",resource="cpu"} 1.5
            quotient_queue_guaranteed{namespace="a",queue="team",resource="cpu"} 0.5
            quotient_queue_info{namespace="a",queue="team",kind="Leaf",parent="org/research"} 1
            quotient_queue_mode_info{namespace="a",queue="team",mode="Quota"} 1
            quotient_queue_nominal{namespace="a",queue="team",resource="cpu"} 1.5
            quotient_queue_overdue_pods{namespace="a",queue="team"} 2
            quotient_queue_paused{namespace="a",queue="team"} 1
            quotient_queue_pods{namespace="a",queue="team",state="gated"} 0
            quotient_queue_pods{namespace="a",queue="team",state="pending"} 0
            quotient_queue_pods{namespace="a",queue="team",state="running"} 0
            quotient_queue_pods{namespace="a",queue="team",state="terminating"} 0
            quotient_queue_preempting{namespace="a",queue="team",resource="cpu"} 0
            quotient_queue_terminating_since_timestamp_seconds{namespace="a",queue="team"} 1700
            quotient_queue_unmet_pods{namespace="a",queue="team",reason="Fragmented"} 5
            quotient_queue_unmet_pods{namespace="a",queue="team",reason="NoNodeFits"} 1
            quotient_queue_used{namespace="a",queue="team",resource="cpu"} 0
            quotient_queue_weight{namespace="a",queue="team"} 3
            quotient_queue_withheld_evictions{namespace="a",queue="team"} 2
        "#]]
        .assert_eq(&(shown.lines().join("\n") + "\n"));

        shown.queues.show(&next, Offer::default());
        let lines = shown.lines().join("\n");
        assert!(!lines.contains("team") && !lines.contains("overdue"), "{lines}");
        // Also where it is nothing: the recorded share of namespaces without a Queue subtracts it.
        shown.has(&[r#"quotient_capacity_expandable{resource="cpu"} 0"#]);
    }

    #[test]
    fn queues_whose_names_are_alike_when_joined_are_two() {
        let shown = shown();
        let (one, other) = (QueueName::new("a", "bc"), QueueName::new("ab", "c"));
        let mut plan = Plan::default();
        for (name, pods) in [(&one, 1), (&other, 2)] {
            let queue =
                QueuePlan { unmet: vec![unmet(pods, ShortReason::Fragmented)], ..QueuePlan::default() };
            plan.queues.insert(name.clone(), queue);
        }
        shown.queues.show(&Arc::new(plan), Offer::default());
        shown.queues.evicted(&one, EvictionReason::Reclaimed, Duration::from_secs(90));
        shown.queues.refused(&other, "Budget");
        let lines = shown.lines();
        shown.has(&[
            r#"quotient_queue_unmet_pods{namespace="a",queue="bc",reason="Fragmented"} 1"#,
            r#"quotient_queue_unmet_pods{namespace="ab",queue="c",reason="Fragmented"} 2"#,
            r#"quotient_evictions_total{namespace="a",queue="bc",reason="Reclaimed"} 1"#,
            r#"quotient_evictions_total{namespace="ab",queue="c",reason="Reclaimed"} 0"#,
            r#"quotient_evictions_blocked_total{namespace="a",queue="bc",reason="Budget"} 0"#,
            r#"quotient_evictions_blocked_total{namespace="ab",queue="c",reason="Budget"} 1"#,
            r#"quotient_evicted_pod_seconds_total{namespace="a",queue="bc"} 90"#,
            r#"quotient_evicted_pod_seconds_total{namespace="ab",queue="c"} 0"#,
        ]);
        assert_eq!(shown.lines(), lines, "every scrape shows the same");
    }

    #[test]
    fn the_largest_namespaces_without_a_share_are_named() {
        let shown = shown();
        let mut plan = plan(&["team"]);
        Arc::make_mut(&mut plan).unmanaged =
            (0..60).map(|number| (format!("n-{number:02}").as_str().into(), cpu(number * 1000))).collect();
        shown.queues.show(&plan, Offer::default());
        let named = shown.of("quotient_unmanaged_namespace_used");
        let expected = (10..60).map(|number| {
            format!(r#"quotient_unmanaged_namespace_used{{namespace="n-{number}",resource="cpu"}} {number}"#)
        });
        assert_eq!(named, expected.collect::<Vec<_>>());
    }

    #[test]
    fn conditions_come_and_go_with_their_queue() {
        let shown = shown();
        let lead = |queues: &[&str]| shown.queues.show(&plan(queues), Offer::default());
        let conditions = || -> Vec<String> {
            let is_of_condition =
                |line: &String| ["condition=", "starved_since"].iter().any(|part| line.contains(part));
            shown.lines().into_iter().filter(is_of_condition).collect()
        };
        let show = |conditions: [(&str, &str); 2]| {
            let conditions = conditions.map(|(kind, status)| Condition {
                type_: kind.to_owned(),
                status: status.to_owned(),
                reason: "Because".to_owned(),
                message: String::new(),
                observed_generation: None,
                last_transition_time: Time("2026-01-01T00:00:00Z".parse().unwrap()),
            });
            shown.queues.show_conditions(&QueueName::new("a", "team"), &conditions);
        };
        lead(&["team"]);
        show([("Ready", "True"), ("Starved", "True")]);
        assert_eq!(
            conditions(),
            [
                r#"quotient_queue_abnormal{namespace="a",queue="team",condition="Starved",reason="Because"} 1"#,
                r#"quotient_queue_condition{namespace="a",queue="team",condition="Ready"} 1"#,
                r#"quotient_queue_condition{namespace="a",queue="team",condition="Starved"} 1"#,
                r#"quotient_queue_starved_since_timestamp_seconds{namespace="a",queue="team"} 1767225600"#,
            ]
        );
        show([("Ready", "True"), ("Starved", "False")]);
        assert_eq!(conditions().len(), 2);
        show([("Ready", "False"), ("Starved", "False")]);
        shown.has(&[
            r#"quotient_queue_abnormal{namespace="a",queue="team",condition="Ready",reason="Because"} 1"#,
        ]);
        lead(&["other"]);
        assert_eq!(conditions(), [""; 0]);
    }
}
