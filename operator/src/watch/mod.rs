//! Watches: one task a kind feeds the index, each with its own connection and its own backoff.
//!
//! Private watches, not kube's shared streams: those never deliver a delete and can freeze their store. Objects
//! are read into the index one by one and dropped, so a list of 20,000 pods never lies in memory as a whole.

mod feed;
mod synced;

use k8s_openapi::api::apps::v1::{ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::core::DeserializeGuard;
use kube::runtime::watcher;
use kube::{Api, Client};
use quotient_crds::Queue;
use tokio::task::JoinSet;

pub use synced::Synced;

use crate::metrics::Metrics;
use crate::settings::WatchSettings;
use crate::view::View;

/// The kinds that are watched, as they are called in metrics and complaints.
pub const KINDS: [&str; 10] = [
    "jobs",
    "namespaces",
    "nodes",
    "poddisruptionbudgets",
    "pods",
    "priorityclasses",
    "queues",
    "replicasets",
    "resourcequotas",
    "statefulsets",
];

/// Starts all watches. The tasks only end when they are aborted; an error is counted, logged and retried.
///
/// RBAC, cluster-wide: list and watch on namespaces, nodes, pods and resourcequotas; `queues.quotient.dev`;
/// `replicasets.apps` and `statefulsets.apps`; `jobs.batch`; `poddisruptionbudgets.policy`;
/// `priorityclasses.scheduling.k8s.io`. Without one of them nothing is decided at all.
pub fn start(
    tasks: &mut JoinSet<&'static str>,
    client: &Client,
    settings: WatchSettings,
    view: &View,
    synced: &Synced,
    metrics: &Metrics,
) {
    let seconds = u32::try_from(settings.timeout.as_secs()).unwrap_or(u32::MAX);
    let config = || watcher::Config::default().page_size(settings.page_size).timeout(seconds);
    let feed =
        |kind| feed::Feed { kind, view: view.clone(), synced: synced.clone(), metrics: metrics.clone() };

    tasks.spawn(feed("namespaces").run(Api::<Namespace>::all(client.clone()), config()));
    tasks.spawn(feed("nodes").run(Api::<Node>::all(client.clone()), config()));
    // Finished pods hold nothing. Where batch jobs leave their pods behind they are most of all pods.
    let pods = config().fields("status.phase!=Succeeded,status.phase!=Failed");
    tasks.spawn(feed("pods").run(Api::<Pod>::all(client.clone()), pods));
    // Who wants pods. There is no selecting those that do: of the others the index keeps nothing.
    tasks.spawn(feed("replicasets").run(Api::<ReplicaSet>::all(client.clone()), config()));
    tasks.spawn(feed("statefulsets").run(Api::<StatefulSet>::all(client.clone()), config()));
    tasks.spawn(feed("jobs").run(Api::<Job>::all(client.clone()), config()));
    tasks.spawn(feed("priorityclasses").run(Api::<PriorityClass>::all(client.clone()), config()));
    tasks.spawn(feed("poddisruptionbudgets").run(Api::<PodDisruptionBudget>::all(client.clone()), config()));
    // The guard keeps one Queue that cannot be decoded from hiding all others.
    tasks.spawn(feed("queues").run(Api::<DeserializeGuard<Queue>>::all(client.clone()), config()));
    // Not only ours: what somebody else's allows a namespace bounds the share of its Queue.
    tasks.spawn(feed("resourcequotas").run(Api::<ResourceQuota>::all(client.clone()), config()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use prometheus::Registry;
    use quotient_index::{Index, IndexSettings};
    use serde_json::json;

    use crate::test_api::{Reply, client};

    #[tokio::test(start_paused = true)]
    async fn every_kind_is_listed_in_pages_and_then_watched() {
        let (client, log) = client(|asked| {
            if asked.query.contains("watch=true") {
                return Reply::Silence;
            }
            let metadata = json!({"resourceVersion": "7"});
            Reply::Json(200, json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": []}))
        });
        let synced = Synced::none_of(KINDS);
        let settings = WatchSettings { page_size: 33, timeout: Duration::from_secs(290) };
        let metrics = Metrics::register(&Registry::new()).unwrap();
        let view = View::new(Index::new(IndexSettings::default()));
        let mut tasks = JoinSet::new();
        start(&mut tasks, &client, settings, &view, &synced, &metrics);
        tokio::time::timeout(Duration::from_secs(5), view.changed()).await.unwrap();
        assert!(synced.is_complete(), "{:?}", synced.missing());

        let lists: Vec<_> =
            log.all().into_iter().filter(|asked| !asked.query.contains("watch=true")).collect();
        assert!(lists.iter().all(|asked| asked.query.contains("limit=33")), "{lists:?}");
        let mut listed: Vec<(String, bool)> =
            lists.into_iter().map(|asked| (asked.path, asked.query.contains("fieldSelector"))).collect();
        listed.sort();
        let expected = [
            ("/api/v1/namespaces", false),
            ("/api/v1/nodes", false),
            ("/api/v1/pods", true),
            ("/api/v1/resourcequotas", false),
            ("/apis/apps/v1/replicasets", false),
            ("/apis/apps/v1/statefulsets", false),
            ("/apis/batch/v1/jobs", false),
            ("/apis/policy/v1/poddisruptionbudgets", false),
            ("/apis/quotient.dev/v1alpha1/queues", false),
            ("/apis/scheduling.k8s.io/v1/priorityclasses", false),
        ];
        assert_eq!(listed, expected.map(|(path, selects)| (path.to_owned(), selects)));
    }
}
