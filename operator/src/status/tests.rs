//! Statuses from plans.

use k8s_openapi::jiff::Timestamp;
use quotient_crds::{ConditionType, QueueStatus, condition};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Pause, Plan, PodCounts, QueuePlan, Reach, Stall, Unmet, Withheld};
use quotient_engine::reasons::{KeptReason, ShortReason, StallReason};
use quotient_engine::snapshot::{Mode, Remembered, SetAside, Window};
use quotient_index::SkippedObject;
use serde_json::json;

use super::Blocked;
use super::{Circumstances, Overview, QuotaState, compose};
use crate::tests::plan;

fn amounts(cpu_milli: i128, gibibytes: i128) -> Amounts {
    [(Resource::Cpu, Amount::new(cpu_milli)), (Resource::Memory, Amount::new(gibibytes << 30))]
        .into_iter()
        .collect()
}

fn team() -> QueueName {
    QueueName::new("a", "team")
}

/// Of 9 cpu and 27Gi, `team` deserves 3 cpu and 9Gi, and has them.
fn settled() -> QueuePlan {
    QueuePlan {
        uid: "1".into(),
        is_parent: false,
        parent: None,
        demand: amounts(5000, 10),
        deserved: amounts(3000, 9),
        target: amounts(3000, 9),
        nominal: amounts(3000, 9),
        allocated: amounts(3000, 9),
        used: amounts(2000, 2),
        preempting: Amounts::new(),
        unmeetable: Amounts::new(),
        pods: PodCounts { running: 2, ..PodCounts::default() },
        quota_write: None,
        quota_in_force: true,
        starved: None,
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

/// `Type=Status Reason`, of those that are not as they should be.
fn unusual(status: &QueueStatus) -> Vec<String> {
    let usual = |type_: &str| if ["Ready", "QuotaSynced"].contains(&type_) { "True" } else { "False" };
    status
        .conditions
        .iter()
        .filter(|condition| condition.status != usual(&condition.type_))
        .map(|condition| format!("{}={} {}", condition.type_, condition.status, condition.reason))
        .collect()
}

fn message<'a>(status: &'a QueueStatus, type_: &str) -> &'a str {
    &status.conditions.iter().find(|condition| condition.type_ == type_).unwrap().message
}

