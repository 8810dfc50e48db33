//! What a check is, and what it finds.

use serde::Serialize;

use super::Look;

/// One check.
pub(crate) struct Check {
    /// Its name, which is also its anchor in `docs/reference/checks.md`.
    pub(crate) id: &'static str,
    pub(crate) group: Group,
    pub(crate) severity: Severity,
    /// What helps.
    pub(crate) fix: &'static str,
    /// Looks.
    pub(crate) look: fn(&Look<'_>) -> Seen,
}

/// What a check saw; none if it could not look.
pub(crate) type Seen = Option<Found>;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Group {
    Cluster,
    Operator,
    Queues,
    Namespaces,
    Autoscaling,
    Workloads,
}

impl Group {
    pub(super) const ALL: [Self; 6] = {
        use Group::{Autoscaling, Cluster, Namespaces, Operator, Queues, Workloads};
        [Cluster, Operator, Queues, Namespaces, Autoscaling, Workloads]
    };
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Quotient does not do its work.
    Error,
    /// Something is rejected, lost or unfair sooner or later.
    Warning,
    /// Worth knowing.
    Info,
}

/// The most findings of one check that are told in words.
const MOST_TOLD: usize = 3;

/// What was found: the first few in words, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    pub(crate) texts: Vec<String>,
    pub(crate) count: usize,
}

impl Found {
    /// One finding, if there is one.
    pub(super) fn when(is_found: bool, text: impl FnOnce() -> String) -> Self {
        Self::each(is_found.then(text))
    }

    /// A sentence for each.
    pub(super) fn each(texts: impl IntoIterator<Item = String>) -> Self {
        let mut texts: Vec<String> = texts.into_iter().collect();
        let count = texts.len();
        texts.truncate(MOST_TOLD);
        let more = count.saturating_sub(texts.len());
        if let (Some(last), 1..) = (texts.last_mut(), more) {
            *last = format!("{last} (and {more} more)");
        }
        Self { texts, count }
    }

    /// One sentence for all objects of one kind: `Job a/x counts …`, `4 Jobs count …: a/x, a/y, a/z, …`.
    pub(super) fn all(kind: &str, names: impl IntoIterator<Item = String>, one: &str, several: &str) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        let text = match names.as_slice() {
            [] => return Self::default(),
            [name] => format!("{kind} {name} {one}"),
            names => format!("{} {kind}s {several}: {}", names.len(), first_few(names)),
        };
        Self { texts: vec![text], count: names.len() }
    }

    pub(super) const fn is_nothing(&self) -> bool {
        self.count == 0
    }
}

/// The first few of several names: `a/x, a/y, a/z, ...`.
pub(super) fn first_few<N: AsRef<str>>(names: &[N]) -> String {
    let told: Vec<&str> = names.iter().take(MOST_TOLD).map(AsRef::as_ref).collect();
    let more = if names.len() > told.len() { ", ..." } else { "" };
    told.join(", ") + more
}

impl Check {
    /// Whether it looks only where a flag asks for it, because it changes something for a moment.
    pub(super) fn is_on_request(&self) -> bool {
        self.id == "quota-latency"
    }

    /// Whether it makes sense before Quotient is installed.
    pub(super) fn is_for_newcomers(&self) -> bool {
        let about_quotient = matches!(self.group, Group::Operator | Group::Queues);
        !about_quotient && !matches!(self.id, "crd-missing" | "crd-outdated" | "admission-policies")
    }
}
