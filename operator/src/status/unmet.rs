//! What cannot start now, what stands in the way and what would help, in words.

use super::remembered::time;
use super::withheld;
use quotient_crds::{MAX_UNMET, Unmet as Written};
use quotient_engine::amounts::Amounts;
use quotient_engine::names::Namespace;
use quotient_engine::plan::{Preemptor, QueuePlan, Unmet};
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::SetAside;

use crate::message::{MOST, count, message as message_of};

/// The first of what cannot start in the queue's namespace, for the status.
pub(super) fn listed(namespace: &Namespace, queue: &QueuePlan) -> Vec<Written> {
    let written = |unmet: &Unmet| Written {
        kind: unmet.preemptor.kind_and_name().0.to_owned(),
        name: unmet.preemptor.kind_and_name().1.to_owned(),
        pods: count(unmet.pods),
        reason: unmet.reason.name().to_owned(),
        message: why_unmet(namespace, queue, unmet),
    };
    queue.unmet.iter().take(MAX_UNMET).map(written).collect()
}

/// The number of pods that cannot start in the queue's namespace.
pub(super) fn total(queue: &QueuePlan) -> i32 {
    count(queue.unmet.iter().map(|unmet| unmet.pods).fold(0, u32::saturating_add))
}

/// `ReplicaSet web: 3 pods of cpu 2`.
pub(super) fn pending_pods(unmet: &Unmet) -> String {
    let noun = if unmet.pods == 1 { "pod" } else { "pods" };
    format!("{}: {} {noun} of {}", unmet.preemptor, unmet.pods, unmet.requests)
}

/// What stands in the way of these pods, and what would help.
pub fn why_unmet(namespace: &Namespace, queue: &QueuePlan, unmet: &Unmet) -> String {
    if let Some(rejection) = &unmet.rejection {
        return rejection.sentence(MOST);
    }
    if let Some(gang) = &unmet.incomplete_gang {
        return message_of(gang.sentences());
    }
    let because = |why: &str| format!("The pods cannot start because {why}.");
    let general = || [because(unmet.reason.because()), unmet.reason.remedy().to_owned()];
    let said = match unmet.reason {
        ShortReason::GaveWay => String::new(),
        ShortReason::UnitAboveShare if !unmet.requests.fits_in(&queue.deserved) => message_of([
            format!("One pod requests {}, and the deserved share is {}.", unmet.requests, queue.deserved),
            unmet.reason.remedy().to_owned(),
        ]),
        ShortReason::RolloutNeedsRoom => rollout(queue, unmet),
        ShortReason::PodsNotCreated => not_created(namespace, unmet, general()),
        ShortReason::NoNodeFits if !unmet.left_out.is_nothing() => {
            let first = unmet.left_out.first.as_ref();
            let named =
                first.map(|resource| because(&format!("no node offers {resource}, which one requests")));
            let unnamed = because("no node offers all of the resources that one requests");
            let what = named.filter(|text| text.chars().count() <= MOST).unwrap_or(unnamed);
            message_of([what, unmet.reason.remedy().to_owned()])
        }
        ShortReason::SetAside => {
            let entry = queue.remember.set_aside.values().find(|entry| is_of(entry, unmet));
            let until = entry.map(|entry| format!("are set aside until {}", time(entry.until()).0));
            let why = "because they had room and did not start";
            let what = until.map(|until| format!("The pods {until} {why}."));
            let what = what.unwrap_or_else(|| because(unmet.reason.because()));
            message_of([what, unmet.reason.remedy().to_owned()])
        }
        ShortReason::EvictionsDisabled => {
            let why = withheld::evictions(queue);
            let what = because(why.as_deref().unwrap_or(unmet.reason.because()));
            message_of([what, unmet.reason.remedy().to_owned()])
        }
        _ => message_of(general()),
    };
    match &unmet.lowered {
        None => said,
        Some(lowered) if said.is_empty() => lowered.to_string(),
        Some(lowered) => format!("{said} {lowered}"),
    }
}

/// Whether the workload of `unmet` is the one that `entry` sets aside.
fn is_of(entry: &SetAside, unmet: &Unmet) -> bool {
    let top = unmet.controller.as_ref().map(|top| (&*top.kind, &*top.name));
    top.unwrap_or_else(|| unmet.preemptor.kind_and_name()) == (&*entry.kind, &*entry.name)
}