#[test]
fn a_queue_that_has_its_share() {
    let mut status = status(&plan(settled()), None, &normal(), 10);
    assert_eq!(unusual(&status), Vec::<String>::new());
    assert_eq!(status.conditions.len(), 6);
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
            "dominantShare": "0.222",
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

fn state(status: &QueueStatus) -> String {
    status.summary.as_ref().and_then(|summary| summary.state.clone()).unwrap_or_default()
}

#[test]
fn a_queue_that_waits_for_others_to_leave() {
    let queue = QueuePlan {
        allocated: amounts(1000, 9),
        preempting: amounts(2000, 0),
        lacking: amounts(2000, 0),
        starved: Some(ShortReason::WaitingForPreemption),
        ..settled()
    };
    let status = status(&plan(queue), None, &normal(), 10);
    assert_eq!(unusual(&status), ["Starved=True WaitingForPreemption"]);
    assert_eq!(state(&status), "WaitingForPreemption");
    assert_eq!(
        message(&status, "Starved"),
        "The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because terminating pods use the room. \
         The quota rises as these pods end."
    );
    assert_eq!(status.preempting, Some([("cpu", "2")].into()));
}

#[test]
fn what_is_lacking_is_measured_in_whole_pods() {
    let queue = QueuePlan {
        target: amounts(4000, 9),
        allocated: amounts(2000, 9),
        lacking: amounts(2000, 0),
        starved: Some(ShortReason::WaitingForPreemption),
        ..settled()
    };
    let status = status(&plan(queue), None, &normal(), 10);
    assert!(
        message(&status, "Starved").starts_with(
            "The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi (cpu 4, memory 9Gi in whole pods) because terminating"
        ),
        "{}",
        message(&status, "Starved")
    );
}

#[test]
fn a_queue_that_holds_too_much() {
    let queue = QueuePlan { used: amounts(5000, 2), ..settled() };
    let status = status(&plan(queue), None, &normal(), 10);
    assert_eq!(unusual(&status), ["Overused=True UsedAboveDeserved"]);
    assert_eq!(state(&status), "Borrowing");
    assert_eq!(status.borrowed, Some([("cpu", "2")].into()));
}

#[test]
fn what_others_borrow_is_lent_by_those_who_use_less() {
    let mut plan = plan(QueuePlan { used: amounts(1000, 1), ..settled() });
    plan.queues.insert(QueueName::new("b", "batch"), QueuePlan { used: amounts(4000, 1), ..settled() });
    assert_eq!(status(&plan, None, &normal(), 10).lent, Some([("cpu", "2")].into()));
}

#[test]
fn a_quota_that_moves_normally_is_no_news() {
    let first = status(&plan(settled()), None, &normal(), 10);
    let moving = plan(QueuePlan { quota_in_force: false, ..settled() });
    let settling = Circumstances { quota: QuotaState::Settling, ..normal() };
    assert!(status(&moving, Some(&first), &settling, 20).same_meaning(&first));
    // A new Queue has none yet, and says so.
    assert_eq!(
        unusual(&status(&moving, None, &settling, 20)),
        ["Ready=False WaitingForQuotaController", "QuotaSynced=False WaitingForQuotaController"]
    );
    let waiting = Circumstances { quota: QuotaState::Waiting, ..normal() };
    let late = status(&moving, Some(&first), &waiting, 30);
    assert_eq!(
        unusual(&late),
        ["Ready=False WaitingForQuotaController", "QuotaSynced=False WaitingForQuotaController"]
    );
    let times: Vec<i64> =
        late.conditions.iter().map(|condition| condition.last_transition_time.0.as_second()).collect();
    assert_eq!(times, [30, 30, 10, 10, 10, 10]);
}

#[test]
fn a_quota_that_is_refused_is_not_ready() {
    let refused = Circumstances { quota: QuotaState::Refused("forbidden".to_owned()), ..normal() };
    let status = status(&plan(QueuePlan { quota_in_force: false, ..settled() }), None, &refused, 10);
    assert_eq!(unusual(&status), ["Ready=False WriteRefused", "QuotaSynced=False WriteRefused"]);
    assert_eq!(state(&status), "WriteRefused");
    assert_eq!(message(&status, "Ready"), "the quota cannot be written: forbidden");
}

#[test]
fn objects_that_cannot_be_read_are_named() {
    let object = |name: &str| SkippedObject {
        kind: "poddisruptionbudgets.policy".into(),
        name: name.into(),
        error: "status.conditions: invalid type".to_owned(),
    };
    let skipped = |objects: Vec<SkippedObject>| Circumstances { skipped: Some(objects.into()), ..normal() };
    let reported = status(&plan(settled()), None, &skipped(vec![object("web")]), 10);
    assert_eq!(unusual(&reported), [""; 0]);
    let ready = condition(&reported.conditions, ConditionType::Ready).unwrap();
    assert_eq!(ready.reason, "ObjectsSkipped");
    assert_eq!(
        ready.message,
        "Quotient cannot read all of poddisruptionbudgets.policy web: status.conditions: invalid type. \
         Correct or delete the object."
    );
    let reported =
        status(&plan(settled()), None, &skipped(vec![object("web"), object("x"), object("y")]), 10);
    assert!(message(&reported, "Ready").contains("The same holds for 2 more objects."), "{reported:?}");
}

#[test]
fn a_blocked_preemption_says_what_blocks_it() {
    let reported = Blocked::of_pods(KeptReason::Budget, "pod b/web cannot be evicted".to_owned());
    let blocked = Circumstances { blocked: Some(reported), ..normal() };
    let waits = || QueuePlan { starved: Some(ShortReason::Blocked), lacking: amounts(2000, 0), ..settled() };
    let reported = status(&plan(waits()), None, &blocked, 10);
    assert_eq!(unusual(&reported), ["Starved=True Budget"]);
    assert_eq!(
        message(&reported, "Starved"),
        "The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because pod b/web cannot be evicted. \
         The quota rises when their budgets allow more. kubectl delete pod asks no budget."
    );
    // Where no eviction is allowed at all, that comes first.
    let waits = QueuePlan { starved: Some(ShortReason::EvictionsDisabled), ..waits() };
    let reported = status(&plan(waits), None, &blocked, 10);
    assert_eq!(unusual(&reported), ["Starved=True EvictionsDisabled"]);
}

#[test]
fn in_mode_observe_no_quota_is_expected() {
    let reach = Reach { mode: Mode::Observe, ..Reach::default() };
    let queue = QueuePlan { quota_in_force: false, quota_left_alone: true, reach, ..settled() };
    let waiting = Circumstances { quota: QuotaState::Waiting, ..normal() };
    let reported = status(&plan(queue.clone()), None, &waiting, 10);
    assert_eq!(unusual(&reported), ["QuotaSynced=False ObserveMode"]);
    assert_eq!(state(&reported), "Observe");
    let message = message(&reported, "QuotaSynced");
    assert_eq!(message, "Quotient writes no quota here because the operator runs in mode Observe");
    // A parent has no quota of its own.
    let parent = QueuePlan { is_parent: true, quota_left_alone: false, ..queue };
    assert_eq!(unusual(&status(&plan(parent), None, &waiting, 10)), ["QuotaSynced=False ObserveMode"]);
}

fn paused() -> Reach {
    let until = quotient_engine::time::Timestamp::from_seconds(1_796_112_000);
    Reach { pause: Some(Pause { until, of: QueueName::new("org", "research") }), ..Reach::default() }
}

#[test]
fn a_pause_shows_in_a_condition_with_its_end() {
    let queue = QueuePlan { reach: paused(), ..settled() };
    let reported = status(&plan(queue.clone()), None, &normal(), 10);
    assert_eq!(unusual(&reported), [""; 0]);
    assert_eq!(state(&reported), "Paused");
    assert_eq!(
        ready(&plan(queue.clone()), &normal()),
        "True Paused: Quotient lowers no quota and evicts no pod here because queue org/research is paused until \
         2026-12-01T08:00:00Z. The pause ends by itself. To end it now, remove spec.pausedUntil of that queue"
    );
    // The quota was deleted: it stays so, and that is no failure.
    let left = QueuePlan { quota_left_alone: true, quota_in_force: false, ..queue };
    let waiting = Circumstances { quota: QuotaState::Waiting, ..normal() };
    let reported = status(&plan(left), None, &waiting, 10);
    assert_eq!(unusual(&reported), ["QuotaSynced=False Paused"]);
    assert_eq!(state(&reported), "Paused");
}

#[test]
fn the_state_names_a_mode_below_full() {
    let reported = |mode, starved: Option<ShortReason>, used| {
        let reach = Reach { mode, ..Reach::default() };
        let lacking = if starved.is_some() { amounts(1000, 0) } else { Amounts::new() };
        state(&status(&plan(QueuePlan { reach, starved, lacking, used, ..settled() }), None, &normal(), 10))
    };
    let (less, more) = (amounts(1000, 1), amounts(9000, 1));
    assert_eq!(reported(Mode::Observe, Some(ShortReason::EvictionsDisabled), less.clone()), "Observe");
    assert_eq!(
        reported(Mode::Quota, Some(ShortReason::EvictionsDisabled), less.clone()),
        "EvictionsDisabled"
    );
    assert_eq!(reported(Mode::Quota, None, more.clone()), "Quota");
    assert_eq!(reported(Mode::Full, None, more), "Borrowing");
    assert_eq!(reported(Mode::Full, None, less), "OK");
}

#[test]
fn a_cluster_without_nodes_is_not_ready() {
    let empty = Plan { capacity: Amounts::new(), ..plan(settled()) };
    assert_eq!(unusual(&status(&empty, None, &normal(), 10)), ["Ready=False CapacityUnknown"]);
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
    assert_eq!(
        unusual(&status),
        ["Ready=False NamespaceTaken", "QuotaSynced=False NamespaceTaken", "Stalled=True NamespaceTaken"]
    );
    assert_eq!(message(&status, "Stalled"), "the older Queue a/first governs the namespace");
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
fn what_its_own_pods_hold_is_missing_in_its_quota_alone() {
    let queue = QueuePlan { allocated: amounts(2000, 9), used: amounts(3000, 9), ..settled() };
    let status = status(&plan(queue), None, &normal(), 10);
    let starved = status.conditions.iter().find(|condition| condition.type_ == "Starved").unwrap();
    assert_eq!((starved.status.as_str(), starved.reason.as_str()), ("False", "HeldByItself"));
    assert_eq!(
        starved.message,
        "The pods of the queue use cpu 1 that its quota does not allow. The quota rises when all queues together use no \
         more than the nodes offer."
    );
    assert_eq!(unusual(&status), Vec::<String>::new());
}

#[test]
fn what_waits_is_named_where_the_queue_is_starved() {
    let reported = |queue: QueuePlan| {
        let status = status(&plan(queue), None, &normal(), 10);
        let starved = status.conditions.iter().find(|condition| condition.type_ == "Starved").unwrap();
        (starved.reason.clone(), starved.message.clone())
    };
    let (reason, message) = reported(short(ShortReason::Fenced, Some(ShortReason::Fragmented)));
    assert_eq!(reason, "Fenced");
    assert_eq!(
        message,
        "The queue lacks cpu 2 of the deserved cpu 3, memory 9Gi because queues outside the preemption fence use the room. \
         The quota rises as pods outside the fence finish."
    );
    // The same is said once.
    let (_, message) = reported(short(ShortReason::Delayed, Some(ShortReason::Delayed)));
    assert_eq!(message.matches("reclaim.afterSeconds").count(), 1, "{message}");
    assert!(message.ends_with(". ReplicaSet web: 3 pods of cpu 2."), "{message}");
    // A queue may have all that it deserves, and still its pods do not start.
    let whole = QueuePlan {
        preempting: Amounts::new(),
        lacking: Amounts::new(),
        ..short(ShortReason::UnitAboveShare, Some(ShortReason::UnitAboveShare))
    };
    let (reason, message) = reported(whole);
    assert_eq!(reason, "UnitAboveShare");
    assert!(message.starts_with("The queue has the deserved cpu 3, memory 9Gi and cannot use"), "{message}");
}

#[test]
fn what_withholds_evictions_is_named() {
    let reported = |withheld| {
        let disabled = Some(ShortReason::EvictionsDisabled);
        let queue = QueuePlan { withheld, ..short(ShortReason::EvictionsDisabled, disabled) };
        let status = status(&plan(queue), None, &normal(), 10);
        (message(&status, "Starved").to_owned(), status.unmet[0].message.clone())
    };
    let (message, unmet) =
        reported(Some(Withheld::QueueMode(QueueName::new("team-b", "team-b"), Mode::Quota)));
    let why = "queue team-b is in mode Quota. No pod is evicted for it. The quota rises as pods of other queues \
               finish.";
    assert!(message.contains(&format!("because {why}")), "{message}");
    assert_eq!(unmet, format!("The pods cannot start because {why}"));
    let pause = paused().pause.map(Withheld::Pause);
    assert!(
        reported(pause).0.contains("because queue org/research is paused until 2026-12-01T08:00:00Z. No pod")
    );
    assert!(
        reported(Some(Withheld::OperatorMode(Mode::Observe)))
            .0
            .contains("because the operator runs in mode Observe.")
    );
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

fn ready(plan: &Plan, circumstances: &Circumstances) -> String {
    let status = status(plan, None, circumstances, 10);
    let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready").unwrap();
    format!("{} {}: {}", ready.status, ready.reason, ready.message)
}

#[test]
fn while_nothing_is_taken_every_queue_says_so() {
    for reason in [ShortReason::CapacityUntrusted, ShortReason::ViewStale] {
        let plan = Plan { held: Some(reason), ..plan(settled()) };
        let reported = ready(&plan, &normal());
        assert!(reported.starts_with(&format!("True {reason}: Quotas do not shrink because")), "{reported}");
        assert!(reported.ends_with("The spec is understood and its share computed."), "{reported}");
    }
}

#[test]
fn a_tighter_quota_of_others_is_told() {
    let foreign_limit = [(Resource::Cpu, Amount::new(2000))].into_iter().collect();
    let plan = plan(QueuePlan { foreign_limit, ..settled() });
    let expected = "True ForeignQuota: The spec is understood and its share computed. Another ResourceQuota of the \
                    namespace bounds the share to cpu 2.";
    assert_eq!(ready(&plan, &normal()), expected);
}

#[test]
fn a_quota_that_others_change_again_and_again_is_not_in_sync() {
    let what = "the quota was edited by kubectl-edit again";
    let contested = Circumstances { quota: QuotaState::Contested(what.to_owned()), ..normal() };
    let plan = plan(QueuePlan { quota_in_force: false, ..settled() });
    assert_eq!(ready(&plan, &contested), format!("False QuotaContested: {what}"));
    let unusual = unusual(&status(&plan, None, &contested, 10));
    assert_eq!(unusual, ["Ready=False QuotaContested", "QuotaSynced=False QuotaContested"]);
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
