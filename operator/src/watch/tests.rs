//! Watches against an API server made of a closure.

use super::*;
use std::time::Duration;

use prometheus::Registry;
use quotient_engine::time::Timestamp;
use quotient_index::{Index, IndexSettings};
use serde_json::{Value, json};

use crate::tests::api::{Asked, Log, Reply, client};
use crate::tests::objects;

const SETTINGS: WatchSettings = WatchSettings {
    page_size: 100,
    timeout: Duration::from_secs(290),
    silence: Duration::from_secs(90),
    relist: Duration::from_secs(1800),
};

/// A full list of these.
fn list(items: impl Into<Value>) -> Reply {
    let metadata = json!({"resourceVersion": "7"});
    Reply::Json(200, json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items.into()}))
}

fn is_watch(asked: &Asked) -> bool {
    asked.query.contains("watch=true")
}

/// How many objects a page is to have, if one is asked for.
fn limit(asked: &Asked) -> Option<&str> {
    asked.query.split('&').find_map(|part| part.strip_prefix("limit="))
}

/// An API server without objects, whose watches say nothing.
fn empty_and_silent(asked: &Asked) -> Reply {
    if is_watch(asked) { Reply::Silence } else { list(json!([])) }
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_listed_in_pages_and_then_watched() {
    let settings = WatchSettings { page_size: 33, ..SETTINGS };
    let Watching { view, signs, log, _tasks, .. } = Watching::with(settings, client(empty_and_silent), &[]);
    tokio::time::timeout(Duration::from_secs(5), view.changed()).await.unwrap();
    assert!(signs.synced.is_complete(), "{:?}", signs.synced.missing());

    let lists: Vec<_> = log.all().into_iter().filter(|asked| !is_watch(asked)).collect();
    assert!(lists.iter().all(|asked| limit(asked) == Some("33")), "{lists:?}");
    let mut listed: Vec<(String, bool)> =
        lists.into_iter().map(|asked| (asked.path, asked.query.contains("fieldSelector"))).collect();
    listed.sort();
    let expected = [
        ("/api/v1/limitranges", false),
        ("/api/v1/namespaces", false),
        ("/api/v1/nodes", false),
        ("/api/v1/pods", true),
        ("/api/v1/resourcequotas", false),
        ("/apis/apps/v1/daemonsets", false),
        ("/apis/apps/v1/deployments", false),
        ("/apis/apps/v1/replicasets", false),
        ("/apis/apps/v1/statefulsets", false),
        ("/apis/autoscaling/v2/horizontalpodautoscalers", false),
        ("/apis/batch/v1/jobs", false),
        ("/apis/policy/v1/poddisruptionbudgets", false),
        ("/apis/quotient.dev/v1alpha1/queuejobs", false),
        ("/apis/quotient.dev/v1alpha1/queues", false),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", false),
        ("/apis/scheduling.k8s.io/v1alpha2/podgroups", false),
        ("/apis/scheduling.k8s.io/v1alpha3/podgroups", false),
        ("/apis/scheduling.k8s.io/v1beta1/podgroups", false),
        ("/apis/scheduling.run.ai/v2alpha2/podgroups", false),
        ("/apis/scheduling.volcano.sh/v1beta1/podgroups", false),
        ("/apis/scheduling.x-k8s.io/v1alpha1/podgroups", false),
    ];
    assert_eq!(listed, expected.map(|(path, selects)| (path.to_owned(), selects)));
}

/// Watches under way, and what they have to tell.
struct Watching {
    view: View,
    signs: Signs,
    metrics: Metrics,
    log: Log,
    _tasks: JoinSet<&'static str>,
}

impl Watching {
    /// Begins to watch this server.
    fn of(server: (Client, Log), workloads: &[WorkloadKind]) -> Self {
        Self::with(SETTINGS, server, workloads)
    }

    fn with(settings: WatchSettings, (client, log): (Client, Log), workloads: &[WorkloadKind]) -> Self {
        let signs = Signs::new(settings, workloads);
        let metrics = Metrics::register(&Registry::new()).unwrap();
        let view = View::new(Index::new(IndexSettings::default()));
        let mut tasks = JoinSet::new();
        start(&mut tasks, &client, &Identity::new("me"), settings, &view, &signs, &metrics);
        Self { view, signs, metrics, log, _tasks: tasks }
    }

    /// Begins to watch a server that answers with `items`, and then `said` on every watch.
    async fn begin(
        items: impl Fn(&str) -> Vec<Value> + Send + Sync + 'static,
        said: impl Fn(&str) -> Vec<(Duration, Value)> + Send + Sync + 'static,
    ) -> Self {
        let server = client(move |asked| {
            let kind = asked.path.rsplit('/').next().unwrap();
            if is_watch(asked) { Reply::Lines(said(kind)) } else { list(items(kind)) }
        });
        let watching = Self::of(server, &[]);
        seconds(1).await;
        let synced = &watching.signs.synced;
        assert!(synced.is_complete(), "{:?}", synced.missing());
        watching
    }

    /// How often nodes were listed, and how often a watch of them was opened.
    fn lists_and_watches(&self) -> (usize, usize) {
        let of_nodes = |asked: &&Asked| asked.path == "/api/v1/nodes";
        let all = self.log.all();
        let (watches, lists): (Vec<_>, Vec<_>) =
            all.iter().filter(of_nodes).partition(|asked| is_watch(asked));
        assert!(watches.iter().all(|asked| asked.query.contains("resourceVersion=7")), "{watches:?}");
        // What some API server remembers is not enough.
        assert!(lists.iter().all(|asked| !asked.query.contains("resourceVersion")), "{lists:?}");
        (lists.len(), watches.len())
    }
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

fn bookmark() -> Value {
    json!({"type": "BOOKMARK", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}}})
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_says_nothing_is_opened_anew_where_it_left_off() {
    let watching = Watching::begin(|_| vec![], |_| vec![]).await;
    assert_eq!(watching.lists_and_watches(), (1, 1));
    seconds(100).await;
    assert_eq!(watching.lists_and_watches(), (1, 2));
    assert_eq!(watching.metrics.watches.silences.with_label_values(&["nodes"]).get(), 1);
    // That it could be opened is a sign of life.
    seconds(1000).await;
    assert_eq!(watching.signs.liveness.failures(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_keep_a_quiet_watch_open() {
    let every_minute = |_: &str| (0..4).map(|_| (Duration::from_secs(60), bookmark())).collect();
    let watching = Watching::begin(|_| vec![], every_minute).await;
    seconds(250).await;
    assert_eq!(watching.lists_and_watches(), (1, 1));
    let oldest = watching.signs.liveness.silences().map(|(_, silence)| silence).max().unwrap();
    assert!(oldest < Duration::from_secs(60), "{oldest:?}");
    assert_eq!(watching.metrics.watches.silences.with_label_values(&["nodes"]).get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_watches_and_never_answers_is_complained_of() {
    let server = client(empty_and_silent);
    let Watching { signs, metrics, _tasks, .. } = Watching::of(server, &[]);
    seconds(179).await;
    assert_eq!(signs.liveness.failures(), [""; 0]);
    assert_eq!(metrics.watches.errors.with_label_values(&["nodes"]).get(), 1);
    seconds(10).await;
    assert_eq!(signs.liveness.failures().len(), kinds().count());
}

/// An object of every kind whose `metadata` no decoder takes, beside a sound one.
#[tokio::test(start_paused = true)]
async fn one_object_that_cannot_be_decoded_stops_no_kind() {
    let listed = |_: &str| {
        let metadata = |name: &str, labels: Value| json!({"name": name, "namespace": "a", "uid": name, "labels": labels});
        vec![
            json!({"metadata": metadata("bad", json!({})), "spec": {"template": 1, "containers": 1, "hard": 1, "tasks": 1}, "value": "x", "status": 1}),
            json!({"metadata": metadata("worse", json!([1]))}),
        ]
    };
    let watching = Watching::begin(listed, |_| vec![]).await;
    for kind in kinds() {
        let metrics = &watching.metrics.watches;
        assert_eq!(metrics.errors.with_label_values(&[kind]).get(), 0, "{kind}");
        assert!(metrics.undecodable.with_label_values(&[kind]).get() >= 1, "{kind}");
    }
}

/// Configured kinds with these plurals.
fn configured(plurals: &[&str]) -> Vec<WorkloadKind> {
    let entry = |plural: &&str| {
        json!({
            "group": "example.org", "version": "v1", "kind": plural.to_uppercase(), "plural": plural,
            "replicasPath": "spec.size", "templatePath": "spec.template",
        })
    };
    let setting: Vec<Value> = plurals.iter().map(entry).collect();
    WorkloadKind::read_setting(&json!(setting).to_string()).unwrap()
}

/// A workload of a configured kind, or a ReplicaSet.
fn workload(name: &str, size: &Value) -> Value {
    let template = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
    json!({
        "metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": "3"},
        "spec": {"size": size, "replicas": size, "selector": {}, "template": template},
    })
}

/// The workloads that are known, and how many pods each wants.
fn wanted(view: &View) -> Vec<(String, u32)> {
    let snapshot = view.read(|index| index.snapshot(Timestamp::from_seconds(0)));
    let state = snapshot.namespaces.get(&"a".into());
    let owners = state.map(|state| state.owners.clone()).unwrap_or_default();
    owners.iter().map(|owner| (owner.name.to_string(), owner.wanted)).collect()
}

/// Of three configured kinds one is refused, one is not served until later, and one has an object that cannot be read.
#[tokio::test(start_paused = true)]
async fn configured_kinds_stop_nothing() {
    let workloads = configured(&["refused", "absent", "jobs"]);
    let begun = tokio::time::Instant::now();
    let server = client(move |asked| {
        if is_watch(asked) {
            let every_minute = (0..4).map(|_| (Duration::from_secs(60), bookmark()));
            return Reply::Lines(every_minute.collect());
        }
        let items = match asked.path.as_str() {
            "/apis/example.org/v1/refused" => return Reply::failure(403, "x", "no"),
            "/apis/example.org/v1/absent" if begun.elapsed() < Duration::from_secs(30) => {
                return Reply::failure(404, "x", "no");
            }
            "/apis/example.org/v1/absent" => vec![workload("later", &json!(2))],
            "/apis/example.org/v1/jobs" => {
                vec![workload("sound", &json!(3)), workload("odd", &json!("many"))]
            }
            "/apis/quotient.dev/v1alpha1/queues" => vec![objects::queue("a")],
            _ => vec![],
        };
        list(items)
    });
    let Watching { view, signs, metrics, _tasks, .. } = Watching::of(server, &workloads);
    seconds(1).await;
    assert!(signs.synced.is_complete(), "{:?}", signs.synced.missing());
    assert_eq!(wanted(&view), [("sound".to_owned(), 3)]);
    assert_eq!(metrics.watches.undecodable.with_label_values(&["jobs.v1.example.org"]).get(), 1);
    assert!(metrics.watches.errors.with_label_values(&["refused.v1.example.org"]).get() >= 1);
    seconds(1000).await;
    assert_eq!(wanted(&view), [("later".to_owned(), 2), ("sound".to_owned(), 3)]);
    assert_eq!(signs.liveness.failures(), [""; 0]);
}

/// What comes and cannot be read is no sign of life, and what is read is one.
#[tokio::test(start_paused = true)]
async fn a_kind_that_is_sent_and_never_read_is_complained_of() {
    let server = client(move |asked| {
        if is_watch(asked) {
            let every_minute = (0..10).map(|_| (Duration::from_secs(60), bookmark()));
            return Reply::Lines(every_minute.collect());
        }
        list(if asked.path.ends_with("nodes") { json!("no list") } else { json!([]) })
    });
    let Watching { signs, log, _tasks, .. } = Watching::of(server, &[]);
    seconds(240).await;
    assert_eq!(signs.synced.missing(), ["nodes"]);
    let lists = log.lines().iter().filter(|line| line.ends_with("/nodes")).count();
    assert!(lists > 3, "{lists}");
    assert_eq!(signs.liveness.failures(), ["nodes has been silent for 240 s"]);
}

/// Bookmarks between lines that are no events: what a watch lost is listed, and what cannot be listed is complained of.
#[tokio::test(start_paused = true)]
async fn a_watch_that_says_what_cannot_be_read_is_listed_anew() {
    let node = json!({"kind": "Node", "metadata": {"name": "n", "uid": "n", "resourceVersion": "8"}});
    let said = move |kind: &str| match kind {
        "nodes" => vec![
            (Duration::from_secs(10), json!({"type": "MODIFIED", "object": "no object"})),
            (Duration::from_secs(1), json!({"type": "MODIFIED", "object": node})),
        ],
        _ => vec![],
    };
    let watching = Watching::begin(|_| vec![], said).await;
    assert_eq!(watching.lists_and_watches(), (1, 1));
    seconds(13).await;
    assert_eq!(watching.lists_and_watches(), (2, 2));
    assert!(watching.metrics.watches.errors.with_label_values(&["nodes"]).get() >= 1);
    seconds(400).await;
    assert_eq!(watching.signs.liveness.failures(), [""; 0], "every full list is read");
}

/// Pages that would be too large are asked for again with fewer objects, and all of the list is read.
#[tokio::test(start_paused = true)]
async fn a_page_of_large_objects_is_asked_for_in_smaller_parts() {
    let text = "x".repeat(1 << 20);
    let server = client(move |asked| {
        if is_watch(asked) {
            return Reply::Silence;
        }
        let count: usize =
            if asked.path.ends_with("/nodes") { limit(asked).unwrap().parse().unwrap() } else { 0 };
        let node = |at: usize| json!({"metadata": {"name": format!("n-{at}"), "uid": "u", "resourceVersion": "1", "annotations": {"a": text}}});
        list((0..count).map(node).collect::<Vec<Value>>())
    });
    let Watching { signs, log, _tasks, .. } = Watching::of(server, &[]);
    seconds(5).await;
    assert!(signs.synced.is_complete(), "{:?}", signs.synced.missing());
    let lists: Vec<Asked> = log.all().into_iter().filter(|asked| asked.path.ends_with("/nodes")).collect();
    assert_eq!(lists.iter().filter_map(limit).collect::<Vec<_>>(), ["100", "12"]);
}
