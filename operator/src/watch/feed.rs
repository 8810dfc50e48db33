//! From one watch into the index.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::{Stream, StreamExt, TryStreamExt, pin_mut};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::Status;
use kube::runtime::utils::Backoff as _;
use kube::runtime::watcher as watch;
use kube::runtime::watcher::{self, Event, ExponentialBackoff};
use kube::{Api, Resource};
use quotient_index::{Decoded, Kind, ListLoss, ResourceVersion, Undecodable};
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::{FullList, Synced, WatchLiveness};
use crate::answer::said;
use crate::lock::lock;
use crate::metrics::Metrics;
use crate::view::View;

/// The most objects of one kind that are remembered as named in the log. A tenant can write any number of them.
const MOST_REPORTED: usize = 64;

/// Feeds one kind into the index.
pub(super) struct Feed {
    pub(super) kind: &'static str,
    pub(super) view: View,
    pub(super) synced: Synced,
    pub(super) liveness: WatchLiveness,
    pub(super) metrics: Metrics,
    pub(super) backoff: ExponentialBuilder,
    pub(super) list: FullList,
    /// How often the kind is listed anew although nothing is wrong: what a watch has lost is found then.
    pub(super) relist: Duration,
    /// For a kind that the API need not serve: how long until it is looked again whether it does.
    pub(super) look_again: Option<Duration>,
    /// Whether decisions go on without the kind while the API server refuses to list it.
    pub(super) is_optional: bool,
    /// The objects of which a part is not kept, and that the log has named.
    pub(super) reported: Mutex<BTreeSet<[String; 2]>>,
}

impl Feed {
    /// Watches a kind, for ever. Returns only if the stream ends, which it never should.
    ///
    /// `api` serves the objects as `S`, and `read` makes of them what the index takes.
    pub(super) async fn run<S, K>(
        self,
        api: Api<Decoded<S>>,
        config: watcher::Config,
        of: K::DynamicType,
        read: fn(&K::DynamicType, Decoded<S>) -> Decoded<K>,
    ) -> &'static str
    where
        S: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
        K: Kind,
    {
        let mut backoff = ExponentialBackoff::from(self.backoff);
        loop {
            let events = watch(api.clone(), config.clone());
            let events = events.map_ok(|event| map_object(event, |object| read(&of, object)));
            tokio::select! {
                biased;
                end = self.follow(&of, events, &mut backoff) => match end {
                    End::OfStream => return self.kind,
                    End::Unreadable => info!(kind = self.kind, "listing anew: the watch said what cannot be read"),
                },
                // A watch that begins anew begins with a full list.
                () = tokio::time::sleep(self.relist) => debug!(kind = self.kind, "listing anew: it is time"),
                () = self.list.wanted() => info!(kind = self.kind, "listing anew"),
            }
        }
    }

