//! The chart's values, its schema and its README say the same as the operator's `--help`.
//!
//! `make chart` writes schema and README anew from `values.yaml`; read the difference before committing it.
#![cfg(test)]

#[path = "chart/readme.rs"]
mod readme;
#[path = "chart/schema.rs"]
mod schema;
#[path = "chart/values.rs"]
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use quotient_operator::args::Args;
use values::{Key, keys};

fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../charts/quotient")
}

fn text(file: &str) -> String {
    std::fs::read_to_string(chart().join(file)).unwrap_or_default()
}

/// Compares a file of the chart with what it should be, or writes it.
#[track_caller]
fn check(file: &str, expected: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(chart().join(file), expected).unwrap();
    }
    let committed = text(file);
    let differs = committed.lines().zip(expected.lines()).position(|(old, new)| old != new);
    assert!(
        committed == expected,
        "charts/quotient/{file} is not what it is made of (first difference at line {}, 0 for the end): run `make chart`, read the difference",
        differs.map_or(0, |line| line.saturating_add(1))
    );
}

/// Flags that the chart sets itself, or that make no sense in a cluster.
const NO_VALUES: [&str; 11] = [
    "context",
    "gate-mode",
    "help",
    "identity",
    "kubeconfig",
    "lease-namespace",
    "listen",
    "metrics-certificate",
    "metrics-listen",
    "protected-namespaces",
    "version",
];

/// Where a flag's default would be wrong in a cluster: machines read its logs, and a first install changes nothing.
const OTHER_DEFAULTS: [(&str, &str); 2] = [("log-format", "json"), ("mode", "Observe")];

#[test]
fn every_flag_is_a_value_with_the_same_default() {
    let command = Args::command();
    let flags: BTreeMap<String, String> = command
        .get_arguments()
        .filter_map(|flag| {
            let default = flag.get_default_values().first();
            Some((flag.get_long()?.to_owned(), default.map(|text| text.to_string_lossy().into_owned())))
        })
        .filter(|(name, _)| !NO_VALUES.contains(&name.as_str()))
        .map(|(name, default)| {
            let other = OTHER_DEFAULTS.iter().find(|(flag, _)| *flag == name);
            let default = other.map_or(default.unwrap_or_default(), |(_, default)| (*default).to_owned());
            (name, default)
        })
        .collect();
    let values: BTreeMap<String, String> = keys(&text("values.yaml"))
        .into_iter()
        .filter_map(|key| Some((kebab(key.path.strip_prefix("config.")?), key.flag_text())))
        .collect();
    assert_eq!(values, flags, "values.yaml config against --help");
}

/// `nodeReadySeconds` as a flag: `node-ready-seconds`.
fn kebab(name: &str) -> String {
    let lower =
        name.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain(c.to_lowercase()));
    lower.collect()
}

#[test]
fn every_value_is_described() {
    let keys = keys(&text("values.yaml"));
    assert!(keys.len() > 80, "{}", keys.len());
    let silent: Vec<&str> =
        keys.iter().filter(|key| key.description.is_empty()).map(|key| key.path.as_str()).collect();
    assert!(silent.is_empty(), "no `# --` above {silent:?}");
}

/// What is read from the comments is what YAML reads.
#[test]
fn no_value_is_overlooked() {
    let yaml: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text("values.yaml")).unwrap();
    for Key { path, default, .. } in keys(&text("values.yaml")) {
        let found = path.split('.').try_fold(&yaml, |value, name| value.get(name));
        assert_eq!(found, Some(&default), "{path}");
    }
    let top: Vec<&str> = yaml.as_mapping().unwrap().keys().filter_map(serde_yaml_ng::Value::as_str).collect();
    for name in top {
        assert!(
            keys(&text("values.yaml"))
                .iter()
                .any(|key| key.path == name || key.path.starts_with(&format!("{name}."))),
            "{name}"
        );
    }
}

#[test]
fn the_schema_is_that_of_the_values() {
    check("values.schema.json", &schema::schema(&keys(&text("values.yaml"))));
}

/// The chart has the runbooks, because a cluster at night has no repository.
#[test]
fn the_runbooks_are_the_pages() {
    let folder = chart_root().join("docs/operations/runbooks");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = entries.collect();
    pages.sort();
    let mut expected =
        "# Generated from docs/operations/runbooks; do not edit. To write it anew: make chart\n".to_owned();
    for page in pages {
        let _ = writeln!(expected, "{}: |", page.file_stem().unwrap().to_string_lossy());
        for line in std::fs::read_to_string(&page).unwrap().lines() {
            let _ = writeln!(expected, "{}{line}", if line.is_empty() { "" } else { "  " });
        }
    }
    check("files/runbooks.yaml", &expected);
}

#[test]
fn the_readme_has_every_value() {
    check("README.md", &readme::with_values(&text("README.md"), &keys(&text("values.yaml"))));
}

/// The largest number of MiB in each column of the table of docs/evidence/scale.md.
fn measured_memory() -> Vec<u32> {
    let page = std::fs::read_to_string(chart_root().join("docs/evidence/scale.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| memory") && line.contains("so far"));
    let at_most = |cell: &str| -> Option<u32> {
        let number: f64 = cell.split_once("at most ")?.1.split_once(" so far")?.0.parse().ok()?;
        format!("{:.0}", number.ceil()).parse().ok()
    };
    let mut largest: Vec<u32> = Vec::new();
    for row in rows {
        let cells: Vec<u32> = row.split(" | ").filter_map(at_most).collect();
        largest.resize(largest.len().max(cells.len()), 0);
        largest.iter_mut().zip(cells).for_each(|(largest, cell)| *largest = cell.max(*largest));
    }
    largest
}

#[test]
fn the_values_name_the_memory_that_was_measured() {
    let measured = measured_memory();
    let [small, large] = measured.as_slice() else { panic!("docs/evidence/scale.md: {measured:?}") };
    let printed =
        format!("at most {small} MiB with 20,000 pods and {large} MiB with 100,000 (docs/evidence/scale.md)");
    let values = text("values.yaml");
    assert!(values.contains(&printed), "values.yaml does not say: {printed}");
    let limit =
        values.split_once("  limits:\n    memory: ").and_then(|(_, rest)| rest.split_once("Mi")).unwrap().0;
    assert!(limit.parse::<u32>().unwrap() > *large, "the memory limit of the chart is below {large} MiB");
}

#[test]
fn chart_and_operator_have_the_same_version() {
    let chart: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text("Chart.yaml")).unwrap();
    assert_eq!(chart["appVersion"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    // Without a registry that has the image, a list of images would name a foreign one.
    let values: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text("values.yaml")).unwrap();
    assert_eq!(values["image"]["registry"].as_str(), Some(""));
    assert!(chart["annotations"].get("artifacthub.io/images").is_none());
    let changes = std::fs::read_to_string(chart_root().join("CHANGELOG.md")).unwrap_or_default();
    let version = format!("## {}", env!("CARGO_PKG_VERSION"));
    assert!(changes.contains(&version), "CHANGELOG.md has no {version}");
}

fn chart_root() -> PathBuf {
    chart().join("../..")
}
