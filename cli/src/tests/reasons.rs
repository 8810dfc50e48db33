//! `explain` on every reason of the engine, where an operator reports it.

use quotient_engine::reason::Reason;

use super::{directory, observed_at};
use crate::commands::explain::{Question, Target, explain};
use crate::commands::simulate::why_kept;
use crate::manifests::Cluster;
use crate::output::{Explanation, Screen};
use crate::snapshot::Snapshot;

const ML: &str = include_str!("clusters/ml.yaml");

/// Where a reason shows.
enum Place {
    /// In `status.recentReclaims`.
    Eviction,
    /// In the condition `Starved`.
    Starved,
    /// In `status.unmet`; whether a person has to act.
    Unmet(bool),
    /// On a candidate that a rule kept.
    Kept,
    /// In the condition `Stalled`.
    Stalled,
    /// On a workload whose size changes.
    Size,
}

const fn place(reason: Reason) -> Place {
    use Reason::{
        AboveLimit, Autoscaled, Blocked, Budget, CapacityUntrusted, Delayed, EvictionRefused,
        EvictionsDisabled, Fenced, ForceDeleted, ForeignQuota, Fragmented, GangFloor, GangIncomplete,
        GaveWay, GraceShortened, Guarantee, GuaranteedAboveLimit, InvalidSpec, LastReplica, ManagedByKueue,
        MirrorPod, MovedAside, NamespaceTaken, NoNodeFits, NodeNotCounted, NotScalable, NothingToEvict,
        OneAtATime, OptedOut, Outranked, Overcommitted, ParentCycle, ParentNotAccepting, ParentNotFound,
        ParentStalled, PlanLimit, PodsNotCreated, PodsRejected, PolicyDisabled, PriorityAboveAsk,
        QuotaControllerSilent, Reclaimed, Restored, RollingOut, RolloutNeedsRoom, RoomAvailable, SetAside,
        ShareInUse, SizeSetByAnother, StuckTerminating, UnitAboveShare, ViewStale, WaitingForLedger,
        WaitingForNodes, WaitingForPreemption, WaitingForQuota,
    };
    match reason {
        Reclaimed | Overcommitted | MovedAside | GraceShortened | ForceDeleted => Place::Eviction,
        WaitingForPreemption
        | WaitingForQuota
        | WaitingForLedger
        | Fenced
        | NothingToEvict
        | Blocked
        | EvictionsDisabled
        | Delayed
        | StuckTerminating
        | CapacityUntrusted
        | ViewStale
        | QuotaControllerSilent => Place::Starved,
        UnitAboveShare | RolloutNeedsRoom | AboveLimit | ForeignQuota | NoNodeFits | PodsRejected
        | GangIncomplete => Place::Unmet(true),
        ShareInUse | Fragmented | PlanLimit | WaitingForNodes | RoomAvailable | PodsNotCreated | SetAside
        | OneAtATime | GaveWay => Place::Unmet(false),
        PolicyDisabled | MirrorPod | NodeNotCounted | LastReplica | GangFloor | Guarantee | Budget
        | EvictionRefused | PriorityAboveAsk | Autoscaled | OptedOut | SizeSetByAnother | RollingOut
        | NotScalable => Place::Kept,
        NamespaceTaken | ManagedByKueue | InvalidSpec | ParentNotFound | ParentNotAccepting | ParentCycle
        | ParentStalled | GuaranteedAboveLimit => Place::Stalled,
        Outranked | Restored => Place::Size,
    }
}

/// What is said of `target` after one replacement in the cluster.
fn explained(from: &str, to: &str, namespace: &str, target: &str) -> Explanation {
    assert!(ML.contains(from), "{from}");
    let directory = directory(&[("ml.yaml", &ML.replacen(from, to, 1))]);
    let observed = observed_at(&directory.path().join("ml.yaml"), "2026-11-24T14:02:00Z");
    let cluster = Cluster::of(&Snapshot { is_partial: true, ..observed }, None).unwrap();
    explain(&cluster, &Target::parse(target).unwrap(), Some(namespace), &Question::default()).unwrap()
}

#[test]
fn every_reason_is_explained() {
    for reason in Reason::ALL {
        let name = reason.name();
        let said = |told: &Explanation, words: &str| {
            let text = told.text(Screen::plain());
            assert_eq!(told.reason.as_deref(), Some(name), "{text}");
            assert!(text.contains(words), "{name}:\n{text}");
        };
        match place(reason) {
            Place::Eviction => {
                let told =
                    explained("reason: Reclaimed", &format!("reason: {name}"), "ml-train", "pod/trainer-46");
                said(&told, "Evicted 40 s ago by Quotient");
            }
            Place::Starved => {
                let to = format!("reason: {name}\n      message");
                let told =
                    explained("reason: WaitingForPreemption\n      message", &to, "ml-dev", "queue/ml-dev");
                said(&told, "The queue lacks nvidia.com/gpu 3");
            }
            Place::Unmet(needs_a_person) => {
                let to = format!("reason: {name}");
                let told = explained("reason: PodsRejected", &to, "ml-train", "deploy/notebooks");
                said(&told, "2 pods of ReplicaSet notebooks-5d9c");
                assert_eq!(told.needs_a_person, needs_a_person, "{name}");
            }
            Place::Kept => assert_ne!(why_kept(reason), why_kept(Reason::Reclaimed), "{name}"),
            Place::Stalled => {
                let to = format!(
                    "- {{type: Stalled, status: \"True\", reason: {name}, message: told, lastTransitionTime: \"2026-11-24T10:00:00Z\"}}\n    - type: Starved"
                );
                let told = explained("- type: Starved", &to, "ml-dev", "queue/ml-dev");
                said(&told, &format!("has no share: {name}."));
                assert!(told.needs_a_person, "{name}");
            }
            // Nothing of its own to explain: the workload lists its missing pods as GaveWay.
            Place::Size => {}
        }
    }
}
