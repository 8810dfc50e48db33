//! The programs of the image.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use tokio::process::Command;

use crate::quotient::{Programs, SHIPPED, workspace_root};

/// The compiler's flags, as the Dockerfile has them.
pub const STATIC_FLAGS: &str = "-C target-feature=+crt-static -C force-unwind-tables=no";

impl Programs {
    /// Builds them as the Dockerfile does: minutes the first time.
    pub async fn build_static() -> anyhow::Result<Self> {
        let asked =
            Command::new("rustc").arg("-vV").output().await.context("running rustc: is Rust installed?")?;
        let said = String::from_utf8_lossy(&asked.stdout).into_owned();
        let target = said.lines().find_map(|line| line.strip_prefix("host: "));
        let target = target.context("rustc does not say what it runs on")?;
        let built = Command::new("cargo")
            .args(SHIPPED)
            .args(["--locked", "--target", target])
            .env("RUSTFLAGS", STATIC_FLAGS)
            .current_dir(workspace_root())
            .status()
            .await
            .context("running cargo build")?;
        ensure!(built.success(), "cargo {} of static programs failed, see above", SHIPPED.join(" "));
        let targets = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace_root().join("target"), PathBuf::from);
        let directory = targets.join(target).join("release");
        Ok(Self {
            operator: directory.join("quotient-operator"),
            command_line: directory.join("kubectl-quotient"),
        })
    }
}
