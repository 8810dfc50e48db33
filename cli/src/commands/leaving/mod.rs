//! `release` and `uninstall --check`: what happens when Quotient leaves, and what would stay behind.

mod release;
mod uninstall;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Explanation, Format, Screen, document};

#[cfg(test)]
pub(crate) use release::release;
pub(crate) use release::{ReleaseArgs, run as run_release};
#[cfg(test)]
pub(crate) use uninstall::uninstall;
use uninstall::{Inventory, Leftover};
pub(crate) use uninstall::{UninstallArgs, run as run_uninstall};

/// Prints what a look found; a finding if something has to be done before.
fn show(
    explanation: &Explanation,
    cluster: &Cluster,
    format: Format,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let answer = Answer {
        table: &|_| explanation.text(screen),
        document: &document("Explanation", cluster.snapshot.now, &cluster.source, explanation),
        names: vec![format!("{}/{}", explanation.object.kind.to_lowercase(), explanation.object.name)],
    };
    answer.print(format)?;
    Ok(Outcome::of(explanation.needs_a_person))
}
