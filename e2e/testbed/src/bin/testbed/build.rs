//! `testbed build`.

use std::process::ExitCode;

use quotient_testbed::binaries::{Binaries, Module};
use quotient_testbed::cache::cache_directory;

/// Builds the programs of the control plane, if they are not in the cache, and prints where they are.
///
/// Every other command does this by itself. Needs Go, and the network or a filled Go module cache.
#[derive(Debug, clap::Args)]
pub(crate) struct Build {
    /// Build the tools of tests as well, about four minutes more: Helm for charts, Prometheus for metrics and alerts.
    #[arg(long)]
    tools: bool,
}

impl Build {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        let cache = cache_directory()?;
        for module in self.modules() {
            let binaries = Binaries::ensure(&cache, *module)?;
            for program in module.programs() {
                crate::print(&binaries.path(*program).display().to_string())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    const fn modules(&self) -> &'static [Module] {
        if self.tools { &Module::ALL } else { &[Module::ControlPlane] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_built_only_when_they_are_asked_for() {
        assert_eq!(Build { tools: false }.modules(), [Module::ControlPlane]);
        assert_eq!(Build { tools: true }.modules(), Module::ALL);
    }
}
