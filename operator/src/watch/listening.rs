//! A client that hears whether its watches are alive.
//!
//! kube keeps bookmarks to itself, and they are all that a quiet watch says. So its answers are listened to on their
//! way: a bookmark that can be read is a sign of life, and a watch from which nothing comes for too long is ended, upon which
//! kube opens it anew where it left off. Objects are a sign of life once they were read, which is told elsewhere.

use std::time::Duration;

use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::{BodyStream, StreamBody};
use kube::Client;
use kube::client::Body;
use tower::service_fn;
use tracing::info;

use super::Pulses;
use super::bookmarks::Bookmarks;
use super::pulses::Pulse;
use crate::metrics::Metrics;

/// A client like `client`, whose lists and watches show in `pulses`, and whose watches end after `silence`.
pub(super) fn listening(client: &Client, pulses: &Pulses, silence: Duration, metrics: &Metrics) -> Client {
    let namespace = client.default_namespace().to_owned();
    let (client, pulses, metrics) = (client.clone(), pulses.clone(), metrics.clone());
    let service = service_fn(move |request: Request<Body>| {
        let (client, metrics) = (client.clone(), metrics.clone());
        let pulse = pulses.of_path(request.uri().path());
        let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        async move {
            let answer = client.send(request);
            let response = if watches {
                // What is to be said may take its time, that it can be said does not.
                tokio::time::timeout(silence, answer).await.map_err(|_| unanswered(silence))??
            } else {
                answer.await?
            };
            let pulse = pulse.filter(|_| watches && response.status().is_success());
            if let Some((_, pulse)) = &pulse {
                pulse.opened();
            }
            let ear = Ear { pulse, bookmarks: Bookmarks::default(), silence, metrics };
            Ok::<_, kube::Error>(ear.on(response))
        }
    });
    Client::new(service, namespace)
}

fn unanswered(silence: Duration) -> kube::Error {
    kube::Error::Service(format!("the watch was not opened within {silence:?}").into())
}

/// Listens to one answer.
struct Ear {
    pulse: Option<(&'static str, Pulse)>,
    bookmarks: Bookmarks,
    silence: Duration,
    metrics: Metrics,
}

impl Ear {
    fn on(
        self,
        response: Response<Body>,
    ) -> Response<impl http_body::Body<Data = bytes::Bytes, Error = kube::Error> + Send + 'static> {
        response.map(|body| {
            let heard = stream::unfold((self, BodyStream::new(body)), |(mut ear, mut frames)| async move {
                let Some((kind, pulse)) = &ear.pulse else {
                    return frames.next().await.map(|frame| (frame, (ear, frames)));
                };
                let Ok(next) = tokio::time::timeout(ear.silence, frames.next()).await else {
                    info!(kind, "the watch has said nothing for {:?} and is opened anew", ear.silence);
                    ear.metrics.watches.silences.with_label_values(&[kind]).inc();
                    return None;
                };
                let data = next.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
                if data.is_some_and(|data| ear.bookmarks.read(data)) {
                    pulse.read();
                }
                next.map(|frame| (frame, (ear, frames)))
            });
            StreamBody::new(heard)
        })
    }
}
