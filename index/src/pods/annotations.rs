//! What the annotations and labels of a pod say of its eviction and its deletion.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt as _;
use quotient_crds::names::{DELETION_COST_ANNOTATION, PREEMPTIBLE_ANNOTATION, PREEMPTIBLE_LAST};
use quotient_snapshot::reasons::KeptReason;

use crate::owner_references::controlling;

/// The annotation that the kubelet puts on the mirror of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The label that `KubeVirt` puts on the pods that run its machines, and its value. An eviction moves the machine.
///
/// Anyone may put it on a pod: it counts only where a machine controls the pod.
const LAUNCHER: (&str, &str) = ("kubevirt.io", "virt-launcher");

/// Why `pod` is never evicted, if it is not.
pub fn kept(pod: &Pod) -> Option<KeptReason> {
    let (key, value) = LAUNCHER;
    let has_label = || pod.labels().get(key).is_some_and(|found| found == value);
    let is_machine = |owner: &OwnerReference| {
        owner.kind == "VirtualMachineInstance" && owner.api_version.starts_with("kubevirt.io/")
    };
    if annotation(pod, MIRROR).is_some() {
        Some(KeptReason::MirrorPod)
    } else {
        let is_launcher = has_label() && controlling(&pod.metadata).is_some_and(is_machine);
        is_launcher.then_some(KeptReason::VirtualMachine)
    }
}

/// The annotations that ask for it, each with the value that does: ours, and those by which the cluster
/// autoscaler and Karpenter are told not to move a pod.
const REQUESTS: [(&str, &str); 3] = [
    (PREEMPTIBLE_ANNOTATION, PREEMPTIBLE_LAST),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
    ("karpenter.sh/do-not-disrupt", "true"),
];

/// Whether `pod` asks to be left alone while others suffice.
pub(super) fn is_reluctant(pod: &Pod) -> bool {
    REQUESTS.into_iter().any(|(key, value)| annotation(pod, key) == Some(value))
}

/// The pod's deletion cost; none and what is no 32-bit number count as 0, as for the ReplicaSet controller.
pub(super) fn deletion_cost(pod: &Pod) -> i32 {
    annotation(pod, DELETION_COST_ANNOTATION).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn annotation<'p>(pod: &'p Pod, name: &str) -> Option<&'p str> {
    pod.annotations().get(name).map(String::as_str)
}
