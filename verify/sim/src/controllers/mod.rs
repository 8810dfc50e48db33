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

use std::sync::Arc;

use crate::objects::Key;
use crate::random::{Lag, Random};
use crate::server::{Change, Client, InFlight, Server, Store};
use agenda::Agenda;

/// One controller.
trait Controller: Send {
    /// What the trace calls it.
    fn name(&self) -> &'static str;

    /// How long it takes to notice a change.
    fn lag(&self) -> Lag;

    /// What is to be looked at because of `change`.
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>);

    /// Looks at `key`, and sets it right by one step. Says after how long to look again although nothing changes.
    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<std::time::Duration>;
}

/// How long a controller that is stopped does nothing before it is asked again, in milliseconds.
const STOPPED: u64 = 100;

/// The place of the controller that stores admitted pods.
const ARRIVALS: usize = 0;

/// Runs all controllers for ever.
pub(crate) async fn run(server: Server, seed: u64, lags: Lags) {
    let mut controllers: Vec<(Client, Box<dyn Controller>)> = Vec::new();
    let mut add =
        |controller: Box<dyn Controller>| controllers.push((Client::named(controller.name()), controller));
    // The first: see `ARRIVALS`.
    add(Box::new(arrivals::Arrivals));
    add(Box::new(quotas::QuotaController::new(lags.quota, lags.quota_cache, lags.recounts)));
    add(Box::new(owners::Owners::new(jobs::Jobs, lags.owners)));
    add(Box::new(owners::Owners::new(replica_sets::ReplicaSets, lags.owners)));
    add(Box::new(deployments::Deployments::new(lags.owners)));
    add(Box::new(daemon_sets::DaemonSets::new(lags.owners)));
    add(Box::new(autoscalers::Autoscalers::new(lags.owners)));
    add(Box::new(stateful_sets::StatefulSets::new(lags.owners)));
    add(Box::new(scheduler::Scheduler::new(lags.scheduler)));
    add(Box::new(kubelet::Kubelet::new(lags.kubelet, lags.start, lags.stop)));
    add(Box::new(budgets::BudgetController::new(lags.budget)));
    add(Box::new(garbage::GarbageCollector::new(lags.garbage)));
    add(Box::new(namespaces::NamespaceController::new(lags.garbage)));
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
                    note(
                        &change,
                        &state.store,
                        &controllers,
                        &mut agenda,
                        &mut random,
                        clock.millis(),
                        &mut keys,
                    );
                }
                for (key, due) in std::mem::take(&mut state.in_flight.news) {
                    agenda.put(millis(due), ARRIVALS, key);
                }
                let Some((controller, key)) = agenda.due(clock.millis()) else { break };
                let Some((client, controller_of)) = controllers.get_mut(controller) else { continue };
                if state.stopped.contains(controller_of.name()) {
                    agenda.put(clock.millis() + STOPPED, controller, key);
                    continue;
                }
                let mut client = ControllerClient::new(&mut state, client, &mut random);
                if let Some(again) = controller_of.act(&key, &mut client) {
                    agenda.put(clock.millis() + millis(again), controller, key);
                }
            }
            agenda.next()
        };
        let wait = async {
            match next {
                Some(due) => tokio::time::sleep_until(clock.at(std::time::Duration::from_millis(due))).await,
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

/// Puts on the agenda what `change` concerns.
fn note(
    change: &Arc<Change>,
    store: &Store,
    controllers: &[(Client, Box<dyn Controller>)],
    agenda: &mut Agenda,
    random: &mut Random,
    now: u64,
    keys: &mut Vec<Key>,
) {
    for (number, (_, controller)) in controllers.iter().enumerate() {
        controller.concerns(change, store, keys);
        for key in keys.drain(..) {
            agenda.put(now + millis(random.lag(controller.lag())), number, key);
        }
    }
}

fn millis(length: std::time::Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
