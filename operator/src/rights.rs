//! Everything that the operator asks the API server for: `files/rights.json` of the chart, of which its roles are made, too.
//!
//! A story in which all of it is used shows that none of it is superfluous (`e2e/tests/rights.rs`).

use std::collections::BTreeSet;
use std::fmt;

use k8s_openapi::api::authorization::v1::ResourceAttributes;
use kube::core::Status;
use quotient_engine::snapshot::Mode;
use quotient_index::WorkloadKind;
use serde::Deserialize;

use crate::answer::said;

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

impl Right {
    /// The right as access reviews name it, for an operator in `own_namespace`.
    #[must_use]
    pub fn attributes(&self, own_namespace: &str) -> ResourceAttributes {
        let (resource, subresource) = match self.resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
            None => (self.resource.as_str(), None),
        };
        ResourceAttributes {
            group: Some(self.group.clone()),
            resource: Some(resource.to_owned()),
            subresource,
            verb: Some(self.verb.clone()),
            name: self.name.clone(),
            namespace: self.own_namespace.then(|| own_namespace.to_owned()),
            ..ResourceAttributes::default()
        }
    }
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

/// Verbs on resources, and when they are needed.
#[derive(Default, Deserialize)]
struct Rule {
    #[serde(default)]
    own: bool,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default, rename = "if")]
    condition: Option<Condition>,
    groups: Vec<String>,
    resources: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    verbs: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Condition {
    /// A Lease elects the leader.
    Elected,
    /// Metrics are served beyond the own pod.
    Scraped,
    /// Pods of queues in Gate mode are gated.
    Gated,
    /// An administrator has granted a feature its rights.
    #[serde(untagged)]
    Granted(Feature),
}

/// What the operator does only with rights that the chart leaves out until an administrator grants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Feature {
    /// The Jobs of QueueJobs are created and deleted.
    CreateJobs,
    /// The sizes of workloads are lowered and restored.
    ScaleWorkloads,
    /// The deletion cost of pods is set.
    PatchPods,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::CreateJobs, Self::ScaleWorkloads, Self::PatchPods];

    /// The value of the chart that grants its rights.
    #[must_use]
    pub const fn value(self) -> &'static str {
        match self {
            Self::CreateJobs => "rbac.createJobs",
            Self::ScaleWorkloads => "rbac.scaleWorkloads",
            Self::PatchPods => "rbac.patchPods",
        }
    }

    /// What the operator cannot do without it.
    const fn task(self) -> &'static str {
        match self {
            Self::CreateJobs => "create the Jobs of QueueJobs",
            Self::ScaleWorkloads => "change the sizes of workloads (preemption: LowerPriority)",
            Self::PatchPods => "set the deletion cost of pods (preemption: LowerPriority)",
        }
    }

    /// That the feature is off, and how it is switched on.
    #[must_use]
    pub fn is_off(self) -> String {
        format!(
            "the operator may not {}; an administrator allows it with {}=true of the chart",
            self.task(),
            self.value()
        )
    }

    /// What the API server said; where it was a missing right, what grants it.
    pub(crate) fn refused(self, status: &Status) -> String {
        // An admission policy answers 403 as well, in other words.
        let is_missing_right = status.code == 403 && status.message.contains(" cannot ");
        if is_missing_right { self.is_off() } else { said(status) }
    }
}

/// What stands for the Lease's name.
const LEASE: &str = "{lease}";

/// What an operator in this mode needs, whatever features are granted. `lease` is the Lease's name, if it is to hold one;
/// `is_scraped` whether it serves metrics to others than its own pod, who have to prove themselves; `gate_mode` whether pods
/// are gated.
///
/// # Errors
///
/// When the file is no list of rules, which a test excludes.
pub fn needed(
    mode: Mode,
    lease: Option<&str>,
    is_scraped: bool,
    gate_mode: bool,
    workloads: &[WorkloadKind],
) -> Result<BTreeSet<Right>, serde_json::Error> {
    let mut rules = reached(mode)?;
    rules.retain(|rule| match rule.condition {
        Some(Condition::Elected) => lease.is_some(),
        Some(Condition::Scraped) => is_scraped,
        Some(Condition::Gated) => gate_mode,
        Some(Condition::Granted(_)) => false,
        None => true,
    });
    rules.extend(workloads.iter().map(|kind| Rule {
        groups: vec![kind.group.clone()],
        resources: vec![kind.plural.clone()],
        verbs: ["list", "watch"].map(str::to_owned).to_vec(),
        ..Rule::default()
    }));
    Ok(rules.iter().flat_map(|rule| rule.rights(lease.unwrap_or_default())).collect())
}

