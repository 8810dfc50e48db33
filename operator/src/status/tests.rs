//! Statuses from plans.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use quotient_crds::QueueStatus;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Pause, Plan, PodCounts, QueuePlan, Reach, Stall, Unmet, Withheld};
use quotient_engine::reasons::{KeptReason, ShortReason, StallReason};
use quotient_engine::snapshot::{Mode, Remembered, SetAside, Window};
use quotient_index::SkippedObject;
use serde_json::json;

use super::Blocked;
use super::{Circumstances, Overview, QuotaState, compose};
use crate::tests::plan::{self, cpu, cpu_and_memory as amounts};

fn team() -> QueueName {
    QueueName::new("a", "team")
}

/// Of 9 cpu and 27Gi, `team` deserves 3 cpu and 9Gi, and has them.
fn settled() -> QueuePlan {
    QueuePlan {
        uid: "1".into(),
        demand: amounts(5000, 10),
        deserved: amounts(3000, 9),
        target: amounts(3000, 9),
        nominal: amounts(3000, 9),
        allocated: amounts(3000, 9),
        used: amounts(2000, 2),
        pods: PodCounts { running: 2, ..PodCounts::default() },
        quota_in_force: true,
        ..QueuePlan::default()
    }
}

fn plan(queue: QueuePlan) -> Plan {
    Plan {
        resources: vec![Resource::Cpu, Resource::Memory],
        capacity: amounts(9000, 27),
        queues: [(team(), queue)].into(),
        ..Plan::default()
    }
}

fn normal() -> Circumstances {
    Circumstances { quota: QuotaState::InForce, blocked: None, reclaims: Vec::new(), skipped: None }
}

fn status(
    plan: &Plan,
    former: Option<&QueueStatus>,
    circumstances: &Circumstances,
    second: i64,
) -> QueueStatus {
    let now = Timestamp::from_second(second).unwrap();
    compose(&Overview::of(plan), &team(), Some(3), former, circumstances, now).unwrap()
}

/// The reasons of a queue that is as it should be.
const USUAL: [&str; 6] = ["Reconciled", "Synced", "ShareMet", "WithinShare", "Meetable", "Governing"];

/// The state in one word, and `Type=Status Reason: message` of the conditions that say something else than usual.
fn printed(status: &QueueStatus) -> String {
    let mut text = status.summary.as_ref().and_then(|summary| summary.state.clone()).unwrap() + "\n";
    for condition in status.conditions.iter().filter(|condition| !USUAL.contains(&condition.reason.as_str()))
    {
        let Condition { type_, status, reason, message, .. } = condition;
        let _ = writeln!(text, "{type_}={status} {reason}: {message}");
    }
    text
}

/// What the status of a Queue says that had none.
fn check_plan(plan: &Plan, circumstances: &Circumstances, expected: &Expect) {
    expected.assert_eq(&printed(&status(plan, None, circumstances, 10)));
}

fn check(queue: QueuePlan, expected: &Expect) {
    check_plan(&plan(queue), &normal(), expected);
}

/// The same where the write of the quota stands like this.
fn check_quota(queue: QueuePlan, quota: QuotaState, expected: &Expect) {
    check_plan(&plan(queue), &Circumstances { quota, ..normal() }, expected);
}

#[test]
fn a_queue_that_has_its_share() {
    let mut status = status(&plan(settled()), None, &normal(), 10);
    assert_eq!((printed(&status).as_str(), status.conditions.len()), ("OK\n", 6));
    status.conditions.clear();
    assert_eq!(
        serde_json::to_value(&status).unwrap(),
        json!({
            "observedGeneration": 3,
            "demand": {"cpu": "5", "memory": "10Gi"},
            "deserved": {"cpu": "3", "memory": "9Gi"},
            "allocated": {"cpu": "3", "memory": "9Gi"},
            "used": {"cpu": "2", "memory": "2Gi"},
            "preempting": {},
            "nominal": {"cpu": "3", "memory": "9Gi"},
            "borrowed": {},
            "lent": {},
            "pods": {"running": 2, "pending": 0, "terminating": 0},
            "summary": {
                "state": "OK", "demand": "5c 10Gi", "deserved": "3c 9Gi", "allocated": "3c 9Gi", "used": "2c 2Gi",
                "preempting": "0", "nominal": "3c 9Gi", "pods": "2/2",
            },
            "unmetTotal": 0,
        })
    );
}

