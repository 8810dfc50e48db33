//! Faults: pausing, killing and restarting components.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::Api;
use kube::api::ListParams;

use super::process::ManagedProcess;
use super::{Component, TestBed, readiness};

/// Who counts what is there after the API server was killed: the audit log holds the whole answer.
pub const CENSUS: &str = "testbed-census";

impl TestBed {
    /// Stops a component where it stands (`SIGSTOP`): connections stay open without an answer.
    pub fn pause(&self, component: Component) -> anyhow::Result<()> {
        running(&self.processes(), "pausing", component)?.pause()
    }

    /// Lets a paused component go on.
    pub fn resume(&self, component: Component) -> anyhow::Result<()> {
        running(&self.processes(), "resuming", component)?.resume()
    }

    /// Kills a component (`SIGKILL`) and waits until it is gone.
    pub fn kill(&self, component: Component) -> anyhow::Result<()> {
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
    ///
    /// kwok is started again with the API server or etcd: it forgets what it could not write meanwhile, where a kubelet
    /// would try again.
    pub async fn restart(&self, component: Component) -> anyhow::Result<()> {
        self.start_anew(component).await?;
        if matches!(component, Component::ApiServer | Component::Etcd) {
            // Of what an API server did last before it was killed, it noted nothing. Answers come from its cache, so after this
            // one kwok reads nothing that is older than etcd.
            self.census().await?;
            if self.pid(Component::Kwok).is_some() {
                self.start_anew(Component::Kwok).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn start_anew(&self, component: Component) -> anyhow::Result<()> {
        drop(self.processes().remove(&component));
        let process = self.supervisor.spawn(component.name(), component.command(&self.layout))?;
        let ready = readiness::wait(component, &process, &self.layout).await;
        self.processes().insert(component, process);
        ready
    }

    /// Has the audit log say which pods and quotas there are.
    async fn census(&self) -> anyhow::Result<()> {
        let kubeconfig = self.user_kubeconfig(CENSUS, Some("system:masters"))?;
        let client = self.client_for(&kubeconfig).await?;
        let all = ListParams::default();
        Api::<Pod>::all(client.clone()).list(&all).await.context("listing what pods there are")?;
        Api::<ResourceQuota>::all(client).list(&all).await.context("listing what quotas there are")?;
        Ok(())
    }

    /// The process id of a component, if it is running.
    pub fn pid(&self, component: Component) -> Option<u32> {
        self.processes().get(&component).map(ManagedProcess::pid)
    }

    fn processes(&self) -> MutexGuard<'_, BTreeMap<Component, ManagedProcess>> {
        // A task that panicked with the lock had changed nothing or everything.
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn running<'a>(
    processes: &'a BTreeMap<Component, ManagedProcess>,
    action: &'static str,
    component: Component,
) -> anyhow::Result<&'a ManagedProcess> {
    processes.get(&component).with_context(|| format!("{action} {component}: it is not running"))
}
