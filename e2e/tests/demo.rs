//! What `make demo` shows comes out as its text says, and without Helm.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::testbed::cache::cache_directory;
use tokio::process::Command;

/// A cache with the control plane in which Helm can neither be found nor be built.
fn cache_without_helm(directory: &Path) -> Result<()> {
    std::os::unix::fs::symlink(cache_directory()?.join("controlplane"), directory.join("controlplane"))?;
    std::fs::write(directory.join("charttools"), "not a directory")?;
    Ok(())
}

/// The program of `make demo` checks every share that it shows.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_ends_with_every_team_at_its_share_and_needs_no_helm() -> Result<()> {
    let cache = tempfile::tempdir()?;
    cache_without_helm(cache.path())?;
    let demo = Command::new(env!("CARGO_BIN_EXE_demo"))
        .env("QUOTIENT_CACHE", cache.path())
        .stdin(Stdio::null())
        .output()
        .await
        .context("running the demo")?;
    let printed = String::from_utf8_lossy(&demo.stdout);
    ensure!(demo.status.success(), "{printed}\n{}", String::from_utf8_lossy(&demo.stderr));
    ensure!(printed.contains("Every team has the share of its weight: 2, 4 and 3 of 9 cpu."), "{printed}");
    ensure!(printed.contains("Everything is stopped."), "{printed}");
    Ok(())
}
