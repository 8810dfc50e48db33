//! What cannot start now, what stands in the way and what would help, in words.

use super::withheld;
use quotient_crds::{MAX_UNMET, Unmet as Written};
use quotient_engine::names::Namespace;
use quotient_engine::plan::{Asker, QueuePlan, Unmet};
use quotient_engine::reason::Reason;

/// The most characters of a message that quotes others.
const MOST: usize = 240;

/// The first of what cannot start in the queue's namespace, for the status.
pub(super) fn listed(namespace: &Namespace, queue: &QueuePlan) -> Vec<Written> {
    let written = |unmet: &Unmet| Written {
        kind: kind_and_name(&unmet.who).0.to_owned(),
        name: kind_and_name(&unmet.who).1.to_owned(),
        pods: i32::try_from(unmet.pods).unwrap_or(i32::MAX),
        reason: unmet.reason.name().to_owned(),
        message: message(namespace, queue, unmet),
    };
    queue.unmet.iter().take(MAX_UNMET).map(written).collect()
}

/// The number of pods that cannot start in the queue's namespace.
pub(super) fn total(queue: &QueuePlan) -> i32 {
    let pods = queue.unmet.iter().map(|unmet| unmet.pods).fold(0, u32::saturating_add);
    i32::try_from(pods).unwrap_or(i32::MAX)
}

/// `ReplicaSet web: 3 pods of cpu 2`.
pub(super) fn ask(unmet: &Unmet) -> String {
    let noun = if unmet.pods == 1 { "pod" } else { "pods" };
    format!("{}: {} {noun} of {}", who(&unmet.who), unmet.pods, unmet.requests)
}

/// What stands in the way of one ask, and what would help.
pub(super) fn message(namespace: &Namespace, queue: &QueuePlan, unmet: &Unmet) -> String {
    if let Some(rejection) = &unmet.rejection {
        return rejection.sentence(MOST);
    }
    let said = match unmet.reason {
        Reason::GaveWay => String::new(),
        Reason::UnitAboveShare => format!(
            "one pod requests {}, and all that the queue deserves is {}; {}",
            unmet.requests,
            queue.deserved,
            way_out(Reason::UnitAboveShare)
        ),
        Reason::PodsNotCreated => {
            let general = format!("{}; {}", obstacle(unmet.reason), way_out(unmet.reason));
            let Asker::Owner(kind, name) = &unmet.who else { return general };
            let command = format!("kubectl -n {namespace} describe {} {name}", kind.name().to_lowercase());
            bounded(format!("{}; see the events of: {command}", obstacle(unmet.reason))).unwrap_or(general)
        }
        Reason::NoNodeFits if !unmet.left_out.is_nothing() => {
            let general = "no node offers all of the resources that one pod requests";
            let first = unmet.left_out.first.as_ref();
            let first = first.map(|resource| format!("one pod requests {resource}, which no node offers"));
            let told = first.unwrap_or_else(|| general.to_owned());
            let with = |told: &str| format!("{told}; {}", way_out(unmet.reason));
            bounded(with(&told)).unwrap_or_else(|| with(general))
        }
        reason => sentence(queue, reason),
    };
    match &unmet.lowered {
        None => said,
        Some(lowered) if said.is_empty() => lowered.to_string(),
        Some(lowered) => format!("{said}. {lowered}"),
    }
}

/// What stands in the way of `queue` for this `reason`, and what ends it.
pub(super) fn sentence(queue: &QueuePlan, reason: Reason) -> String {
    let withheld = if reason == Reason::EvictionsDisabled { withheld::evictions(queue) } else { None };
    let obstacle = withheld.unwrap_or_else(|| obstacle(reason).to_owned());
    format!("{obstacle}; {}", way_out(reason))
}

/// `text`, unless it is too long.
fn bounded(text: String) -> Option<String> {
    (text.chars().count() <= MOST).then_some(text)
}

