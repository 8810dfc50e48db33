//! Where an operator's requests enter the simulation: the service under kube's client, for one life.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{TryStreamExt as _, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::client::Body;
use serde_json::Value;
use tokio::time::Instant;
use tower::BoxError;

use super::watch::{Watch, reset};
use super::{OperatorLink, SimCluster};
use crate::faults::What;
use crate::objects::{Key, Name};
use crate::server::{self, Call, Client, Failure, Query, Reply};
use crate::trace::Verb;

/// The connection of one life.
#[derive(Clone, Debug)]
pub(super) struct SimClient {
    cluster: Arc<SimCluster>,
    link: Arc<OperatorLink>,
    life: u32,
}

/// The body of an answer: all at once, or events as they happen, one a line.
type Content = UnsyncBoxBody<Bytes, BoxError>;

/// How a request ended on its way, other than by an answer.
enum Broken {
    /// The connection broke.
    Reset,
    /// Nothing comes any more.
    Silent,
}

/// What the operator asks for and can do without. Whatever else is not simulated must not go unnoticed.
const NOT_SERVED: &str = "/podgroups";

impl SimClient {
    pub(super) const fn new(cluster: Arc<SimCluster>, link: Arc<OperatorLink>, life: u32) -> Self {
        Self { cluster, link, life }
    }

