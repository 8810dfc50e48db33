//! What every queue has, deserves and asks for.

mod conditions;
mod episodes;
mod evictions;
mod gauges;
mod terms;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan};
use tokio::time::Instant;

use super::catalog::{Catalog, Unit, metric};
use crate::lock::lock;
use episodes::Episodes;
pub use evictions::Evictions;
use gauges::Gauges;
pub use terms::Terms;

/// The metrics of queues. A series disappears with its queue.
#[derive(Clone, Debug)]
pub struct QueueGauges {
    /// Evictions, by the queue that loses the pods.
    pub evictions: Evictions,
    shown: Arc<Mutex<Shown>>,
}

/// What a scrape shows.
#[derive(Debug)]
struct Shown {
    /// Of the leaf queues in it, evictions are counted.
    plan: Option<(Arc<Plan>, Terms)>,
    /// The conditions of every Queue, without messages.
    conditions: BTreeMap<QueueName, Vec<Condition>>,
    starved: Episodes,
    preempting: Episodes,
}

/// Fills the gauges at a scrape.
#[derive(Debug)]
struct LastPlan {
    gauges: Gauges,
    shown: Arc<Mutex<Shown>>,
}

impl QueueGauges {
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        let gauges = Gauges::declare(into)?;
        let starved = waits(
            into,
            "quotient_queue_starvation_seconds",
            "How long queues were starved, counted when it ended.",
        )?;
        let preempting = waits(
            into,
            "quotient_preemption_convergence_seconds",
            "How long pods of other queues used a part of a queue's share, counted when none of them did any more.",
        )?;
        let evictions = Evictions::declare(into.under("Evictions"))?;
        let shown =
            Arc::new(Mutex::new(Shown { plan: None, conditions: BTreeMap::new(), starved, preempting }));
        into.collector(LastPlan { gauges, shown: Arc::clone(&shown) })?;
        Ok(Self { evictions, shown })
    }

    /// Shows `plan` from now on, and nothing of queues and resources that are not in it.
    pub fn show(&self, plan: &Arc<Plan>, terms: Terms) {
        let mut shown = lock(&self.shown);
        let now = Instant::now();
        let starved = leaves(plan).map(|(name, queue)| (name, &queue.uid, queue.starved.is_some()));
        shown.starved.see(starved, now);
        let preempting = leaves(plan).map(|(name, queue)| (name, &queue.uid, !queue.lacking.is_empty()));
        shown.preempting.see(preempting, now);
        let former = shown.plan.replace((Arc::clone(plan), terms));
        self.count(&former.map(|(former, _)| former).unwrap_or_default(), plan);
    }

    /// Drops every queue's series: another replica reports them now.
    pub fn clear(&self) {
        let mut shown = lock(&self.shown);
        shown.starved.forget();
        shown.preempting.forget();
        let former = shown.plan.take();
        self.count(&former.map(|(former, _)| former).unwrap_or_default(), &Plan::default());
        shown.conditions.clear();
    }

    /// Shows the conditions of one Queue from now on.
    pub fn show_conditions(&self, queue: &QueueName, conditions: &[Condition]) {
        let without_message = |one: &Condition| Condition { message: String::new(), ..one.clone() };
        let conditions = conditions.iter().map(without_message).collect();
        lock(&self.shown).conditions.insert(queue.clone(), conditions);
    }

    /// Drops the conditions of every Queue that is not to be kept.
    pub fn retain_conditions(&self, keep: impl Fn(&QueueName) -> bool) {
        lock(&self.shown).conditions.retain(|queue, _| keep(queue));
    }

    /// Counts the evictions of the leaf queues in `plan` in the place of those in `former`.
    fn count(&self, former: &Plan, plan: &Plan) {
        let is_leaf_of =
            |plan: &Plan, name: &QueueName| plan.queues.get(name).is_some_and(|queue| !queue.is_parent);
        let gone = leaves(former).filter(|(name, _)| !is_leaf_of(plan, name));
        gone.for_each(|(name, _)| self.evictions.end(name));
        let new = leaves(plan).filter(|(name, _)| !is_leaf_of(former, name));
        new.for_each(|(name, _)| self.evictions.begin(name));
    }
}

fn leaves(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan)> {
    plan.queues.iter().filter(|(_, queue)| !queue.is_parent)
}

impl Collector for LastPlan {
    fn desc(&self) -> Vec<&Desc> {
        self.gauges.describe()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        // Held while the gauges are filled, so that two scrapes do not share them.
        self.gauges.of(&lock(&self.shown))
    }
}

