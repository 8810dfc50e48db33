//! The page that says what every metric means, made from what registers them.

use std::fmt::Write as _;

use prometheus::Registry;

use super::Metrics;
use super::catalog::{Catalog, Declaration};

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

/// Everything that is declared, in order.
///
/// # Errors
///
/// When two metrics contradict each other.
pub fn declarations() -> Result<Vec<Declaration>, prometheus::Error> {
    let registry = Registry::new();
    let mut catalog = Catalog::new(&registry);
    Metrics::declare(&mut catalog)?;
    Ok(catalog.declarations().to_vec())
}

/// The text of `docs/reference/metrics.md`.
///
/// # Errors
///
/// When two metrics contradict each other.
pub fn reference() -> Result<String, prometheus::Error> {
    let mut page = HEAD.to_owned();
    let mut group = "";
    for declaration in &declarations()? {
        if declaration.group != group {
            group = declaration.group;
            section(&mut page, group);
        }
        row(&mut page, declaration);
    }
    Ok(page)
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
    let (kind, unit, labels) = (kind.name(), unit.name(), labels.join("<br>"));
    let _ = writeln!(page, "| `{name}` | {kind} | {unit} | {labels} | {help} |");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect_file;

    use super::*;
    use crate::metrics::{Kind, Unit};

    #[test]
    fn the_reference_is_what_the_code_says() {
        expect_file!["../../../docs/reference/metrics.md"].assert_eq(&reference().unwrap());
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
}
