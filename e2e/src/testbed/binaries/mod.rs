//! The programs of the control plane, built from Go modules and kept in the cache.
//!
//! `controlplane/go.mod` pins them and `go.sum` proves them, so a checkout always gets the same programs, on any
//! platform that Go builds for, without a download of anybody's binaries. Both files are compiled into this crate.

mod build;
mod key;
mod program;
mod source;
mod toolchain;

use std::path::{Path, PathBuf};

pub use build::BuildError;
pub use program::Program;
pub use source::kubernetes_version;
pub use toolchain::{GoToolchain, ToolchainError};

/// Built programs, all of the same pins.
#[derive(Debug, Clone)]
pub struct Binaries {
    directory: PathBuf,
}

impl Binaries {
    /// The programs from the cache; what is missing there is built first, with one line of progress on standard
    /// error per program (minutes when nothing is cached). Blocks; call it from a blocking thread.
    ///
    /// Safe when several processes do it at once: one builds, the others wait and find the work done.
    pub fn ensure(cache: &Path) -> Result<Self, BuildError> {
        let toolchain = GoToolchain::find()?;
        let directory = cache.join("controlplane").join(key::cache_key(&toolchain));
        build::ensure_all(&toolchain, &directory)?;
        Ok(Self { directory })
    }

    /// The path of a program.
    pub fn path(&self, program: Program) -> PathBuf {
        self.directory.join(program.file_name())
    }

    /// The directory that holds the programs and nothing else executable: fit for `PATH`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
