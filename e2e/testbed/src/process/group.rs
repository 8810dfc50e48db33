//! Who is in a process group.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// How often a group is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Waits until no process of the group runs any more. A killed process may take a moment to end.
///
/// After `patience` it is left at that: a process that the kernel cannot end (it waits for a disk, say) would be
/// waited for for ever. Who has ended and was not waited for by its parent does not run. Where there is no `/proc`, there
/// is nothing to wait for.
pub(super) fn until_none_runs(group: Pid, patience: Duration) {
    let started = Instant::now();
    while any_runs(group) && started.elapsed() < patience {
        std::thread::sleep(POLL);
    }
}

fn any_runs(group: Pid) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| state_within(&process.path(), group))
        .any(|state| state != 'Z' && state != 'X')
}

/// The state of the process with this directory in `/proc`, if it is one of the group.
fn state_within(process: &Path, group: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // Behind the name in parentheses, which may hold anything: state, parent, group.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let of_group: i32 = fields.nth(1)?.parse().ok()?;
    (of_group == group.as_raw_nonzero().get()).then(|| state.chars().next())?
}
