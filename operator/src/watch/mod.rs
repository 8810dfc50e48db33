//! Watches: one task a kind feeds the index, each with its own connection and its own backoff.
//!
//! Private watches, not kube's shared streams: those never deliver a delete and can freeze their store. Objects
//! are read into the index one by one and dropped, so a list of 20,000 pods never lies in memory as a whole.

mod feed;
mod full_list;
mod listening;
mod patience;
mod pulses;
mod synced;

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use std::time::Duration;

use kube::runtime::watcher;
use kube::{Api, Client};
use quotient_crds::{Queue, QueueJob};
use quotient_index::pods::LeanPod;
use quotient_index::{Coscheduling, Kai, KubernetesAlpha, KubernetesBeta, PodGroup, Readable, Volcano};
use tokio::task::JoinSet;

pub use full_list::{FullList, ListCounts};
pub use pulses::Pulses;
pub use synced::Synced;

use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::settings::WatchSettings;
use crate::view::View;
use listening::listening;
use patience::Patience;

/// How often it is looked whether the API serves by now what it need not serve.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The kind that capacity comes from.
const NODES: &str = "nodes";

/// What PodGroups are called, by scheduler: `plural.version.group`, as kubectl does.
const COSCHEDULING: &str = "podgroups.v1alpha1.scheduling.x-k8s.io";
const VOLCANO: &str = "podgroups.v1beta1.scheduling.volcano.sh";
const KAI: &str = "podgroups.v2alpha2.scheduling.run.ai";
const KUBERNETES_ALPHA: &str = "podgroups.v1alpha2.scheduling.k8s.io";
const KUBERNETES_BETA: &str = "podgroups.v1beta1.scheduling.k8s.io";

/// The kinds that are watched, as they are called in metrics and complaints.
pub const KINDS: [&str; 19] = [
    "deployments",
    "horizontalpodautoscalers",
    "jobs",
    "limitranges",
    "namespaces",
    NODES,
    "poddisruptionbudgets",
    COSCHEDULING,
    KUBERNETES_ALPHA,
    KUBERNETES_BETA,
    VOLCANO,
    KAI,
    "pods",
    "priorityclasses",
    "queuejobs",
    "queues",
    "replicasets",
    "resourcequotas",
    "statefulsets",
];

/// What the watches tell beside what they see.
#[derive(Clone, Debug)]
pub struct Signs {
    /// Which kinds have had their first full list.
    pub synced: Synced,
    /// When each was last heard of.
    pub pulses: Pulses,
    /// The full lists of nodes.
    pub nodes: FullList,
}

impl Signs {
    /// Before anything was seen or heard.
    pub fn new(settings: WatchSettings) -> Self {
        Self {
            synced: Synced::none_of(KINDS),
            pulses: Pulses::of(KINDS, settings.too_silent()),
            nodes: FullList::default(),
        }
    }
}