    /// Answers what the operator asks.
    pub(super) async fn pass(self, request: Request<Body>) -> Result<Response<Content>, BoxError> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect_bytes().await?;
        let call = match server::parse(&parts, &bytes) {
            Ok(call) => call,
            // At once: what is asked in vain draws no delay, so that seeds mean what they did.
            Err(failure) if parts.uri.path().ends_with(NOT_SERVED) => {
                return Ok(whole(server::respond(false, Err(failure))));
            }
            Err(failure) => {
                panic!("the simulated server cannot do this: {} {}", parts.uri, failure.message())
            }
        };
        let (verb, only_metadata) = (call.verb, call.query.only_metadata);
        let watched = (verb == Verb::Watch).then(|| (call.key.clone(), call.query.clone()));
        self.lag().await;
        let dealt = match self.link.paused_until() {
            Some(until) if verb.may_write() => self.held(call, until).await,
            _ => {
                self.passes().await;
                if watched.is_some() { self.begin_watch(call).await } else { self.deal(call).await }
            }
        };
        let reply = match dealt {
            Ok(reply) => reply,
            Err(Broken::Reset) => return Err(reset().into()),
            Err(Broken::Silent) => return std::future::pending().await,
        };
        self.travel().await;
        match watched.filter(|_| reply.is_ok()) {
            Some((key, query)) => Ok(Response::new(self.watch(&key, query))),
            None => Ok(whole(server::respond(only_metadata, reply))),
        }
    }

    async fn lag(&self) {
        let lag = self.link.lag();
        if !lag.is_zero() {
            tokio::time::sleep(lag).await;
        }
    }

    /// Takes as long as a message takes, and as the link is paused. Never ends for a life that has ended.
    async fn travel(&self) {
        self.lag().await;
        self.passes().await;
    }

    /// Waits until the link lets something through.
    async fn passes(&self) {
        while let Some(until) = self.link.paused_until() {
            let clock = self.cluster.server().clock();
            tokio::time::sleep(until.saturating_sub(clock.elapsed())).await;
        }
        if !self.link.is_alive(self.life) {
            std::future::pending::<()>().await;
        }
    }

    fn client(&self) -> Client {
        Client { name: self.link.name().clone(), life: self.life }
    }

    async fn deal(&self, mut call: Call) -> Result<Reply, Broken> {
        let (acts, hit) = self.link.faults_of(&call);
        for act in &acts {
            if let What::First(act) = act {
                self.cluster.act((**act).clone());
            }
        }
        if call.verb == Verb::List
            && let Some((version, _)) = self.link.view()
            && call.query.after.is_none()
        {
            call.query.version = Some(version);
        }
        let result = match hit {
            None => Ok(self.carry_out(&call, None)),
            Some(what) => self.suffer(call, what).await,
        };
        for act in acts {
            if let What::Then(act) = act {
                self.cluster.act(*act);
            }
        }
        // A crash among the acts.
        if self.link.is_alive(self.life) { result } else { Err(Broken::Silent) }
    }

    fn carry_out(&self, call: &Call, fault: Option<&Name>) -> Reply {
        let serve = |call: &Call| self.cluster.server().handle(&self.client(), call, fault);
        self.link.pass(call, &serve)
    }

    /// Deals with a request that a fault hits.
    async fn suffer(&self, mut call: Call, what: What) -> Result<Reply, Broken> {
        let (name, key): (Name, _) = (what.to_string().into(), call.key.clone());
        let fault = Some(&name);
        let lost = |failure: Option<&Failure>| {
            self.cluster.server().state().note_lost(&self.client(), &call, &name, failure);
        };
        match what {
            What::CrashBefore(down) => {
                lost(None);
                self.link.crash(down);
                Err(Broken::Silent)
            }
            What::CrashAfter(down) => {
                self.carry_out(&call, fault).ok();
                self.link.crash(down);
                Err(Broken::Silent)
            }
            What::ReplyLost => {
                self.carry_out(&call, fault).ok();
                Err(Broken::Silent)
            }
            What::ReplyReset => {
                self.carry_out(&call, fault).ok();
                Err(Broken::Reset)
            }
            What::ReplyError(code) => {
                self.carry_out(&call, fault).ok();
                Ok(Err(Failure::injected(code, &key)))
            }
            What::Reject(code) => {
                let failure = Failure::injected(code, &key);
                lost(Some(&failure));
                Ok(Err(failure))
            }
            What::Busy(seconds) => {
                let failure = Failure { retry_after: seconds, ..Failure::injected(429, &key) };
                lost(Some(&failure));
                Ok(Err(failure))
            }
            What::Reset => {
                lost(None);
                Err(Broken::Reset)
            }
            What::Lost => {
                lost(None);
                Err(Broken::Silent)
            }
            What::Delay(length) => self.late(call, length, name).await,
            What::EmptyList => Ok(self.carry_out(&call, fault).map(|answer| thinned(answer, |_| false))),
            What::PartialList => {
                Ok(self.carry_out(&call, fault).map(|answer| thinned(answer, |at| at % 2 == 0)))
            }
            What::StaleList(behind) => {
                let newest = self.cluster.server().state().store.version();
                call.query.version = Some(newest.saturating_sub(behind).max(1));
                Ok(self.carry_out(&call, fault))
            }
            What::First(_) | What::Then(_) => Ok(self.carry_out(&call, fault)),
        }
    }

    /// Has the server deal with it when the pause is over.
    async fn held(&self, call: Call, until: Duration) -> Result<Reply, Broken> {
        let client = self.clone();
        let time = self.cluster.server().clock().at(until);
        at(time, async move { client.deal(call).await }).await.unwrap_or(Err(Broken::Silent))
    }

    /// Has the server deal with it after `length`.
    async fn late(&self, call: Call, length: Duration, fault: Name) -> Result<Reply, Broken> {
        let client = self.clone();
        let dealt = at(Instant::now() + length, async move { client.carry_out(&call, Some(&fault)) });
        dealt.await.ok_or(Broken::Silent)
    }

    /// What happens to the request for a watch.
    async fn begin_watch(&self, call: Call) -> Result<Reply, Broken> {
        match self.link.faults_of(&call).1 {
            Some(what) => self.suffer(call, what).await,
            None => Ok(self.carry_out(&call, None)),
        }
    }

    fn watch(&self, key: &Key, query: Query) -> Content {
        let (server, link) = (self.cluster.server().clone(), Arc::clone(&self.link));
        let mut watch = Watch::new(server, link, self.life, key, query);
        let lines = stream::poll_fn(move |context| watch.poll_line(context));
        StreamBody::new(lines.map_ok(Frame::data).map_err(Into::into)).boxed_unsync()
    }
}

/// Does it at a time, with or without a waiting client.
async fn at<T: Send + 'static>(time: Instant, deed: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let (sender, answer) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        tokio::time::sleep_until(time).await;
        // The client may have gone.
        let _ = sender.send(deed.await);
    });
    answer.await.ok()
}

/// The list without those whose place `keep` does not want.
fn thinned(mut answer: server::Answer, keep: impl Fn(usize) -> bool) -> server::Answer {
    let body = Arc::make_mut(&mut answer.body);
    if let Some(items) = body["items"].as_array_mut() {
        let mut at = 0;
        items.retain(|_: &Value| {
            at += 1;
            keep(at - 1)
        });
    }
    answer
}

fn whole(answer: Response<Bytes>) -> Response<Content> {
    answer.map(|bytes| Full::new(bytes).map_err(Into::into).boxed_unsync())
}
