//! What etcd holds, as the content of its files.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

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
    /// What is in the directory of its data, while it is away.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
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
