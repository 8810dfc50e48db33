//! Whether Kueue manages the pods of a namespace.

use crate::snapshot::NamespaceState;

/// The label by which namespaces are given to Kueue where its webhooks are opt-in.
const NAMESPACE_LABEL: &str = "kueue.openshift.io/managed";

/// The labels that pods have which Kueue admits: written by their users, or by Kueue on the pods of what it admitted.
const POD_LABELS: [&str; 4] = [
    "kueue.x-k8s.io/local-queue-name",
    "kueue.x-k8s.io/managed",
    "kueue.x-k8s.io/podset",
    "kueue.x-k8s.io/queue-name",
];

/// What shows that Kueue manages the pods of this namespace, in words.
///
/// The namespace's own label counts at any time. Those of pods count only where we have no quota yet: tenants write
/// them, and must not get rid of a quota, or of losing pods, by writing one.
pub(super) fn sign_of_kueue(state: &NamespaceState) -> Option<String> {
    if state.labels.get(NAMESPACE_LABEL) == Some("true") {
        return Some(format!("it is labeled {NAMESPACE_LABEL}: \"true\""));
    }
    if state.quota.as_ref().is_some_and(|quota| quota.ours) {
        return None;
    }
    let labeled = state.pods.iter().filter(|pod| pod.is_charged()).filter_map(|pod| {
        let label = POD_LABELS.into_iter().find(|label| pod.metadata.labels.get(label).is_some())?;
        Some((&pod.name, label))
    });
    labeled.min().map(|(pod, label)| format!("pod {pod} is labeled {label}"))
}
