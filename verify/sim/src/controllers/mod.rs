//! The rest of a cluster: controllers, a scheduler and kubelets, as far as the operator has to do with them.
//!
//! Each is a work queue as in the real ones: a change puts what it concerns on the agenda, after a while that the seed
//! decides, and the controller then looks at everything anew. One task runs them all, one item after the other; items of the
//! same millisecond in an order that the seed decides. What a controller asks of the server goes through admission and into
//! the trace like all requests.

mod agenda;
mod arrivals;
mod autoscalers;
mod budgets;
mod client;
mod daemon_sets;
mod deployments;
mod garbage;
mod jobs;
mod kubelet;
mod lags;
mod namespaces;
mod owners;
mod quotas;
mod replica_sets;
mod scheduler;
mod stateful_sets;

pub use autoscalers::WANTS;
pub use client::ControllerClient;
pub use kubelet::{LOST, RUNS_SECONDS, STOPS_SECONDS};
pub use lags::Lags;

use std::time::Duration;

use crate::objects::Key;
use crate::random::{Lag, Random};
use crate::server::{Change, Client, InFlight, Server, Store};
use agenda::Agenda;

/// One controller.
trait Controller: Send {
    /// What is to be looked at because of `change`.
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>);

    /// Looks at `key`, and sets it right by one step. Says after how long to look again although nothing changes.
    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration>;
}

/// How long a controller that is stopped does nothing before it is asked again, in milliseconds.
const STOPPED: u64 = 100;

/// The place of the controller that stores admitted pods.
const ARRIVALS: usize = 0;

/// A controller at work.
struct Running {
    /// What the trace calls it.
    client: Client,
    /// How long it takes to notice a change.
    lag: Lag,
    controller: Box<dyn Controller>,
}

/// All controllers.
fn all(lags: Lags) -> Vec<Running> {
    let mut all = Vec::new();
    let mut add = |name: &str, lag: Lag, controller: Box<dyn Controller>| {
        all.push(Running { client: Client::named(name), lag, controller });
    };
    let gathering = Lag::new(lags.owners.least + jobs::GATHERS, lags.owners.most + jobs::GATHERS);
    // The first: see `ARRIVALS`.
    add("admission", Lag::new(0, 0), Box::new(arrivals::Arrivals));
    add("quota-controller", lags.quota, Box::new(quotas::QuotaController(lags)));
    add("job-controller", gathering, Box::new(jobs::controller()));
    add("replicaset-controller", lags.owners, Box::new(replica_sets::controller()));
    add("deployment-controller", lags.owners, Box::new(deployments::Deployments));
    add("daemonset-controller", lags.owners, Box::new(daemon_sets::DaemonSets));
    add("horizontal-pod-autoscaler", lags.owners, Box::new(autoscalers::Autoscalers));
    add("statefulset-controller", lags.owners, Box::new(stateful_sets::StatefulSets::new()));
    add("scheduler", lags.scheduler, Box::new(scheduler::Scheduler));
    add("kubelet", lags.kubelet, Box::new(kubelet::Kubelet::new(lags)));
    add("disruption-controller", lags.budget, Box::new(budgets::BudgetController));
    add("garbage-collector", lags.garbage, Box::new(garbage::GarbageCollector));
    add("namespace-controller", lags.garbage, Box::new(namespaces::NamespaceController));
    all
}

/// Runs all controllers for ever.
pub(crate) async fn run(server: Server, seed: u64, lags: Lags) {
    let mut all = all(lags);
    let mut agenda = Agenda::new(Random::of(seed, "agenda"));
    let mut random = Random::of(seed, "controllers");
    let clock = server.clock();
    server.state().in_flight = InFlight::new(Random::of(seed, "admission"), lags.admission);
    let mut keys = Vec::new();
    loop {
        let next = {
            let mut state = server.state();
            loop {
                for change in std::mem::take(&mut state.news) {
                    for (number, Running { lag, controller, .. }) in all.iter().enumerate() {
                        controller.concerns(&change, &state.store, &mut keys);
                        for key in keys.drain(..) {
                            agenda.put(clock.millis() + millis(random.lag(*lag)), number, key);
                        }
                    }
                }
                for (key, due) in std::mem::take(&mut state.in_flight.news) {
                    agenda.put(millis(due), ARRIVALS, key);
                }
                let Some((number, key)) = agenda.due(clock.millis()) else { break };
                let Some(Running { client, controller, .. }) = all.get_mut(number) else { continue };
                if state.stopped.contains(&*client.name) {
                    agenda.put(clock.millis() + STOPPED, number, key);
                    continue;
                }
                let mut client = ControllerClient::new(&mut state, client, &mut random);
                if let Some(again) = controller.act(&key, &mut client) {
                    agenda.put(clock.millis() + millis(again), number, key);
                }
            }
            agenda.next()
        };
        let wait = async {
            match next {
                Some(due) => tokio::time::sleep_until(clock.at(Duration::from_millis(due))).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = server.changed() => {}
            () = wait => {}
        }
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
