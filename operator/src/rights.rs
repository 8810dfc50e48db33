//! Everything that the operator asks the API server for: the list that its roles are held against.
//!
//! The chart's roles grant exactly this (`roles_grant_what_is_listed` in `e2e/tests/rights.rs`), and a story in which all of it is used shows that none of it
//! is superfluous (`e2e/tests/rights.rs`).

use std::collections::BTreeSet;
use std::fmt;

use quotient_crds::names::{GROUP, LEDGER, LIMIT_RANGE, QUOTA};
use quotient_engine::snapshot::Mode;
use quotient_index::WorkloadKind;

/// One verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// Whether it is meant for the operator's own namespace alone.
    pub own_namespace: bool,
    /// The API group; empty for the core group.
    pub group: String,
    /// The resource, with its subresource after a slash.
    pub resource: String,
    /// The verb.
    pub verb: String,
    /// The one object that it is meant for; none for all.
    pub name: Option<String>,
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own_namespace, group, resource, verb, name } = self;
        write!(formatter, "{verb} {resource}")?;
        if !group.is_empty() {
            write!(formatter, ".{group}")?;
        }
        if let Some(name) = name {
            write!(formatter, " {name:?}")?;
        }
        formatter.write_str(if *own_namespace { " in the own namespace" } else { "" })
    }
}

/// Read everywhere.
const WATCHED: [(&str, &[&str]); 10] = [
    ("", &["limitranges", "namespaces", "nodes", "pods", "resourcequotas"]),
    ("apps", &["daemonsets", "deployments", "replicasets", "statefulsets"]),
    ("autoscaling", &["horizontalpodautoscalers"]),
    ("batch", &["jobs"]),
    ("policy", &["poddisruptionbudgets"]),
    (GROUP, &["queues", "queuejobs"]),
    ("scheduling.k8s.io", &["podgroups", "priorityclasses"]),
    ("scheduling.run.ai", &["podgroups"]),
    ("scheduling.volcano.sh", &["podgroups"]),
    ("scheduling.x-k8s.io", &["podgroups"]),
];

/// Owners that are told when there is room again for what was refused.
const NUDGED: [(&str, &[&str]); 2] =
    [("apps", &["daemonsets", "replicasets", "statefulsets"]), ("batch", &["jobs"])];

/// What an operator in this mode needs. `lease` is the Lease's name, if it is to hold one; `is_scraped` whether it serves
/// metrics to others than its own pod, who have to prove themselves.
pub fn needed(
    mode: Mode,
    lease: Option<&str>,
    is_scraped: bool,
    workloads: &[WorkloadKind],
) -> BTreeSet<Right> {
    let mut rights = Rights::default();
    for (group, resources) in WATCHED {
        rights.everywhere(group, resources, &["list", "watch"]);
    }
    for kind in workloads {
        rights.everywhere(&kind.group, &[&kind.plural], &["list", "watch"]);
    }
    rights.everywhere(GROUP, &["queues/status", "queuejobs/status"], &["patch"]);
    rights.everywhere("events.k8s.io", &["events"], &["create"]);
    rights.own("", "configmaps", Some(LEDGER), &["get"]);
    if let Some(lease) = lease {
        rights.own("coordination.k8s.io", "leases", None, &["create"]);
        rights.own("coordination.k8s.io", "leases", Some(lease), &["get", "update"]);
    }
    if is_scraped {
        rights.everywhere("authentication.k8s.io", &["tokenreviews"], &["create"]);
        rights.everywhere("authorization.k8s.io", &["subjectaccessreviews"], &["create"]);
    }
    if mode >= Mode::Quota {
        rights.own("", "configmaps", None, &["create"]);
        rights.own("", "configmaps", Some(LEDGER), &["update"]);
        rights.everywhere("", &["resourcequotas"], &["create"]);
        rights.add(false, "", "resourcequotas", Some(QUOTA), &["get", "patch"]);
        rights.everywhere("", &["limitranges"], &["create"]);
        rights.add(false, "", "limitranges", Some(LIMIT_RANGE), &["patch", "delete"]);
        // QueueJobs, and the Jobs that run them.
        rights.everywhere(GROUP, &["queuejobs"], &["get", "delete"]);
        rights.everywhere("batch", &["jobs"], &["get", "create", "delete"]);
        for (group, resources) in NUDGED {
            rights.everywhere(group, resources, &["patch"]);
        }
    }
    if mode >= Mode::Full {
        rights.everywhere("", &["pods/eviction"], &["create"]);
        // Owners that yield inside their queue, and which of their pods go.
        rights.everywhere("", &["pods"], &["patch"]);
        rights.everywhere("apps", &["deployments"], &["get", "patch"]);
        rights.everywhere("apps", &["replicasets", "statefulsets"], &["get"]);
    }
    rights.0
}

#[derive(Default)]
struct Rights(BTreeSet<Right>);

impl Rights {
    fn everywhere(&mut self, group: &str, resources: &[&str], verbs: &[&str]) {
        for resource in resources {
            self.add(false, group, resource, None, verbs);
        }
    }

    fn own(&mut self, group: &str, resource: &str, name: Option<&str>, verbs: &[&str]) {
        self.add(true, group, resource, name, verbs);
    }

    fn add(&mut self, own_namespace: bool, group: &str, resource: &str, name: Option<&str>, verbs: &[&str]) {
        self.0.extend(verbs.iter().map(|verb| Right {
            own_namespace,
            group: group.to_owned(),
            resource: resource.to_owned(),
            verb: (*verb).to_owned(),
            name: name.map(ToOwned::to_owned),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_needs_more_than_the_one_before() {
        let [observe, quota, full] = Mode::ALL.map(|mode| needed(mode, Some("lease"), true, &[]));
        assert!(observe.is_subset(&quota) && quota.is_subset(&full));
        let added = |more: &BTreeSet<Right>, less| {
            more.difference(less).map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(
            added(&full, &quota),
            "patch pods; create pods/eviction; get deployments.apps; patch deployments.apps; \
             get replicasets.apps; get statefulsets.apps"
        );
        assert!(!observe.iter().any(|right| right.resource == "resourcequotas" && right.verb == "create"));
        assert_eq!(
            added(&observe, &needed(Mode::Observe, None, true, &[])),
            "create leases.coordination.k8s.io in the own namespace; \
             get leases.coordination.k8s.io \"lease\" in the own namespace; \
             update leases.coordination.k8s.io \"lease\" in the own namespace"
        );
    }

    #[test]
    fn what_must_never_be_needed_is_not() {
        for right in needed(Mode::Full, Some("lease"), true, &[]) {
            let of_objects = ["secrets", "pods/exec", "serviceaccounts", "customresourcedefinitions"];
            assert!(!of_objects.contains(&right.resource.as_str()), "{right}");
            assert!(
                right.resource != "pods" || ["list", "watch", "patch"].contains(&right.verb.as_str()),
                "{right}"
            );
            assert!(![&right.group, &right.resource, &right.verb].iter().any(|text| *text == "*"), "{right}");
        }
    }
}