#[test]
fn what_is_lacking_is_told_in_whole_pods() {
    let waits = || QueuePlan {
        preempting: amounts(2000, 0),
        lacking: amounts(2000, 0),
        starved: Some(ShortReason::WaitingForPreemption),
        ..settled()
    };
    check(
        QueuePlan { allocated: amounts(1000, 9), ..waits() },
        &expect![[r#"
        WaitingForPreemption
        Starved=True WaitingForPreemption: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because terminating pods use the room. The quota rises as these pods end.
    "#]],
    );
    let queue = QueuePlan { target: amounts(4000, 9), allocated: amounts(2000, 9), ..waits() };
    check(
        queue,
        &expect![[r#"
        WaitingForPreemption
        Starved=True WaitingForPreemption: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi (cpu 4, memory 9Gi in whole pods) because terminating pods use the room. The quota rises as these pods end.
    "#]],
    );
    // What its own pods hold is missing in its quota alone.
    let held = QueuePlan { allocated: amounts(2000, 9), used: amounts(3000, 9), ..settled() };
    check(
        held,
        &expect![[r#"
        OK
        Starved=False HeldByItself: The pods of the queue use cpu 1 that its quota does not allow. The quota rises when all queues together use no more than the nodes offer.
    "#]],
    );
}

#[test]
fn what_a_queue_uses_above_its_share_is_lent_by_those_that_use_less() {
    let more = QueuePlan { used: amounts(5000, 2), ..settled() };
    let amounts_of = |queue| {
        let mut plan = plan(queue);
        plan.queues.insert(QueueName::new("b", "batch"), QueuePlan { used: amounts(4000, 1), ..settled() });
        let status = status(&plan, None, &normal(), 10);
        (status.borrowed, status.lent)
    };
    check(
        more.clone(),
        &expect![[r#"
        Borrowing
        Overused=True UsedAboveDeserved: The queue uses cpu 5 and deserves cpu 3. Quotient evicts the least protected pods when another queue is starved.
    "#]],
    );
    assert_eq!(amounts_of(more).0, Some([("cpu", "2")].into()));
    assert_eq!(amounts_of(QueuePlan { used: amounts(1000, 1), ..settled() }).1, Some([("cpu", "2")].into()));
}

#[test]
fn a_quota_that_moves_normally_is_no_news() {
    let moving = || QueuePlan { quota_in_force: false, ..settled() };
    let first = status(&plan(settled()), None, &normal(), 10);
    let settling = Circumstances { quota: QuotaState::Settling, ..normal() };
    assert!(status(&plan(moving()), Some(&first), &settling, 20).same_meaning(&first));
    // A new Queue has none yet, and says so.
    check_quota(
        moving(),
        QuotaState::Settling,
        &expect![[r#"
        WaitingForQuotaController
        Ready=False WaitingForQuotaController: the quota's status does not show the allocated amounts yet, so they are not enforced; kube-controller-manager fills it in
        QuotaSynced=False WaitingForQuotaController: the quota's status does not show the allocated amounts yet, so they are not enforced; kube-controller-manager fills it in
    "#]],
    );
    let waiting = Circumstances { quota: QuotaState::Waiting, ..normal() };
    let late = status(&plan(moving()), Some(&first), &waiting, 30);
    assert_eq!(printed(&late), printed(&status(&plan(moving()), None, &settling, 20)));
    let times: Vec<i64> =
        late.conditions.iter().map(|condition| condition.last_transition_time.0.as_second()).collect();
    assert_eq!(times, [30, 30, 10, 10, 10, 10]);
    check_quota(
        moving(),
        QuotaState::Refused("forbidden".to_owned()),
        &expect![[r#"
        WriteRefused
        Ready=False WriteRefused: the quota cannot be written: forbidden
        QuotaSynced=False WriteRefused: the quota cannot be written: forbidden
    "#]],
    );
    let what = "the quota was edited by kubectl-edit again";
    check_quota(
        moving(),
        QuotaState::Contested(what.to_owned()),
        &expect![[r#"
        QuotaContested
        Ready=False QuotaContested: the quota was edited by kubectl-edit again
        QuotaSynced=False QuotaContested: the quota was edited by kubectl-edit again
    "#]],
    );
}

#[test]
fn objects_that_cannot_be_read_are_named() {
    for (names, expected) in [
        (
            &["web"][..],
            expect![[r#"
        OK
        Ready=True ObjectsSkipped: Quotient cannot read all of poddisruptionbudgets.policy web: status.conditions: invalid type. Correct or delete the object.
    "#]],
        ),
        (
            &["web", "x", "y"],
            expect![[r#"
        OK
        Ready=True ObjectsSkipped: Quotient cannot read all of poddisruptionbudgets.policy web: status.conditions: invalid type. The same holds for 2 more objects. Correct or delete the object.
    "#]],
        ),
    ] {
        let object = |name: &&str| SkippedObject {
            kind: "poddisruptionbudgets.policy".into(),
            name: (*name).into(),
            error: "status.conditions: invalid type".to_owned(),
        };
        let skipped: Vec<SkippedObject> = names.iter().map(object).collect();
        check_plan(&plan(settled()), &Circumstances { skipped: Some(skipped.into()), ..normal() }, &expected);
    }
}

#[test]
fn a_blocked_preemption_says_what_blocks_it() {
    let blocked = Blocked::of_pods(KeptReason::Budget, "pod b/web cannot be evicted".to_owned());
    let blocked = Circumstances { blocked: Some(blocked), ..normal() };
    for (starved, expected) in [
        (
            ShortReason::Blocked,
            expect![[r#"
            Budget
            Starved=True Budget: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because pod b/web cannot be evicted. The quota rises when their budgets allow more. kubectl delete pod asks no budget.
        "#]],
        ),
        // Where no eviction is allowed at all, that comes first.
        (
            ShortReason::EvictionsDisabled,
            expect![[r#"
            EvictionsDisabled
            Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because a mode or a pause withholds the evictions. No pod is evicted for it. The quota rises as pods of other queues finish.
        "#]],
        ),
    ] {
        let queue = QueuePlan { starved: Some(starved), lacking: amounts(2000, 0), ..settled() };
        check_plan(&plan(queue), &blocked, &expected);
    }
}

fn in_mode(mode: Mode) -> QueuePlan {
    QueuePlan { reach: Reach { mode, ..Reach::default() }, ..settled() }
}

#[test]
fn a_mode_below_full_is_told() {
    let observing = || QueuePlan { quota_in_force: false, quota_left_alone: true, ..in_mode(Mode::Observe) };
    check_quota(
        observing(),
        QuotaState::Waiting,
        &expect![[r#"
        Observe
        QuotaSynced=False ObserveMode: Quotient writes no quota here because the operator runs in mode Observe
    "#]],
    );
    // A parent has no quota of its own.
    let parent = QueuePlan { is_parent: true, quota_left_alone: false, ..observing() };
    check_quota(
        parent,
        QuotaState::Waiting,
        &expect![[r#"
        Observe
        QuotaSynced=False ObserveMode: Quotient writes no quota here because the operator runs in mode Observe
        Stalled=False Grouping: the Queue groups the queues that take their share from it
    "#]],
    );
    // The state names a mode below Full.
    let state = |mode, starved: Option<ShortReason>, used| {
        let lacking = if starved.is_some() { amounts(1000, 0) } else { Amounts::new() };
        let queue = QueuePlan { starved, lacking, used, ..in_mode(mode) };
        status(&plan(queue), None, &normal(), 10).summary.unwrap().state.unwrap()
    };
    let disabled = Some(ShortReason::EvictionsDisabled);
    for (mode, starved, used, expected) in [
        (Mode::Observe, disabled, 1000, "Observe"),
        (Mode::Quota, disabled, 1000, "EvictionsDisabled"),
        (Mode::Quota, None, 9000, "Quota"),
        (Mode::Full, None, 9000, "Borrowing"),
        (Mode::Full, None, 1000, "OK"),
    ] {
        assert_eq!(state(mode, starved, amounts(used, 1)), expected);
    }
}

fn paused() -> Reach {
    let until = quotient_engine::time::Timestamp::from_seconds(1_796_112_000);
    Reach { pause: Some(Pause { until, of: QueueName::new("org", "research") }), ..Reach::default() }
}

#[test]
fn a_pause_shows_in_a_condition_with_its_end() {
    let queue = QueuePlan { reach: paused(), ..settled() };
    check(
        queue.clone(),
        &expect![[r#"
        Paused
        Ready=True Paused: Quotient lowers no quota and evicts no pod here because queue org/research is paused until 2026-12-01T08:00:00Z. The pause ends by itself. To end it now, remove spec.pausedUntil of that queue
    "#]],
    );
    // The quota was deleted: it stays so, and that is no failure.
    let left = QueuePlan { quota_left_alone: true, quota_in_force: false, ..queue };
    check_quota(
        left,
        QuotaState::Waiting,
        &expect![[r#"
        Paused
        Ready=True Paused: Quotient lowers no quota and evicts no pod here because queue org/research is paused until 2026-12-01T08:00:00Z. The pause ends by itself. To end it now, remove spec.pausedUntil of that queue
        QuotaSynced=False Paused: Quotient leaves the quota as it is because queue org/research is paused until 2026-12-01T08:00:00Z. Quotient writes the quota again after that
    "#]],
    );
}

#[test]
fn what_keeps_shares_from_moving_is_told_by_every_queue() {
    let of_plan = |plan: Plan, expected: Expect| check_plan(&plan, &normal(), &expected);
    of_plan(
        Plan { capacity: Amounts::new(), ..plan(settled()) },
        expect![[r#"
        CapacityUnknown
        Ready=False CapacityUnknown: no node counts toward the capacity; until one does, no quota shrinks and no pod is evicted
    "#]],
    );
    of_plan(
        Plan { held: Some(ShortReason::CapacityUntrusted), ..plan(settled()) },
        expect![[r#"
        OK
        Ready=True CapacityUntrusted: Quotas do not shrink because much of the capacity of the nodes vanished at once. Quotient waits for the capacity, or for a second full list and --capacity-grace-seconds. The spec is understood and its share computed.
    "#]],
    );
    of_plan(
        Plan { held: Some(ShortReason::ViewStale), ..plan(settled()) },
        expect![[r#"
        OK
        Ready=True ViewStale: Quotas do not shrink because the API server has sent nothing for too long. Quotient goes on as soon as the API server has sent every kind of object. The spec is understood and its share computed.
    "#]],
    );
    // A tighter quota of others.
    let foreign_limit = cpu(2000);
    of_plan(
        plan(QueuePlan { foreign_limit, ..settled() }),
        expect![[r#"
        OK
        Ready=True ForeignQuota: The spec is understood and its share computed. Another ResourceQuota of the namespace bounds the share to cpu 2.
    "#]],
    );
}

#[test]
fn a_stalled_queue_says_what_to_mend_and_has_no_amounts() {
    let former = status(&plan(settled()), None, &normal(), 10);
    let stall = Stall {
        generation: 1,
        uid: "1".into(),
        reason: StallReason::NamespaceTaken,
        message: "the older Queue a/first governs the namespace".into(),
    };
    let plan = Plan { stalled: [(team(), stall)].into(), ..Plan::default() };
    let status = status(&plan, Some(&former), &normal(), 20);
    expect![[r#"
        NamespaceTaken
        Ready=False NamespaceTaken: the older Queue a/first governs the namespace
        QuotaSynced=False NamespaceTaken: no quota is written for a Queue without a share
        Starved=False NamespaceTaken: the Queue has no share
        Overused=False NamespaceTaken: the Queue has no share
        GuaranteeUnmeetable=False NamespaceTaken: the Queue has no share
        Stalled=True NamespaceTaken: the older Queue a/first governs the namespace
    "#]]
    .assert_eq(&printed(&status));
    assert_eq!(status.deserved, None);
}

/// Short of 2 cpu for this reason, with three pods that cannot start for that one.
fn short(starved: ShortReason, unmet: Option<ShortReason>) -> QueuePlan {
    let web = |reason| Unmet { requests: amounts(2000, 0), ..plan::unmet(3, reason) };
    QueuePlan {
        preempting: amounts(2000, 0),
        lacking: amounts(2000, 0),
        starved: Some(starved),
        unmet: unmet.map(web).into_iter().collect(),
        ..settled()
    }
}

#[test]
fn what_waits_is_named_where_the_queue_is_starved() {
    check(
        short(ShortReason::Fenced, Some(ShortReason::Fragmented)),
        &expect![[r#"
        Fenced
        Starved=True Fenced: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queues outside the preemption fence use the room. The quota rises as pods outside the fence finish.
    "#]],
    );
    // The same is said once.
    check(
        short(ShortReason::Delayed, Some(ShortReason::Delayed)),
        &expect![[r#"
        Delayed
        Starved=True Delayed: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because reclaim.afterSeconds of the queue have not passed yet. Then Quotient evicts pods of other queues. ReplicaSet web: 3 pods of cpu 2.
    "#]],
    );
    // A queue may have all that it deserves, and still its pods do not start.
    let whole = QueuePlan {
        preempting: Amounts::new(),
        lacking: Amounts::new(),
        ..short(ShortReason::UnitAboveShare, Some(ShortReason::UnitAboveShare))
    };
    check(
        whole,
        &expect![[r#"
        UnitAboveShare
        Starved=True UnitAboveShare: The queue has the deserved cpu 3, memory 9Gi and cannot use all of it because one pod, or the minimum of a gang, requests more than the deserved share. ReplicaSet web: 3 pods of cpu 2.
    "#]],
    );
}

#[test]
fn what_withholds_evictions_is_named() {
    let disabled = ShortReason::EvictionsDisabled;
    for (withheld, expected) in [
        (
            Withheld::QueueMode(QueueName::new("team-b", "team-b"), Mode::Quota),
            expect![[r#"
            EvictionsDisabled
            Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queue team-b is in mode Quota. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
            The pods cannot start because queue team-b is in mode Quota. No pod is evicted for it. The quota rises as pods of other queues finish.
        "#]],
        ),
        (
            Withheld::Pause(paused().pause.unwrap()),
            expect![[r#"
            EvictionsDisabled
            Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queue org/research is paused until 2026-12-01T08:00:00Z. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
            The pods cannot start because queue org/research is paused until 2026-12-01T08:00:00Z. No pod is evicted for it. The quota rises as pods of other queues finish.
        "#]],
        ),
        (
            Withheld::OperatorMode(Mode::Observe),
            expect![[r#"
            EvictionsDisabled
            Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because the operator runs in mode Observe. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
            The pods cannot start because the operator runs in mode Observe. No pod is evicted for it. The quota rises as pods of other queues finish.
        "#]],
        ),
    ] {
        let queue = QueuePlan { withheld: Some(withheld), ..short(disabled, Some(disabled)) };
        let status = status(&plan(queue), None, &normal(), 10);
        expected.assert_eq(&format!("{}{}\n", printed(&status), status.unmet[0].message));
    }
}

#[test]
fn what_is_remembered_and_what_waits_is_written() {
    let since = quotient_engine::time::Timestamp::from_millis(9_500);
    let entry = SetAside { kind: "Job".into(), name: "train".into(), since, times: 1, ..SetAside::default() };
    let window = Window { size: Amount::new(4000), target: Amount::new(3500), used: since, lost: None };
    let queue = QueuePlan {
        remember: Remembered {
            falling: [(Resource::Cpu, since)].into(),
            set_aside: [("job".into(), entry)].into(),
            not_created: [("set".into(), since)].into(),
            short_since: Some(since),
            windows: [(Resource::Cpu, window)].into(),
            ..Remembered::default()
        },
        ..short(ShortReason::Fragmented, Some(ShortReason::Fragmented))
    };
    let plan = plan(queue);
    let overview = Overview::of(&plan);
    let now = Timestamp::from_second(10).unwrap();
    let status = compose(&overview, &team(), Some(3), None, &normal(), now).unwrap();
    let written = serde_json::to_value(&status).unwrap();
    assert_eq!(
        written["windows"],
        json!({"cpu": {"size": "4", "target": "3500m", "used": "1970-01-01T00:00:09Z"}})
    );
    assert_eq!(written["demandFalling"], json!({"cpu": "1970-01-01T00:00:09Z"}));
    assert_eq!(written["notCreatedSince"], json!({"set": "1970-01-01T00:00:09Z"}));
    assert_eq!(written["shortSince"], "1970-01-01T00:00:09Z");
    assert_eq!(
        written["setAside"],
        json!([{
            "kind": "Job", "name": "train", "uid": "job", "revision": 0, "since": "1970-01-01T00:00:09Z", "times": 1,
            "nodes": 0,
        }])
    );
    assert_eq!(
        (&written["unmet"][0]["kind"], &written["unmet"][0]["name"]),
        (&json!("ReplicaSet"), &json!("web"))
    );
    assert_eq!(written["unmet"][0]["pods"], 3);
    // What is read back is what is composed, so that nothing is written at rest.
    let read: QueueStatus = serde_json::from_value(written).unwrap();
    assert!(read.same_meaning(&compose(&overview, &team(), Some(3), Some(&read), &normal(), now).unwrap()));
}

#[test]
fn every_reason_of_a_condition_is_explained() {
    let source = include_str!("conditions.rs");
    let page = include_str!("../../../docs/reference/reasons.md");
    let is_word = |text: &&str| {
        text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.chars().all(|letter| letter.is_ascii_alphabetic())
    };
    let reasons: Vec<&str> =
        source.split('"').skip(1).step_by(2).filter(is_word).filter(|word| *word != "True").collect();
    assert!(reasons.contains(&"HeldByItself") && reasons.len() > 15, "{reasons:?}");
    for reason in reasons {
        assert!(
            page.contains(&format!("\n| `{reason}` |")),
            "docs/reference/reasons.md does not explain {reason}"
        );
    }
}
