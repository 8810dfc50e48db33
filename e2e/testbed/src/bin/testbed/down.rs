//! `testbed down`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use quotient_testbed::process::{Signal, send_signal};
use quotient_testbed::run_directory::RunningTestBed;

use crate::running;

/// Ends a running test bed and waits until it is gone.
#[derive(Debug, clap::Args)]
pub(crate) struct Down {
    /// The test bed; not needed while only one is running.
    #[arg(long)]
    name: Option<String>,
}

/// How long an owner may take to end in order.
const PATIENCE: Duration = Duration::from_secs(10);

impl Down {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        let bed = running::find(self.name.as_deref())?;
        end(&bed)?;
        crate::print(&format!("the test bed {:?} is gone", bed.name))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn end(bed: &RunningTestBed) -> anyhow::Result<()> {
    // Killed if it does not end in order: its watchdog sees to the rest.
    for signal in [Signal::TERM, Signal::KILL] {
        let sent = send_signal(bed.owner, signal);
        // It may have ended since we looked.
        if bed.is_running() {
            sent.with_context(|| format!("ending the process {} that owns {:?}", bed.owner, bed.name))?;
        }
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if !bed.is_running() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    bail!("the process {} that owns {:?} does not end", bed.owner, bed.name)
}
