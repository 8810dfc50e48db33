//! Backups of etcd, and how they are restored: with the revision raised, as Kubernetes needs it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use http::Request;
use kube::Client;
use tokio::task::JoinSet;

use super::{Component, TestBed, readiness};

/// By how many writes the revision is raised: more than a test makes between a backup and its restore.
const RAISED: usize = 20_000;

/// How many of them are on their way at a time.
const AT_ONCE: usize = 64;

/// What etcd held at some time.
#[derive(Debug)]
pub struct Backup(PathBuf);

impl TestBed {
    /// Keeps what etcd holds now. It is away for a moment.
    pub async fn back_up(&self) -> anyhow::Result<Backup> {
        let backup = self.directory().join("backup");
        self.kill(Component::Etcd)?;
        copy(&self.layout.data(), &backup).context("keeping what etcd holds")?;
        self.restart(Component::Etcd).await?;
        Ok(Backup(backup))
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
        let replaced = fs::remove_dir_all(&data).and_then(|()| copy(&backup.0, &data));
        replaced.context("replacing what etcd holds")?;
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

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
