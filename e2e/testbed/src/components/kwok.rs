//! kwok: plays the kubelet of every node. Our own stages, because the shipped ones have traps; each stage says which.

use std::process::Command;

use super::{Layout, flag};
use crate::layout::MASTERS;

const KUBECONFIG: &str = "kwok";
const CONFIG: &str = "kwok.yaml";
const STAGES: &str = include_str!("stages.yaml");
/// What stands in `stages.yaml` where the test bed's own delay goes.
const DELAY: &str = "TERMINATION_DELAY_MILLISECONDS";

pub(super) fn prepare(layout: &Layout) -> anyhow::Result<()> {
    layout.user_kubeconfig(&layout.kubeconfig(KUBECONFIG), "kwok", Some(MASTERS))?;
    layout.write_config(CONFIG, &STAGES.replace(DELAY, &layout.termination_delay.as_millis().to_string()))
}

pub(super) fn arguments(command: &mut Command, layout: &Layout) {
    command
        .arg(flag("kubeconfig", &layout.kubeconfig(KUBECONFIG)))
        .arg(flag("config", &layout.config(CONFIG)))
        .arg("--manage-all-nodes=true")
        .arg("--node-ip=127.0.0.1")
        .arg("--node-name=localhost")
        // The default leaks addresses and is empty after 255 pods.
        .arg("--cidr=10.64.0.0/10")
        .arg(format!("--server-address=127.0.0.1:{}", layout.ports.kwok))
        .arg("--node-lease-duration-seconds=0");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations;

    #[test]
    fn stages_know_the_annotations_that_are_documented() {
        for annotation in
            [annotations::HOLD_START, annotations::HOLD_TERMINATION, annotations::COMPLETE_AFTER_SECONDS]
        {
            assert!(STAGES.contains(&format!(r#".metadata.annotations["{annotation}"]"#)), "{annotation}");
        }
        assert_eq!(STAGES.matches(DELAY).count(), 1);
    }
}
