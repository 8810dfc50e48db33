//! From one watch into the index.

use std::fmt::Debug;

use futures::{StreamExt, pin_mut};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, Resource};
use quotient_index::{Index, Keeps};
use serde::de::DeserializeOwned;
use tracing::{info, warn};

use super::Synced;
use crate::answer::said;
use crate::metrics::Metrics;
use crate::view::View;

/// Feeds one kind into the index.
pub(super) struct Feed {
    pub(super) kind: &'static str,
    pub(super) view: View,
    pub(super) synced: Synced,
    pub(super) metrics: Metrics,
}

impl Feed {
    /// Watches for ever. Returns only if the stream ends, which it never should.
    pub(super) async fn run<K>(self, api: Api<K>, config: watcher::Config) -> &'static str
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
        Index: Keeps<K>,
    {
        let events = watch(api, config).default_backoff();
        pin_mut!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.take(event),
                Err(error) => {
                    self.metrics.watch_errors.with_label_values(&[self.kind]).inc();
                    warn!(kind = self.kind, error = words(&error), "the watch failed and is tried again");
                }
            }
        }
        self.kind
    }

    fn take<K>(&self, event: Event<K>)
    where
        K: Resource<DynamicType = ()>,
        Index: Keeps<K>,
    {
        match event {
            Event::Apply(object) | Event::InitApply(object) => {
                self.view.update(|index| Keeps::<K>::apply(index, &object));
            }
            Event::Delete(object) => {
                let meta = object.meta();
                let text = |field: &Option<String>| field.clone().unwrap_or_default();
                let (namespace, name, uid) = (text(&meta.namespace), text(&meta.name), text(&meta.uid));
                self.view.update(|index| Keeps::<K>::delete(index, &namespace, &name, &uid));
            }
            Event::Init => self.view.read(<Index as Keeps<K>>::relist_begin),
            Event::InitDone => {
                self.view.update(<Index as Keeps<K>>::relist_finish);
                if self.synced.mark(self.kind) {
                    info!("every kind has been listed");
                    self.view.wake();
                }
            }
        }
    }
}

/// What went wrong, without the structure that carries it.
fn words(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status)) => format!("list: {}", said(status)),
        watcher::Error::WatchStartFailed(kube::Error::Api(status)) => {
            format!("start the watch: {}", said(status))
        }
        watcher::Error::WatchError(status) => said(status),
        other => other.to_string(),
    }
}
