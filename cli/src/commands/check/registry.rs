//! Every check, with its id, its severity and what helps.

use serde::Serialize;

use super::Look;
use super::{namespaces, of_cluster, of_operator, of_queues, of_workloads};

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
pub(crate) type Seen = Option<Vec<String>>;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Group {
    Cluster,
    Operator,
    Queues,
    Namespaces,
    Workloads,
}

impl Group {
    pub(super) const ALL: [Self; 5] =
        [Self::Cluster, Self::Operator, Self::Queues, Self::Namespaces, Self::Workloads];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Operator => "operator",
            Self::Queues => "queues",
            Self::Namespaces => "namespaces",
            Self::Workloads => "workloads",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Quotient does not do its work.
    Error,
    /// Something is rejected, lost or unfair sooner or later.
    Warning,
    /// Worth knowing.
    Info,
}

/// What was found: the first few in words, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) count: usize,
}

impl Check {
    const fn new(
        id: &'static str,
        group: Group,
        severity: Severity,
        fix: &'static str,
        look: fn(&Look<'_>) -> Seen,
    ) -> Self {
        Self { id, group, severity, fix, look }
    }

    /// Whether it makes sense before Quotient is installed.
    pub(super) fn is_for_newcomers(&self) -> bool {
        let about_quotient = matches!(self.group, Group::Operator | Group::Queues);
        !about_quotient && !matches!(self.id, "crd-missing" | "crd-outdated" | "admission-policies")
    }
}

use Group::{Cluster, Namespaces, Operator, Queues, Workloads};
use Severity::{Error, Info, Warning};

/// Every check, in the order in which they are printed.
pub(crate) const CHECKS: [Check; 50] = [
    Check::new(
        "kubernetes-version",
        Cluster,
        Warning,
        "use a Kubernetes version from 1.34 to 1.36",
        of_cluster::version,
    ),
    Check::new(
        "crd-missing",
        Cluster,
        Error,
        "install the chart with crds.install, or apply crds/yaml",
        of_cluster::crd_missing,
    ),
    Check::new(
        "crd-outdated",
        Cluster,
        Error,
        "apply the kinds of this version: crds/yaml",
        of_cluster::crd_outdated,
    ),
    Check::new(
        "admission-policies",
        Cluster,
        Warning,
        "install the chart with admission.confineOperator and admission.protectQuotas",
        of_cluster::policies,
    ),
    Check::new(
        "no-capacity",
        Cluster,
        Error,
        "wait for a Ready node, or correct --node-selector",
        of_cluster::no_capacity,
    ),
    Check::new(
        "nodes-not-ready",
        Cluster,
        Warning,
        "repair or remove these nodes: their capacity is not shared",
        of_cluster::nodes_not_ready,
    ),
    Check::new(
        "autoscaler",
        Cluster,
        Error,
        "set config.capacity to the limit of the autoscaler, such as {cpu: 500}",
        of_cluster::autoscaler,
    ),
    Check::new(
        "ceiling-below-nodes",
        Cluster,
        Warning,
        "raise config.capacity to what the autoscaler may reach",
        of_cluster::ceiling,
    ),
    Check::new(
        "kueue",
        Cluster,
        Warning,
        "let one of the two manage a namespace: remove the label kueue.x-k8s.io/queue-name, or the Queue",
        of_cluster::kueue,
    ),
    Check::new(
        "operator-missing",
        Operator,
        Error,
        "install the chart: helm install quotient",
        of_operator::missing,
    ),
    Check::new(
        "operator-not-ready",
        Operator,
        Error,
        "look at its pods: kubectl -n quotient-system describe pods",
        of_operator::not_ready,
    ),
    Check::new(
        "operator-one-replica",
        Operator,
        Info,
        "set replicaCount to 2, so that another replica takes over at once",
        of_operator::one_replica,
    ),
    Check::new(
        "operator-no-leader",
        Operator,
        Error,
        "look at the logs of the operator: no replica renews the Lease",
        of_operator::no_leader,
    ),
    Check::new("operator-flags", Operator, Error, "correct the flags of the Deployment", of_operator::flags),
    Check::new(
        "operator-version",
        Operator,
        Warning,
        "use the command line and the operator of one version",
        of_operator::version,
    ),
    Check::new(
        "operator-mode",
        Operator,
        Info,
        "raise config.mode when the shares look right",
        of_operator::mode,
    ),
    Check::new(
        "operator-rights",
        Operator,
        Error,
        "install the roles of the chart of this version",
        of_operator::rights,
    ),
    Check::new(
        "operator-priority",
        Operator,
        Warning,
        "set priorityClassName, such as system-cluster-critical",
        of_operator::priority,
    ),
    Check::new(
        "queue-stalled",
        Queues,
        Error,
        "see the message, and: kubectl quotient explain queue/NAME",
        of_queues::stalled,
    ),
    Check::new(
        "queue-not-ready",
        Queues,
        Warning,
        "see the condition Ready of the Queue",
        of_queues::not_ready,
    ),
    Check::new(
        "queue-starved",
        Queues,
        Warning,
        "see: kubectl quotient explain queue/NAME",
        of_queues::starved,
    ),
    Check::new(
        "guarantee-unmeetable",
        Queues,
        Warning,
        "lower guaranteed of a Queue, or add nodes",
        of_queues::unmeetable,
    ),
    Check::new(
        "queue-without-status",
        Queues,
        Error,
        "see whether the operator runs and leads",
        of_queues::without_status,
    ),
    Check::new(
        "queue-status-outdated",
        Queues,
        Warning,
        "see whether the operator runs and leads",
        of_queues::outdated,
    ),
    Check::new(
        "queue-deleting",
        Queues,
        Warning,
        "remove the finalizers that keep the Queue",
        of_queues::deleting,
    ),
    Check::new("queue-paused", Queues, Info, "end it now: kubectl quotient resume QUEUE", of_queues::paused),
    Check::new(
        "standing-claim",
        Queues,
        Warning,
        "remove spec.request: pods of other queues are evicted for a team without pods",
        of_queues::standing_claim,
    ),
    Check::new(
        "parent-without-children",
        Queues,
        Warning,
        "give child queues a parentRef, or remove children",
        of_queues::childless,
    ),
    Check::new(
        "several-queues",
        Queues,
        Warning,
        "delete all but one: the oldest counts",
        of_queues::several,
    ),
    Check::new(
        "queue-in-protected-namespace",
        Queues,
        Error,
        "delete the Queue: it has no effect there",
        of_queues::protected,
    ),
    Check::new(
        "never-evicted-above-share",
        Queues,
        Warning,
        "set eviction.policy: Allowed, or wait until pods finish",
        of_queues::never_evicted,
    ),
    Check::new(
        "missing-requests",
        Namespaces,
        Warning,
        "set requests in the templates, or defaultRequests of the Queue",
        namespaces::missing_requests,
    ),
    Check::new(
        "unmanaged",
        Namespaces,
        Warning,
        "create Queues: kubectl quotient init --from-usage",
        namespaces::unmanaged,
    ),
    Check::new(
        "foreign-quota",
        Namespaces,
        Info,
        "remove the other ResourceQuota, unless it is meant as a limit",
        namespaces::foreign_quota,
    ),
    Check::new(
        "quota-of-others",
        Namespaces,
        Error,
        "rename the ResourceQuota quotient of another program",
        namespaces::quota_of_others,
    ),
    Check::new(
        "orphaned-quota",
        Namespaces,
        Warning,
        "delete it: kubectl -n NAMESPACE delete resourcequota quotient",
        namespaces::orphaned,
    ),
    Check::new(
        "quota-not-enforced",
        Namespaces,
        Error,
        "see whether kube-controller-manager runs its quota controller",
        namespaces::not_enforced,
    ),
    Check::new(
        "limit-range-conflict",
        Namespaces,
        Warning,
        "set defaultRequests within the LimitRange of the namespace",
        namespaces::limit_ranges,
    ),
    Check::new(
        "pods-rejected",
        Workloads,
        Error,
        "see: kubectl quotient explain KIND/NAME",
        of_workloads::rejected,
    ),
    Check::new(
        "pod-above-share",
        Workloads,
        Warning,
        "request less in one pod, or raise weight or guaranteed of the Queue",
        of_workloads::above_share,
    ),
    Check::new(
        "no-node-fits",
        Workloads,
        Warning,
        "correct selector, affinity, tolerations or size, or add such a node",
        of_workloads::no_node,
    ),
    Check::new(
        "set-aside",
        Workloads,
        Warning,
        "see the events of the workload: its pods had room and did not start",
        of_workloads::set_aside,
    ),
    Check::new("no-surge-room", Workloads, Warning, "set maxUnavailable to at least 1", of_workloads::surge),
    Check::new(
        "job-retries",
        Workloads,
        Warning,
        "add a podFailurePolicy that ignores DisruptionTarget",
        of_workloads::job_retries,
    ),
    Check::new(
        "budget-zero",
        Workloads,
        Warning,
        "let the PodDisruptionBudget allow one pod, or add replicas",
        of_workloads::budgets,
    ),
    Check::new(
        "bare-pods",
        Workloads,
        Info,
        "use a Job or a Deployment: nothing creates an evicted bare pod again",
        of_workloads::bare,
    ),
    Check::new(
        "long-grace",
        Workloads,
        Info,
        "shorten terminationGracePeriodSeconds, or raise eviction.maxGraceSeconds",
        of_workloads::grace,
    ),
    Check::new(
        "stuck-terminating",
        Workloads,
        Warning,
        "remove finalizers or lost nodes, or set eviction.forceAfterSeconds",
        of_workloads::stuck,
    ),
    Check::new(
        "kubevirt",
        Workloads,
        Warning,
        "set eviction.policy: Never: an eviction migrates a virtual machine and frees nothing",
        of_workloads::kubevirt,
    ),
    Check::new(
        "device-claims",
        Workloads,
        Info,
        "use extended resources: devices of resource claims are in no share",
        of_workloads::claims,
    ),
];
