//! `make demo`: see Quotient work on a real control plane, in under a minute once everything is built.

use std::path::Path;

use clap::Parser;
use quotient_e2e::demo::{Demo, Narrator, play};
use quotient_e2e::quotient::workspace_root;

/// Plays the demo: two teams share a cluster, then a third one joins.
///
/// Starts a real control plane on loopback, applies the CRDs, starts the operator, and shows after each step what
/// kubectl shows. Stops everything at the end.
#[derive(Debug, Parser)]
#[command(name = "demo", version)]
struct Args {
    /// Leave everything running until Ctrl-C, and say how to talk to it.
    #[arg(long)]
    keep: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut narrator = Narrator::default();
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    let demo = tokio::select! {
        played = play(&mut narrator) => played?,
        // Dropping the test bed stops every process of it.
        _ = &mut interrupted => anyhow::bail!("interrupted; everything is stopped"),
    };
    if args.keep {
        say_how_to_talk(&narrator, &demo);
        let _ = interrupted.await;
    }
    narrator.line("");
    let Demo { bed, operator } = demo;
    operator.stop().await?;
    bed.stop().await?;
    let ending = if args.keep { "" } else { " (make demo KEEP=1 leaves it running.)" };
    narrator.line(&format!("Everything is stopped.{ending}"));
    Ok(())
}

fn say_how_to_talk(narrator: &Narrator, demo: &Demo) {
    let bed = &demo.bed;
    let log = demo.operator.process().log_path();
    let relative = |path: &Path| path.strip_prefix(workspace_root()).unwrap_or(path).display().to_string();
    narrator.line("");
    narrator.line("It keeps running until Ctrl-C. In another terminal:");
    narrator.line("");
    narrator.line(&format!("  export KUBECONFIG={}", bed.kubeconfig_path().display()));
    narrator.line(&format!("  export PATH={}:$PATH", bed.programs_directory().display()));
    narrator.line("  kubectl get queues.quotient.dev -A");
    narrator.line(
        "  kubectl patch queues.quotient.dev team-a -n team-a --type=merge -p '{\"spec\":{\"weight\":8}}'",
    );
    narrator.line("  kubectl explain queue.spec --api-version=quotient.dev/v1alpha1");
    narrator.line("");
    narrator.line(&format!("  the operator's log: {}", relative(log)));
    narrator.line(&format!("  its metrics: curl http://{}/metrics", demo.operator.metrics()));
}
