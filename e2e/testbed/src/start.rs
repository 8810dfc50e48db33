//! Starting a test bed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;

use super::bed::End;
use super::binaries::{Binaries, Module, kubernetes_version};
use super::cache::cache_directory;
use super::layout::Layout;
use super::process::Supervisor;
use super::run_directory::RunDirectory;
use super::{Component, Options, TestBed, eventually, identity, readiness};

/// What a server logs whose port is taken.
const PORT_TAKEN: &str = "address already in use";

/// How often another set of ports is tried.
const ATTEMPTS: usize = 3;

/// Held while a test bed starts. A start takes a core, which the test beds of the same process that run would miss.
static STARTING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl TestBed {
    /// Starts a control plane and waits until it is ready: the API server has the pinned version and the namespace
    /// `default` has its service account, so that pods can be created. There are no nodes yet.
    ///
    /// Takes about two seconds, and minutes the first time, when the programs are built. Test beds of one process start one after
    /// the other.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let system = std::env::consts::OS;
        ensure!(system == "linux", "a test bed needs Linux (process groups, /bin/sh), and this is {system}");
        let cache = cache_directory()?;
        let binaries = Binaries::find(Module::ControlPlane).await?;
        let _one_at_a_time = STARTING.lock().await;
        let mut attempt: usize = 1;
        loop {
            match start_once(&cache, binaries.clone(), &options).await {
                Err(error) if error.to_string().contains(PORT_TAKEN) && attempt < ATTEMPTS => {
                    attempt = attempt.saturating_add(1);
                }
                result => return result,
            }
        }
    }
}

async fn start_once(cache: &Path, binaries: Binaries, options: &Options) -> anyhow::Result<TestBed> {
    let directory = RunDirectory::create(cache, options.name.as_deref())?;
    let layout = Layout::prepare(binaries, directory.path(), options)?;
    if let Some(beginning) = &options.beginning {
        beginning.put(&layout.data())?;
    }
    let end = End(Some(directory));
    let supervisor = Supervisor::start(&layout.data(), &layout.logs(), &layout.pids())?;
    let mut processes = BTreeMap::new();
    // The API server does its own waiting for etcd, and loads its program in the meantime.
    let first = [Component::Etcd, Component::ApiServer];
    // These give up, or wait a whole second, when they come too early.
    let then = [Component::ControllerManager, Component::Scheduler, Component::Kwok];
    for components in [&first[..], &then[..]] {
        for component in components {
            let process = supervisor.spawn(component.name(), component.command(&layout))?;
            processes.insert(*component, process);
        }
        for (component, process) in &processes {
            readiness::wait(*component, process, &layout).await?;
        }
    }
    let client = identity::client(&layout.admin_kubeconfig()).await?;
    check_version(&client).await?;
    let bed = TestBed { client, layout, processes: Mutex::new(processes), supervisor, end };
    bed.wait_for_service_account("default").await?;
    Ok(bed)
}

async fn check_version(client: &kube::Client) -> anyhow::Result<()> {
    let found =
        client.apiserver_version().await.context("asking the API server for its version")?.git_version;
    let pinned = kubernetes_version();
    ensure!(found == pinned, "the API server is of version {found}, but {pinned} is pinned");
    Ok(())
}

impl TestBed {
    /// Waits until pods can be created in a namespace: until then they are refused for want of a service account.
    pub(super) async fn wait_for_service_account(&self, namespace: &str) -> anyhow::Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let what = format!("the namespace {namespace} has its service account");
        eventually(what, Duration::from_secs(60), async || accounts.get("default").await).await.map(drop)
    }
}
