//! The page that says what every metric means, made from what registers them, and the conventions that all of them follow.
//!
//! `UPDATE_EXPECT=1` writes the page; otherwise a page that differs from the code fails.
#![cfg(test)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::expect_file;
use quotient_operator::metrics::{Declaration, Kind, Unit, declarations};

const HEAD: &str = "\
# Metrics

What the operator serves on `/metrics`, made from the code (`make metrics`; a test fails when this page is not what the
code says). Units are base units; no label is ever a pod, a job or a message. [Watch it](../operations/watch.md) says
how to scrape them.

* Only the leader has series of queues; they go with their Queue. Sums over replicas count nothing twice.
* Amounts are cores of `cpu`, bytes of `memory` and whole devices of everything else: never add them up across resources.
* A histogram `x` is served as `x_bucket`, `x_sum` and `x_count`.
* Counters begin at 0 with the process.
";

/// The text of `docs/reference/metrics.md`.
fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut group = "";
    for declaration in &declarations().unwrap() {
        if declaration.group != group {
            group = declaration.group;
            section(&mut page, group);
        }
        row(&mut page, declaration);
    }
    page
}

fn section(page: &mut String, heading: &str) {
    let _ = write!(page, "\n## {heading}\n\n| metric | type | unit | labels | |\n|---|---|---|---|---|\n");
}

fn row(page: &mut String, declaration: &Declaration) {
    let Declaration { name, kind, unit, help, labels, .. } = declaration;
    let labels: Vec<String> = labels
        .iter()
        .map(|label| match label.values {
            "" => format!("`{}`", label.name),
            values => format!("`{}`: {values}", label.name),
        })
        .collect();
    let (kind, unit, labels) = (kind_in_words(*kind), unit_in_words(*unit), labels.join("<br>"));
    let _ = writeln!(page, "| `{name}` | {kind} | {unit} | {labels} | {help} |");
}

const fn unit_in_words(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::Timestamp => "seconds since 1970",
        Unit::Bytes => "bytes",
        Unit::Amount => "cores, bytes or devices",
        Unit::Count => "count",
        Unit::Truth => "0 or 1",
        Unit::Info => "always 1",
    }
}

const fn kind_in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    }
}

#[test]
fn the_reference_is_what_the_code_says() {
    expect_file!["../../docs/reference/metrics.md"].assert_eq(&reference());
}

#[test]
fn names_follow_the_conventions() {
    for Declaration { name, kind, unit, help, group, .. } in declarations().unwrap() {
        if !["Standard names", "The process"].contains(&group) {
            assert!(name.starts_with("quotient_"), "{name}");
        }
        assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
        let suffix = match unit {
            Unit::Timestamp => "_timestamp_seconds",
            Unit::Seconds => "_seconds",
            Unit::Bytes => "_bytes",
            Unit::Info => "_info",
            Unit::Amount | Unit::Count | Unit::Truth => "",
        };
        assert!(name.trim_end_matches("_total").ends_with(suffix), "{name} counts in {unit:?}");
        assert!(help.ends_with('.') && !help.contains('|'), "{name}: {help}");
        assert!(!["milli", "_ms", "_kb", "percent"].iter().any(|word| name.contains(word)), "{name}");
    }
}

#[test]
fn labels_are_few_and_never_single_objects() {
    let allowed: BTreeSet<&str> = [
        "namespace",
        "queue",
        "resource",
        "reason",
        "kind",
        "result",
        "state",
        "condition",
        "parent",
        "version",
        "mode",
        "change",
        "controller",
        "name",
        "code",
        "method",
        "verb",
    ]
    .into();
    for declaration in declarations().unwrap() {
        assert!(declaration.labels.len() <= 4, "{}", declaration.name);
        for label in declaration.labels {
            assert!(allowed.contains(label.name), "{}: {}", declaration.name, label.name);
        }
    }
}