/// Starts all watches. The tasks only end when they are aborted; an error is counted, logged and retried.
///
/// RBAC, cluster-wide: list and watch on limitranges, namespaces, nodes, pods and resourcequotas; `queues.quotient.dev` and
/// `queuejobs.quotient.dev`;
/// `deployments.apps`, `replicasets.apps` and `statefulsets.apps`; `jobs.batch`; `horizontalpodautoscalers.autoscaling`; `poddisruptionbudgets.policy`;
/// `priorityclasses.scheduling.k8s.io`; the PodGroups of `scheduling.k8s.io`, `scheduling.run.ai`, `scheduling.volcano.sh` and
/// `scheduling.x-k8s.io`. Without one of them nothing is decided at all; that the API serves no PodGroups is no lack.
pub fn start(
    tasks: &mut JoinSet<&'static str>,
    client: &Client,
    identity: &Identity,
    settings: WatchSettings,
    view: &View,
    signs: &Signs,
    metrics: &Metrics,
) {
    let client = listening(client, &signs.pulses, settings.silence, metrics);
    let seconds = u32::try_from(settings.timeout.as_secs()).unwrap_or(u32::MAX);
    let config = || watcher::Config::default().page_size(settings.page_size).timeout(seconds);
    let feed = |kind| feed::Feed {
        kind,
        view: view.clone(),
        synced: signs.synced.clone(),
        pulses: signs.pulses.clone(),
        metrics: metrics.clone(),
        patience: Patience::of(identity.as_str(), kind),
        list: if kind == NODES { signs.nodes.clone() } else { FullList::default() },
        relist: after_others(kind, settings.relist),
        look_again: None,
    };
    let pod_groups = |kind| feed::Feed { look_again: Some(LOOK_AGAIN.min(settings.silence)), ..feed(kind) };

    tasks.spawn(feed("namespaces").run(Api::<Namespace>::all(client.clone()), config()));
    tasks.spawn(feed(NODES).run(Api::<Node>::all(client.clone()), config()));
    // Finished pods hold nothing. Where batch jobs leave their pods behind they are most of all pods.
    let pods = config().fields("status.phase!=Succeeded,status.phase!=Failed");
    tasks.spawn(feed("pods").run(Api::<LeanPod>::all(client.clone()), pods));
    // Who wants pods. There is no selecting those that do: of the others the index keeps nothing.
    tasks.spawn(feed("replicasets").run(Api::<ReplicaSet>::all(client.clone()), config()));
    tasks.spawn(feed("statefulsets").run(Api::<StatefulSet>::all(client.clone()), config()));
    tasks.spawn(feed("jobs").run(Api::<Job>::all(client.clone()), config()));
    // Who says how many.
    tasks.spawn(feed("deployments").run(Api::<Deployment>::all(client.clone()), config()));
    let autoscalers = Api::<HorizontalPodAutoscaler>::all(client.clone());
    tasks.spawn(feed("horizontalpodautoscalers").run(autoscalers, config()));
    tasks.spawn(feed("priorityclasses").run(Api::<PriorityClass>::all(client.clone()), config()));
    tasks.spawn(feed("poddisruptionbudgets").run(Api::<PodDisruptionBudget>::all(client.clone()), config()));
    // One that cannot be read must not hide all others.
    tasks.spawn(feed("queues").run(Api::<Readable<Queue>>::all(client.clone()), config()));
    tasks.spawn(feed("queuejobs").run(Api::<Readable<QueueJob>>::all(client.clone()), config()));
    // Not only ours: what somebody else's gives a default for is left to it.
    tasks.spawn(feed("limitranges").run(Api::<LimitRange>::all(client.clone()), config()));
    // Not only ours: what somebody else's allows a namespace bounds the share of its Queue.
    tasks.spawn(feed("resourcequotas").run(Api::<ResourceQuota>::all(client.clone()), config()));
    // How large gangs of other schedulers are.
    tasks.spawn(pod_groups(COSCHEDULING).run(Api::<PodGroup<Coscheduling>>::all(client.clone()), config()));
    tasks.spawn(pod_groups(VOLCANO).run(Api::<PodGroup<Volcano>>::all(client.clone()), config()));
    tasks.spawn(pod_groups(KAI).run(Api::<PodGroup<Kai>>::all(client.clone()), config()));
    let of_kubernetes = Api::<PodGroup<KubernetesAlpha>>::all(client.clone());
    tasks.spawn(pod_groups(KUBERNETES_ALPHA).run(of_kubernetes, config()));
    let of_kubernetes = Api::<PodGroup<KubernetesBeta>>::all(client.clone());
    tasks.spawn(pod_groups(KUBERNETES_BETA).run(of_kubernetes, config()));
}

#[cfg(test)]
mod tests;

/// `time`, and a little more for every kind before this one, so that not all are listed at once.
fn after_others(kind: &str, time: Duration) -> Duration {
    let before = KINDS.iter().position(|other| *other == kind).unwrap_or_default();
    let fiftieth = time.checked_div(50).unwrap_or_default();
    time.saturating_add(fiftieth.saturating_mul(u32::try_from(before).unwrap_or_default()))
}
