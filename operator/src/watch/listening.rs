//! A client that hears whether its watches are alive.
//!
//! kube keeps bookmarks to itself, and they are all that a quiet watch says. So its answers are listened to on their
//! way: a bookmark that can be read is a sign of life, and a watch from which nothing comes for too long is ended, upon which
//! kube opens it anew where it left off. Objects are a sign of life once they were read, which is reported elsewhere. Pages of
//! lists are bounded here as well.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyStream, StreamBody};
use kube::Client;
use kube::client::Body;
use quotient_index::ResourceVersion;
use quotient_index::pods::LeanPod;
use tower::service_fn;
use tracing::info;

use super::bookmarks::Bookmarks;
use super::liveness::KindLiveness;
use super::pages::{Page, Pages};
use super::{PODS, WatchLiveness};
use crate::metrics::Metrics;
use crate::view::View;

/// A client like `client` for lists and watches of `kind`, which show in `liveness`. Its watches end after `silence`, and if
/// bookmarks are of pods, they show in `view`.
pub(super) fn listening(
    client: &Client,
    kind: &'static str,
    liveness: &WatchLiveness,
    silence: Duration,
    view: &View,
    metrics: &Metrics,
) -> Client {
    let namespace = client.default_namespace().to_owned();
    let (client, view, metrics) = (client.clone(), view.clone(), metrics.clone());
    let of_kind = liveness.of_kind(kind);
    let pages = Pages::default();
    let service = service_fn(move |mut request: Request<Body>| {
        let (client, view, metrics) = (client.clone(), view.clone(), metrics.clone());
        let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let of_kind = of_kind.clone().filter(|_| watches);
        let page = pages.ask(request.uri()).map(|(uri, page)| {
            *request.uri_mut() = uri;
            page
        });
        async move {
            let answer = client.send(request);
            let response = if watches {
                // What is to be said may take its time, that it can be said does not.
                tokio::time::timeout(silence, answer).await.map_err(|_| unanswered(silence))??
            } else {
                answer.await?
            };
            let is_success = response.status().is_success();
            let page = page.filter(|_| is_success);
            let of_kind = of_kind.filter(|_| is_success);
            of_kind.iter().for_each(KindLiveness::opened);
            let bookmarks = Bookmarks::default();
            let timeout =
                WatchTimeout { kind, of_kind, bookmarks, bookmark: None, page, silence, view, metrics };
            Ok::<_, kube::Error>(timeout.on(response))
        }
    });
    Client::new(service, namespace)
}

fn unanswered(silence: Duration) -> kube::Error {
    kube::Error::Service(format!("the watch was not opened within {silence:?}").into())
}

/// Listens to one answer.
struct WatchTimeout {
    kind: &'static str,
    /// Set where the answer is a watch.
    of_kind: Option<KindLiveness>,
    bookmarks: Bookmarks,
    /// The version of a bookmark in the last part. What came with it counts as read when the next part is wanted.
    bookmark: Option<ResourceVersion>,
    /// The page of a list that the answer is, if it is one.
    page: Option<Page>,
    silence: Duration,
    view: View,
    metrics: Metrics,
}

impl WatchTimeout {
    /// Counts the next part of a page, and ends one that is too large.
    fn count(&mut self, next: Option<kube::Result<Frame<Bytes>>>) -> Option<kube::Result<Frame<Bytes>>> {
        let Some(page) = &mut self.page else { return next };
        match &next {
            Some(Ok(frame)) => match page.add(frame.data_ref().map(Bytes::len).unwrap_or_default()) {
                Ok(()) => next,
                Err(why) => Some(Err(kube::Error::Service(why.into()))),
            },
            Some(Err(_)) => next,
            None => {
                page.end();
                None
            }
        }
    }

    fn on(
        self,
        response: Response<Body>,
    ) -> Response<impl http_body::Body<Data = bytes::Bytes, Error = kube::Error> + Send + 'static> {
        response.map(|body| {
            let heard =
                stream::unfold((self, BodyStream::new(body)), |(mut timeout, mut frames)| async move {
                    let kind = timeout.kind;
                    let Some(of_kind) = &timeout.of_kind else {
                        let next = frames.next().await;
                        return timeout.count(next).map(|frame| (frame, (timeout, frames)));
                    };
                    if let Some(version) = timeout.bookmark.take().filter(|_| kind == PODS) {
                        timeout.view.update(|index| index.seen_up_to::<LeanPod>(&version));
                    }
                    let Ok(next) = tokio::time::timeout(timeout.silence, frames.next()).await else {
                        info!(
                            kind,
                            "the watch has said nothing for {:?} and is opened anew", timeout.silence
                        );
                        timeout.metrics.watches.silences.with_label_values(&[kind]).inc();
                        return None;
                    };
                    let data = next.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
                    timeout.bookmark = data.and_then(|data| timeout.bookmarks.read(data));
                    if timeout.bookmark.is_some() {
                        of_kind.read();
                    }
                    next.map(|frame| (frame, (timeout, frames)))
                });
            StreamBody::new(heard)
        })
    }
}
