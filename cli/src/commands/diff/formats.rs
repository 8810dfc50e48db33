//! A difference as a comment on a pull request, and its gates as tests.

use super::Diff;
use super::table::{deserved, of_workloads, remarks, started, summary, used};
use crate::output::joined;

pub(super) fn markdown(diff: &Diff) -> String {
    let comparison = &diff.comparison;
    let mut lines = vec![
        "### Quotient: what this change does".to_owned(),
        String::new(),
        format!("{}: {}", cell(&diff.base.source), cell(&diff.changes_text())),
        String::new(),
        "| queue | deserved | used | pods |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for queue in &comparison.queues {
        let evicted = of_workloads(queue, comparison);
        let pods =
            if evicted.is_empty() { started(queue, comparison) } else { format!("**evicted:** {evicted}") };
        let cells = [queue.name.in_words(), deserved(queue, "→"), used(queue, "→"), pods];
        lines.push(format!("| {} |", cells.map(|text| cell(&text)).join(" | ")));
    }
    lines.extend([String::new(), summary(comparison)]);
    let remarks = remarks(comparison, usize::MAX);
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks.iter().map(|remark| format!("* {}", cell(remark))));
    }
    if !diff.verdicts.is_empty() {
        lines.extend([String::new(), "| gate | result | |".to_owned(), "|---|---|---|".to_owned()]);
        lines.extend(diff.verdicts.iter().map(|verdict| {
            let result = if verdict.is_passed { "passed" } else { "**failed**" };
            format!("| `{}` | {result} | {} |", verdict.gate, cell(&verdict.message))
        }));
    }
    joined(lines)
}

/// A cell stays a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

pub(super) fn junit(diff: &Diff) -> String {
    let failures = diff.verdicts.iter().filter(|verdict| !verdict.is_passed).count();
    let mut lines = vec![
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned(),
        format!(
            "<testsuite name=\"kubectl quotient diff\" tests=\"{}\" failures=\"{failures}\">",
            diff.verdicts.len()
        ),
    ];
    for verdict in &diff.verdicts {
        let name = escaped(&verdict.gate.to_string());
        let message = escaped(&verdict.message);
        lines.push(if verdict.is_passed {
            format!("  <testcase classname=\"quotient.diff\" name=\"{name}\"/>")
        } else {
            format!(
                "  <testcase classname=\"quotient.diff\" name=\"{name}\"><failure message=\"{message}\"/></testcase>"
            )
        });
    }
    lines.push(format!("  <system-out>{}</system-out>", escaped(&summary(&diff.comparison))));
    lines.push("</testsuite>".to_owned());
    joined(lines)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
