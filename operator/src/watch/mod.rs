//! Watches: one task a kind feeds the index, each with its own connection and its own backoff.
//!
//! Private watches, not kube's shared streams: those never deliver a delete and can freeze their store. Objects
//! are decoded one by one, read into the index and dropped. A list of 20,000 pods never lies in memory as a whole, and an
//! object that cannot be decoded is skipped, counted and named.

mod backoff;
mod bookmarks;
mod feed;
mod full_list;
mod listening;
mod liveness;
mod pages;
mod synced;

use std::sync::Mutex;
use std::time::Duration;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::core::ApiResource;
use kube::runtime::watcher;
use kube::{Api, Client};
use quotient_crds::{Queue, QueueJob};
use quotient_index::pods::LeanPod;
use quotient_index::{POD_GROUPS, PodGroup, WorkloadKind, WorkloadObject};
use tokio::task::JoinSet;

pub use full_list::{FullList, ListCounts};
pub use liveness::WatchLiveness;
pub use synced::Synced;

use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::settings::WatchSettings;
use crate::view::View;
use backoff::watch_backoff;
use feed::Feed;
use listening::listening;

/// How often it is looked whether the API serves by now what it need not serve.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The kind that capacity comes from.
const NODES: &str = "nodes";

/// The kind whose bookmarks tell how old the view is.
const PODS: &str = "pods";

/// Declares the kinds that have a type of their own: what each is called in metrics and messages, and its type.
macro_rules! kinds {
    ($($name:expr => $kind:ty),+ $(,)?) => {
        /// What they are called.
        const TYPED: &[&str] = &[$($name),+];

        /// Starts a watch of each, with what `feed` returns for its name.
        fn watch_typed(
            tasks: &mut JoinSet<&'static str>,
            client: impl Fn(&'static str) -> Client,
            feed: impl Fn(&'static str) -> (Feed, watcher::Config),
        ) {
            $({
                let (feed, config) = feed($name);
                tasks.spawn(feed.run::<$kind, $kind>(Api::all(client($name)), config, (), |(), object| object));
            })+
        }
    };
}

kinds!(
    "daemonsets" => DaemonSet,
    "deployments" => Deployment,
    "horizontalpodautoscalers" => HorizontalPodAutoscaler,
    "jobs" => Job,
    // Not only ours: a resource with a default in another LimitRange is left to that LimitRange.
    "limitranges" => LimitRange,
    "namespaces" => Namespace,
    NODES => Node,
    "poddisruptionbudgets" => PodDisruptionBudget,
    PODS => LeanPod,
    "priorityclasses" => PriorityClass,
    "queuejobs" => QueueJob,
    "queues" => Queue,
    // Workloads: no selector finds those that want pods, and the index keeps nothing of the others.
    "replicasets" => ReplicaSet,
    // Not only ours: other quotas of a namespace bound the share of its Queue.
    "resourcequotas" => ResourceQuota,
    "statefulsets" => StatefulSet,
);

/// The kinds that are watched, as they are called in metrics and messages; those that only the settings know not among them.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    TYPED.iter().copied().chain(POD_GROUPS.iter().map(|api| api.name))
}

/// What the watches are asked for and tell beside what they see.
#[derive(Clone, Debug)]
pub struct Signs {
    /// Which kinds have had their first full list.
    pub synced: Synced,
    /// When each was last heard of.
    pub liveness: WatchLiveness,
    /// The full lists of nodes.
    pub nodes: FullList,
    /// The configured kinds, which are watched beside [`kinds`].
    pub workloads: Vec<WorkloadKind>,
}

impl Signs {
    /// Before anything was seen or heard.
    pub fn new(settings: WatchSettings, workloads: &[WorkloadKind]) -> Self {
        let kinds = || kinds().chain(workloads.iter().map(|kind| kind.name));
        Self {
            synced: Synced::none_of(kinds()),
            liveness: WatchLiveness::of(kinds(), settings.too_silent()),
            nodes: FullList::default(),
            workloads: workloads.to_vec(),
        }
    }
}

/// Starts all watches. The tasks only end when they are aborted; an error is counted, logged and retried.
///
/// RBAC, cluster-wide: list and watch on limitranges, namespaces, nodes, pods and resourcequotas; `queues.quotient.dev` and
/// `queuejobs.quotient.dev`;
/// `daemonsets.apps`, `deployments.apps`, `replicasets.apps` and `statefulsets.apps`; `jobs.batch`;
/// `horizontalpodautoscalers.autoscaling`; `poddisruptionbudgets.policy`; `priorityclasses.scheduling.k8s.io`; the PodGroups of
/// `scheduling.k8s.io`, `scheduling.run.ai`, `scheduling.volcano.sh` and `scheduling.x-k8s.io`. Without one of them nothing is
/// decided at all; that the API serves no PodGroups is no lack. Of the configured kinds, list and watch as well; without these
/// rights decisions go on without those workloads.
pub fn start(
    tasks: &mut JoinSet<&'static str>,
    client: &Client,
    identity: &Identity,
    settings: WatchSettings,
    view: &View,
    signs: &Signs,
    metrics: &Metrics,
) {
    let client = |kind| listening(client, kind, &signs.liveness, settings.silence, view, metrics);
    let seconds = u32::try_from(settings.timeout.as_secs()).unwrap_or(u32::MAX);
    let look_again = LOOK_AGAIN.min(settings.silence);
    let config = || watcher::Config::default().page_size(settings.page_size).timeout(seconds);
    let feed = |kind: &'static str| Feed {
        kind,
        view: view.clone(),
        synced: signs.synced.clone(),
        liveness: signs.liveness.clone(),
        metrics: metrics.clone(),
        backoff: watch_backoff(identity.as_str(), kind),
        list: if kind == NODES { signs.nodes.clone() } else { FullList::default() },
        relist: after_others(kind, settings.relist),
        look_again: None,
        is_optional: false,
        reported: Mutex::default(),
    };
    watch_typed(tasks, client, |kind| match kind {
        // Finished pods hold nothing. Where batch jobs leave their pods behind they are most of all pods.
        PODS => (feed(kind), config().fields("status.phase!=Succeeded,status.phase!=Failed")),
        _ => (feed(kind), config()),
    });
    // The API server need not serve them.
    for api in POD_GROUPS {
        let feed = Feed { look_again: Some(look_again), ..feed(api.name) };
        let of_groups = Api::all_with(client(api.name), api);
        tasks.spawn(feed.run::<PodGroup, PodGroup>(of_groups, config(), *api, |_, object| object));
    }
    // Workloads that only the settings know. Another operator's kind that is not there, or not granted, stops nothing.
    for kind in &signs.workloads {
        let feed = Feed { look_again: Some(look_again), is_optional: true, ..feed(kind.name) };
        let resource = ApiResource::erase::<WorkloadObject>(kind);
        let api = Api::all_with(client(kind.name), &resource);
        tasks.spawn(feed.run(api, config(), kind.clone(), WorkloadKind::read));
    }
}

#[cfg(test)]
mod tests;

/// `time`, and a little more for every kind before this one, so that not all are listed at once.
fn after_others(kind: &str, time: Duration) -> Duration {
    let before = kinds().position(|other| other == kind).unwrap_or_default();
    let fiftieth = time.checked_div(50).unwrap_or_default();
    time.saturating_add(fiftieth.saturating_mul(u32::try_from(before).unwrap_or_default()))
}