/// What stands in the way, in general.
pub(crate) const fn obstacle(reason: Reason) -> &'static str {
    match reason {
        Reason::WaitingForPreemption => "pods of other queues that hold it are on their way out",
        Reason::WaitingForQuota => "the lowered quota of another queue is not enforced yet",
        Reason::WaitingForLedger => {
            "the record of what was granted was lost or written by another replica, and nothing may grow until every quota \
             is seen as it says"
        }
        Reason::Fenced => "it is held outside the fence that the queue may take from",
        Reason::NothingToEvict => "no pod that may be evicted holds it",
        Reason::Blocked => "pods that hold it may not be evicted now",
        Reason::EvictionsDisabled => "the pods that hold it are not evicted because of a mode or a pause",
        Reason::StuckTerminating => {
            "the pods that hold it should have been gone long ago and are still there"
        }
        Reason::CapacityUntrusted => {
            "much of the nodes' capacity vanished at one stroke, and nothing is taken because of that until it is certain"
        }
        Reason::ViewStale => {
            "the API server has not been heard of for too long, and nothing is taken on the strength of an old view"
        }
        Reason::Delayed => "the queue has not been short for reclaim.afterSeconds yet",
        Reason::Guarantee => "those who hold it would fall below what is guaranteed to them",
        Reason::UnitAboveShare => "one pod requests more than all that the queue deserves",
        Reason::ShareInUse => "the queue's other pods use all that it may have now",
        Reason::AboveLimit => "the limit of the queue, or of one above it, is reached",
        Reason::ForeignQuota => "another ResourceQuota of the namespace leaves no room",
        Reason::Fragmented => {
            "there is room in the queue, but no single node that suits has enough of it free"
        }
        Reason::NoNodeFits => {
            "no node could run it even if it were empty: node selector, affinity, taints or sheer size"
        }
        Reason::WaitingForNodes => "no node has room, and the autoscaler is given time to add one",
        Reason::RoomAvailable => "there is room, and it has not been taken yet",
        Reason::PodsRejected => "the API server rejects its pods",
        Reason::PodsNotCreated => {
            "there has been room for 60 s, and the pods are not created: the API server rejects them, or their \
             controller holds them back"
        }
        Reason::NotTakenUp => {
            "it had room for a while and did not start, so it does not count as demand any more"
        }
        _ => "it is held by others",
    }
}

/// What ends it: by itself, or by whom.
pub(crate) const fn way_out(reason: Reason) -> &'static str {
    match reason {
        Reason::WaitingForPreemption => "it comes as they go",
        Reason::WaitingForQuota => {
            "kube-controller-manager enforces it in a moment, and then pods of that queue leave"
        }
        Reason::WaitingForLedger => {
            "that takes a moment; a quota that cannot be written may make it ten minutes"
        }
        Reason::Fenced => "it comes as pods finish there",
        Reason::NothingToEvict => "it comes as those that hold it finish",
        Reason::Blocked => "it comes as pods finish, or when their disruption budgets allow more",
        Reason::StuckTerminating => {
            "it comes when their finalizers are removed or their lost nodes deleted, or by itself with \
             eviction.forceAfterSeconds of their Queue"
        }
        Reason::CapacityUntrusted => {
            "it ends when the capacity is back, or when a second full list of nodes agrees and \
             --capacity-grace-seconds have passed"
        }
        Reason::ViewStale => "it ends as soon as every kind of object was heard of again",
        Reason::Delayed => "then pods of other queues leave for it",
        Reason::Guarantee => "it comes as their pods finish",
        Reason::UnitAboveShare => {
            "ask for less in one pod, or give the queue a larger weight or a guarantee of that size"
        }
        Reason::ShareInUse => "it comes as they finish, or as the queue's share grows",
        Reason::AboveLimit => "it comes as pods below that limit finish, or when the limit is raised",
        Reason::ForeignQuota => {
            "it comes as pods of the namespace finish, or when that quota is raised or removed"
        }
        Reason::Fragmented => "it comes as pods finish on one of them, or with another node",
        Reason::NoNodeFits => "correct what the pods ask of a node, or add a node that has it",
        Reason::WaitingForNodes => "if none comes within 10 minutes, pods of other queues leave for it",
        Reason::RoomAvailable => "its controller has to create the pods, or the scheduler to place them",
        Reason::PodsRejected => "correct its template, or the rule that rejects it",
        Reason::PodsNotCreated => "the events of their controller say more",
        Reason::NotTakenUp => "it counts again once its spec is changed or a pod of it is Ready",
        _ => "it comes as pods finish",
    }
}

fn who(asker: &Asker) -> String {
    let (kind, name) = kind_and_name(asker);
    format!("{kind} {name}")
}