/// Times of waiting, from a tenth of a second to almost two hours.
fn waits(
    into: &mut Catalog<'_>,
    name: &'static str,
    help: &'static str,
) -> Result<Episodes, prometheus::Error> {
    into.registered(metric(name, Unit::Seconds, &[], help).doubling(0.1, 17)).map(Episodes::new)
}

#[cfg(test)]
mod tests {
    use super::terms::Term;
    use super::*;
    use crate::tests::plan::{cpu, eviction, unmet};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use prometheus::{Encoder, Registry, TextEncoder};
    use quotient_engine::amounts::{Amount, Resource};
    use quotient_engine::plan::{Pause, PodId, Reach};
    use quotient_engine::reasons::ShortReason;
    use quotient_engine::snapshot::Mode;
    use quotient_engine::time::Timestamp;

    fn lines(registry: &Registry) -> Vec<String> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&registry.gather(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        // Histograms are there from the start.
        let series = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_seconds_"));
        series.map(ToOwned::to_owned).collect()
    }

    fn plan(queues: &[&str]) -> Arc<Plan> {
        let some = cpu(1500);
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
    fn a_series_comes_and_goes_with_its_queue() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        gauges.show(&plan(&["team"]), Terms::default());
        let shown = lines(&registry);
        assert!(shown.contains(&r#"quotient_capacity{resource="cpu"} 1.5"#.to_owned()), "{shown:?}");
        let deserved = r#"quotient_queue_deserved{namespace="a",queue="team",resource="cpu"} 1.5"#;
        assert!(shown.contains(&deserved.to_owned()), "{shown:?}");
        assert!(shown.contains(&deserved.replace("deserved", "used").replace("1.5", "0")), "{shown:?}");

        gauges.show(&plan(&["other"]), Terms::default());
        let shown = lines(&registry).join("\n");
        assert!(!shown.contains("team") && shown.contains("other"), "{shown}");

        gauges.clear();
        assert_eq!(lines(&registry), Vec::<String>::new());
    }

    #[test]
    fn the_largest_namespaces_without_a_share_are_named() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let mut plan = plan(&["team"]);
        Arc::make_mut(&mut plan).unmanaged =
            (0..60).map(|number| (format!("n-{number:02}").as_str().into(), cpu(number * 1000))).collect();
        gauges.show(&plan, Terms::default());
        let shown = lines(&registry);
        let named: Vec<&String> =
            shown.iter().filter(|line| line.starts_with("quotient_unmanaged_namespace_used")).collect();
        assert_eq!(named.len(), 50);
        assert_eq!(named[0], r#"quotient_unmanaged_namespace_used{namespace="n-10",resource="cpu"} 10"#);
        assert_eq!(named[49], r#"quotient_unmanaged_namespace_used{namespace="n-59",resource="cpu"} 59"#);
    }

    #[test]
    fn what_specs_state_is_shown_where_they_state_it() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let mut plan = plan(&["team"]);
        for queue in Arc::make_mut(&mut plan).queues.values_mut() {
            queue.parent = Some(QueueName::new("org", "research"));
        }
        let guaranteed = [(Resource::Cpu, Amount::new(500))].into_iter().collect();
        let term = Term { weight: 3, guaranteed, ..Term::default() };
        let terms = Terms { queues: [(QueueName::new("a", "team"), term)].into(), ..Terms::default() };
        gauges.show(&plan, terms);
        let shown = lines(&registry);
        for expected in [
            r#"quotient_queue_guaranteed{namespace="a",queue="team",resource="cpu"} 0.5"#,
            r#"quotient_queue_weight{namespace="a",queue="team"} 3"#,
            r#"quotient_queue_info{kind="Leaf",namespace="a",parent="org/research",queue="team"} 1"#,
            r#"quotient_evictions_total{namespace="a",queue="team",reason="Reclaimed"} 0"#,
        ] {
            assert!(shown.iter().any(|line| line == expected), "{expected} is not in {shown:#?}");
        }
        assert!(!shown.iter().any(|line| line.starts_with("quotient_queue_limit")), "{shown:#?}");
        gauges.show(&plan, Terms::default());
        assert!(!lines(&registry).iter().any(|line| line.starts_with("quotient_queue_guaranteed")));
    }

    #[test]
    fn modes_pauses_and_what_they_withhold_are_shown() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let mut plan = plan(&["full", "team"]);
        let name = QueueName::new("a", "team");
        let decided = Arc::make_mut(&mut plan);
        let pause = Pause { until: Timestamp::from_seconds(9), of: name.clone() };
        let reach = Reach { mode: Mode::Quota, mode_of: None, pause: Some(pause) };
        decided.queues.get_mut(&name).unwrap().reach = reach;
        decided.withheld = vec![eviction("p"), eviction("p")];
        gauges.show(&plan, Terms::default());
        let shown = lines(&registry);
        for expected in [
            r#"quotient_queue_mode_info{mode="Full",namespace="a",queue="full"} 1"#,
            r#"quotient_queue_mode_info{mode="Quota",namespace="a",queue="team"} 1"#,
            r#"quotient_queue_paused{namespace="a",queue="full"} 0"#,
            r#"quotient_queue_paused{namespace="a",queue="team"} 1"#,
            r#"quotient_queue_withheld_evictions{namespace="a",queue="team"} 2"#,
        ] {
            assert!(shown.iter().any(|line| line == expected), "{expected} is not in {shown:#?}");
        }
        gauges.clear();
        assert_eq!(lines(&registry), [""; 0]);
    }

    #[test]
    fn conditions_come_and_go_with_their_queue() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let condition = |kind: &str, status: &str| {
            let time = "2026-01-01T00:00:00Z".parse().unwrap();
            Condition {
                type_: kind.to_owned(),
                status: status.to_owned(),
                reason: "Because".to_owned(),
                message: String::new(),
                observed_generation: None,
                last_transition_time: Time(time),
            }
        };
        let name = QueueName::new("a", "team");
        gauges.show_conditions(&name, &[condition("Ready", "True"), condition("Starved", "True")]);
        assert_eq!(
            lines(&registry),
            [
                r#"quotient_queue_abnormal{condition="Starved",namespace="a",queue="team",reason="Because"} 1"#,
                r#"quotient_queue_condition{condition="Ready",namespace="a",queue="team"} 1"#,
                r#"quotient_queue_condition{condition="Starved",namespace="a",queue="team"} 1"#,
                r#"quotient_queue_starved_since_timestamp_seconds{namespace="a",queue="team"} 1767225600"#,
            ]
        );
        gauges.show_conditions(&name, &[condition("Ready", "True"), condition("Starved", "False")]);
        assert_eq!(lines(&registry).len(), 2);
        gauges.show_conditions(&name, &[condition("Ready", "False"), condition("Starved", "False")]);
        let abnormal =
            r#"quotient_queue_abnormal{condition="Ready",namespace="a",queue="team",reason="Because"} 1"#;
        assert!(lines(&registry).contains(&abnormal.to_owned()), "{:?}", lines(&registry));
        gauges.retain_conditions(|_| false);
        assert_eq!(lines(&registry), [""; 0]);
    }

