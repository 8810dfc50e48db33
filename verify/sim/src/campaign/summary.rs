//! What came of a campaign.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::Failure;

/// The most failures that are kept with their findings.
const KEPT: usize = 200;

/// What the table calls the perturbations that have names.
const NAMED: &str = "named (P01 to P72)";

/// Counts by workload and family, and every failure.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    counts: BTreeMap<(String, String), Count>,
    /// How many were played.
    pub played: usize,
    /// How many did harm.
    pub failed: usize,
    /// The first of them.
    pub failures: Vec<Failure>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    played: usize,
    failed: usize,
}

impl Summary {
    /// Counts an execution in its `place`: workload and group.
    pub(crate) fn add(
        &mut self,
        place: (String, String),
        id: impl FnOnce() -> String,
        findings: Vec<String>,
    ) {
        let count = self.counts.entry(place).or_default();
        count.played += 1;
        self.played += 1;
        if findings.is_empty() {
            return;
        }
        count.failed += 1;
        self.failed += 1;
        if self.failures.len() < KEPT {
            self.failures.push(Failure { id: id(), findings });
        }
    }

    /// The table that documents show: a line a group of faults, with what was played and what did harm.
    pub fn markdown(&self) -> String {
        let mut groups: BTreeMap<&str, Count> = BTreeMap::new();
        for ((workload, group), count) in &self.counts {
            let group = if workload == "named" { NAMED } else { group };
            let sum = groups.entry(group).or_default();
            sum.played += count.played;
            sum.failed += count.failed;
        }
        let mut text =
            String::from("| fault | executions | broken promises or missed ends |\n|---|---:|---:|\n");
        for (group, count) in groups {
            let _ = writeln!(text, "| {group} | {} | {} |", count.played, count.failed);
        }
        let _ = writeln!(text, "| **all** | **{}** | **{}** |", self.played, self.failed);
        text
    }
}

/// `stale-list-pods-5` belongs to `stale-list`.
pub(crate) fn group(family: &str) -> &str {
    let cut = family.find(|letter: char| letter.is_ascii_digit()).unwrap_or(family.len());
    let name = family[..cut].trim_end_matches('-');
    ["-pods", "-quotas", "-queues", "-nodes", "-owners", "-true", "-false"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name)
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut workload = "";
        for ((name, group), count) in &self.counts {
            if name != workload {
                writeln!(formatter, "{name}")?;
                workload = name;
            }
            let failed = if count.failed == 0 { String::new() } else { format!("  {} FAILED", count.failed) };
            writeln!(formatter, "  {group:<20} {:>6}{failed}", count.played)?;
        }
        write!(formatter, "{} executions, {} failed", self.played, self.failed)
    }
}
