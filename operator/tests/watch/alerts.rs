//! Alerts and recording rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_yaml_ng::Value;

use crate::exported::Exported;

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a directory with this ending, in order.
pub(crate) fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

/// Every rule of every file.
pub(crate) fn rules() -> Vec<Value> {
    let files = files(&repository().join("charts/quotient/files/rules"), ".yaml");
    let mut rules = Vec::new();
    for file in files {
        let document: Value = serde_yaml_ng::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for group in document["groups"].as_sequence().unwrap() {
            rules.extend(group["rules"].as_sequence().unwrap().iter().cloned());
        }
    }
    rules
}

/// What rules may ask for: what the operator serves, and what they record themselves.
pub(crate) fn exported() -> Exported {
    let mut exported = Exported::by_operator();
    for rule in rules() {
        if let Some(record) = rule["record"].as_str() {
            exported.add(record);
        }
    }
    exported
}

fn alerts() -> Vec<Value> {
    rules().into_iter().filter(|rule| rule.get("alert").is_some()).collect()
}

fn names() -> BTreeSet<String> {
    alerts().iter().map(|alert| alert["alert"].as_str().unwrap().to_owned()).collect()
}

fn stems(directory: &str, ending: &str) -> BTreeSet<String> {
    files(&repository().join(directory), ending)
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn every_series_in_rules_is_exported() {
    let exported = exported();
    for rule in rules() {
        let name = rule.get("alert").or(rule.get("record")).unwrap().as_str().unwrap();
        exported.check(name, rule["expr"].as_str().unwrap());
        let summary = rule["annotations"]["summary"].as_str().unwrap_or_default();
        if let Some((_, query)) = summary.split_once("{{ with printf \"") {
            let query = query.split_once("\" $labels").unwrap().0;
            exported.check(name, &query.replace('\'', "\""));
        }
    }
}

/// An alert about a queue says why: a metric of a reason is in its summary, or the reason itself.
#[test]
fn every_alert_about_a_queue_says_the_reason() {
    let without = [
        // Their name is the reason.
        "QuotientEvictionsDoNotEnd",
        "QuotientGuaranteesExceedCapacity",
        "QuotientPodsStuckTerminating",
    ];
    for alert in alerts() {
        let name = alert["alert"].as_str().unwrap();
        let summary = alert["annotations"]["summary"].as_str().unwrap();
        if summary.contains("$labels.queue") && !without.contains(&name) {
            let ends = [": UnitAboveShare.", ": PodsRejected."];
            let is_reported = summary.contains("quotient_queue_abnormal{condition=")
                || ends.iter().any(|end| summary.ends_with(end));
            assert!(is_reported, "{name}: {summary}");
        }
    }
}

#[test]
fn every_alert_says_who_should_come_and_what_to_read() {
    for alert in alerts() {
        let name = alert["alert"].as_str().unwrap();
        let severity = alert["labels"]["severity"].as_str().unwrap();
        assert!(["critical", "warning", "info"].contains(&severity), "{name}: {severity}");
        for annotation in ["summary", "description"] {
            let text = alert["annotations"][annotation].as_str().unwrap_or_default();
            assert!(text.ends_with('.'), "{name}: {annotation} is {text:?}");
        }
        let runbook = alert["annotations"]["runbook"].as_str().unwrap();
        let command = "kubectl -n quotient-system get configmap quotient-runbooks";
        assert_eq!(runbook, format!("{command} -o jsonpath='{{.data.{name}}}'"));
    }
}

#[test]
fn every_alert_has_its_runbook_and_its_test() {
    assert_eq!(stems("docs/operations/runbooks", ".md"), names());
    let mut tested = stems("e2e/rules", ".yaml");
    assert!(tested.remove("recording"));
    assert_eq!(tested, names());
}

/// promtool tries each alert in a case in which it fires, and in one in which it does not.
#[test]
fn every_alert_is_tried_both_ways() {
    for name in names() {
        let file = repository().join(format!("e2e/rules/{name}.yaml"));
        let cases: Value = serde_yaml_ng::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let tries = cases["tests"].as_sequence().unwrap().iter();
        let tries = tries.flat_map(|case| case["alert_rule_test"].as_sequence().unwrap());
        let of_alert: Vec<&Value> = tries.filter(|case| case["alertname"] == name.as_str()).collect();
        let fires = |case: &&&Value| !case["exp_alerts"].as_sequence().unwrap().is_empty();
        let firing = of_alert.iter().filter(fires).count();
        assert!(firing > 0 && firing < of_alert.len(), "{name} fires in {firing} of {}", of_alert.len());
    }
}

#[test]
fn every_runbook_begins_its_diagnosis_with_one_command() {
    for name in names() {
        let text =
            fs::read_to_string(repository().join(format!("docs/operations/runbooks/{name}.md"))).unwrap();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        let title = format!("# {name}");
        assert_eq!(headings, [title.as_str(), "## Meaning", "## Impact", "## Diagnosis", "## Mitigation"]);
        let diagnosis = text.split_once("## Diagnosis\n\n```\n").unwrap_or_else(|| panic!("{name}")).1;
        let command = diagnosis.split_once("\n```\n").unwrap().0;
        assert!(
            command.starts_with("kubectl quotient ") && command.lines().count() == 1,
            "{name}: {command}"
        );
    }
}
