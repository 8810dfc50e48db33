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
use quotient_engine::snapshot::{Admission, Mode, Remembered, SetAside, Window};
use quotient_index::SkippedObject;
use serde_json::json;

use super::Blocked;
use super::{Circumstances, Overview, QuotaState, compose};
use crate::message::MOST;
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

/// Short of 2 cpu for this reason.
fn starved(reason: ShortReason) -> QueuePlan {
    QueuePlan { lacking: cpu(2000), starved: Some(reason), ..settled() }
}

/// Three pods of 2 cpu that cannot start for this reason.
fn web(reason: ShortReason) -> Vec<Unmet> {
    vec![Unmet { requests: cpu(2000), ..plan::unmet(3, reason) }]
}

/// Its quota is not what the plan wants.
fn moving() -> QueuePlan {
    QueuePlan { quota_in_force: false, ..settled() }
}

fn in_mode(mode: Mode) -> QueuePlan {
    QueuePlan { reach: Reach { mode, ..Reach::default() }, ..settled() }
}

fn pause() -> Pause {
    let until = quotient_engine::time::Timestamp::from_seconds(1_796_112_000);
    Pause { until, of: QueueName::new("org", "research") }
}

fn paused() -> QueuePlan {
    QueuePlan { reach: Reach { pause: Some(pause()), ..Reach::default() }, ..settled() }
}

fn plan(queue: QueuePlan) -> Plan {
    Plan {
        resources: vec![Resource::Cpu, Resource::Memory],
        capacity: amounts(9000, 27),
        queues: [(team(), queue)].into(),
        ..Plan::default()
    }
}

/// The write of its quota stands like this.
fn quota(quota: QuotaState) -> Circumstances {
    Circumstances { quota, ..Circumstances::default() }
}

/// These budgets cannot be read.
fn skipped(names: &[&str]) -> Circumstances {
    let object = |name: &&str| SkippedObject {
        kind: "poddisruptionbudgets.policy".into(),
        name: (*name).into(),
        error: "status.conditions: invalid type".to_owned(),
    };
    let objects: Vec<SkippedObject> = names.iter().map(object).collect();
    Circumstances { skipped: Some(objects.into()), ..Circumstances::default() }
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
        let _ = writeln!(text, "  {type_}={status} {reason}: {message}");
    }
    text
}

/// What the status of a Queue says that had none, in each of these cases.
fn check<'a>(cases: impl IntoIterator<Item = (&'a str, Plan, Circumstances)>, expected: &Expect) {
    let said = cases.into_iter().map(|(case, plan, circumstances)| {
        format!("{case}: {}", printed(&status(&plan, None, &circumstances, 10)))
    });
    expected.assert_eq(&said.collect::<String>());
}

/// The same where nothing but the plan of the queue is out of the ordinary.
fn check_queues<'a>(cases: impl IntoIterator<Item = (&'a str, QueuePlan)>, expected: &Expect) {
    check(cases.into_iter().map(|(case, queue)| (case, plan(queue), Circumstances::default())), expected);
}

