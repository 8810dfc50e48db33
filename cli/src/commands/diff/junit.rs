//! The gates of a difference as tests.

use super::Diff;
use super::table::summary;
use crate::output::joined;

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