fn kind_and_name(asker: &Asker) -> (&str, &str) {
    match asker {
        Asker::Pod(name) => ("Pod", name.as_str()),
        Asker::Owner(kind, name) => (kind.name(), name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::{Amount, Amounts, Resource};
    use quotient_engine::names::OwnerUid;
    use quotient_engine::plan::Lowered;
    use quotient_engine::snapshot::{LeftOut, OwnerKind, Rejection, Setter, SetterKind};

    /// Those that a pod or a queue may wait for.
    const ALL: [Reason; 19] = [
        Reason::WaitingForPreemption,
        Reason::WaitingForQuota,
        Reason::WaitingForLedger,
        Reason::Fenced,
        Reason::NothingToEvict,
        Reason::Blocked,
        Reason::EvictionsDisabled,
        Reason::Delayed,
        Reason::Guarantee,
        Reason::UnitAboveShare,
        Reason::AboveLimit,
        Reason::ForeignQuota,
        Reason::Fragmented,
        Reason::NoNodeFits,
        Reason::WaitingForNodes,
        Reason::RoomAvailable,
        Reason::PodsRejected,
        Reason::PodsNotCreated,
        Reason::NotTakenUp,
    ];

    fn cpu(milli: i128) -> Amounts {
        [(Resource::Cpu, Amount::new(milli))].into_iter().collect()
    }

    fn web(pods: u32, reason: Reason) -> Unmet {
        Unmet {
            who: Asker::Owner(OwnerKind::ReplicaSet, "web".into()),
            pods,
            requests: cpu(2000),
            reason,
            rejection: None,
            left_out: LeftOut::default(),
            lowered: None,
        }
    }

    #[test]
    fn every_reason_has_words_of_its_own() {
        let distinct = |text: fn(Reason) -> &'static str| {
            ALL.into_iter().map(text).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(obstacle), ALL.len());
        assert_eq!(distinct(way_out), ALL.len());
        for reason in ALL {
            let told = message(&"team".into(), &QueuePlan::default(), &web(1, reason));
            assert!(!told.contains("held by others"), "{reason}: {told}");
        }
    }

    #[test]
    fn an_ask_is_told_with_its_numbers() {
        assert_eq!(ask(&web(3, Reason::Fragmented)), "ReplicaSet web: 3 pods of cpu 2");
        let pod = Unmet { who: Asker::Pod("x".into()), pods: 1, ..web(1, Reason::NoNodeFits) };
        assert_eq!(ask(&pod), "Pod x: 1 pod of cpu 2");
        let queue = QueuePlan { deserved: cpu(1500), ..QueuePlan::default() };
        assert_eq!(
            message(&"team".into(), &queue, &web(3, Reason::UnitAboveShare)),
            "one pod requests cpu 2, and all that the queue deserves is cpu 1500m; ask for less in one pod, or give \
             the queue a larger weight or a guarantee of that size"
        );
    }

    #[test]
    fn a_workload_that_quotient_lowered_is_told_with_both_sizes() {
        let setter = Setter { kind: SetterKind::Deployment, name: "web".into(), uid: OwnerUid::new("u-web") };
        let lowered = Lowered { setter, from: 5, to: 3, left_alone: None };
        let unmet = Unmet { lowered: Some(lowered.clone()), ..web(2, Reason::GaveWay) };
        let told = "Quotient lowered Deployment web from 5 to 3 because pods of a higher priority in the queue needed the \
                    room; in mode Full Quotient restores the size when the queue and a node have room";
        assert_eq!(message(&Namespace::from("a"), &QueuePlan::default(), &unmet), told);
        // Some of its pods lack more than that.
        let unmet = Unmet { reason: Reason::ShareInUse, pods: 3, ..unmet };
        assert_eq!(
            message(&Namespace::from("a"), &QueuePlan::default(), &unmet),
            format!(
                "the queue's other pods use all that it may have now; it comes as they finish, or as the queue's share \
                 grows. {told}"
            )
        );
        let kept = Lowered { left_alone: Some(Reason::OptedOut), ..lowered };
        let unmet = Unmet { lowered: Some(kept), ..web(2, Reason::GaveWay) };
        assert!(
            message(&Namespace::from("a"), &QueuePlan::default(), &unmet)
                .ends_with("; Quotient leaves the size alone now (OptedOut)")
        );
    }

    #[test]
    fn what_does_not_come_to_be_is_told_with_where_to_look() {
        let told = |unmet: &Unmet| message(&"team".into(), &QueuePlan::default(), unmet);
        let job = Asker::Owner(OwnerKind::Job, "train".into());
        assert_eq!(
            told(&Unmet { who: job, ..web(1, Reason::PodsNotCreated) }),
            "there has been room for 60 s, and the pods are not created: the API server rejects them, or their \
             controller holds them back; see the events of: kubectl -n team describe job train"
        );
        let long = Asker::Owner(OwnerKind::Job, "x".repeat(200).into());
        let told_long = told(&Unmet { who: long, ..web(1, Reason::PodsNotCreated) });
        assert!(told_long.ends_with("; the events of their controller say more"), "{told_long}");
        let rejection = Some(Rejection::Said("policy says no".into()));
        assert_eq!(
            told(&Unmet { rejection, ..web(1, Reason::PodsRejected) }),
            "the API server rejects its pods: policy says no; correct its template, or the rule that rejects it"
        );
        let rejection = Some(Rejection::Said("long ".repeat(99).into()));
        assert_eq!(told(&Unmet { rejection, ..web(1, Reason::PodsRejected) }).chars().count(), MOST);
        let left_out = LeftOut { resources: 3, first: Some(Resource::from_name("example.org/fpga")) };
        assert_eq!(
            told(&Unmet { left_out, ..web(1, Reason::NoNodeFits) }),
            "one pod requests example.org/fpga, which no node offers; correct what the pods ask of a node, or add a \
             node that has it"
        );
    }

    #[test]
    fn only_the_first_few_are_listed() {
        let queue = QueuePlan { unmet: vec![web(3, Reason::Fragmented); 20], ..QueuePlan::default() };
        let listed = listed(&"team".into(), &queue);
        assert_eq!(listed.len(), MAX_UNMET);
        assert_eq!((&*listed[0].kind, &*listed[0].name, listed[0].pods), ("ReplicaSet", "web", 3));
        assert_eq!(listed[0].reason, "Fragmented");
    }
}
