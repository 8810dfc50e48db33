//! The 42 lines of a good chart, each with the test that shows it.

use serde_yaml_ng::Value;

use super::{quoted, root, text};

const PAGE: &str = "docs/contributing/chart.md";

/// How many lines there are.
const LINES: usize = 42;

#[test]
fn every_line_of_the_chart_names_a_test_that_exists() {
    let page = text(PAGE);
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| #"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let [line, _, _, tests] = row.as_slice() else { panic!("{PAGE}: {row:?}") };
        assert_eq!(*line, (number + 1).to_string());
        let mut seen = 0;
        for name in quoted(tests) {
            let (path, function) = name.split_once(": ").unwrap_or_else(|| panic!("{PAGE}: {name}"));
            assert!(root().join(path).is_file(), "{PAGE}, line {line}: {path} is not there");
            assert!(text(path).contains(&format!("fn {function}(")), "{PAGE}, line {line}: {function}");
            seen += 1;
        }
        assert!(seen > 0, "{PAGE}: line {line} has no test");
    }
    assert_eq!(rows.len(), LINES);
}

/// Lines 1 to 3: all that can be said before a release, and no address that does not exist.
#[test]
fn the_chart_says_what_is_known() {
    let chart: Value = serde_yaml_ng::from_str(&text("charts/quotient/Chart.yaml")).unwrap();
    assert_eq!(chart["apiVersion"], "v2");
    assert_eq!(chart["kubeVersion"], ">=1.34.0-0");
    for list in ["keywords", "maintainers"] {
        assert!(!chart[list].as_sequence().unwrap().is_empty(), "{list}");
    }
    for annotation in ["license", "category", "operator", "prerelease", "crds", "crdsExamples", "changes"] {
        let value = &chart["annotations"][format!("artifacthub.io/{annotation}").as_str()];
        assert!(!value.as_str().unwrap().is_empty(), "{annotation}");
    }
    let changes = chart["annotations"]["artifacthub.io/changes"].as_str().unwrap();
    let changes: Value = serde_yaml_ng::from_str(changes).unwrap();
    let kinds = ["added", "changed", "deprecated", "removed", "fixed", "security"];
    for change in changes.as_sequence().unwrap() {
        assert!(kinds.contains(&change["kind"].as_str().unwrap()), "{change:?}");
    }
    let owners: Value = serde_yaml_ng::from_str(&text("charts/artifacthub-repo.yml")).unwrap();
    assert!(owners["owners"].is_sequence());
    // What its publisher adds: the page says the same.
    for name in ["home", "sources", "icon"] {
        assert!(chart.get(name).is_none(), "{name} is there: {PAGE} and SECURITY.md say that it is not");
    }
    for name in ["images", "links", "signKey"] {
        assert!(chart["annotations"].get(format!("artifacthub.io/{name}")).is_none(), "{name}");
    }
}
