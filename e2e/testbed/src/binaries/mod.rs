//! The programs of the test bed, built from Go modules and kept in the cache.
//!
//! `controlplane/go.mod` and `charttools/go.mod` pin them and `go.sum` proves them, so a checkout always gets the same
//! programs, on any platform that Go builds for, without a download of binaries. The files are compiled into
//! this crate.

mod build;
mod key;
mod module;
mod program;
mod toolchain;

use std::path::{Path, PathBuf};

pub use module::{Module, helm_version, kubernetes_version};
pub use program::Program;
pub use toolchain::GoToolchain;

/// The built programs of one module.
#[derive(Debug, Clone)]
pub struct Binaries {
    directory: PathBuf,
}

impl Binaries {
    /// The programs of `module` from the cache; what is missing there is built first, with one line of progress on
    /// standard error per program (minutes when nothing is cached). Blocks; call it from a blocking thread.
    ///
    /// Safe when several processes do it at once: one builds, the others wait and find the work done.
    pub fn ensure(cache: &Path, module: Module) -> anyhow::Result<Self> {
        let toolchain = GoToolchain::find()?;
        let directory = cache.join(module.directory()).join(key::cache_key(module, &toolchain));
        build::ensure_all(module, &toolchain, &directory)?;
        Ok(Self { directory })
    }

    /// The path of a program of the module.
    pub fn path(&self, program: Program) -> PathBuf {
        self.directory.join(program.file_name())
    }

    /// The directory that holds the programs and nothing else executable: fit for `PATH`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
