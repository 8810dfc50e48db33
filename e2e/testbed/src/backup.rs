//! Backups of etcd, and how they are restored: with the revision raised, as Kubernetes needs it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use http::Request;
use kube::Client;
use tokio::task::JoinSet;

use super::{Component, TestBed, readiness};

/// By how many writes the revision is raised: more than a test makes between a backup and its restore.
const RAISED: usize = 20_000;

/// How many of them are on their way at a time.
const AT_ONCE: usize = 64;

/// Compared as a whole, because etcd is away meanwhile.
const ZEROS: [u8; 4096] = [0; 4096];

/// What etcd held at some time. Another test bed may begin with it, see [`Options::beginning`](super::Options::beginning).
#[derive(Clone)]
pub struct Backup(Arc<Vec<Kept>>);

/// A file of etcd.
struct Kept {
    /// Where, in the directory of its data.
    path: PathBuf,
    /// What is in it, without the zeros at its end: most of them is room for later.
    content: Vec<u8>,
    /// How long it is with them.
    length: u64,
}

impl Backup {
    fn of(directory: &Path) -> io::Result<Self> {
        let mut kept = Vec::new();
        keep(directory, Path::new(""), &mut kept)?;
        Ok(Self(Arc::new(kept)))
    }

    /// Writes it into an empty directory.
    pub(super) fn put(&self, directory: &Path) -> anyhow::Result<()> {
        self.0.iter().try_for_each(|kept| kept.put(directory)).context("writing what etcd begins with")
    }
}

impl Kept {
    fn put(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(&self.path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        let mut file = File::create(path)?;
        file.write_all(&self.content)?;
        file.set_len(self.length)
    }
}

impl fmt::Debug for Backup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Backup").finish_non_exhaustive()
    }
}

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

/// Reads all files of a folder in `directory`.
fn keep(directory: &Path, folder: &Path, kept: &mut Vec<Kept>) -> io::Result<()> {
    for entry in fs::read_dir(directory.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            keep(directory, &path, kept)?;
            continue;
        }
        let mut content = fs::read(entry.path())?;
        let length = content.len() as u64;
        while content.ends_with(&ZEROS) {
            content.truncate(content.len().saturating_sub(ZEROS.len()));
        }
        kept.push(Kept { path, content, length });
    }
    Ok(())
}
