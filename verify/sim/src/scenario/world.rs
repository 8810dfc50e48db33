//! The simulation: one thread, one seed, and time that passes only when every task waits.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::build;
use crate::clock::SimClock;
use crate::controllers::{self, Lags};
use crate::faults::{Act, NAMESPACE, OperatorOptions};
use crate::objects::Kind;
use crate::operators::{OperatorLink, SimCluster};
use crate::server::{Call, Client, Reply, Server, State};
use crate::trace::Trace;

/// How long nothing but leases may be written for the cluster to count as settled. Longer than any wait of the operator
/// and of a Job that is refused, and than it takes a new leader to come after one that is cut off for half a minute.
const QUIET: Duration = Duration::from_secs(75);

/// How long a scenario may take to settle, in simulated time.
const LIMIT: Duration = Duration::from_secs(900);

/// A simulated cluster.
#[derive(Debug)]
pub struct World {
    runtime: Runtime,
    cluster: Arc<SimCluster>,
    controllers: JoinHandle<()>,
}

impl World {
    /// The execution of `seed`, of a cluster as fast as real ones.
    pub fn new(seed: u64) -> Self {
        Self::with_lags(seed, Lags::default())
    }

    /// The execution of `seed`, of a cluster that is as fast as `lags` say.
    pub fn with_lags(seed: u64, lags: Lags) -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime without threads and connections can be made");
        let (cluster, controllers) = runtime.block_on(async {
            let server = Server::new(SimClock::start());
            let controllers = tokio::spawn(controllers::run(server.clone(), seed, lags));
            (Arc::new(SimCluster::new(server, seed)), controllers)
        });
        let world = Self { runtime, cluster, controllers };
        for namespace in ["default", NAMESPACE] {
            world.create(Kind::Namespace, build::namespace(namespace));
        }
        world
    }

    /// Creates an object, as a person does.
    pub fn create(&self, kind: Kind, object: Value) {
        self.act(Act::Human(Call::create(kind, object)));
    }

    /// Asks something of the server, as `client`.
    pub fn ask(&self, client: &Client, call: &Call) -> Reply {
        let _guard = self.runtime.enter();
        self.cluster.server().handle(client, call, None)
    }

    /// Does it now.
    pub fn act(&self, act: Act) {
        let _guard = self.runtime.enter();
        self.cluster.act(act);
    }

    /// Does it when the simulation has lasted for `time`.
    pub fn at(&self, time: Duration, act: Act) {
        let cluster = Arc::clone(&self.cluster);
        self.runtime.spawn(async move {
            tokio::time::sleep_until(cluster.server().clock().at(time)).await;
            cluster.act(act);
        });
    }

    /// Starts an operator.
    pub fn start(&self, options: OperatorOptions) -> Arc<OperatorLink> {
        let _guard = self.runtime.enter();
        self.cluster.start(options)
    }

    /// How long the simulation has lasted.
    pub fn elapsed(&self) -> Duration {
        let _guard = self.runtime.enter();
        self.cluster.server().clock().elapsed()
    }

    /// Lets so much time pass.
    ///
    /// # Panics
    ///
    /// When a controller has panicked: a cluster without its controllers would look like an operator that does nothing.
    pub fn run_for(&mut self, length: Duration) {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                Err(ended) = &mut self.controllers => std::panic::resume_unwind(ended.into_panic()),
                () = tokio::time::sleep(length) => {}
            }
        });
    }

    /// Lets time pass until nothing but leases has been written for 75 seconds; says since when. None if that does not
    /// come about within fifteen minutes.
    pub fn run_until_settled(&mut self) -> Option<Duration> {
        self.run_until_quiet(QUIET, LIMIT)
    }

    /// The same with other times.
    pub fn run_until_quiet(&mut self, quiet: Duration, limit: Duration) -> Option<Duration> {
        self.run_until(quiet, limit, |state| state.last_write)
    }

    /// The same whatever statuses of Queues say.
    pub fn run_until_nothing_moves(&mut self, quiet: Duration, limit: Duration) -> Option<Duration> {
        self.run_until(quiet, limit, |state| state.last_move)
    }

    fn run_until(
        &mut self,
        quiet: Duration,
        limit: Duration,
        last: fn(&State) -> Duration,
    ) -> Option<Duration> {
        let began = self.elapsed();
        let mut target = began + quiet;
        loop {
            let now = self.elapsed();
            self.run_for(target.saturating_sub(now).max(Duration::from_millis(1)));
            let last = self.state(last).max(began);
            let now = self.elapsed();
            if now >= last + quiet {
                return Some(last);
            }
            if now >= began + limit {
                return None;
            }
            target = (last + quiet).min(began + limit);
        }
    }

    /// Reads, or changes without an event, what the server knows.
    pub fn state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        let _guard = self.runtime.enter();
        read(&self.cluster.server().state())
    }

    /// The server and the operators.
    pub fn cluster(&self) -> &Arc<SimCluster> {
        &self.cluster
    }

    /// What has happened so far.
    pub fn trace(&self) -> Trace {
        self.state(|state| state.trace.clone())
    }
}
