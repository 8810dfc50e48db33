//! Watches all pods and notes when each of them was first seen, bound, running, on its way out, and gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, Object};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

/// What of a pod matters here.
type SlimPod = Object<Spec, Status>;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Status {
    phase: Option<String>,
}

/// When what happened to a pod, as its watcher heard of it.
#[derive(Clone, Debug, Default)]
pub struct PodTimes {
    /// Where it is.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Created.
    pub created: Option<Timestamp>,
    /// Bound to a node.
    pub bound: Option<Timestamp>,
    /// Running.
    pub running: Option<Timestamp>,
    /// On its way out.
    pub leaving: Option<Timestamp>,
    /// Gone, or at its end.
    pub gone: Option<Timestamp>,
}

type Book = Arc<Mutex<BTreeMap<String, PodTimes>>>;

/// Notes what happens to pods until it is dropped.
#[derive(Debug)]
pub struct Recorder {
    book: Book,
    task: JoinHandle<()>,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Recorder {
    /// Begins with what there is now.
    pub async fn start(client: Client) -> anyhow::Result<Self> {
        let pods: Api<SlimPod> = Api::all_with(client, &ApiResource::erase::<Pod>(&()));
        // Without a pause, a watch whose client has ended fails again at once, and its task never yields to be aborted.
        let mut events = watcher(pods, watcher::Config::default()).default_backoff().boxed();
        let book = Book::default();
        loop {
            match events.try_next().await?.context("the watch of pods ended")? {
                Event::InitApply(pod) => note(&book, &pod, false),
                Event::InitDone => break,
                _ => {}
            }
        }
        let into = Arc::clone(&book);
        let task = tokio::spawn(async move {
            // What a watch cannot go on from is listed anew.
            while let Some(event) = events.next().await {
                match event {
                    Ok(Event::Apply(pod) | Event::InitApply(pod)) => note(&into, &pod, false),
                    Ok(Event::Delete(pod)) => note(&into, &pod, true),
                    _ => {}
                }
            }
        });
        Ok(Self { book, task })
    }

    /// All pods so far, by uid.
    pub fn pods(&self) -> BTreeMap<String, PodTimes> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many pods of a namespace run, or have come to their end.
    pub fn have_run(&self, namespace: &str) -> usize {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.values().filter(|pod| pod.namespace == namespace && pod.running.is_some()).count()
    }
}

fn note(book: &Book, pod: &SlimPod, is_gone: bool) {
    let now = Timestamp::now();
    let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
    let times = book.entry(pod.metadata.uid.clone().unwrap_or_default()).or_insert_with(|| PodTimes {
        namespace: pod.metadata.namespace.clone().unwrap_or_default(),
        name: pod.metadata.name.clone().unwrap_or_default(),
        created: Some(now),
        ..PodTimes::default()
    });
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    let happened = |time: &mut Option<Timestamp>, has_happened: bool| {
        if has_happened && time.is_none() {
            *time = Some(now);
        }
    };
    happened(&mut times.bound, pod.spec.node_name.is_some());
    happened(&mut times.running, phase == Some("Running"));
    happened(&mut times.leaving, pod.metadata.deletion_timestamp.is_some());
    happened(&mut times.gone, is_gone || matches!(phase, Some("Succeeded" | "Failed")));
}
