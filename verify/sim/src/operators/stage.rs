//! The cluster with the operators on it: what acts are done to.

use std::sync::{Arc, Mutex, PoisonError};

use super::life::live;
use super::{Line, OperatorOptions};
use crate::faults::{Act, WatchWhat};
use crate::server::{Client, Kind, Server};

/// The server and the operators.
#[derive(Debug)]
pub struct Stage {
    server: Server,
    seed: u64,
    lines: Mutex<Vec<Arc<Line>>>,
    human: Client,
}

impl Stage {
    pub(crate) fn new(server: Server, seed: u64) -> Self {
        Self { server, seed, lines: Mutex::new(Vec::new()), human: Client::named("human") }
    }

    /// The server.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// The operator that was started as this one, from 0.
    pub fn operator(&self, number: usize) -> Option<Arc<Line>> {
        self.lines().get(number).cloned()
    }

    /// All operators, in the order of their starts.
    pub fn operators(&self) -> Vec<Arc<Line>> {
        self.lines().clone()
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an operator. To be called where the simulation runs.
    pub(crate) fn start(self: &Arc<Self>, options: OperatorOptions) -> Arc<Line> {
        let version = self.server.state().store.version();
        let mut lines = self.lines();
        let line = Arc::new(Line::new(lines.len(), self.server.clock(), version, self.seed, options));
        lines.push(Arc::clone(&line));
        drop(lines);
        tokio::spawn(live(Arc::clone(self), Arc::clone(&line)));
        line
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
            Act::Crash { operator, down } => self.with(operator, |line| line.crash(down)),
            Act::Stop { operator } => self.with(operator, Line::stop),
            Act::Pause { operator, length } => self.with(operator, |line| line.pause(length)),
            Act::Clock { operator, millis } => self.with(operator, |line| line.jump(millis)),
            Act::Watch { operator, kind, what } => {
                self.with(operator, |line| line.suffer(kind, what));
                self.server.state().store.wake(kind);
            }
            Act::Restore { back } => {
                let mut state = self.server.state();
                state.restore(back);
                self.server.ring(&state);
                drop(state);
                for line in self.operators() {
                    Kind::all().for_each(|kind| line.suffer(kind, WatchWhat::Reset));
                }
                Kind::all().for_each(|kind| self.server.state().store.wake(kind));
            }
            Act::Panic { operator } => self.with(operator, Line::panic),
            Act::Actor { name, runs } => {
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

    fn with(&self, operator: usize, act: impl FnOnce(&Line)) {
        if let Some(line) = self.operator(operator) {
            act(&line);
        }
    }
}