/// What `feature` needs beside that in this mode; nothing where the mode does not reach it.
///
/// # Errors
///
/// When the file is no list of rules, which a test excludes.
pub fn needed_for(feature: Feature, mode: Mode) -> Result<BTreeSet<Right>, serde_json::Error> {
    let mut rules = reached(mode)?;
    rules.retain(|rule| matches!(rule.condition, Some(Condition::Granted(other)) if other == feature));
    Ok(rules.iter().flat_map(|rule| rule.rights("")).collect())
}

/// The rules of this mode and of those before it.
fn reached(mode: Mode) -> Result<Vec<Rule>, serde_json::Error> {
    let mut rules: Vec<Rule> = serde_json::from_str(include_str!("../../charts/quotient/files/rights.json"))?;
    let is_reached = |needed: &String| Mode::ALL.iter().any(|each| each.name() == needed && *each <= mode);
    rules.retain(|rule| rule.mode.as_ref().is_none_or(is_reached));
    Ok(rules)
}

impl Rule {
    fn rights(&self, lease: &str) -> Vec<Right> {
        let names: Vec<Option<String>> = match self.names.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.replace(LEASE, lease))).collect(),
        };
        let mut rights = Vec::new();
        for group in &self.groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    rights.extend(names.iter().map(|name| Right {
                        own_namespace: self.own,
                        group: group.clone(),
                        resource: resource.clone(),
                        verb: verb.clone(),
                        name: name.clone(),
                    }));
                }
            }
        }
        rights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_needs_more_than_the_one_before() {
        let [observe, quota, full] =
            Mode::ALL.map(|mode| needed(mode, Some("lease"), true, false, &[]).unwrap());
        assert!(observe.is_subset(&quota) && quota.is_subset(&full));
        let added = |more: &BTreeSet<Right>, less| {
            more.difference(less).map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(added(&full, &quota), "create pods/eviction");
        let gated = needed(Mode::Quota, Some("lease"), true, true, &[]).unwrap();
        assert_eq!(added(&gated, &quota), "patch pods; delete resourcequotas \"quotient\"");
        assert!(!observe.iter().any(|right| right.resource == "resourcequotas" && right.verb == "create"));
        assert_eq!(
            added(&observe, &needed(Mode::Observe, None, true, false, &[]).unwrap()),
            "create leases.coordination.k8s.io in the own namespace; \
             get leases.coordination.k8s.io \"lease\" in the own namespace; \
             update leases.coordination.k8s.io \"lease\" in the own namespace"
        );
    }

    #[test]
    fn features_have_rights_of_their_own_where_their_mode_is_reached() {
        let of = |feature, mode| {
            let rights = needed_for(feature, mode).unwrap();
            rights.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(of(Feature::CreateJobs, Mode::Observe), "");
        assert_eq!(
            of(Feature::CreateJobs, Mode::Quota),
            "create jobs.batch; delete jobs.batch; get jobs.batch; delete queuejobs.quotient.dev; get queuejobs.quotient.dev"
        );
        assert_eq!(of(Feature::ScaleWorkloads, Mode::Quota), "");
        assert_eq!(
            of(Feature::ScaleWorkloads, Mode::Full),
            "get deployments.apps; patch deployments.apps; get replicasets.apps; get statefulsets.apps; get jobs.batch"
        );
        assert_eq!(of(Feature::PatchPods, Mode::Full), "patch pods");
    }

    #[test]
    fn a_missing_right_is_told_by_the_value_that_grants_it() {
        let refused = |code: u16, message: &str| {
            Feature::CreateJobs.refused(&Status::failure(message, "Forbidden").with_code(code))
        };
        assert_eq!(
            refused(
                403,
                "jobs.batch is forbidden: User \"q\" cannot create resource \"jobs\" in API group \"batch\""
            ),
            "the operator may not create the Jobs of QueueJobs; an administrator allows it with rbac.createJobs=true of the chart"
        );
        let policy = "jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy 'b' denied request: c";
        assert_eq!(refused(403, policy), policy);
    }

    /// The names in the list are those that the operator uses.
    #[test]
    fn objects_are_named_as_in_the_code() {
        use quotient_crds::names::{LEDGER, LIMIT_RANGE, QUOTA};
        let named = |resource: &str| {
            let rights = needed(Mode::Full, Some("lease"), true, true, &[]).unwrap().into_iter();
            rights
                .filter(|right| right.resource == resource)
                .filter_map(|right| right.name)
                .collect::<BTreeSet<_>>()
        };
        for (resource, name) in [
            ("configmaps", LEDGER),
            ("limitranges", LIMIT_RANGE),
            ("resourcequotas", QUOTA),
            ("leases", "lease"),
        ] {
            assert_eq!(named(resource), BTreeSet::from([name.to_owned()]), "{resource}");
        }
    }

    #[test]
    fn what_must_never_be_needed_is_not() {
        let features = Feature::ALL.map(|feature| needed_for(feature, Mode::Full).unwrap());
        let all = needed(Mode::Full, Some("lease"), true, true, &[]).unwrap().into_iter();
        for right in all.chain(features.into_iter().flatten()) {
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
