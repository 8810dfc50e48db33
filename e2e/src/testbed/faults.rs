//! Faults: pausing, killing and restarting components.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use super::process::ManagedProcess;
use super::{Component, TestBed, TestBedError, readiness};

impl TestBed {
    /// Stops a component where it stands (`SIGSTOP`): connections stay open and nobody answers.
    pub fn pause(&self, component: Component) -> Result<(), TestBedError> {
        let processes = self.processes();
        let process = running(&processes, "pausing", component)?;
        Ok(process.pause()?)
    }

    /// Lets a paused component go on.
    pub fn resume(&self, component: Component) -> Result<(), TestBedError> {
        let processes = self.processes();
        let process = running(&processes, "resuming", component)?;
        Ok(process.resume()?)
    }

    /// Kills a component (`SIGKILL`) and waits until it is gone.
    pub fn kill(&self, component: Component) -> Result<(), TestBedError> {
        let mut processes = self.processes();
        running(&processes, "killing", component)?.kill()?;
        processes.remove(&component);
        Ok(())
    }

    /// Starts a component again, with the arguments and ports that it had, and waits until it is ready. One that is
    /// running is killed first.
    ///
    /// After several restarts of the API server within two minutes the watches of the other components come back
    /// later and later (up to half a minute): client-go backs off, here as in every cluster.
    pub async fn restart(&self, component: Component) -> Result<(), TestBedError> {
        drop(self.processes().remove(&component));
        let process = self.supervisor.spawn(&component.process(&self.layout))?;
        let ready = readiness::wait(component, &process, &self.layout).await;
        self.processes().insert(component, process);
        ready
    }

    /// The process id of a component, if it is running.
    pub fn pid(&self, component: Component) -> Option<u32> {
        self.processes().get(&component).map(ManagedProcess::pid)
    }

    fn processes(&self) -> MutexGuard<'_, BTreeMap<Component, ManagedProcess>> {
        // Whoever panicked while holding it had changed nothing or everything.
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn running<'a>(
    processes: &'a BTreeMap<Component, ManagedProcess>,
    action: &'static str,
    component: Component,
) -> Result<&'a ManagedProcess, TestBedError> {
    processes.get(&component).ok_or(TestBedError::NotRunning { action, component })
}
