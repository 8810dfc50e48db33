//! `make look`: the dashboards as pictures, of a real Prometheus that scrapes the real operator while shares move.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use quotient_e2e::look::{Dashboard, draw, play};
use quotient_e2e::quotient::workspace_root;

/// Plays a scenario under Prometheus and draws every dashboard.
#[derive(Debug, Parser)]
#[command(name = "look", version)]
struct Args {
    /// Where the pictures go.
    #[arg(long, value_name = "DIRECTORY")]
    out: PathBuf,
    /// The pause between what happens.
    #[arg(long, value_name = "SECONDS", default_value_t = 12)]
    pause: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    std::fs::create_dir_all(&args.out).with_context(|| format!("making {}", args.out.display()))?;
    let watched = play(Duration::from_secs(args.pause)).await?;
    let directory = workspace_root().join("charts/quotient/files/dashboards");
    for name in ["overview", "queue", "operator"] {
        let dashboard = Dashboard::read(&directory.join(name).with_extension("json"), "team-b")?;
        let mut found = Vec::new();
        for panel in &dashboard.panels {
            let mut of_panel = Vec::new();
            for target in &panel.targets {
                of_panel.push(watched.prometheus.find(panel, target, watched.span).await?);
            }
            if !panel.targets.is_empty() && of_panel.iter().all(Vec::is_empty) {
                println!("{}: {} shows nothing", dashboard.title, panel.title);
            }
            found.push(of_panel);
        }
        let file = args.out.join(name).with_extension("svg");
        draw(&dashboard, &found, watched.span, &file)?;
        println!("{}", file.display());
    }
    println!("alerts, pending or firing: {:?}", watched.prometheus.alerts().await?);
    watched.end().await
}
