//! The programs under test, built from this workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use tokio::process::Command;

/// The workspace that this was compiled in.
pub fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Where the programs under test are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `quotient-operator`.
    pub operator: PathBuf,
    /// `kubectl-quotient`.
    pub command_line: PathBuf,
}

impl Programs {
    /// Builds the programs as they stand in the workspace, so that nobody ever tests yesterday's: for tests as they are
    /// built, for whoever measures, and so was built with optimisation, as they are shipped. Takes a fraction of a second if
    /// nothing changed.
    pub async fn build() -> anyhow::Result<Self> {
        let own = own_profile_directory()?;
        // In the workspace as a whole, dependencies have the features that tests need: tests and programs share one build of
        // them.
        let (profile, how): (_, &[&str]) = if own.ends_with("debug") {
            ("debug", &[])
        } else {
            ("release", &["--release", "-p", "quotient-operator", "-p", "quotient-cli"])
        };
        let names = ["quotient-operator", "kubectl-quotient"];
        let [operator, command_line] = build(names, how, &own.with_file_name(profile)).await?;
        Ok(Self { operator, command_line })
    }
}

/// The program `testbed`, built for tests.
pub async fn build_testbed() -> anyhow::Result<PathBuf> {
    let [testbed] = build(["testbed"], &[], &own_profile_directory()?).await?;
    Ok(testbed)
}

/// Builds these programs with cargo, into `directory`.
async fn build<const COUNT: usize>(
    names: [&str; COUNT],
    how: &[&str],
    directory: &Path,
) -> anyhow::Result<[PathBuf; COUNT]> {
    let targets = directory.parent().context("the target directory has no name")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (variable, _) in std::env::vars_os().filter(|(variable, _)| tells_of_the_caller(variable)) {
        command.env_remove(variable);
    }
    let built = command
        .args(["build", "--quiet"])
        .args(names.iter().flat_map(|name| ["--bin", name]))
        .args(how)
        .arg("--target-dir")
        .arg(targets)
        .current_dir(workspace_root())
        .status()
        .await
        .context("running cargo build: is cargo installed?")?;
    ensure!(built.success(), "cargo build of {names:?} failed, see above");
    let paths = names.map(|name| directory.join(name));
    if let Some(missing) = paths.iter().find(|path| !path.is_file()) {
        bail!("{} was not built", missing.display());
    }
    Ok(paths)
}

/// Whether cargo has set this variable to tell a program about its own package. Passed on, build scripts that look at
/// it would take it for a change, and half of all dependencies would be built again.
fn tells_of_the_caller(variable: &OsStr) -> bool {
    let variable = variable.to_string_lossy();
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// `target/debug` and the like: where this very program is, or above it for a test.
fn own_profile_directory() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("finding the own program")?;
    let directory = program.parent().context("the own program has no directory")?;
    let is_dependency = directory.file_name().is_some_and(|name| name == "deps");
    Ok(if is_dependency { directory.parent().unwrap_or(directory) } else { directory }.to_owned())
}
