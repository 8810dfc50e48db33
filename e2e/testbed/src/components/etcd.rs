//! etcd: one member, on loopback, without encryption and without waiting for the disk.

use std::process::Command;

use super::{Layout, flag};

pub(super) fn arguments(command: &mut Command, layout: &Layout) {
    let client = format!("http://127.0.0.1:{}", layout.ports.etcd);
    let peer = format!("http://127.0.0.1:{}", layout.ports.etcd_peer);
    command
        .arg("--name=testbed")
        .arg(flag("data-dir", &layout.data()))
        .arg(format!("--listen-client-urls={client}"))
        .arg(format!("--advertise-client-urls={client}"))
        .arg(format!("--listen-peer-urls={peer}"))
        .arg(format!("--initial-advertise-peer-urls={peer}"))
        .arg(format!("--initial-cluster=testbed={peer}"))
        // The data need not survive the machine, only the process (SIGKILL): the kernel's cache does that.
        .arg("--unsafe-no-fsync")
        .arg("--quota-backend-bytes=8589934592")
        .arg("--auto-compaction-mode=revision")
        .arg("--auto-compaction-retention=1000")
        .arg("--log-level=warn");
}
