//! Every check, with its id, its severity and what helps.

use super::finding::Need::{self, List, Observed, Whole};
use super::finding::{Check, Group, Severity};
use super::{namespaces, of_cluster, of_operator, of_queues, of_workloads};

macro_rules! checks {
    ($($id:literal $group:ident $severity:ident [$($need:expr),*] $run:expr => $fix:literal;)*) => {
        /// Every check, in the order in which they are printed.
        pub(crate) const CHECKS: &[Check] = &[$(Check {
            id: $id,
            group: Group::$group,
            severity: Severity::$severity,
            needs: &[$($need),*],
            fix: $fix,
            run: |context| ($run)(context).into(),
        }),*];
    };
}

/// The lists that several checks need.
const PODS: Need = List("pods");
const NODES: Need = List("nodes");
const JOBS: Need = List("jobs.batch");
const DEPLOYMENTS: Need = List("deployments.apps");
const QUOTAS: Need = List("resourcequotas");
const QUEUES: Need = List("queues.quotient.dev");

checks! {
    "kubernetes-version" Cluster Warning [] of_cluster::version => "use a Kubernetes version from 1.34 to 1.36";
    "crd-missing" Cluster Error [] of_cluster::crd_missing =>
        "install the chart with crds.install, or apply crds/yaml";
    "crd-outdated" Cluster Error [] of_cluster::crd_outdated => "apply the kinds of this version: crds/yaml";
    "admission-policies" Cluster Warning [] of_cluster::policies =>
        "install the chart with admission.confineOperator and admission.protectQuotas";
    "no-capacity" Cluster Error [] of_cluster::no_capacity => "wait for a Ready node, or correct --node-selector";
    "kueue" Cluster Warning [JOBS] of_cluster::kueue =>
        "let one of the two manage a namespace: remove the label kueue.x-k8s.io/queue-name, or the Queue";
    "operator-missing" Operator Error [Observed, Whole, DEPLOYMENTS] of_operator::missing =>
        "install the chart: helm install quotient";
    "operator-not-ready" Operator Error [] of_operator::not_ready =>
        "look at its pods: kubectl -n quotient-system describe pods";
    "operator-one-replica" Operator Info [] of_operator::one_replica =>
        "set replicaCount to 2, so that another replica takes over at once";
    "operator-no-leader" Operator Error [] of_operator::no_leader =>
        "look at the logs of the operator: no replica renews the Lease";
    "operator-flags" Operator Error [] of_operator::flags => "correct the flags of the Deployment";
    "operator-version" Operator Warning [] of_operator::version =>
        "use the command line and the operator of one version";
    "operator-mode" Operator Info [] of_operator::mode => "raise config.mode when the shares look right";
    "operator-rights" Operator Error [] of_operator::rights => "install the roles of the chart of this version, or let the authorizers of the API server answer";
    "operator-optional-rights" Operator Info [] of_operator::optional_rights =>
        "grant the rights with the value of the chart, if your Queues use the feature";
    "operator-priority" Operator Warning [] of_operator::priority =>
        "set priorityClassName, such as system-cluster-critical";
    "operator-not-scraped" Operator Info [] of_operator::scraped => "set serviceMonitor.enabled of the chart";
    "operator-metrics" Operator Error [] of_operator::metrics =>
        "grant get on /metrics, open the network to the Service, or look at the log of the operator";
    "queue-stalled" Queues Error [QUEUES] of_queues::stalled =>
        "see the message, and: kubectl quotient explain queue/NAME";
    "queue-not-ready" Queues Warning [QUEUES] of_queues::not_ready => "see the condition Ready of the Queue";
    "queue-starved" Queues Warning [QUEUES] of_queues::starved => "see: kubectl quotient explain queue/NAME";
    "guarantee-unmeetable" Queues Warning [QUEUES] of_queues::unmeetable => "lower guaranteed of a Queue, or add nodes";
    "queue-without-status" Queues Error [Observed, QUEUES] of_queues::without_status =>
        "see whether the operator runs and leads";
    "queue-paused" Queues Info [QUEUES] of_queues::paused => "end it now: kubectl quotient resume QUEUE";
    "standing-claim" Queues Warning [PODS, QUEUES] of_queues::standing_claim =>
        "remove spec.request: pods of other queues are evicted for a team without pods";
    "gates-unsupported" Queues Warning [QUEUES] of_queues::gates =>
        "set gateMode.enabled of the chart on Kubernetes 1.36 or later, or admission: Quota";
    "missing-requests" Namespaces Warning [List("replicasets.apps"), List("limitranges")] namespaces::missing_requests =>
        "set requests in the templates, or defaultRequests of the Queue";
    "unmanaged" Namespaces Warning [PODS, QUEUES] namespaces::unmanaged =>
        "create Queues: kubectl quotient init --from-usage";
    "foreign-quota" Namespaces Info [QUOTAS] namespaces::foreign_quota =>
        "remove the other ResourceQuota, unless it is meant as a limit";
    "quota-of-others" Namespaces Error [QUOTAS] namespaces::quota_of_others =>
        "rename the ResourceQuota quotient of another program";
    "orphaned-quota" Namespaces Warning [QUOTAS, Observed, QUEUES] namespaces::orphaned =>
        "delete it: kubectl -n NAMESPACE delete resourcequota quotient";
    "quota-not-enforced" Namespaces Error [QUOTAS, Observed] namespaces::not_enforced =>
        "see whether kube-controller-manager runs its quota controller";
    "quota-latency" Namespaces Warning [] namespaces::latency =>
        "raise --concurrent-resource-quota-syncs and --kube-api-qps of kube-controller-manager";
    "autoscaler" Autoscaling Error [DEPLOYMENTS, NODES] of_cluster::autoscaler =>
        "set config.capacity to the limit of the autoscaler, such as {cpu: 500}";
    "pods-rejected" Workloads Error [QUEUES] |context| of_workloads::unmet(context, "PodsRejected") =>
        "see: kubectl quotient explain KIND/NAME";
    "pod-above-share" Workloads Warning [QUEUES] |context| of_workloads::unmet(context, "UnitAboveShare") =>
        "request less in one pod, lower the minimum of the gang, or raise weight or guaranteed of the Queue";
    "no-node-fits" Workloads Warning [QUEUES] |context| of_workloads::unmet(context, "NoNodeFits") =>
        "correct selector, affinity, tolerations or size, or add such a node";
    "set-aside" Workloads Warning [QUEUES] of_workloads::set_aside =>
        "see the events of the workload: its pods had room and did not start";
    "no-surge-room" Workloads Warning [DEPLOYMENTS] of_workloads::surge => "set maxUnavailable to at least 1";
    "job-retries" Workloads Warning [JOBS] of_workloads::job_retries =>
        "add a podFailurePolicy that ignores DisruptionTarget";
    "budget-zero" Workloads Warning [List("poddisruptionbudgets.policy")] of_workloads::budgets =>
        "let the PodDisruptionBudget allow one pod, or add replicas";
    "bare-pods" Workloads Info [PODS] of_workloads::bare =>
        "use a Job or a Deployment: nothing creates an evicted bare pod again";
    "stuck-terminating" Workloads Warning [PODS] of_workloads::stuck =>
        "remove finalizers or lost nodes, or set eviction.forceAfterSeconds";
    "kubevirt" Workloads Info [PODS] of_workloads::kubevirt =>
        "stop virtual machines by hand: they are never evicted, because they would only move to another node";
    "device-claims" Workloads Info [PODS] of_workloads::claims =>
        "use extended resources: devices of resource claims are in no share";
}