    #[test]
    fn pods_that_hang_are_counted_while_they_do() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let mut plan = plan(&["team"]);
        let pod = |namespace: &str, name: &str| PodId {
            namespace: namespace.into(),
            name: name.into(),
            uid: name.into(),
        };
        Arc::make_mut(&mut plan).overdue = vec![pod("a", "web-0"), pod("a", "web-1"), pod("b", "web-0")];
        let shown = |plan: &Arc<Plan>| {
            gauges.show(plan, Terms::default());
            lines(&registry).into_iter().filter(|line| line.contains("overdue")).collect::<Vec<_>>()
        };
        assert_eq!(shown(&plan), [r#"quotient_queue_overdue_pods{namespace="a",queue="team"} 2"#]);
        Arc::make_mut(&mut plan).overdue.clear();
        assert_eq!(shown(&plan), [""; 0]);
        Arc::make_mut(&mut plan).terminating_since =
            [(QueueName::new("a", "team"), Timestamp::from_seconds(1700))].into();
        gauges.show(&plan, Terms::default());
        let since = r#"quotient_queue_terminating_since_timestamp_seconds{namespace="a",queue="team"} 1700"#;
        assert!(lines(&registry).iter().any(|line| line == since), "{:?}", lines(&registry));
    }

    #[test]
    fn pods_that_wait_are_counted_by_what_stands_in_their_way() {
        let registry = Registry::new();
        let gauges = QueueGauges::declare(&mut Catalog::new(&registry)).unwrap();
        let mut plan = plan(&["team"]);
        for queue in Arc::make_mut(&mut plan).queues.values_mut() {
            queue.unmet = vec![
                unmet(2, ShortReason::Fragmented),
                unmet(1, ShortReason::NoNodeFits),
                unmet(3, ShortReason::Fragmented),
            ];
        }
        gauges.show(&plan, Terms::default());
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
        for queue in Arc::make_mut(&mut plan).queues.values_mut() {
            queue.unmet.truncate(1);
        }
        gauges.show(&plan, Terms::default());
        assert_eq!(waiting(), [r#"{namespace="a",queue="team",reason="Fragmented"} 2"#]);
        gauges.clear();
        assert_eq!(lines(&registry), Vec::<String>::new());
    }
}
