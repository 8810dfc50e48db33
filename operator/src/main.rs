//! The operator's process: command line in, [`run`](quotient_operator::run) until a signal.

// `println!` panics where the reader has gone.
#![deny(clippy::print_stdout)]

mod shutdown;

use std::process::ExitCode;

use quotient_operator::args::Args;
use quotient_operator::check::{Finding, check, check_metrics};
use quotient_operator::print::print;
use quotient_operator::settings::Settings;
use quotient_operator::{client, logging, run};

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::read();
    if let Err(error) = logging::start(args.log_format, &args.log_level) {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    match operate(&args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Every error of ours says all there is to say in one line.
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn operate(args: &Args) -> anyhow::Result<()> {
    if !args.check_metrics.is_empty() {
        return report(&[check_metrics(args, &args.check_metrics).await]);
    }
    let shutdown = shutdown::on_signal()?;
    let client = client::connect(args).await?;
    let settings = Settings::from_args(args, client.default_namespace())?;
    if args.check {
        return report(&check(&settings, &client).await);
    }
    run(settings, client, shutdown).await?;
    Ok(())
}

/// Prints what was found.
fn report(findings: &[Finding]) -> anyhow::Result<()> {
    for finding in findings {
        let verdict = if finding.is_good { "ok  " } else { "FAIL" };
        print(&format!("{verdict} {}\n", finding.sentence))?;
    }
    let bad = findings.iter().filter(|finding| !finding.is_good).count();
    anyhow::ensure!(bad == 0, "check: {bad} of {} findings are not as they should be", findings.len());
    Ok(())
}
