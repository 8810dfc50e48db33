//! Starting all parts, noticing when one ends, and ending in order.

use std::time::Duration;

use futures::future::OptionFuture;
use kube::Client;
use prometheus::Registry;
use quotient_engine::planner::Planner;
use quotient_index::Index;
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::client::measured;
use crate::connections;
use crate::context::Context;
use crate::cycle::Cycle;
use crate::events::{EventRecorder, Publisher};
use crate::failed::Failed;
use crate::guards::Guards;
use crate::health::Heartbeat;
use crate::http::{self, Vitals};
use crate::lease::{Elector, Leadership, LeaseError};
use crate::metrics::Metrics;
use crate::reclaims::RecentReclaims;
use crate::scrape::{Scrapes, Served};
use crate::settings::Settings;
use crate::status::Statuses;
use crate::view::View;
use crate::watch::{self, Signs};
use crate::writer::Writer;

/// How long the loop may show no sign of life. A cycle shows one with every answer to a write, and no call takes
/// longer than twelve seconds.
const LOOP_SILENCE: Duration = Duration::from_secs(60);

/// How long the candidate may show none. It shows one every `--lease-retry-seconds`, 30 at most, and calls in between take 16
/// seconds at most.
const LEASE_SILENCE: Duration = Duration::from_secs(60);

/// How long ending may take before the Lease is released regardless. Less than the 30 s that a pod is given.
const ENDING: Duration = Duration::from_secs(15);

