//! Backups of etcd, and how they are restored: with the revision raised, as Kubernetes needs it.

use std::fs;

use anyhow::Context as _;
use http::Request;
use kube::Client;
use tokio::task::JoinSet;

use super::{Backup, Component, TestBed, readiness};

/// By how many writes the revision is raised: more than a test makes between a backup and its restore.
const RAISED: usize = 20_000;

/// How many of them are on their way at a time.
const AT_ONCE: usize = 64;

impl TestBed {
    /// Keeps what etcd holds now. It is away for a moment.
    pub async fn back_up(&self) -> anyhow::Result<Backup> {
        self.kill(Component::Etcd)?;
        let backup = Backup::of(&self.layout.data()).context("keeping what etcd holds")?;
        self.restart(Component::Etcd).await?;
        Ok(backup)
    }

    /// Makes everything what it was at the time of `backup`, and starts the whole control plane again.
    pub async fn restore(&self, backup: &Backup) -> anyhow::Result<()> {
        let stopped =
            [Component::Kwok, Component::Scheduler, Component::ControllerManager, Component::ApiServer];
        for component in stopped {
            self.kill(component)?;
        }
        self.kill(Component::Etcd)?;
        let data = self.layout.data();
        fs::remove_dir_all(&data).context("removing what etcd holds")?;
        backup.put(&data)?;
        self.start_anew(Component::Etcd).await?;
        self.raise_revision().await?;
        for component in stopped.into_iter().rev() {
            self.start_anew(component).await?;
        }
        Ok(())
    }

    /// Every write raises the revision by one.
    async fn raise_revision(&self) -> anyhow::Result<()> {
        let client = readiness::client(Component::Etcd.health_check(&self.layout), &self.layout)?;
        let writers = (0..AT_ONCE).map(|_| put_again_and_again(client.clone()));
        for outcome in writers.collect::<JoinSet<_>>().join_all().await {
            outcome.context("raising the revision of etcd")?;
        }
        Ok(())
    }
}

async fn put_again_and_again(client: Client) -> anyhow::Result<()> {
    for _ in 0..RAISED / AT_ONCE {
        let body = br#"{"key": "cmFpc2Vk", "value": ""}"#.to_vec();
        let request = Request::post("/v3/kv/put").body(body)?;
        client.request_text(request).await?;
    }
    Ok(())
}
