//! A difference as a comment on a pull request.

use super::Diff;
use super::table::{moved, of_workloads, started, summary};
use crate::output::joined;

pub(super) fn markdown(diff: &Diff) -> String {
    let comparison = &diff.comparison;
    let mut lines = vec![
        "### Quotient: what this change does".to_owned(),
        String::new(),
        format!("{}: {}", escaped(&diff.base.source), escaped(&diff.changes.join("; "))),
        String::new(),
        "| queue | deserved | used | pods |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for queue in &comparison.queues {
        let evicted = of_workloads(queue, comparison);
        let pods =
            if evicted.is_empty() { started(queue, comparison) } else { format!("**evicted:** {evicted}") };
        let cells = [queue.name.in_words(), moved(&queue.deserved, "→"), moved(&queue.used, "→"), pods];
        lines.push(format!("| {} |", cells.map(|cell| escaped(&cell)).join(" | ")));
    }
    lines.extend([String::new(), summary(comparison)]);
    let remarks = comparison.stalled.iter().map(|queue| format!("Queue without a share: {queue}"));
    let remarks: Vec<String> = remarks.chain(comparison.unmet.iter().cloned()).collect();
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks.iter().map(|remark| format!("* {}", escaped(remark))));
    }
    if !diff.verdicts.is_empty() {
        lines.extend([String::new(), "| gate | result | |".to_owned(), "|---|---|---|".to_owned()]);
        lines.extend(diff.verdicts.iter().map(|verdict| {
            let result = if verdict.is_passed { "passed" } else { "**failed**" };
            format!("| `{}` | {result} | {} |", verdict.gate, escaped(&verdict.message))
        }));
    }
    joined(lines)
}

/// A cell stays a cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