#[test]
fn a_queue_that_has_its_share() {
    let mut status = status(&plan(settled()), None, &Circumstances::default(), 10);
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
fn what_a_queue_has_and_lacks() {
    let waits = || starved(ShortReason::WaitingForPreemption);
    check_queues(
        [
            ("lacks", QueuePlan { allocated: amounts(1000, 9), ..waits() }),
            ("in whole pods", QueuePlan { target: amounts(4000, 9), ..waits() }),
            // What its own pods hold is missing in its quota alone.
            ("holds", QueuePlan { allocated: amounts(2000, 9), used: amounts(3000, 9), ..settled() }),
            ("uses more", QueuePlan { used: amounts(5000, 2), ..settled() }),
            ("is guaranteed more", QueuePlan { unmeetable: cpu(1000), ..settled() }),
            ("is bounded by others", QueuePlan { foreign_limit: cpu(2000), ..settled() }),
            ("gates", QueuePlan { admission: Admission::Gate, ..settled() }),
            ("would gate", QueuePlan { admission: Admission::GateNotServed, ..settled() }),
            ("groups", QueuePlan { is_parent: true, ..settled() }),
        ],
        &expect![[r#"
            lacks: WaitingForPreemption
              Starved=True WaitingForPreemption: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because terminating pods use the room. The quota rises as these pods end.
            in whole pods: WaitingForPreemption
              Starved=True WaitingForPreemption: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi (cpu 4, memory 9Gi in whole pods) because terminating pods use the room. The quota rises as these pods end.
            holds: OK
              Starved=False HeldByItself: The pods of the queue use cpu 1 that its quota does not allow. The quota rises when all queues together use no more than the nodes offer.
            uses more: Borrowing
              Overused=True UsedAboveDeserved: The queue uses cpu 5 and deserves cpu 3. Quotient evicts the least protected pods when another queue is starved.
            is guaranteed more: GuaranteesExceedCapacity
              GuaranteeUnmeetable=True GuaranteesExceedCapacity: The guaranteed amounts exceed the capacity by cpu 1. Lower guaranteed of a Queue.
            is bounded by others: OK
              Ready=True ForeignQuota: The spec is understood and its share computed. Another ResourceQuota of the namespace bounds the share to cpu 2.
            gates: OK
            would gate: GateModeNotServed
              Ready=False GateModeNotServed: The queue works as with admission: Quota because this cluster has no policies that gate pods. Set gateMode.enabled of the chart on Kubernetes 1.36 or later, or set admission: Quota.
            groups: OK
              Stalled=False Grouping: the Queue groups the queues that take their share from it
        "#]],
    );
}

#[test]
fn why_a_queue_is_starved_and_what_waits_in_it() {
    use ShortReason::{Delayed, EvictionsDisabled, Fenced, Fragmented, UnitAboveShare};
    let waits = |reason, unmet| QueuePlan { unmet: web(unmet), ..starved(reason) };
    let withheld = |by| QueuePlan { withheld: Some(by), ..waits(EvictionsDisabled, EvictionsDisabled) };
    let team_b = QueueName::new("team-b", "team-b");
    check_queues(
        [
            ("another reason", waits(Fenced, Fragmented)),
            ("the same reason", waits(Delayed, Delayed)),
            // A queue may have all that it deserves, and still its pods do not start.
            ("lacks nothing", QueuePlan { lacking: Amounts::new(), ..waits(UnitAboveShare, UnitAboveShare) }),
            ("by a mode", withheld(Withheld::QueueMode(team_b, Mode::Quota))),
            ("by a pause", withheld(Withheld::Pause(pause()))),
            ("by the operator", withheld(Withheld::OperatorMode(Mode::Observe))),
        ],
        &expect![[r#"
            another reason: Fenced
              Starved=True Fenced: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queues outside the preemption fence use the room. The quota rises as pods outside the fence finish.
            the same reason: Delayed
              Starved=True Delayed: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because reclaim.afterSeconds of the queue have not passed yet. Then Quotient evicts pods of other queues. ReplicaSet web: 3 pods of cpu 2.
            lacks nothing: UnitAboveShare
              Starved=True UnitAboveShare: The queue has the deserved cpu 3, memory 9Gi and cannot use all of it because one pod, or the minimum of a gang, requests more than the deserved share. ReplicaSet web: 3 pods of cpu 2.
            by a mode: EvictionsDisabled
              Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queue team-b is in mode Quota. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
            by a pause: EvictionsDisabled
              Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queue org/research is paused until 2026-12-01T08:00:00Z. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
            by the operator: EvictionsDisabled
              Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because the operator runs in mode Observe. No pod is evicted for it. The quota rises as pods of other queues finish. ReplicaSet web: 3 pods of cpu 2.
        "#]],
    );
    let queue = withheld(Withheld::OperatorMode(Mode::Observe));
    assert_eq!(
        status(&plan(queue), None, &Circumstances::default(), 10).unmet[0].message,
        "The pods cannot start because the operator runs in mode Observe. No pod is evicted for it. The quota rises as pods of \
         other queues finish."
    );
    // Where no eviction is allowed at all, that comes before the pod that is blocked.
    let blocked = Blocked::of_pods(KeptReason::Budget, "pod b/web cannot be evicted".to_owned());
    let blocked = || Circumstances { blocked: Some(blocked.clone()), ..Circumstances::default() };
    check(
        [ShortReason::Blocked, EvictionsDisabled]
            .map(|reason| (reason.name(), plan(starved(reason)), blocked())),
        &expect![[r#"
            Blocked: Budget
              Starved=True Budget: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because pod b/web cannot be evicted. The quota rises when their budgets allow more. kubectl delete pod asks no budget.
            EvictionsDisabled: EvictionsDisabled
              Starved=True EvictionsDisabled: The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because a mode or a pause withholds the evictions. No pod is evicted for it. The quota rises as pods of other queues finish.
        "#]],
    );
}

#[test]
fn what_a_queue_uses_above_its_share_is_lent_by_those_that_use_less() {
    let amounts_of = |used| {
        let mut plan = plan(QueuePlan { used, ..settled() });
        plan.queues.insert(QueueName::new("b", "batch"), QueuePlan { used: amounts(4000, 1), ..settled() });
        let status = status(&plan, None, &Circumstances::default(), 10);
        (status.borrowed, status.lent)
    };
    assert_eq!(amounts_of(amounts(5000, 2)).0, Some([("cpu", "2")].into()));
    assert_eq!(amounts_of(amounts(1000, 1)).1, Some([("cpu", "2")].into()));
}

#[test]
fn what_keeps_a_quota_from_being_as_planned() {
    let edited = "the quota was edited by kubectl-edit again";
    let observing = || QueuePlan { quota_left_alone: true, quota_in_force: false, ..in_mode(Mode::Observe) };
    let parent = || QueuePlan { is_parent: true, quota_left_alone: false, ..observing() };
    check(
        [
            // A new Queue has none yet, and says so.
            ("new", moving(), quota(QuotaState::Settling)),
            ("refused", moving(), quota(QuotaState::Refused("forbidden".to_owned()))),
            ("contested", moving(), quota(QuotaState::Contested(edited.to_owned()))),
            ("observes", observing(), quota(QuotaState::Waiting)),
            // A parent has no quota of its own.
            ("observing parent", parent(), quota(QuotaState::Waiting)),
            ("paused", paused(), Circumstances::default()),
            // The quota was deleted: it stays so, and that is no failure.
            (
                "left",
                QueuePlan { quota_left_alone: true, quota_in_force: false, ..paused() },
                quota(QuotaState::Waiting),
            ),
        ]
        .map(|(case, queue, circumstances)| (case, plan(queue), circumstances)),
        &expect![[r#"
            new: WaitingForQuotaController
              Ready=False WaitingForQuotaController: the quota's status does not show the allocated amounts yet, so they are not enforced; kube-controller-manager fills it in
              QuotaSynced=False WaitingForQuotaController: the quota's status does not show the allocated amounts yet, so they are not enforced; kube-controller-manager fills it in
            refused: WriteRefused
              Ready=False WriteRefused: the quota cannot be written: forbidden
              QuotaSynced=False WriteRefused: the quota cannot be written: forbidden
            contested: QuotaContested
              Ready=False QuotaContested: the quota was edited by kubectl-edit again
              QuotaSynced=False QuotaContested: the quota was edited by kubectl-edit again
            observes: Observe
              QuotaSynced=False ObserveMode: Quotient writes no quota here because the operator runs in mode Observe
            observing parent: Observe
              QuotaSynced=False ObserveMode: Quotient writes no quota here because the operator runs in mode Observe
              Stalled=False Grouping: the Queue groups the queues that take their share from it
            paused: Paused
              Ready=True Paused: Quotient lowers no quota and evicts no pod here because queue org/research is paused until 2026-12-01T08:00:00Z. The pause ends by itself. To end it now, remove spec.pausedUntil of that queue
            left: Paused
              Ready=True Paused: Quotient lowers no quota and evicts no pod here because queue org/research is paused until 2026-12-01T08:00:00Z. The pause ends by itself. To end it now, remove spec.pausedUntil of that queue
              QuotaSynced=False Paused: Quotient leaves the quota as it is because queue org/research is paused until 2026-12-01T08:00:00Z. Quotient writes the quota again after that
        "#]],
    );
    let long = quota(QuotaState::Refused("long ".repeat(99)));
    let conditions = status(&plan(moving()), None, &long, 10).conditions;
    assert!(conditions.iter().all(|condition| condition.message.chars().count() <= MOST), "{conditions:?}");
}

#[test]
fn a_quota_that_moves_normally_is_no_news() {
    let first = status(&plan(settled()), None, &Circumstances::default(), 10);
    assert!(status(&plan(moving()), Some(&first), &quota(QuotaState::Settling), 20).same_meaning(&first));
    let late = status(&plan(moving()), Some(&first), &quota(QuotaState::Waiting), 30);
    assert_eq!(printed(&late), printed(&status(&plan(moving()), None, &quota(QuotaState::Settling), 20)));
    let times: Vec<i64> =
        late.conditions.iter().map(|condition| condition.last_transition_time.0.as_second()).collect();
    assert_eq!(times, [30, 30, 10, 10, 10, 10]);
}

#[test]
fn what_concerns_every_queue_is_told_by_each() {
    let held = |reason| Plan { held: Some(reason), ..plan(settled()) };
    check(
        [
            ("no nodes", Plan { capacity: Amounts::new(), ..plan(settled()) }, Circumstances::default()),
            ("fewer nodes", held(ShortReason::CapacityUntrusted), Circumstances::default()),
            ("silence", held(ShortReason::ViewStale), Circumstances::default()),
            ("one object", plan(settled()), skipped(&["web"])),
            ("three objects", plan(settled()), skipped(&["web", "x", "y"])),
        ],
        &expect![[r#"
            no nodes: CapacityUnknown
              Ready=False CapacityUnknown: no node counts toward the capacity; until one does, no quota shrinks and no pod is evicted
            fewer nodes: OK
              Ready=True CapacityUntrusted: Quotas do not shrink because much of the capacity of the nodes vanished at once. Quotient waits for the capacity, or for a second full list and --capacity-grace-seconds. The spec is understood and its share computed.
            silence: OK
              Ready=True ViewStale: Quotas do not shrink because the API server has sent nothing for too long. Quotient goes on as soon as the API server has sent every kind of object. The spec is understood and its share computed.
            one object: OK
              Ready=True ObjectsSkipped: Quotient cannot read all of poddisruptionbudgets.policy web: status.conditions: invalid type. Correct or delete the object.
            three objects: OK
              Ready=True ObjectsSkipped: Quotient cannot read all of poddisruptionbudgets.policy web: status.conditions: invalid type. The same holds for 2 more objects. Correct or delete the object.
        "#]],
    );
}

#[test]
fn the_state_names_a_mode_below_full_unless_something_is_wrong() {
    let state = |mode, starved: Option<ShortReason>, used| {
        let queue = QueuePlan { starved, used: amounts(used, 1), ..in_mode(mode) };
        status(&plan(queue), None, &Circumstances::default(), 10).summary.unwrap().state.unwrap()
    };
    let disabled = Some(ShortReason::EvictionsDisabled);
    assert_eq!(state(Mode::Observe, disabled, 1000), "Observe");
    assert_eq!(state(Mode::Quota, disabled, 1000), "EvictionsDisabled");
    assert_eq!(state(Mode::Quota, None, 9000), "Quota");
    assert_eq!(state(Mode::Full, None, 9000), "Borrowing");
}

#[test]
fn a_stalled_queue_says_what_to_mend_and_has_no_amounts() {
    let former = status(&plan(settled()), None, &Circumstances::default(), 10);
    let stall = Stall {
        generation: 1,
        uid: "1".into(),
        reason: StallReason::NamespaceTaken,
        message: "the older Queue a/first governs the namespace".into(),
    };
    let plan = Plan { stalled: [(team(), stall)].into(), ..Plan::default() };
    let status = status(&plan, Some(&former), &Circumstances::default(), 20);
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
        unmet: web(ShortReason::Fragmented),
        ..settled()
    };
    let plan = plan(queue);
    let overview = Overview::of(&plan);
    let now = Timestamp::from_second(10).unwrap();
    let status = compose(&overview, &team(), Some(3), None, &Circumstances::default(), now).unwrap();
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
    assert!(read.same_meaning(
        &compose(&overview, &team(), Some(3), Some(&read), &Circumstances::default(), now).unwrap()
    ));
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