    async fn follow<K: Kind>(
        &self,
        of: &K::DynamicType,
        events: impl Stream<Item = watcher::Result<Event<Decoded<K>>>> + Send,
        backoff: &mut ExponentialBackoff,
    ) -> End {
        pin_mut!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    // That a list is begun is no success; kube's own backoff takes it for one, and asks a server that
                    // refuses every list for another one every second.
                    if !matches!(event, Event::Init | Event::InitApply(_)) {
                        backoff.reset();
                    }
                    // That a list is begun says nothing of whether it can be read.
                    if !matches!(event, Event::Init) {
                        self.liveness.beat(self.kind);
                    }
                    self.take(of, event);
                }
                Err(error) => {
                    let wait = if let Some(look_again) = self.look_again.filter(|_| is_not_served(&error)) {
                        // As if an empty list had come.
                        self.take::<K>(of, Event::Init);
                        self.take::<K>(of, Event::InitDone);
                        self.liveness.beat(self.kind);
                        look_again
                    } else {
                        self.metrics.watches.errors.with_label_values(&[self.kind]).inc();
                        if matches!(error, watcher::Error::WatchFailed(_)) {
                            self.liveness.unread(self.kind);
                        }
                        warn!(kind = self.kind, error = words(&error), "the watch failed and is tried again");
                        let wait = backoff.next().unwrap_or_default();
                        if self.is_optional && refusal(&error).is_some() {
                            self.liveness.beat(self.kind);
                            self.settle();
                        }
                        self.look_again.map_or(wait, |look_again| wait.min(look_again))
                    };
                    tokio::time::sleep(wait).await;
                    if is_unreadable(&error) {
                        return End::Unreadable;
                    }
                }
            }
        }
        End::OfStream
    }

    fn take<K: Kind>(&self, of: &K::DynamicType, event: Event<Decoded<K>>) {
        match event {
            Event::Apply(object) | Event::InitApply(object) => {
                match &object.0 {
                    Ok(read) => self.report_excess(names(read.meta()), read.excess()),
                    Err(undecodable) => self.report(undecodable),
                }
                self.view.update(|index| index.apply_decoded(of, &object));
            }
            Event::Delete(object) => {
                let meta = object.meta();
                let [namespace, name] = names(meta);
                let uid = meta.uid.clone().unwrap_or_default();
                let version = meta.resource_version.as_deref().map(ResourceVersion::new);
                self.view.update(|index| {
                    let is_seen = version.is_some_and(|version| index.seen_up_to::<K>(&version));
                    index.delete::<K>(of, &namespace, &name, &uid) | is_seen
                });
            }
            Event::Init => {
                self.list.begins();
                self.view.read(|index| index.relist_begin::<K>(of));
            }
            Event::InitDone => {
                let loss = self.view.read(|index| index.relist_loss::<K>(of));
                if self.list.doubts(loss, Instant::now()) {
                    let ListLoss { missing, kept } = loss;
                    warn!(
                        kind = self.kind,
                        missing, kept, "a list lacks much of what was seen: it is asked for again"
                    );
                } else {
                    self.list.ends();
                    self.view.update(|index| index.relist_finish::<K>(of));
                }
                self.settle();
            }
        }
    }

    /// All that can be known of the kind is known.
    fn settle(&self) {
        if self.synced.mark(self.kind) {
            info!("every kind has been listed");
            self.view.wake();
        }
    }

    /// Counts and names an object that cannot be decoded.
    fn report(&self, Undecodable { error, metadata, .. }: &Undecodable) {
        let [namespace, name] = names(metadata);
        self.metrics.watches.undecodable.with_label_values(&[self.kind]).inc();
        warn!(kind = self.kind, namespace, name, error, "skipped an object that cannot be decoded");
    }

    /// Names an object of which a part is too much to be kept, once for as long as it is.
    fn report_excess(&self, of: [String; 2], excess: Option<String>) {
        let mut reported = lock(&self.reported);
        let Some(why) = excess else {
            reported.remove(&of);
            return;
        };
        if reported.len() >= MOST_REPORTED || !reported.insert(of.clone()) {
            return;
        }
        let [namespace, name] = of;
        warn!(kind = self.kind, namespace, name, why, "a part of an object is not kept");
    }
}

/// The same event about what `map` makes of its object.
fn map_object<S, K>(event: Event<S>, map: impl FnOnce(S) -> K) -> Event<K> {
    match event {
        Event::Apply(object) => Event::Apply(map(object)),
        Event::Delete(object) => Event::Delete(map(object)),
        Event::Init => Event::Init,
        Event::InitApply(object) => Event::InitApply(map(object)),
        Event::InitDone => Event::InitDone,
    }
}

/// Why a watch is followed no longer.
enum End {
    /// It ended, which it never should.
    OfStream,
    /// It said something that cannot be read, so that a change is lost; kube would go on with the next one.
    Unreadable,
}

/// Whether a watch said what is no event. Much of that can be read as a status in which every field is absent, and kube does.
fn is_unreadable(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchFailed(kube::Error::SerdeError(_) | kube::Error::Api(_)))
}

/// What the API server said when it refused, and what it refused.
fn refusal(error: &watcher::Error) -> Option<(&'static str, &Status)> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status)) => Some(("list: ", status)),
        watcher::Error::WatchStartFailed(kube::Error::Api(status)) => Some(("start the watch: ", status)),
        watcher::Error::WatchError(status) => Some(("", status)),
        _ => None,
    }
}

/// Whether the API has no such kind. Of what it does not serve there is nothing, and that is all there is to know.
fn is_not_served(error: &watcher::Error) -> bool {
    let is_of_watch = matches!(error, watcher::Error::WatchError(_));
    !is_of_watch && refusal(error).is_some_and(|(_, status)| status.code == 404)
}

/// What went wrong, without the structure that carries it.
fn words(error: &watcher::Error) -> String {
    refusal(error).map_or_else(|| error.to_string(), |(what, status)| format!("{what}{}", said(status)))
}

/// The namespace of an object, empty if it is in none, and its name.
fn names(metadata: &ObjectMeta) -> [String; 2] {
    [&metadata.namespace, &metadata.name].map(|text| text.clone().unwrap_or_default())
}
