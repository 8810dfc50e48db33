//! `explain` on every reason of the engine, where an operator reports it.

use quotient_engine::reasons::{EvictionReason, ShortReason, StallReason};

use super::observed_yaml;
use crate::commands::explain::{Question, Target, explain};
use crate::manifests::Cluster;
use crate::output::{Explanation, Screen};
use crate::snapshot::Snapshot;

const ML: &str = include_str!("clusters/ml.yaml");

/// What is said of `target` after one replacement in the cluster.
fn explained(from: &str, to: &str, namespace: &str, target: &str) -> Explanation {
    assert!(ML.contains(from), "{from}");
    let observed = observed_yaml(&ML.replacen(from, to, 1), "2026-11-24T14:02:00Z");
    let cluster = Cluster::of(&Snapshot { is_partial: true, ..observed }, None).unwrap();
    explain(&cluster, &Target::parse(target).unwrap(), Some(namespace), &Question::default()).unwrap()
}

fn check(explanation: &Explanation, name: &str, words: &str) {
    let text = explanation.text(Screen::plain());
    assert_eq!(explanation.reason.as_deref(), Some(name), "{text}");
    assert!(text.contains(words), "{name}:\n{text}");
}

#[test]
fn every_reason_of_an_eviction_is_explained() {
    for name in EvictionReason::ALL.iter().map(|reason| reason.name()) {
        let explanation =
            explained("reason: Reclaimed", &format!("reason: {name}"), "ml-train", "pod/trainer-46");
        check(&explanation, name, "Evicted 40 s ago by Quotient");
    }
}

#[test]
fn every_reason_of_a_starved_queue_and_of_its_pods_is_explained() {
    const FOR_A_PERSON: [ShortReason; 7] = [
        ShortReason::UnitAboveShare,
        ShortReason::RolloutNeedsRoom,
        ShortReason::AboveLimit,
        ShortReason::ForeignQuota,
        ShortReason::NoNodeFits,
        ShortReason::PodsRejected,
        ShortReason::GangIncomplete,
    ];
    const PERHAPS_FOR_A_PERSON: [ShortReason; 2] = [ShortReason::PodsNotCreated, ShortReason::SetAside];
    let (of_queues, of_pods): (Vec<ShortReason>, Vec<ShortReason>) =
        ShortReason::ALL.iter().partition(|reason| **reason < ShortReason::UnitAboveShare);
    for name in of_queues.into_iter().map(ShortReason::name) {
        let to = format!("reason: {name}\n      message");
        let explanation =
            explained("reason: WaitingForPreemption\n      message", &to, "ml-dev", "queue/ml-dev");
        check(&explanation, name, "The queue lacks nvidia.com/gpu 3");
    }
    for reason in of_pods {
        let to = format!("reason: {reason}");
        let explanation = explained("reason: PodsRejected", &to, "ml-train", "deploy/notebooks");
        check(&explanation, reason.name(), "2 pods of ReplicaSet notebooks-5d9c");
        assert_eq!(explanation.needs_a_person, FOR_A_PERSON.contains(&reason), "{reason}");
        let is_patience_enough = !FOR_A_PERSON.contains(&reason) && !PERHAPS_FOR_A_PERSON.contains(&reason);
        let says_so = explanation.next.is_some_and(|next| next.contains("Nothing to do"));
        assert_eq!(says_so, is_patience_enough, "{reason}");
    }
}

#[test]
fn every_reason_of_a_queue_without_share_is_explained() {
    for name in StallReason::ALL.iter().map(|reason| reason.name()) {
        let to = format!(
            "- {{type: Stalled, status: \"True\", reason: {name}, message: told, lastTransitionTime: \"2026-11-24T10:00:00Z\"}}\n    - type: Starved"
        );
        let explanation = explained("- type: Starved", &to, "ml-dev", "queue/ml-dev");
        check(&explanation, name, &format!("has no share: {name}."));
        assert!(explanation.needs_a_person, "{name}");
    }
}
