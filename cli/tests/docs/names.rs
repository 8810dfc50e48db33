//! Images, flags and values that pages name, against those that there are.

use std::collections::{BTreeMap, BTreeSet};

use clap::CommandFactory as _;
use quotient_operator::args::Args;
use serde_yaml_ng::Value;

use super::pages;
use super::program::{self, help, text};

/// Flags of other programs that pages name.
const OF_OTHERS: [&str; 15] = [
    // kubectl and Helm.
    "--as",
    "--cascade",
    "--reset-then-reuse-values",
    "--reuse-values",
    "--set",
    "--set-json",
    "--set-string",
    "--take-ownership",
    "--timeout",
    // etcdutl, kube-controller-manager and Cluster Autoscaler.
    "--bump-revision",
    "--mark-compacted",
    "--concurrent-resource-quota-syncs",
    "--kube-api-qps",
    "--cores-total",
    "--memory-total",
];

/// The flags that a text names, such as `--mode` and `-n`.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let is_flag = |word: &&str| {
        let name = word.trim_start_matches('-');
        word.starts_with('-') && name.starts_with(|letter: char| letter.is_ascii_alphabetic())
    };
    words.filter(is_flag).map(str::to_owned).collect()
}

/// The commands of `kubectl quotient`, each with its flags.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let of = |name: String| {
        let flags = flags(&help(&[&name]));
        (name, flags)
    };
    let mut commands: BTreeMap<String, BTreeSet<String>> = program::commands().into_iter().map(of).collect();
    let explain = commands["explain"].clone();
    commands.insert("why".to_owned(), explain);
    commands
}

/// Every command `kubectl quotient …` in blocks and between backticks of a page, as words up to the end of the command.
fn uses(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in page.replace("\\\n", " ").lines() {
        let parts: Vec<&str> = line.split("kubectl quotient ").collect();
        for pair in parts.windows(2) {
            let [before, rest] = pair else { continue };
            // At the beginning of a line, after a prompt or a pipe, or quoted.
            let before = before.trim_end();
            if !before.is_empty() && !before.ends_with(['`', '$', '|', '#']) {
                continue;
            }
            let command = rest.split(['`', '|', ';', '&', '>', ')']).next().unwrap_or_default();
            let words = command.split_whitespace().take_while(|word| *word != "#");
            found.push(words.map(|word| word.trim_matches(['\'', '"', ',', '.']).to_owned()).collect());
        }
    }
    found
}

