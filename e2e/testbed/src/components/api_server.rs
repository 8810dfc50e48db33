//! The API server: RBAC on, every admission plugin that is on by default, and an audit log.

use std::process::Command;

use super::{Layout, POD_GROUPS, flag};

const AUDIT_POLICY: &str = include_str!("audit-policy.yaml");
const AUDIT_POLICY_FILE: &str = "audit-policy.yaml";

/// What stands in the policy for the kinds that are noted with their bodies on request only.
const ON_REQUEST: &str = "# pods and nodes";

pub(super) fn prepare(layout: &Layout) -> anyhow::Result<()> {
    let whole = "resources: [pods, pods/status, pods/binding, nodes, nodes/status]";
    let rest = "resources: [none]";
    let policy = AUDIT_POLICY.replace(ON_REQUEST, if layout.audit_bodies { whole } else { rest });
    layout.write_config(AUDIT_POLICY_FILE, &policy)
}

pub(super) fn arguments(command: &mut Command, layout: &Layout) {
    let (signing_key, checking_key) = &layout.service_account_keys;
    if layout.pod_groups {
        command.arg(POD_GROUPS).arg("--runtime-config=scheduling.k8s.io/v1alpha2=true");
    }
    command
        .arg(format!("--etcd-servers=http://127.0.0.1:{}", layout.ports.etcd))
        .arg("--bind-address=127.0.0.1")
        .arg("--advertise-address=127.0.0.1")
        .arg(format!("--secure-port={}", layout.ports.api_server))
        .arg(flag("tls-cert-file", &layout.server_certificate.certificate))
        .arg(flag("tls-private-key-file", &layout.server_certificate.key))
        .arg(flag("client-ca-file", &layout.authority.certificate()))
        .arg("--authorization-mode=RBAC")
        .arg("--service-account-issuer=https://kubernetes.default.svc.cluster.local")
        .arg(flag("service-account-key-file", checking_key))
        .arg(flag("service-account-signing-key-file", signing_key))
        // Loopback is no valid address for the endpoints of the Service `kubernetes`.
        .arg("--endpoint-reconciler-type=none")
        .arg("--service-cluster-ip-range=10.0.0.0/24")
        .arg("--allow-privileged=true")
        .arg("--event-ttl=10m")
        .arg(flag("audit-policy-file", &layout.config(AUDIT_POLICY_FILE)))
        .arg(flag("audit-log-path", &layout.audit_log()))
        // In megabytes: never rotated, tests read it from the beginning.
        .arg("--audit-log-maxsize=1000000")
        .arg("--v=2");
}
