//! The programs under test, built from this workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use tokio::process::Command;
use tokio::sync::OnceCell;

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
    /// Builds the programs as they stand in the workspace, so that no test runs older ones: for tests as they are
    /// built, for measurements with optimization, as they are shipped. Cargo is asked once a process.
    pub async fn build() -> anyhow::Result<Self> {
        static BUILT: OnceCell<Programs> = OnceCell::const_new();
        BUILT.get_or_try_init(Self::build_now).await.cloned()
    }

    async fn build_now() -> anyhow::Result<Self> {
        let own = own_profile_directory()?;
        // In the workspace as a whole, dependencies have the features that tests need: tests and programs share one build of
        // them.
        let root = workspace_root();
        let names = ["quotient-operator", "kubectl-quotient"];
        if own.ends_with("debug") {
            let [operator, command_line] = build(&root, names, &["build"], &own).await?;
            return Ok(Self { operator, command_line });
        }
        let shipped = own.with_file_name("release");
        let [operator, command_line] = build(&root, names, &SHIPPED, &shipped).await?;
        Ok(Self { operator, command_line })
    }
}

/// What cargo is told to build both programs as they are shipped: with no feature that only a test needs.
pub const SHIPPED: [&str; 6] = ["build", "--release", "-p", "quotient-operator", "-p", "quotient-cli"];

/// The commit of the tag `v0.0.9`, which was made for upgrades to start from. A clone may lack tags, so it is named by its id.
const PREVIOUS: &str = "10e7599ca255edf3aaab31997fa3f6898ae040ca";

/// The operator and the chart of the release before.
#[derive(Clone, Debug)]
pub struct Previous {
    /// `quotient-operator`.
    pub operator: PathBuf,
    /// The folder of the chart.
    pub chart: PathBuf,
}

impl Previous {
    /// Takes the sources out of the history of this repository and builds them, once for each target directory. With the profiles
    /// of today, dependencies are shared with the build of today.
    pub async fn build() -> anyhow::Result<Self> {
        let own = own_profile_directory()?;
        let targets = own.parent().context("the target directory has no name")?;
        let sources = targets.join("tmp").join(format!("release-before-{PREVIOUS}"));
        if !sources.is_dir() {
            take_out(&sources).await?;
        }
        let profiles = workspace_root().join("Cargo.toml");
        let profiles = profiles.to_str().context("the path of the workspace is no text")?;
        // It plans for a few pods: its build is what takes time.
        let slow = ["engine", "index"].map(|name| format!("profile.dev.package.quotient-{name}.opt-level=0"));
        let how = ["build", "--config", profiles, "--config", &slow[0], "--config", &slow[1]];
        // Another name, because cargo would put it where that of today is.
        let [operator] = build(&sources, ["quotient-operator-before"], &how, &own).await?;
        Ok(Self { operator, chart: sources.join("charts/quotient") })
    }
}

/// Writes the files of [`PREVIOUS`] into `directory`.
async fn take_out(directory: &Path) -> anyhow::Result<()> {
    // Renamed when it is complete.
    let beside = directory.with_extension("new");
    if beside.exists() {
        std::fs::remove_dir_all(&beside)?;
    }
    std::fs::create_dir_all(&beside)?;
    let script = format!(
        "git cat-file -e {PREVIOUS} 2>/dev/null || git fetch --quiet origin {PREVIOUS}; git archive {PREVIOUS} | tar -x -C \"$1\""
    );
    let taken = Command::new("bash")
        .args(["-o", "pipefail", "-e", "-c", &script, "bash"])
        .arg(&beside)
        .current_dir(workspace_root())
        .status()
        .await
        .context("running git")?;
    ensure!(
        taken.success(),
        "commit {PREVIOUS}, the release before, is not in this clone: fetch its history"
    );
    // Cargo tells the crates of two workspaces apart by name and version, not by folder.
    for (manifest, now, before) in [
        (
            "operator/Cargo.toml",
            "[[bin]]\nname = \"quotient-operator\"",
            "[[bin]]\nname = \"quotient-operator-before\"",
        ),
        (
            "Cargo.toml",
            "[workspace.package]\nversion = \"0.1.0\"",
            "[workspace.package]\nversion = \"0.0.9\"",
        ),
    ] {
        let manifest = beside.join(manifest);
        let text = std::fs::read_to_string(&manifest)?;
        ensure!(text.contains(now), "{now:?} is not in {}", manifest.display());
        std::fs::write(&manifest, text.replace(now, before))?;
    }
    std::fs::rename(&beside, directory)?;
    Ok(())
}

/// One program of the workspace, built for tests.
pub async fn build_program(name: &str) -> anyhow::Result<PathBuf> {
    let [program] = build(&workspace_root(), [name], &["build"], &own_profile_directory()?).await?;
    Ok(program)
}

/// Builds these programs of a workspace by this command of cargo, into `directory`.
async fn build<const COUNT: usize>(
    workspace: &Path,
    names: [&str; COUNT],
    how: &[&str],
    directory: &Path,
) -> anyhow::Result<[PathBuf; COUNT]> {
    let targets = directory.parent().context("the target directory has no name")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (variable, _) in std::env::vars_os().filter(|(variable, _)| is_of_the_caller(variable)) {
        command.env_remove(variable);
    }
    let built = command
        .args(how)
        .arg("--quiet")
        .args(names.iter().flat_map(|name| ["--bin", name]))
        .arg("--target-dir")
        .arg(targets)
        .current_dir(workspace)
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
fn is_of_the_caller(variable: &OsStr) -> bool {
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
