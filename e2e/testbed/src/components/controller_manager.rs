//! The controller manager, with the controllers that act on what a test bed has.

use std::process::Command;

use super::{Component, Layout, OPEN_PATHS, POD_GROUPS, flag};
use crate::layout::MASTERS;

const KUBECONFIG: &str = "kube-controller-manager";

/// Without nodes of flesh and blood there is nothing to do for the controllers of volumes, routes, clouds and
/// endpoints. The disruption controller must be there: without it every disruption budget refuses every eviction.
const CONTROLLERS: [&str; 19] = [
    "serviceaccount-token-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "resourcequota-controller",
    "replicaset-controller",
    "deployment-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "ttl-after-finished-controller",
    "disruption-controller",
    "pod-garbage-collector-controller",
    "node-lifecycle-controller",
    "clusterrole-aggregation-controller",
    "validatingadmissionpolicy-status-controller",
    "horizontal-pod-autoscaler-controller",
];

pub(super) fn prepare(layout: &Layout) -> anyhow::Result<()> {
    // A name of its own, so that the audit log tells it from others; all rights, because its RBAC is not ours to test.
    layout.user_kubeconfig(&layout.kubeconfig(KUBECONFIG), "system:kube-controller-manager", Some(MASTERS))
}

pub(super) fn arguments(command: &mut Command, layout: &Layout) {
    command.args(layout.pod_groups.then_some(POD_GROUPS));
    command
        .arg(flag("kubeconfig", &layout.kubeconfig(KUBECONFIG)))
        .arg("--bind-address=127.0.0.1")
        .arg(format!("--secure-port={}", Component::ControllerManager.health_check(layout).port))
        .arg(flag("tls-cert-file", &layout.server_certificate.certificate))
        .arg(flag("tls-private-key-file", &layout.server_certificate.key))
        .arg(OPEN_PATHS)
        .arg("--leader-elect=false")
        .arg(flag("root-ca-file", &layout.authority.certificate()))
        .arg(flag("service-account-private-key-file", &layout.service_account_keys.0))
        .arg("--kube-api-qps=5000")
        .arg("--kube-api-burst=10000")
        // kwok sends no heartbeats, and no controller may miss them.
        .arg("--node-monitor-period=1h")
        .arg("--node-monitor-grace-period=2h")
        .arg(format!("--resource-quota-sync-period={}s", layout.recounts.as_secs()))
        .arg("--concurrent-resource-quota-syncs=10")
        .arg(format!("--controllers={}", CONTROLLERS.join(",")))
        .arg("--v=2");
}
