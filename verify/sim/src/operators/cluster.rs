//! The cluster with the operators on it: what acts are done to.

use std::sync::{Arc, Mutex, PoisonError};

use super::OperatorLink;
use super::life::live;
use crate::faults::{Act, OperatorOptions, WatchWhat};
use crate::objects::Kind;
use crate::server::{Client, Server};

/// The server and the operators.
#[derive(Debug)]
pub struct SimCluster {
    server: Server,
    seed: u64,
    links: Mutex<Vec<Arc<OperatorLink>>>,
    human: Client,
}

impl SimCluster {
    pub(crate) fn new(server: Server, seed: u64) -> Self {
        Self { server, seed, links: Mutex::new(Vec::new()), human: Client::named("human") }
    }

    /// The server.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// The operator that was started as this one, from 0.
    pub fn operator(&self, number: usize) -> Option<Arc<OperatorLink>> {
        self.links().get(number).cloned()
    }

    /// All operators, in the order of their starts.
    pub fn operators(&self) -> Vec<Arc<OperatorLink>> {
        self.links().clone()
    }

    fn links(&self) -> std::sync::MutexGuard<'_, Vec<Arc<OperatorLink>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an operator. To be called where the simulation runs.
    pub(crate) fn start(self: &Arc<Self>, options: OperatorOptions) -> Arc<OperatorLink> {
        let version = self.server.state().store.version();
        let mut links = self.links();
        let link = Arc::new(OperatorLink::new(links.len(), self.server.clock(), version, self.seed, options));
        links.push(Arc::clone(&link));
        drop(links);
        tokio::spawn(live(Arc::clone(self), Arc::clone(&link)));
        link
    }

    /// Does it now. To be called where the simulation runs.
    pub(crate) fn act(self: &Arc<Self>, act: Act) {
        match act {
            Act::Human(call) => {
                // What a person is refused is in the trace.
                let _ = self.server.handle(&self.human, &call, None);
            }
            Act::Start(options) => {
                self.start(options);
            }
            Act::Stop { operator } => self.with(operator, OperatorLink::stop),
            Act::Pause { operator, length } => self.with(operator, |link| link.pause(length)),
            Act::Clock { operator, millis } => self.with(operator, |link| link.jump(millis)),
            Act::Watch { operator, kind, what } => {
                self.with(operator, |link| link.suffer(kind, what));
                self.server.state().store.wake(kind);
            }
            Act::Restore { back } => {
                let mut state = self.server.state();
                state.restore(back);
                self.server.ring(&state);
                drop(state);
                for link in self.operators() {
                    Kind::all().for_each(|kind| link.suffer(kind, WatchWhat::Reset));
                }
                Kind::all().for_each(|kind| self.server.state().store.wake(kind));
            }
            Act::Panic { operator } => self.with(operator, OperatorLink::panic),
            Act::Controller { name, runs } => {
                let mut state = self.server.state();
                if runs {
                    state.stopped.remove(name);
                } else {
                    state.stopped.insert(name);
                }
            }
            Act::Webhooks(webhooks) => self.server.state().webhooks = webhooks,
            Act::Forget => self.server.state().store.forget(),
        }
    }

    fn with(&self, operator: usize, act: impl FnOnce(&OperatorLink)) {
        if let Some(link) = self.operator(operator) {
            act(&link);
        }
    }
}
