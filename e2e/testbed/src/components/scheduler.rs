//! The scheduler, with its default profile.

use std::process::Command;

use serde_json::json;

use super::{Component, Layout, OPEN_PATHS, flag};
use crate::layout::MASTERS;

const KUBECONFIG: &str = "kube-scheduler";
const CONFIG: &str = "scheduler.yaml";

pub(super) fn prepare(layout: &Layout) -> anyhow::Result<()> {
    let kubeconfig = layout.kubeconfig(KUBECONFIG);
    layout.user_kubeconfig(&kubeconfig, "system:kube-scheduler", Some(MASTERS))?;
    let config = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 5000, "burst": 10000},
        "leaderElection": {"leaderElect": false},
    });
    layout.write_config(CONFIG, &format!("{config:#}\n"))
}

pub(super) fn arguments(command: &mut Command, layout: &Layout) {
    command
        .arg(flag("config", &layout.config(CONFIG)))
        .arg("--bind-address=127.0.0.1")
        .arg(format!("--secure-port={}", Component::Scheduler.health_check(layout).port))
        .arg(flag("tls-cert-file", &layout.server_certificate.certificate))
        .arg(flag("tls-private-key-file", &layout.server_certificate.key))
        .arg(OPEN_PATHS)
        .arg("--v=2");
}
