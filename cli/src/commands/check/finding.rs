//! What a check is, what it looks at, and what it finds.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde::Serialize;

use super::Facts;
use crate::manifests::Cluster;
use crate::objects::Object;
use crate::output::list;
use crate::queues::{QueueView, views};

/// One check.
pub(crate) struct Check {
    /// Its name, which is also its anchor in `docs/reference/checks.md`.
    pub(crate) id: &'static str,
    pub(crate) group: Group,
    pub(crate) severity: Severity,
    /// Without one of these it cannot be made.
    pub(super) needs: &'static [Need],
    /// What helps.
    pub(crate) fix: &'static str,
    /// Makes it.
    pub(crate) run: fn(&CheckContext<'_>) -> Seen,
}

/// What was read of a cluster.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    /// The objects of this resource.
    List(&'static str),
    /// More than one namespace: what is elsewhere was looked for.
    Whole,
    /// An API server rather than files: what nothing wrote yet cannot be wrong.
    Observed,
}

/// What a check saw; none if it could not be made.
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

/// The most findings of one check that are listed.
const MOST_LISTED: usize = 3;

/// What was found: the first few in words, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    pub(crate) texts: Vec<String>,
    pub(crate) count: usize,
    /// What to tell if nothing is found; none if the id of the check says enough.
    #[serde(skip)]
    pub(super) fine: Option<String>,
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
        texts.truncate(MOST_LISTED);
        let more = count.saturating_sub(texts.len());
        if let (Some(last), 1..) = (texts.last_mut(), more) {
            *last = format!("{last} (and {more} more)");
        }
        Self { texts, count, fine: None }
    }

    /// One sentence for all objects of one kind: `Job a/x counts …`, `4 Jobs count …: a/x, a/y, a/z, …`.
    pub(super) fn all(kind: &str, names: impl IntoIterator<Item = String>, one: &str, several: &str) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        let text = match names.as_slice() {
            [] => return Self::default(),
            [name] => format!("{kind} {name} {one}"),
            names => format!("{} {kind}s {several}: {}", names.len(), first_few(names)),
        };
        Self { texts: vec![text], count: names.len(), fine: None }
    }

    /// The same, with what to tell if nothing is found.
    pub(super) fn or_tell(self, text: impl Into<String>) -> Self {
        Self { fine: Some(text.into()), ..self }
    }
}

/// The first few of several names: `a/x, a/y, a/z, ...`.
pub(super) fn first_few<N: Display>(names: &[N]) -> String {
    let more = if names.len() > MOST_LISTED { ", ..." } else { "" };
    list(names.iter().take(MOST_LISTED)) + more
}

impl Check {
    /// Whether it is made: some look only where a flag asks for it.
    pub(super) fn is_requested(&self, facts: Option<&Facts>) -> bool {
        match self.id {
            "quota-latency" => facts.is_some_and(|facts| facts.quota_latency.is_some()),
            "operator-metrics" => facts.is_some_and(|facts| facts.metrics.is_some()),
            _ => true,
        }
    }

    /// Whether it makes sense before Quotient is installed.
    pub(super) fn is_for_newcomers(&self) -> bool {
        let about_quotient = matches!(self.group, Group::Operator | Group::Queues);
        !about_quotient && !matches!(self.id, "crd-missing" | "crd-outdated" | "admission-policies")
    }
}

/// A cluster, ready to be checked.
pub(crate) struct CheckContext<'a> {
    pub(super) cluster: &'a Cluster,
    /// What only a running API server knows.
    pub(super) facts: Option<&'a Facts>,
    pub(super) views: Vec<QueueView>,
    /// The only namespace that is looked at.
    namespace: Option<&'a str>,
    /// The namespaces with a Queue that governs pods.
    managed: BTreeSet<String>,
}

impl<'a> CheckContext<'a> {
    pub(super) fn at(cluster: &'a Cluster, facts: Option<&'a Facts>, namespace: Option<&'a str>) -> Self {
        let views = views(cluster);
        let leaves = views.iter().filter(|view| !view.is_parent());
        let managed = leaves.map(|view| view.name.namespace.to_string()).collect();
        Self { cluster, facts, views, namespace, managed }
    }

    pub(super) fn has(&self, need: Need) -> bool {
        match need {
            Need::List(resource) => !self.cluster.missing.iter().any(|missing| missing.resource == resource),
            Need::Whole => !self.cluster.is_partial,
            Need::Observed => self.cluster.is_observed,
        }
    }

    /// Whether this namespace is looked at.
    pub(super) fn is_wanted(&self, namespace: &str) -> bool {
        self.namespace.is_none_or(|wanted| wanted == namespace)
    }

    pub(super) fn is_managed(&self, namespace: &str) -> bool {
        self.managed.contains(namespace)
    }

    /// The objects in wanted namespaces, and those in none.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a Object> {
        let is_here = |object: &&Object| object.namespace().is_empty() || self.is_wanted(object.namespace());
        self.cluster.objects.iter().filter(is_here)
    }

    /// The objects in wanted namespaces with a Queue.
    pub(super) fn managed_objects(&self) -> impl Iterator<Item = &'a Object> {
        self.objects().filter(|object| self.is_managed(object.namespace()))
    }

    /// The Queues in wanted namespaces.
    pub(super) fn queues(&self) -> impl Iterator<Item = &QueueView> {
        self.views.iter().filter(|view| self.is_wanted(view.name.namespace.as_str()))
    }
}
