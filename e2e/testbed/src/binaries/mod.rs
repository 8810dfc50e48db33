//! The programs of the test bed, built from Go modules and kept in the cache.
//!
//! A `go.mod` for each module pins them and its `go.sum` proves them, so a checkout always gets the same programs, on any
//! platform that Go builds for, without a download of binaries. The files are compiled into this crate.

mod build;
mod module;
mod program;
mod toolchain;

use std::path::{Path, PathBuf};

use ring::digest;

pub use module::{Module, helm_version, kubernetes_version};
pub use program::Program;

use super::cache::cache_directory;

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
        let version = toolchain::version()?;
        let (flags, linker_flags) = (module.flags().join(" "), module.linker_flags());
        let key = key_of(&[module.go_mod(), module.go_sum(), &flags, &linker_flags, &version]);
        let directory = cache.join(module.directory()).join(key);
        build::ensure_all(module, &version, &directory)?;
        Ok(Self { directory })
    }

    /// The same without blocking, in the cache of the test bed.
    pub async fn find(module: Module) -> anyhow::Result<Self> {
        let cache = cache_directory()?;
        tokio::task::spawn_blocking(move || Self::ensure(&cache, module)).await?
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

/// The name under which built programs are cached, which changes with everything that may change them: sixteen
/// hexadecimal digits of the SHA-256 of all parts.
fn key_of(parts: &[&str]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part.as_bytes());
        // Separates the parts, so that no text can move from one into the next unseen.
        context.update(&[0]);
    }
    let digest = context.finish();
    let bytes: Vec<String> = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    bytes.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_every_part_apart() {
        assert_eq!(key_of(&["a", "b"]).len(), 16);
        assert_eq!(key_of(&["a", "b"]), key_of(&["a", "b"]));
        assert_ne!(key_of(&["a", "b"]), key_of(&["ab", ""]));
        assert_ne!(key_of(&["a", "b"]), key_of(&["a", "c"]));
    }
}