#[test]
fn every_flag_of_the_command_line_on_a_page_exists() {
    let commands = commands();
    let mut seen = 0;
    for page in pages() {
        for words in uses(&text(&page)) {
            let [command, arguments @ ..] = words.as_slice() else { continue };
            let Some(known) = commands.get(command) else {
                let is_word = command.chars().all(|letter| letter.is_ascii_lowercase());
                assert!(!is_word, "{}: there is no command {command}: {words:?}", page.display());
                continue;
            };
            for flag in arguments.iter().filter(|word| word.starts_with('-') && word.len() > 1) {
                let flag = flag.split('=').next().unwrap_or_default();
                let is_flag =
                    flag.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_alphabetic());
                assert!(!is_flag || known.contains(flag), "{}: {command} has no {flag}", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "{seen}");
}

/// A flag in the prose is one of the operator, of the command line, or of a program in the list.
#[test]
fn every_flag_in_the_prose_exists() {
    let operator = Args::command();
    let operator =
        operator.get_arguments().filter_map(|flag| flag.get_long()).map(|flag| format!("--{flag}"));
    let mut known: BTreeSet<String> = operator.collect();
    known.extend(commands().into_values().flatten());
    known.extend(OF_OTHERS.map(str::to_owned));
    let mut seen = 0;
    // Pages for contributors name flags of cargo and of the tests.
    let is_for_users = |page: &std::path::PathBuf| {
        !["docs/evidence", "docs/contributing", "e2e", "ARCHITECTURE.md"]
            .iter()
            .any(|start| page.starts_with(start))
    };
    for page in pages().into_iter().filter(is_for_users) {
        let text = text(&page);
        let tokens = super::prose(&text).flat_map(super::quoted).filter(|token| token.starts_with("--"));
        for token in tokens.flat_map(str::split_whitespace).filter(|word| word.starts_with("--")) {
            let flag = token.split(['=', '…']).next().unwrap_or_default();
            assert!(flag.ends_with('-') || known.contains(flag), "{}: {flag}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The tree of values, by the chart's own file.
fn values() -> Value {
    serde_yaml_ng::from_str(&text("charts/quotient/values.yaml")).unwrap()
}

/// Whether the chart has a value of this path; below a map that a user fills, every path is one.
fn has_value(values: &Value, path: &str) -> bool {
    let mut at = values;
    for name in path.split('.') {
        let is_free =
            at.as_mapping().is_some_and(serde_yaml_ng::Mapping::is_empty) || at.as_str() == Some("Nodes");
        match at.get(name) {
            _ if is_free => return true,
            Some(below) => at = below,
            None => return false,
        }
    }
    true
}

/// The paths of values that a text sets or names: `--set config.mode=Quota`, or `config.mode` in the prose.
fn paths(page: &str, top: &BTreeSet<&str>) -> Vec<String> {
    let words = page.split(|letter: char| letter.is_whitespace() || "`'\"(),;".contains(letter));
    let path = |word: &str| {
        let path = word.split(['=', '[', ':']).next()?.trim_end_matches('.');
        let (first, rest) = path.split_once('.')?;
        let is_name =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '_' || letter == '-';
        // `metrics.md` is a page, and `rbac.authorization.k8s.io` a group.
        let is_file = ["md", "toml", "rs", "yaml", "json", "io"].iter().any(|end| rest.ends_with(end));
        (top.contains(first) && !is_file && !rest.is_empty() && rest.chars().all(is_name))
            .then(|| path.to_owned())
    };
    words.filter_map(path).collect()
}

#[test]
fn every_value_on_a_page_is_one_of_the_chart() {
    let values = values();
    // `resources` and its like are fields of pods, too, `queues` is a kind, and `health` a variable of Argo CD.
    let others =
        ["affinity", "health", "nodeSelector", "queues", "resources", "securityContext", "tolerations"];
    let names = values.as_mapping().unwrap().keys().filter_map(Value::as_str);
    let top: BTreeSet<&str> = names.filter(|name| !others.contains(name)).collect();
    let mut seen = BTreeSet::new();
    for page in pages() {
        // It names fields of other programs as well.
        if page.starts_with("docs/how-to/migrate") || page.ends_with("ARCHITECTURE.md") {
            continue;
        }
        for path in paths(&text(&page), &top) {
            assert!(has_value(&values, &path), "{}: the chart has no value {path}", page.display());
            seen.insert(path);
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

/// An image that a page names is the one that the documented build makes, in the version of this repository.
#[test]
fn every_image_on_a_page_is_ours() {
    let chart: Value = serde_yaml_ng::from_str(&text("charts/quotient/Chart.yaml")).unwrap();
    let version = chart["appVersion"].as_str().unwrap();
    let mut seen = 0;
    for page in pages() {
        let text = text(&page);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "./:-_".contains(letter);
        for word in text.split(|letter| !is_part(letter)).map(|word| word.trim_end_matches('.')) {
            let Some((registry, tag)) = word.split_once("/quotient:") else { continue };
            assert!(["REGISTRY", "localhost"].contains(&registry), "{}: {word}", page.display());
            assert_eq!(tag, version, "{}: {word}", page.display());
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

/// A metric that a page names is served, or recorded by the rules of the chart.
#[test]
fn every_metric_on_a_page_exists() {
    let reference = text("docs/reference/metrics.md");
    let served: BTreeSet<&str> =
        reference.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let rules = text("charts/quotient/files/rules/recording.yaml");
    let recorded: BTreeSet<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).collect();
    let mut seen = BTreeSet::new();
    for page in pages() {
        let text = text(&page);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
        for word in text.split(|letter| !is_part(letter)) {
            let is_metric = word.starts_with("quotient_") || word.contains(":quotient_");
            // `quotient_cycle_*` stands for several, and the operator is a crate, too.
            if !is_metric || word.ends_with(['_', ':']) || word == "quotient_operator" {
                continue;
            }
            let base =
                ["_bucket", "_sum", "_count"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
            let exists = served.contains(word) || served.contains(base) || recorded.contains(word);
            assert!(exists, "{}: there is no metric {word}", page.display());
            seen.insert(word.to_owned());
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}
