//! The operator's process: command line in, [`run`](quotient_operator::run) until a signal.

use clap::Parser as _;
use quotient_operator::args::Args;
use quotient_operator::settings::Settings;
use quotient_operator::{client, logging, run, shutdown};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    logging::start(args.log_format, &args.log_level)?;
    let client = client::connect(&args).await?;
    let settings = Settings::from_args(&args, client.default_namespace())?;
    run(settings, client, shutdown::on_signal()?).await?;
    // Watches are cut off here; nothing is lost with them.
    Ok(())
}
