//! What the operator serves, and whether an expression asks for anything else.

use std::collections::{BTreeMap, BTreeSet};

use quotient_operator::metrics::{Kind, declarations};

use crate::promql::selectors;

/// Labels that Prometheus and its configuration add to every series.
const OF_TARGETS: [&str; 4] = ["instance", "job", "pod", "cluster"];

/// Every series there may be, by name, with its labels.
#[derive(Debug)]
pub(crate) struct Exported(BTreeMap<String, BTreeSet<String>>);

impl Exported {
    /// What the operator serves.
    pub(crate) fn by_operator() -> Self {
        let mut all = BTreeMap::new();
        for declaration in declarations().unwrap() {
            let labels: BTreeSet<String> =
                declaration.labels.iter().map(|label| label.name.to_owned()).collect();
            if declaration.kind == Kind::Histogram {
                for suffix in ["_sum", "_count"] {
                    all.insert(format!("{}{suffix}", declaration.name), labels.clone());
                }
                let with_bound = labels.into_iter().chain(["le".to_owned()]).collect();
                all.insert(format!("{}_bucket", declaration.name), with_bound);
            } else {
                all.insert(declaration.name.to_owned(), labels);
            }
        }
        Self(all)
    }

    /// Also what a recording rule makes. Its labels are not known.
    pub(crate) fn add(&mut self, name: &str) {
        self.0.entry(name.to_owned()).or_default();
    }

    /// Fails when `expression` asks for what is not there.
    pub(crate) fn check(&self, place: &str, expression: &str) {
        let asked = selectors(expression);
        assert!(!asked.is_empty(), "{place} asks for nothing: {expression}");
        for selector in asked {
            let labels = self.0.get(&selector.name);
            let labels = labels.unwrap_or_else(|| panic!("{place}: no metric {} is exported", selector.name));
            if selector.name.contains(':') {
                continue;
            }
            for label in selector.labels {
                let known = labels.contains(&label) || OF_TARGETS.contains(&label.as_str());
                assert!(known, "{place}: {} has no label {label}", selector.name);
            }
        }
    }
}
