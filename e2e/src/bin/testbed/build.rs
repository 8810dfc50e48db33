//! `testbed build`.

use std::process::ExitCode;

use quotient_e2e::testbed::binaries::{Binaries, Program};
use quotient_e2e::testbed::cache::cache_directory;

/// Builds the programs of the control plane, if they are not in the cache, and prints where they are.
///
/// Every other command does this by itself. Needs Go, and the network or a filled Go module cache.
pub(crate) fn execute() -> anyhow::Result<ExitCode> {
    let binaries = Binaries::ensure(&cache_directory()?)?;
    for program in Program::ALL {
        println!("{}", binaries.path(program).display());
    }
    Ok(ExitCode::SUCCESS)
}
