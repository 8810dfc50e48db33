//! The directory of one test bed: its certificates, configuration, data and logs.
//!
//! Its owner holds a lock on a file in it. The system gives the lock back however the owner ends, so "is it still
//! running?" has one answer that no stale file can spoil.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

/// The directory of a test bed that is ours.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    name: String,
    lock: File,
}

/// How long the directories of failed runs are kept.
const KEPT_FOR: Duration = Duration::from_secs(72 * 60 * 60);
const LOCK: &str = "owner.lock";
const SUBDIRECTORIES: [&str; 5] = ["pki", "kubeconfigs", "config", "logs", "pids"];

impl RunDirectory {
    /// The directory of the test bed `name` (else of one with a unique name), empty but for its
    /// subdirectories. What an ended test bed of that name left behind is removed.
    pub fn create(cache: &Path, name: Option<&str>) -> anyhow::Result<Self> {
        let name = match name {
            Some(name) => checked(name)?.to_owned(),
            None => fresh_name(),
        };
        let all = all_directories(cache);
        let path = all.join(&name);
        let preparing = || format!("preparing the directory of the test bed, {}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&path).with_context(preparing)?;
        remove_forgotten(&all);
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = lock.with_context(preparing)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                bail!("starting {name:?}: one of that name is running (`testbed down --name {name}` ends it)")
            }
            taken => taken.with_context(preparing)?,
        }
        // For those who look from outside; whether it still holds is told by the lock.
        fs::write(path.join(LOCK), std::process::id().to_string()).with_context(preparing)?;
        for entry in fs::read_dir(&path).with_context(preparing)? {
            let entry = entry.with_context(preparing)?;
            if entry.file_name() != LOCK {
                remove(&entry.path()).with_context(preparing)?;
            }
        }
        for subdirectory in SUBDIRECTORIES {
            fs::create_dir(path.join(subdirectory)).with_context(preparing)?;
        }
        Ok(Self { path, name, lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the test bed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Removes the directory with everything in it.
    pub fn remove(self) -> anyhow::Result<()> {
        fs::remove_dir_all(&self.path).with_context(|| format!("removing {}", self.path.display()))?;
        // Only now may another test bed take the name.
        drop(self.lock);
        Ok(())
    }
}

/// A test bed as other processes see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningTestBed {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
    /// The id of the process that started it and ends it.
    pub owner: u32,
}

impl RunningTestBed {
    /// All that are running or starting, by name.
    pub fn all(cache: &Path) -> Vec<Self> {
        let directories = fs::read_dir(all_directories(cache)).into_iter().flatten().flatten();
        let mut found: Vec<Self> = directories.filter_map(|entry| Self::at(&entry.path())).collect();
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }

    /// Whether its owner is still there.
    pub fn is_running(&self) -> bool {
        is_running(&self.directory)
    }

    /// The one in that directory, if it is running or starting.
    fn at(directory: &Path) -> Option<Self> {
        if !is_running(directory) {
            return None;
        }
        let name = directory.file_name()?.to_str()?.to_owned();
        let owner = fs::read_to_string(directory.join(LOCK)).ok()?.parse().ok()?;
        Some(Self { name, directory: directory.to_owned(), owner })
    }
}

/// The directory of the directories.
fn all_directories(cache: &Path) -> PathBuf {
    cache.join("testbeds")
}

/// Whether the owner of the directory of a test bed is still there.
fn is_running(directory: &Path) -> bool {
    File::open(directory.join(LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

fn checked(name: &str) -> anyhow::Result<&str> {
    let letters = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let is_plain = letters && !name.is_empty() && !name.starts_with('-') && name.len() <= 40;
    ensure!(is_plain, "{name:?} is no name: use letters, digits and dashes, at most 40, the first no dash");
    Ok(name)
}

fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    format!("run-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Removes what ended test beds left behind long ago. Nothing waits for that, so problems do not matter.
fn remove_forgotten(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let path = entry.path();
        let age = fs::metadata(path.join(LOCK))
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > KEPT_FOR) && !is_running(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_one_owner_at_a_time() {
        let cache = tempfile::tempdir().unwrap();
        let first = RunDirectory::create(cache.path(), Some("demo")).unwrap();
        let path = first.path().to_owned();
        let seen = RunningTestBed { name: "demo".into(), directory: path.clone(), owner: std::process::id() };
        assert_eq!(RunningTestBed::all(cache.path()), [seen]);
        let refused = RunDirectory::create(cache.path(), Some("demo")).unwrap_err();
        assert!(refused.to_string().contains("is running"), "{refused}");

        fs::write(path.join("logs").join("old.log"), "old").unwrap();
        drop(first);
        assert_eq!(RunningTestBed::all(cache.path()), []);
        let second = RunDirectory::create(cache.path(), Some("demo")).unwrap();
        assert!(!path.join("logs").join("old.log").exists());
        second.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn nameless_ones_get_different_names() {
        let cache = tempfile::tempdir().unwrap();
        let first = RunDirectory::create(cache.path(), None).unwrap();
        let second = RunDirectory::create(cache.path(), None).unwrap();
        assert_ne!(first.path(), second.path());
    }

    #[test]
    fn names_are_those_of_plain_directories() {
        for name in ["", "..", "a/b", "-a", "name with spaces", &"a".repeat(41)] {
            assert!(checked(name).is_err(), "{name:?}");
        }
        assert_eq!(checked("team-A-1").unwrap(), "team-A-1");
    }
}
