//! `testbed build`.

use std::process::ExitCode;

use quotient_e2e::testbed::binaries::{Binaries, Module};
use quotient_e2e::testbed::cache::cache_directory;

/// Builds the programs of the control plane and Helm, if they are not in the cache, and prints where they are.
///
/// Every other command does this by itself. Needs Go, and the network or a filled Go module cache.
pub(crate) fn execute() -> anyhow::Result<ExitCode> {
    let cache = cache_directory()?;
    for module in [Module::ControlPlane, Module::ChartTools] {
        let binaries = Binaries::ensure(&cache, module)?;
        for program in module.programs() {
            println!("{}", binaries.path(*program).display());
        }
    }
    Ok(ExitCode::SUCCESS)
}
