//! The writer against an API server made of a closure: what goes over the wire, and what its answers lead to.

pub(crate) mod again;
mod evictions;
mod gates;
mod limit_ranges;
mod modes;
mod ownership;
mod queue_jobs;
mod quotas;
mod requeues;
mod scalings;
mod statuses;

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::apps::v1::{ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{LimitRange, Node, Pod, ResourceQuota};
use k8s_openapi::jiff::Timestamp as Clock;
use kube::Client;
use prometheus::Registry;
use quotient_crds::Queue;
use quotient_engine::amounts::Resource;
use quotient_engine::ledger::{Entry, Ledger};
use quotient_engine::names::Namespace;
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{Mode, Settings};
use quotient_engine::time::Timestamp;
use quotient_index::{Index, IndexSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Writer;
use crate::context::Context;
use crate::events::{EventRecorder, Notice};
use crate::executor::Class;
use crate::health::Heartbeat;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::reclaims::RecentReclaims;
use crate::settings::{LedgerSettings, WriteSettings};
use crate::tests::api::{Asked, Log, Reply, client};
use crate::tests::objects::{node, owned_by, pod, queue, quota};
use crate::view::View;

/// Long after everything in these tests was created.
const NOW: Timestamp = Timestamp::from_seconds(2_000_000_000);

const SETTINGS: WriteSettings = WriteSettings {
    quotas_in_parallel: 4,
    evictions_in_parallel: 4,
    evictions_per_second: 100,
    evictions_per_cycle: 100,
    evictions_per_queue: 1000,
    repair_interval: Duration::from_secs(30),
};

/// What a writer needs, and what was announced with it.
pub(crate) fn context(client: Client, view: View) -> (Context, mpsc::Receiver<Notice>) {
    let metrics = Metrics::register(&Registry::new()).unwrap();
    let (recorder, news) = EventRecorder::new(metrics.clone());
    let context = Context {
        clock: crate::clock::Clock::wall(),
        client,
        view,
        leadership: Leadership::unconditional(),
        metrics,
        recorder,
        reclaims: RecentReclaims::default(),
        decisions: crate::decisions::Decisions::default(),
        beat: Heartbeat::new("the loop", Duration::from_secs(60)),
        stop: CancellationToken::new(),
    };
    (context, news)
}

/// A writer that keeps no ledger, what it sees, and the API server that it writes to.
struct World {
    view: View,
    writer: Writer,
    context: Context,
    news: mpsc::Receiver<Notice>,
    log: Log,
}

impl World {
    fn of(view: View, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::with(view, SETTINGS, answer)
    }

    fn with(
        view: View,
        settings: WriteSettings,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let (client, log) = client(answer);
        let (context, news) = context(client, view.clone());
        let ledger = LedgerSettings { namespace: "quotient-system".to_owned(), limit: 1 << 20 };
        let writer = Writer::new(&context, Mode::Observe, settings, ledger);
        Self { view, writer, context, news, log }
    }

    /// Carries out what the engine wants of one class for what is in view.
    async fn cycle(&mut self, class: Class) {
        self.writer.only(class, &planned(&self.view)).await;
    }

    /// What was asked for so far.
    fn asked(&self) -> usize {
        self.log.all().len()
    }

    /// What was announced since this was asked last.
    fn told(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.news.try_recv().ok()).map(|notice| notice.printed()).collect()
    }
}

impl Writer {
    /// Carries out the operations of one class.
    async fn only(&mut self, class: Class, plan: &Plan) {
        self.carry_out(&[class], plan).await;
    }
}

/// A view of `objects`, in a world where only cpu counts.
fn view(objects: &[Value]) -> View {
    let engine = Settings { resources: [Resource::Cpu].into(), ..Settings::default() };
    let view = View::new(Index::new(IndexSettings { engine, ..IndexSettings::default() }));
    for object in objects {
        put(&view, object);
    }
    view
}

fn put(view: &View, object: &Value) {
    macro_rules! apply {
        ($kind:ty) => {
            view.read(|index| index.apply::<$kind>(&read(object)))
        };
    }
    match object["kind"].as_str().unwrap() {
        "Node" => apply!(Node),
        "Pod" => apply!(Pod),
        "Queue" => apply!(Queue),
        "ResourceQuota" => apply!(ResourceQuota),
        "LimitRange" => apply!(LimitRange),
        "ReplicaSet" => apply!(ReplicaSet),
        "StatefulSet" => apply!(StatefulSet),
        "Job" => apply!(Job),
        kind => panic!("{kind}"),
    };
}

/// An object from text, as the operator reads it: each way to decode compiles all kinds once more.
fn read<K: DeserializeOwned>(object: &Value) -> K {
    serde_json::from_str(&object.to_string()).unwrap()
}

/// What the engine wants for what is in view, written down.
fn planned(view: &View) -> Plan {
    keep_ledger(view);
    let plan = plan(&view.read(|index| index.snapshot(NOW)));
    grant(view, &plan);
    plan
}

/// Has the ledger say what the quotas in view do, unless it says something and none of them is from its future.
fn keep_ledger(view: &View) {
    view.read(|index| {
        if index.ledger().is_some_and(|ledger| Some(ledger.generation) >= index.newest_stamp()) {
            return;
        }
        let namespaces: Vec<Namespace> = index.snapshot(NOW).namespaces.into_keys().collect();
        let stamped = |namespace: &Namespace| {
            let seen = index.observed_quota(namespace)?;
            let (granted, largest) = (seen.hard.clone(), seen.hard.max(&seen.enforced));
            Some((
                namespace.clone(),
                Entry { granted, largest, generation: seen.generation?, changed: NOW, ..Entry::default() },
            ))
        };
        let entries: BTreeMap<Namespace, Entry> = namespaces.iter().filter_map(stamped).collect();
        let generation = entries.values().map(|entry| entry.generation).max().unwrap_or_default();
        index.set_ledger(Some(Ledger { generation, entries, ..Ledger::default() }.into()));
    });
}

/// Writes down what `plan` grants.
fn grant(view: &View, plan: &Plan) {
    view.read(|index| {
        let next =
            index.ledger().cloned().and_then(|ledger| plan.ledger_after(&ledger, &index.snapshot(NOW)));
        if let Some(next) = next {
            index.set_ledger(Some(next.into()));
        }
    });
}

/// What the engine wants for what is in view by the clock on the wall, which refusals are told by.
fn planned_now(view: &View) -> Plan {
    let now = Timestamp::from_millis(Clock::now().as_millisecond());
    plan(&view.read(|index| index.snapshot(now)))
}
