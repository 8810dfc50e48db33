//! Watches: one task a kind feeds the index, each with its own connection and its own backoff.
//!
//! Private watches, not kube's shared streams: those never deliver a delete and can freeze their store. Objects
//! are read into the index one by one and dropped, so a list of 20,000 pods never lies in memory as a whole.

mod feed;
mod synced;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use kube::core::DeserializeGuard;
use kube::runtime::watcher;
use kube::{Api, Client};
use quotient_crds::{Queue, names};
use tokio::task::JoinSet;

pub use synced::Synced;

use crate::metrics::Metrics;
use crate::settings::WatchSettings;
use crate::view::View;

/// The kinds that are watched, as they are called in metrics and complaints.
pub const KINDS: [&str; 5] = ["namespaces", "nodes", "pods", "queues", "resourcequotas"];

/// Starts all watches. The tasks only end when they are aborted; an error is counted, logged and retried.
///
/// RBAC: get, list and watch on namespaces, nodes, pods, resourcequotas and queues, cluster-wide.
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
    // The guard keeps one Queue that cannot be decoded from hiding all others.
    tasks.spawn(feed("queues").run(Api::<DeserializeGuard<Queue>>::all(client.clone()), config()));
    let quotas = config().fields(&format!("metadata.name={}", names::QUOTA));
    tasks.spawn(feed("resourcequotas").run(Api::<ResourceQuota>::all(client.clone()), quotas));
}
