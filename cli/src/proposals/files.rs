//! Where proposed Queues are written.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{ProposedQueue, documents};
use crate::exit::CommandError;
use crate::output::print;

/// The flag for a directory of manifests.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OutputDirectory {
    /// The directory to write the Queues to, a file each; without it they are printed. Existing files are kept.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl OutputDirectory {
    /// Writes a file for each Queue and returns true, or prints the Queues if no directory is named.
    pub(crate) fn put(&self, queues: &[ProposedQueue]) -> Result<bool, CommandError> {
        let Some(directory) = &self.directory else {
            let manifests: Vec<String> = queues.iter().map(ProposedQueue::manifest).collect();
            print(&documents(&manifests))?;
            return Ok(false);
        };
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        for queue in queues {
            write(&directory.join(format!("{}.yaml", queue.namespace)), &queue.manifest())?;
        }
        Ok(true)
    }
}

/// The directory as the user named it.
impl fmt::Display for OutputDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = self.directory.as_deref().unwrap_or(Path::new("."));
        write!(formatter, "{}", directory.display())
    }
}

/// Never over a file that a person may have edited.
fn write(path: &Path, manifest: &str) -> Result<(), CommandError> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(manifest.as_bytes()));
    written.map_err(|error| CommandError::Usage(format!("write {}: {error}", path.display())))
}
