//! `testbed status`.

use std::process::ExitCode;

use quotient_testbed::cache::cache_directory;
use quotient_testbed::run_directory::RunningTestBed;

/// Lists the test beds that are running, those of tests too.
pub(crate) fn execute() -> anyhow::Result<ExitCode> {
    let all = RunningTestBed::all(&cache_directory()?);
    if all.is_empty() {
        println!("no test bed is running");
    }
    for bed in all {
        println!(
            "{:<24} owner {:<8} KUBECONFIG={}",
            bed.name,
            bed.owner,
            bed.directory.join("kubeconfig").display()
        );
    }
    Ok(ExitCode::SUCCESS)
}
