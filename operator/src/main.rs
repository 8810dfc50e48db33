//! The operator's process: command line in, [`run`](quotient_operator::run) until a signal.

// `println!` panics where the reader has gone.
#![deny(clippy::print_stdout)]

mod shutdown;

use std::process::ExitCode;

use quotient_operator::args::Args;
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
    let shutdown = shutdown::on_signal()?;
    let client = client::connect(args).await?;
    let settings = Settings::from_args(args, client.default_namespace())?;
    run(settings, client, shutdown).await?;
    Ok(())
}