/// What is said of pods that do not come to be, with the command that shows the events that name the reason.
fn not_created(namespace: &Namespace, unmet: &Unmet, [what, next]: [String; 2]) -> String {
    let command = match &unmet.preemptor {
        Preemptor::Owner(kind, name) => {
            // Of an object with several templates the further ones are called NAME/1, NAME/2, ….
            let object = name.split('/').next().unwrap_or_default();
            format!("See: kubectl -n {namespace} describe {} {object}", kind.name().to_lowercase())
        }
        Preemptor::Pod(_) => String::new(),
    };
    let whole = message_of([what.clone(), next.clone(), command.clone()]);
    // The events say more than the next sentence does.
    if whole.ends_with(&command) { whole } else { message_of([what, command, next]) }
}

/// What a rolling update waits for, and both ways out.
fn rollout(queue: &QueuePlan, unmet: &Unmet) -> String {
    let workload = match &unmet.controller {
        Some(controller) => format!("{} {}", controller.kind, controller.name),
        None => unmet.preemptor.to_string(),
    };
    let resources = unmet.requests.resources();
    let used: Amounts = resources.map(|resource| (resource.clone(), queue.used.get(resource))).collect();
    message_of([
        format!("A new pod needs {} because the older pods keep the {used} in use.", unmet.requests),
        format!("The rollout of {workload} waits until the queue has room."),
        "Set maxUnavailable to at least 1, or raise the share or limit of the queue.".to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::{self, cpu};
    use expect_test::expect;
    use quotient_engine::amounts::Resource;
    use quotient_engine::names::OwnerUid;
    use quotient_engine::plan::Lowered;
    use quotient_engine::reasons::KeptReason;
    use quotient_engine::snapshot::{LeftOut, OwnerKind, Rejection, ScaleTarget, ScaleTargetKind, Workload};

    fn web(pods: u32, reason: ShortReason) -> Unmet {
        Unmet { requests: cpu(2000), ..plan::unmet(pods, reason) }
    }

    #[test]
    fn every_reason_has_words_of_its_own() {
        let distinct = |text: fn(ShortReason) -> &'static str| {
            ShortReason::ALL.iter().copied().map(text).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(ShortReason::because), ShortReason::ALL.len());
        for reason in ShortReason::ALL.iter().copied() {
            let printed = why_unmet(&"team".into(), &QueuePlan::default(), &web(1, reason));
            assert!(printed.chars().count() <= MOST, "{reason}: {printed}");
        }
    }

    /// What is said of each, a line each.
    fn said(queue: &QueuePlan, all: &[Unmet]) -> String {
        all.iter().map(|unmet| why_unmet(&"team".into(), queue, unmet) + "\n").collect()
    }

    #[test]
    fn what_cannot_start_is_told_with_its_numbers() {
        assert_eq!(pending_pods(&web(3, ShortReason::Fragmented)), "ReplicaSet web: 3 pods of cpu 2");
        let pod = Unmet { preemptor: Preemptor::Pod("x".into()), pods: 1, ..web(1, ShortReason::NoNodeFits) };
        assert_eq!(pending_pods(&pod), "Pod x: 1 pod of cpu 2");
        let large = [web(3, ShortReason::UnitAboveShare)];
        let deserving = |milli| said(&QueuePlan { deserved: cpu(milli), ..QueuePlan::default() }, &large);
        expect![[r#"
            One pod requests cpu 2, and the deserved share is cpu 1500m. Request less in one pod, lower the minimum of the gang, or raise weight or guaranteed of the queue.
            The pods cannot start because one pod, or the minimum of a gang, requests more than the deserved share. Request less in one pod, lower the minimum of the gang, or raise weight or guaranteed of the queue.
        "#]]
        .assert_eq(&(deserving(1500) + &deserving(3000)));
    }

    #[test]
    fn a_workload_of_which_pods_cannot_start_is_told_with_the_way_out() {
        let deployment = Workload { kind: "Deployment".into(), name: "web".into(), ..Workload::default() };
        let of_web =
            |pods, reason| Unmet { controller: Some(deployment.clone().into()), ..web(pods, reason) };
        let since = quotient_engine::time::Timestamp::from_seconds(600);
        let (kind, name) = ("Deployment".into(), "web".into());
        let entry = SetAside { kind, name, since, times: 2, ..SetAside::default() };
        let mut queue = QueuePlan { used: cpu(6000), ..QueuePlan::default() };
        queue.remember.set_aside.insert(OwnerUid::new("u-web"), entry);
        let all = [of_web(1, ShortReason::RolloutNeedsRoom), of_web(3, ShortReason::SetAside)];
        expect![[r#"
            A new pod needs cpu 2 because the older pods keep the cpu 6 in use. The rollout of Deployment web waits until the queue has room. Set maxUnavailable to at least 1, or raise the share or limit of the queue.
            The pods are set aside until 1970-01-01T00:12:00Z because they had room and did not start. They count again then, or when the spec changes, a node joins or a node has room; see the events.
        "#]]
        .assert_eq(&said(&queue, &all));
    }

    #[test]
    fn a_workload_that_quotient_lowered_is_told_with_both_sizes() {
        let scale_target = ScaleTarget {
            kind: ScaleTargetKind::Deployment,
            name: "web".into(),
            uid: OwnerUid::new("u-web"),
        };
        let lowered = |pods, reason, left_alone| {
            let lowered = Lowered { scale_target: scale_target.clone(), from: 5, to: 3, left_alone };
            Unmet { lowered: Some(Box::new(lowered)), ..web(pods, reason) }
        };
        let all = [
            lowered(2, ShortReason::GaveWay, None),
            // Some of its pods lack more than that.
            lowered(3, ShortReason::ShareInUse, None),
            lowered(2, ShortReason::GaveWay, Some(KeptReason::OptedOut)),
        ];
        expect![[r#"
            Quotient lowered Deployment web from 5 to 3 because other pods of the queue needed the room; in mode Full Quotient restores the size when the queue and a node have room
            The pods cannot start because other pods of the queue use all of the share. They start as other pods finish, or as the deserved share rises. Quotient lowered Deployment web from 5 to 3 because other pods of the queue needed the room; in mode Full Quotient restores the size when the queue and a node have room
            Quotient lowered Deployment web from 5 to 3 because other pods of the queue needed the room; Quotient leaves the size alone now (OptedOut)
        "#]]
        .assert_eq(&said(&QueuePlan::default(), &all));
    }

    #[test]
    fn what_does_not_come_to_be_is_told_with_where_to_look() {
        let not_created = |name: &str| Unmet {
            preemptor: Preemptor::Owner(OwnerKind::Job, name.into()),
            ..web(1, ShortReason::PodsNotCreated)
        };
        let rejected = |why: &str| Unmet {
            rejection: Some(Rejection::ByServer(why.into())),
            ..web(1, ShortReason::PodsRejected)
        };
        let left_out = LeftOut { resources: 3, first: Some(Resource::from_name("example.org/fpga")) };
        let all = [
            not_created("train"),
            // The command matters most, and is left out where it does not fit.
            not_created(&"x".repeat(50)),
            not_created(&"x".repeat(200)),
            rejected("policy says no"),
            Unmet { left_out, ..web(1, ShortReason::NoNodeFits) },
        ];
        let queue = QueuePlan::default();
        expect![[r#"
            The pods cannot start because their controller has not created them for 60 s. The queue has room: look for a missing ServiceAccount, a webhook or a controller that waits. See: kubectl -n team describe job train
            The pods cannot start because their controller has not created them for 60 s. See: kubectl -n team describe job xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            The pods cannot start because their controller has not created them for 60 s. The queue has room: look for a missing ServiceAccount, a webhook or a controller that waits.
            the API server rejects its pods: policy says no; correct its template, or the rule that rejects it
            The pods cannot start because no node offers example.org/fpga, which one requests. Correct node selector, affinity, tolerations or size, or add such a node.
        "#]]
        .assert_eq(&said(&queue, &all));
        let long = why_unmet(&"team".into(), &queue, &rejected(&"long ".repeat(99)));
        assert_eq!(long.chars().count(), MOST);
    }

    #[test]
    fn only_the_first_few_are_listed() {
        let queue = QueuePlan { unmet: vec![web(3, ShortReason::Fragmented); 20], ..QueuePlan::default() };
        let listed = listed(&"team".into(), &queue);
        assert_eq!(listed.len(), MAX_UNMET);
        assert_eq!((&*listed[0].kind, &*listed[0].name, listed[0].pods), ("ReplicaSet", "web", 3));
        assert_eq!(listed[0].reason, "Fragmented");
    }
}
