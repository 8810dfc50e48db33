//! The kinds that are served.

/// A kind of object that the operator or a controller uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they are Kubernetes' own names")]
pub enum Kind {
    ConfigMap,
    DaemonSet,
    Deployment,
    Event,
    HorizontalPodAutoscaler,
    Job,
    Lease,
    LimitRange,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    Queue,
    QueueJob,
    ReplicaSet,
    ResourceQuota,
    StatefulSet,
}

/// What the server has to know of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    /// Whether the status is written at a place of its own, and only there.
    pub(crate) status: bool,
    /// Whether what is wanted has a generation.
    pub(crate) generation: bool,
}

const fn facts(
    kind: Kind,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    traits: [bool; 3],
) -> Facts {
    let [namespaced, status, generation] = traits;
    Facts { kind, group, version, plural, namespaced, status, generation }
}

/// Namespaced, with a status, with a generation.
const FACTS: [Facts; Kind::COUNT] = [
    facts(Kind::ConfigMap, "", "v1", "configmaps", [true, false, false]),
    facts(Kind::DaemonSet, "apps", "v1", "daemonsets", [true, true, true]),
    facts(Kind::Deployment, "apps", "v1", "deployments", [true, true, true]),
    facts(Kind::Event, "events.k8s.io", "v1", "events", [true, false, false]),
    facts(
        Kind::HorizontalPodAutoscaler,
        "autoscaling",
        "v2",
        "horizontalpodautoscalers",
        [true, true, false],
    ),
    facts(Kind::Job, "batch", "v1", "jobs", [true, true, true]),
    facts(Kind::Lease, "coordination.k8s.io", "v1", "leases", [true, false, false]),
    facts(Kind::LimitRange, "", "v1", "limitranges", [true, false, false]),
    facts(Kind::Namespace, "", "v1", "namespaces", [false, true, false]),
    facts(Kind::Node, "", "v1", "nodes", [false, true, false]),
    facts(Kind::Pod, "", "v1", "pods", [true, true, false]),
    facts(Kind::PodDisruptionBudget, "policy", "v1", "poddisruptionbudgets", [true, true, true]),
    facts(Kind::PriorityClass, "scheduling.k8s.io", "v1", "priorityclasses", [false, false, true]),
    facts(Kind::Queue, "quotient.dev", "v1alpha1", "queues", [true, true, true]),
    facts(Kind::QueueJob, "quotient.dev", "v1alpha1", "queuejobs", [true, true, true]),
    facts(Kind::ReplicaSet, "apps", "v1", "replicasets", [true, true, true]),
    facts(Kind::ResourceQuota, "", "v1", "resourcequotas", [true, true, false]),
    facts(Kind::StatefulSet, "apps", "v1", "statefulsets", [true, true, true]),
];

impl Kind {
    /// How many there are.
    pub(crate) const COUNT: usize = 18;

    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.kind)
    }

    /// Those that the operator watches.
    pub(crate) fn watched() -> impl Iterator<Item = Self> {
        let others = [Self::ConfigMap, Self::Event, Self::Lease, Self::PriorityClass];
        Self::all().filter(move |kind| !others.contains(kind))
    }

    pub(crate) fn facts(self) -> &'static Facts {
        FACTS.iter().find(|facts| facts.kind == self).expect("every kind has its row")
    }

    /// Its place among the kinds.
    pub(crate) const fn place(self) -> usize {
        self as usize
    }

    /// As objects name it: `Pod`.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// As objects name its group and version: `apps/v1`.
    pub fn api_version(self) -> String {
        let facts = self.facts();
        match facts.group {
            "" => facts.version.to_owned(),
            group => format!("{group}/{}", facts.version),
        }
    }

    /// As messages name it: `pods`, `queues.quotient.dev`.
    pub(crate) fn resource(self) -> String {
        let facts = self.facts();
        match facts.group {
            "" => facts.plural.to_owned(),
            group => format!("{}.{group}", facts.plural),
        }
    }

    /// Whether its objects are in namespaces.
    pub fn is_namespaced(self) -> bool {
        self.facts().namespaced
    }

    /// Whether a `CustomResourceDefinition` defines it.
    pub(crate) fn is_custom(self) -> bool {
        self.facts().group == "quotient.dev"
    }

    /// The kind that is served under this group and name.
    pub(crate) fn served(group: &str, plural: &str) -> Option<Self> {
        FACTS.iter().find(|facts| facts.group == group && facts.plural == plural).map(|facts| facts.kind)
    }

    /// The kind that objects call so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row_in_its_place() {
        for (place, facts) in FACTS.iter().enumerate() {
            assert_eq!(facts.kind.place(), place, "{:?}", facts.kind);
            assert_eq!(Kind::served(facts.group, facts.plural), Some(facts.kind));
        }
    }
}
