//! Starting a test bed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;

use super::bed::End;
use super::binaries::{Binaries, Module, kubernetes_version};
use super::cache::cache_directory;
use super::layout::Layout;
use super::process::{ManagedProcess, Supervisor};
use super::run_directory::RunDirectory;
use super::{Component, Options, TestBed, TestBedError, api, eventually, readiness};

/// How often another set of ports is tried.
const ATTEMPTS: usize = 3;

impl TestBed {
    /// Starts a control plane and waits until it is ready: the API server has the pinned version and the namespace
    /// `default` has its service account, so that pods can be created. There are no nodes yet.
    ///
    /// Takes about two seconds, and minutes the first time, when the programs are built.
    pub async fn start(options: Options) -> Result<Self, TestBedError> {
        if std::env::consts::OS != "linux" {
            return Err(TestBedError::System { system: std::env::consts::OS });
        }
        let cache = cache_directory()?;
        let binaries = ensure_binaries(cache.clone()).await?;
        let mut attempt: usize = 1;
        loop {
            match start_once(&cache, binaries.clone(), &options).await {
                Err(error) if error.is_port_collision() && attempt < ATTEMPTS => {
                    attempt = attempt.saturating_add(1);
                }
                result => return result,
            }
        }
    }
}

async fn ensure_binaries(cache: std::path::PathBuf) -> Result<Binaries, TestBedError> {
    let built = tokio::task::spawn_blocking(move || Binaries::ensure(&cache, Module::ControlPlane)).await;
    let action = "building the control plane programs";
    Ok(built.map_err(|error| TestBedError::Thread { action, reason: error.to_string() })??)
}

async fn start_once(cache: &Path, binaries: Binaries, options: &Options) -> Result<TestBed, TestBedError> {
    let directory = RunDirectory::create(cache, options.name.as_deref())?;
    let layout = Layout::prepare(binaries, directory.path(), options)?;
    let end = End { directory: Some(directory), keep: options.keep };
    let supervisor = Supervisor::start(&layout.data(), &layout.logs(), &layout.pids())?;
    let spawn = |component: Component| supervisor.spawn(&component.process(&layout));

    // The API server does its own waiting for etcd, and loads its program in the meantime.
    let etcd = spawn(Component::Etcd)?;
    let api_server = spawn(Component::ApiServer)?;
    readiness::wait(Component::Etcd, &etcd, &layout).await?;
    readiness::wait(Component::ApiServer, &api_server, &layout).await?;
    let client = api::client(&layout.admin_kubeconfig()).await?;
    check_version(&client).await?;

    // The others give up, or wait a whole second, when they come too early.
    let controller_manager = spawn(Component::ControllerManager)?;
    let scheduler = spawn(Component::Scheduler)?;
    let kwok = spawn(Component::Kwok)?;
    readiness::wait(Component::ControllerManager, &controller_manager, &layout).await?;
    readiness::wait(Component::Scheduler, &scheduler, &layout).await?;
    readiness::wait(Component::Kwok, &kwok, &layout).await?;
    let processes: BTreeMap<Component, ManagedProcess> = [
        (Component::Etcd, etcd),
        (Component::ApiServer, api_server),
        (Component::ControllerManager, controller_manager),
        (Component::Scheduler, scheduler),
        (Component::Kwok, kwok),
    ]
    .into();
    let bed = TestBed { client, layout, processes: Mutex::new(processes), supervisor, end };
    bed.wait_for_service_account("default").await?;
    Ok(bed)
}

async fn check_version(client: &kube::Client) -> Result<(), TestBedError> {
    let version = client
        .apiserver_version()
        .await
        .map_err(TestBedError::api("asking the API server for its version"))?;
    let expected = kubernetes_version();
    if version.git_version == expected {
        Ok(())
    } else {
        Err(TestBedError::Version { found: version.git_version, expected })
    }
}

impl TestBed {
    /// Waits until pods can be created in a namespace: until then they are refused for want of a service account.
    pub(super) async fn wait_for_service_account(&self, namespace: &str) -> Result<(), TestBedError> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let what = format!("the namespace {namespace} has its service account");
        eventually(what, Duration::from_secs(60), async || accounts.get("default").await).await?;
        Ok(())
    }
}
