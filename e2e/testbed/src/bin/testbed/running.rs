//! The test beds that are running: the one that is meant.

use anyhow::{Context as _, bail};
use quotient_testbed::cache::cache_directory;
use quotient_testbed::run_directory::RunningTestBed;

/// The running test bed of that name; without a name, the only one.
pub(crate) fn find(name: Option<&str>) -> anyhow::Result<RunningTestBed> {
    let mut all = RunningTestBed::all(&cache_directory()?);
    let names = all.iter().map(|bed| bed.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => all
            .into_iter()
            .find(|bed| bed.name == name)
            .with_context(|| format!("no test bed {name:?} is running (running: {})", or_none(&names))),
        None if all.len() > 1 => bail!("several test beds are running: choose one with --name ({names})"),
        None => all.pop().context("no test bed is running; `testbed up` starts one"),
    }
}

fn or_none(names: &str) -> &str {
    if names.is_empty() { "none" } else { names }
}