/// Why the operator ended without a request to end. The process should end with it: a fresh one starts from
/// what the API server says.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Something could not be served, or no plan could be computed.
    #[error(transparent)]
    Failed(#[from] Failed),
    /// Leadership was lost.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// A part panicked.
    #[error("keep all parts running: {0}")]
    Panicked(#[from] JoinError),
    /// A part ended that never should.
    #[error("keep all parts running: {0} ended")]
    Ended(&'static str),
}

/// Runs the operator against the cluster of `client` until `shutdown` is canceled.
///
/// Then what is under way is finished, nothing new is begun, and the Lease is released, so that another replica
/// takes over at once. Events that wait are written last.
///
/// # Errors
///
/// When a part fails in a way that only a fresh process mends, above all when leadership is lost.
pub async fn run(settings: Settings, client: Client, shutdown: CancellationToken) -> Result<(), RunError> {
    let registry = Registry::new();
    let metrics = Metrics::register(&registry).map_err(Failed::to("register metrics"))?;
    metrics.runs_in(settings.mode());
    metrics.grows_to(&settings.index.ceiling);
    let client = measured(&client, &metrics.standard);
    let sockets = open(&settings).await?;

    let view = View::new(Index::new(settings.index.clone()));
    let signs = Signs::new(settings.watch, &settings.workload_kinds);
    let mut watches = JoinSet::new();
    watch::start(&mut watches, &client, &settings.identity, settings.watch, &view, &signs, &metrics);

    let beat = Heartbeat::new("the loop", LOOP_SILENCE);
    let mut beats = vec![beat.clone()];
    // Ends after everything that relies on being the leader.
    let stop_lease = CancellationToken::new();
    let mut lease = JoinSet::new();
    let elector = elect(&settings, &client);
    let leadership = elector.map_or_else(Leadership::unconditional, |(elector, leading, beat)| {
        beats.push(beat);
        lease.spawn(elector.run(stop_lease.clone()));
        leading
    });

    let stop_http = CancellationToken::new();
    let vitals = Vitals { beats, synced: signs.synced.clone() };
    let readable = Served { registry, decisions: settings.decisions.clone() };
    let mut server = serve(sockets, vitals, readable, &client, &stop_http);
    let (recorder, mut events) = start_events(&settings, &client, &view, &metrics);
    let context = Context {
        client,
        clock: settings.clock.clone(),
        view,
        leadership,
        metrics,
        recorder,
        reclaims: RecentReclaims::default(),
        decisions: settings.decisions.clone(),
        beat,
        stop: shutdown.clone(),
    };
    let mut work = start_work(&settings, &signs, context);
    let result = tokio::select! {
        biased;
        () = shutdown.cancelled() => Ok(()),
        ended = watches.join_next() => Err(unexpected(ended.unwrap_or(Ok("watches")))),
        ended = lease.join_next(), if !lease.is_empty() => Err(failure(ended, "the lease")),
        ended = server.join_next(), if !server.is_empty() => Err(stopped(ended, "the HTTP server")),
        ended = work.join_next() => Err(failure(ended, "the loop")),
        ended = events.join_next() => Err(stopped(ended, "the events")),
    };
    // After an error nothing more may be written: leadership may be lost, or the view torn.
    if result.is_ok() {
        finish(work, events, lease, &stop_lease).await;
    }
    stop_http.cancel();
    result
}

/// Where health is served, and where metrics and decisions are.
type Sockets = (Option<TcpListener>, Option<Scrapes>);

/// Opens what is served.
async fn open(settings: &Settings) -> Result<Sockets, RunError> {
    let scrapes = OptionFuture::from(settings.scrape.as_ref().map(Scrapes::open)).await.transpose()?;
    let listening = settings.listen.map(|address| connections::listen("listen on", address));
    let listener = OptionFuture::from(listening).await.transpose()?;
    if let Some(Ok(address)) = listener.as_ref().map(TcpListener::local_addr) {
        info!(%address, mode = %settings.mode(), identity = %settings.identity, "serving health");
    }
    if let Some(url) = scrapes.as_ref().and_then(Scrapes::url) {
        info!(url, "serving metrics");
    }
    Ok((listener, scrapes))
}

fn serve(
    (listener, scrapes): Sockets,
    vitals: Vitals,
    readable: Served,
    client: &Client,
    stop: &CancellationToken,
) -> JoinSet<()> {
    let mut server = JoinSet::new();
    if let Some(listener) = listener {
        server.spawn(http::serve(listener, vitals, stop.clone()));
    }
    if let Some(scrapes) = scrapes {
        server.spawn(scrapes.serve(readable, client.clone(), stop.clone()));
    }
    server
}

/// What holds the Lease, if the operator leads by one, with whether it does and its beat.
fn elect(settings: &Settings, client: &Client) -> Option<(Elector, Leadership, Heartbeat)> {
    let terms = settings.lease.clone()?;
    let beat = Heartbeat::new("the lease", LEASE_SILENCE);
    let (identity, clock) = (settings.identity.clone(), settings.clock.clone());
    let (elector, leadership) = Elector::new(client.clone(), terms, identity, clock, beat.clone());
    Some((elector, leadership, beat))
}

/// Starts what writes events.
fn start_events(
    settings: &Settings,
    client: &Client,
    view: &View,
    metrics: &Metrics,
) -> (EventRecorder, JoinSet<()>) {
    let (recorder, notices) = EventRecorder::new(metrics.clone());
    let publisher = Publisher {
        client: client.clone(),
        view: view.clone(),
        identity: settings.identity.clone(),
        clock: settings.clock.clone(),
        metrics: metrics.clone(),
    };
    let mut events = JoinSet::new();
    events.spawn(publisher.run(notices));
    (recorder, events)
}

fn start_work(settings: &Settings, signs: &Signs, context: Context) -> JoinSet<Result<(), RunError>> {
    let mut work = JoinSet::new();
    let (reports, newest) = tokio::sync::watch::channel(None);
    let statuses = Statuses::new(context.clone(), settings.writes, settings.status_interval);
    work.spawn(async move {
        statuses.run(newest).await;
        Ok(())
    });
    let writer = Writer::new(&context, settings.mode(), settings.writes, settings.ledger.clone());
    let guards = Guards::new(settings.guards, signs, &context.metrics);
    let synced = signs.synced.clone();
    let planner = Planner::new();
    let lease = settings.lease.as_ref().map(|lease| lease.name.clone());
    let cycle = Cycle { context, planner, synced, guards, writer, pace: settings.pace, lease, reports };
    work.spawn(async move { Box::pin(cycle.run()).await.map_err(RunError::from) });
    work
}

/// Waits for what is under way, then releases the Lease. Thousands of events may wait to be written. No leader is needed for
/// them, so the next one does not wait for their end.
async fn finish(
    mut work: JoinSet<Result<(), RunError>>,
    mut events: JoinSet<()>,
    mut lease: JoinSet<Result<(), LeaseError>>,
    stop_lease: &CancellationToken,
) {
    let now = Instant::now();
    let end = now.checked_add(ENDING).unwrap_or(now);
    let finished = async { while work.join_next().await.is_some() {} };
    if tokio::time::timeout_at(end, finished).await.is_err() {
        warn!("ending although something is still under way");
    }
    work.abort_all();
    stop_lease.cancel();
    while let Some(ended) = lease.join_next().await {
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, "the lease was lost while ending"),
            Err(error) => warn!(%error, "the lease was not released"),
        }
    }
    let written = async { while events.join_next().await.is_some() {} };
    if tokio::time::timeout_at(end, written).await.is_err() {
        warn!("ending although events wait to be written");
    }
    info!("ended");
}

fn unexpected(ended: Result<&'static str, JoinError>) -> RunError {
    match ended {
        Ok(kind) => RunError::Ended(kind),
        Err(error) => RunError::Panicked(error),
    }
}

fn stopped(ended: Option<Result<(), JoinError>>, part: &'static str) -> RunError {
    unexpected(ended.unwrap_or(Ok(())).map(|()| part))
}

fn failure<E: Into<RunError>>(
    ended: Option<Result<Result<(), E>, JoinError>>,
    part: &'static str,
) -> RunError {
    match ended {
        Some(Ok(Err(error))) => error.into(),
        Some(Err(error)) => RunError::Panicked(error),
        Some(Ok(Ok(()))) | None => RunError::Ended(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_lease_is_released_before_the_last_event_is_written() {
        let (mut work, mut events, mut lease) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        let stop_lease = CancellationToken::new();
        let begun = Instant::now();
        work.spawn(async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(())
        });
        events.spawn(std::future::pending());
        let (stop, (released, after)) = (stop_lease.clone(), tokio::sync::oneshot::channel());
        lease.spawn(async move {
            stop.cancelled().await;
            released.send(begun.elapsed()).unwrap();
            Ok(())
        });
        finish(work, events, lease, &stop_lease).await;
        assert_eq!((after.await.unwrap(), begun.elapsed()), (Duration::from_secs(1), ENDING));
    }
}
