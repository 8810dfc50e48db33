//! Evictions: the body, and what each answer leads to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp as Clock;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{GateRemoval, Plan, PodId};
use quotient_engine::snapshot::GatePosition;
use quotient_engine::time::Timestamp;
use serde_json::json;
use tokio::time::Instant;

use super::{SETTINGS, World, context, node, planned, planned_now, pod, put, queue, quota, view};
use crate::context::Context;
use crate::events::{Notice, Subject};
use crate::executor::Class;
use crate::metrics::Metrics;
use crate::protecting_budgets::ProtectingBudgets;
use crate::settings::WriteSettings;
use crate::tests::api::{Log, Reply, client};
use crate::view::View;
use crate::writer::Writer;

/// Of 4 cpu, queue a holds all with four pods; queue b deserves half, and a's quota is lowered already.
fn overused() -> View {
    overused_by(2)
}

/// The same with twice so many cpus and pods.
fn overused_by(half: u32) -> View {
    let pods = half * 2;
    let lowered = quota("a", 5, Some(2), half, half);
    let mut objects = vec![node(pods), queue("a"), queue("b"), lowered, quota("b", 5, Some(1), 0, 0)];
    objects.extend((1..=pods).map(|number| pod("a", &format!("p{number}"))));
    view(&objects)
}

/// How often evictions of queue a were refused for this reason.
pub(super) fn refusals(metrics: &Metrics, reason: &str) -> u32 {
    metrics.queues.evictions(&QueueName::new("a", "team")).refused[reason]
}

fn victims(plan: &Plan) -> Vec<String> {
    plan.evictions.iter().map(|eviction| eviction.pod.name.to_string()).collect()
}

fn by_budget() -> Reply {
    let cause = json!({
        "reason": "DisruptionBudget",
        "message": "The disruption budget web needs 4 healthy pods and has 4 currently",
    });
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    Reply::detailed_failure(429, "TooManyRequests", message, &json!({"causes": [cause]}))
}

pub(super) fn done() -> Reply {
    Reply::Json(
        201,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
    )
}

#[tokio::test]
async fn every_victim_is_evicted_once_and_by_its_uid() {
    let World { view, mut writer, context: Context { reclaims, .. }, mut news, log, .. } =
        World::of(overused(), |_| done());
    let plan = planned(&view);
    assert_eq!(victims(&plan), ["p4", "p3"]);
    writer.only(Class::Eviction, &plan).await;

    let asked = log.all();
    let mut paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/api/v1/namespaces/a/pods/p3/eviction", "/api/v1/namespaces/a/pods/p4/eviction"]);
    for asked in &asked {
        let uid = format!("uid-{}", asked.body["metadata"]["name"].as_str().unwrap());
        assert_eq!(asked.body["deleteOptions"], json!({"preconditions": {"uid": uid}}));
        assert_eq!(asked.body["kind"], "Eviction");
    }
    let printed: Vec<Notice> = std::iter::from_fn(|| news.try_recv().ok()).collect();
    let subject = |printed: &Notice| {
        let Notice::Reclaimed(printed) = printed else { panic!("{printed:?}") };
        assert_eq!(printed.beneficiaries.first().unwrap().to_string(), "b/team");
        match &printed.subject {
            Subject::Pod(pod) => pod.name.to_string(),
            Subject::Workload(_, workload) => format!("{} of {}", printed.pods, workload.name),
        }
    };
    let mut printed: Vec<String> = printed.iter().map(subject).collect();
    printed.sort_unstable();
    assert_eq!(printed, ["2 of web", "p3", "p4"]);
    let listed = reclaims.unsaved(&"queue-a".into(), &[]);
    let mut listed: Vec<(&str, Option<i32>)> = listed.iter().map(|one| (&*one.pod, one.rank)).collect();
    listed.sort_unstable();
    assert_eq!(listed, [("p3", Some(2)), ("p4", Some(1))]);

    // The watch has shown nothing yet, and still no pod is evicted again or instead.
    writer.only(Class::Eviction, &planned(&view)).await;
    assert_eq!(log.all().len(), 2);
}

#[tokio::test]
async fn what_victims_have_run_counts_as_lost() {
    let view = overused();
    for name in ["p1", "p2", "p3", "p4"] {
        let mut running = pod("a", name);
        let an_hour_ago = Clock::now() - Duration::from_secs(3600);
        running["metadata"]["resourceVersion"] = "2".into();
        running["status"]["containerStatuses"] = json!([{
            "name": "main", "image": "main", "imageID": "", "ready": true, "restartCount": 0,
            "state": {"running": {"startedAt": an_hour_ago.to_string()}},
        }]);
        put(&view, &running);
    }
    let (client, _) = client(|_| done());
    let (context, _news) = context(client, view.clone());
    let metrics = context.metrics.clone();
    let plan = planned(&view);
    assert_eq!(plan.evictions.len(), 2);
    super::writer(context).only(Class::Eviction, &plan).await;
    let lost = metrics.queues.evictions(&QueueName::new("a", "team")).lost.as_secs();
    assert!((7200..7320).contains(&lost), "{lost}");
    assert_eq!(metrics.queues.evictions(&QueueName::new("b", "team")).lost.as_secs(), 0);
}

fn blocked(writer: &Writer, plan: &Plan) -> Vec<String> {
    let blocked = writer.blocked_queues(plan, &ProtectingBudgets::default()).into_iter();
    blocked.map(|(queue, blocked)| format!("{queue}: {} {}", blocked.reason, blocked.message)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_refused_pod_is_told_and_others_are_chosen() {
    let World { view, mut writer, context: Context { metrics, .. }, log, .. } =
        World::of(overused(), |asked| if asked.path.contains("p4") { by_budget() } else { done() });
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p4", "p3"]);
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(refusals(&metrics, "Budget"), 1);
    assert_eq!(
        blocked(&writer, &plan),
        ["b/team: EvictionRefused pod a/p4 cannot be evicted: \
             The disruption budget web needs 4 healthy pods and has 4 currently"]
    );
    // The loop is woken, and the next plan goes without the pod.
    tokio::time::timeout(Duration::from_secs(1), view.changed()).await.unwrap();
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p2"]);
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 3);
    // When no queue lacks anything any more, nothing is blocked.
    assert_eq!(blocked(&writer, &Plan::default()), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_refused_pod_is_tried_again_later() {
    let World { view, mut writer, log, .. } = World::of(overused(), |_| by_budget());
    // A plan that does not know of the refusals, as when they have just passed for the index.
    let plan = planned(&view);
    writer.only(Class::Eviction, &plan).await;
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 2);
    let printed = "b/team: EvictionRefused pod a/p3 cannot be evicted: \
                The disruption budget web needs 4 healthy pods and has 4 currently (and 1 more pod)";
    assert_eq!(blocked(&writer, &plan), [printed]);
    let now = Timestamp::from_millis(Clock::now().as_millisecond());
    let wait = view.read(|index| index.next_change(now)).unwrap().millis_since(now);
    assert!((9_000..=10_000).contains(&wait), "{wait}");
    tokio::time::sleep_until(writer.next_retry().unwrap()).await;
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_no_budget_explains_has_to_be_said_twice_before_another_pod_goes() {
    let view = overused();
    let forbidden = || Reply::failure(403, "Forbidden", "a webhook says no");
    let World { view, mut writer, log, .. } =
        World::of(view, move |asked| if asked.path.contains("p4") { forbidden() } else { done() });
    writer.only(Class::Eviction, &planned_now(&view)).await;
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p4"]);
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 2, "it is left alone for a moment");

    tokio::time::advance(Duration::from_secs(1)).await;
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 3);
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p2"]);
    assert_eq!(
        blocked(&writer, &plan),
        ["b/team: EvictionRefused pod a/p4 cannot be evicted: a webhook says no"]
    );
}

/// As while an admission webhook that fails closed is down.
#[tokio::test(start_paused = true)]
async fn a_server_error_twice_is_a_refusal_and_another_pod_goes() {
    let view = overused();
    let message = "Internal error occurred: failed calling webhook \"pods.example.com\"";
    let down = move || Reply::failure(500, "InternalError", message);
    let World { view, mut writer, context: Context { metrics, .. }, log, .. } =
        World::of(view, move |asked| if asked.path.contains("p4") { down() } else { done() });
    writer.only(Class::Eviction, &planned_now(&view)).await;
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p4"], "one failure may be a passing one");
    tokio::time::advance(Duration::from_secs(1)).await;
    writer.only(Class::Eviction, &plan).await;
    assert_eq!(log.all().len(), 3);
    let plan = planned_now(&view);
    assert_eq!(victims(&plan), ["p2"]);
    assert_eq!(
        blocked(&writer, &plan),
        [format!("b/team: EvictionRefused pod a/p4 cannot be evicted: {message}")]
    );
    assert_eq!(refusals(&metrics, "ServerError"), 2);
}

/// A webhook hangs for the pods of one namespace; the pods of another go at once.
#[tokio::test(start_paused = true)]
async fn evictions_that_hang_in_one_namespace_take_no_slot_from_another() {
    let mut objects = vec![node(16), queue("a"), queue("b"), queue("c"), queue("d")];
    objects.extend([quota("a", 5, Some(2), 4, 4), quota("b", 5, Some(2), 4, 4)]);
    objects.extend([quota("c", 5, Some(1), 0, 0), quota("d", 5, Some(1), 0, 0)]);
    for namespace in ["a", "b"] {
        objects.extend((0..8).map(|number| pod(namespace, &format!("{namespace}{number}"))));
    }
    // A slot for each of two pods at a time.
    let World { view, mut writer, log, .. } =
        World::with(view(&objects), WriteSettings { evictions_in_parallel: 2, ..SETTINGS }, |asked| {
            if asked.path.contains("/a/") { Reply::Silence } else { done() }
        });
    let plan = planned(&view);
    assert_eq!(plan.evictions.len(), 8);
    let asked = |namespace: &str| {
        let all = log.all();
        all.iter().filter(|asked| asked.path.contains(namespace)).count()
    };
    let _ = tokio::time::timeout(Duration::from_millis(300), writer.only(Class::Eviction, &plan)).await;
    assert_eq!((asked("/a/"), asked("/b/")), (2, 4));
}

/// Until the answer comes nothing turns: time would stand still here.
#[tokio::test(start_paused = true)]
async fn an_eviction_that_hangs_waits_beside_a_removal_that_takes_long() {
    let view = overused();
    let (client, log) = client(|asked| match asked.method {
        http::Method::POST => Reply::Silence,
        _ => Reply::Late(Duration::from_secs(3), Box::new(Reply::failure(404, "NotFound", "gone"))),
    });
    let (context, _news) = context(client, view.clone());
    let mut plan = planned(&view);
    let pod = PodId { namespace: "b".into(), name: "gated".into(), uid: "uid-gated".into() };
    plan.gate_removals = vec![GateRemoval { pod, position: GatePosition::default() }];
    let began = Instant::now();
    super::writer(context).evict_and_admit(&plan).await;
    assert_eq!((began.elapsed().as_secs(), log.all().len()), (3, plan.evictions.len() + 1));
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_server_is_given_a_second_and_the_same_pods() {
    let World { view, mut writer, context: Context { metrics, .. }, log, .. } = World::of(overused(), |_| {
        Reply::detailed_failure(429, "TooManyRequests", "Too many requests", &json!({"retryAfterSeconds": 1}))
    });
    writer.only(Class::Eviction, &planned_now(&view)).await;
    let again = planned_now(&view);
    assert_eq!(victims(&again), ["p4", "p3"]);
    writer.only(Class::Eviction, &again).await;
    assert_eq!(log.all().len(), 2);
    assert_eq!(refusals(&metrics, "Overloaded"), 2);
    assert_eq!(blocked(&writer, &again), Vec::<String>::new());
    tokio::time::sleep(Duration::from_secs(1)).await;
    writer.only(Class::Eviction, &again).await;
    assert_eq!(log.all().len(), 4);
}

#[tokio::test]
async fn a_grace_period_above_the_queues_cap_is_cut_and_believed() {
    let mut patient = queue("a");
    patient["spec"] = json!({"eviction": {"maxGraceSeconds": 300}});
    let mut objects =
        vec![node(4), patient, queue("b"), quota("a", 5, Some(2), 2, 2), quota("b", 5, Some(1), 0, 0)];
    objects.extend(["p1", "p2", "p3", "p4"].map(|name| {
        let mut pod = pod("a", name);
        pod["spec"]["terminationGracePeriodSeconds"] = 3600.into();
        pod
    }));
    let view = view(&objects);
    let (client, log) = client(|_| done());
    let (context, _news) = context(client, view.clone());
    super::writer(context).only(Class::Eviction, &planned(&view)).await;
    assert_eq!(log.all()[0].body["deleteOptions"]["gracePeriodSeconds"], 300);
    let snapshot = view.read(|index| index.snapshot(super::NOW));
    let deadlines: Vec<Timestamp> =
        snapshot.namespaces.values().flat_map(|state| &state.pods).filter_map(|pod| pod.deletion).collect();
    let now = Timestamp::from_millis(Clock::now().as_millisecond());
    let waits = deadlines.iter().map(|deadline| deadline.millis_since(now));
    assert!(deadlines.len() == 2 && waits.min().unwrap() > 290_000, "{deadlines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_counts_as_evicted_for_a_while() {
    let World { view, mut writer, log, .. } = World::of(overused(), |_| Reply::Silence);
    writer.only(Class::Eviction, &planned(&view)).await;
    assert_eq!(log.all().len(), 2);
    writer.catch_up();
    assert_eq!(writer.next_retry(), None, "as long as an answer may come, it is waited for");
    assert_eq!(victims(&planned(&view)), Vec::<String>::new());
    assert!(writer.answered().await, "the loop has to look again when it does not come");
    writer.catch_up();
    assert_eq!(victims(&planned(&view)), Vec::<String>::new());
    tokio::time::sleep_until(writer.next_retry().unwrap()).await;
    writer.catch_up();
    assert_eq!(victims(&planned(&view)), ["p4", "p3"]);
}

#[tokio::test]
async fn a_pod_that_is_gone_is_not_asked_for_again() {
    for (code, message) in [
        (404, "pods \"p4\" not found"),
        (409, "the UID in the precondition (a) does not match the UID in record (b)"),
    ] {
        let World { view, mut writer, log, .. } =
            World::of(overused(), move |_| Reply::failure(code, "", message));
        writer.only(Class::Eviction, &planned(&view)).await;
        writer.only(Class::Eviction, &planned(&view)).await;
        assert_eq!(log.all().len(), 2, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_pods_one_may_go_and_the_other_is_replaced() {
    let view = overused();
    let code = Arc::new(AtomicU16::new(0));
    let answered = Arc::clone(&code);
    let World { view, mut writer, log, .. } =
        World::of(view, move |_| match answered.fetch_add(1, Ordering::Relaxed) {
            0 => done(),
            _ => by_budget(),
        });
    writer.only(Class::Eviction, &planned_now(&view)).await;
    assert_eq!(log.all().len(), 2);
    assert_eq!(victims(&planned_now(&view)), ["p2"]);
}

#[tokio::test(start_paused = true)]
async fn a_large_preemption_is_asked_for_in_pieces() {
    let World { view, mut writer, log, .. } = World::of(overused_by(60), |_| done());
    writer.only(Class::Eviction, &planned(&view)).await;
    // A hundred a second: a burst of twenty, and one every 10 ms until 250 ms have passed.
    assert_eq!(log.all().len(), 45);
    assert!(writer.next_retry().unwrap() <= tokio::time::Instant::now());
    for _ in 0..10 {
        writer.only(Class::Eviction, &planned(&view)).await;
    }
    assert_eq!(log.all().len(), 60);
    assert_eq!(writer.next_retry(), None);
}

#[tokio::test(start_paused = true)]
async fn with_a_low_rate_the_loop_sleeps_until_the_next_pod_may_go() {
    let settings = WriteSettings { evictions_per_second: 1, ..SETTINGS };
    let World { view, mut writer, log, .. } = World::with(overused_by(3), settings, |_| done());
    let mut cycles = 0;
    while log.all().len() < 3 && cycles < 10 {
        writer.only(Class::Eviction, &planned(&view)).await;
        cycles += 1;
        tokio::time::sleep_until(writer.next_retry().unwrap_or_else(tokio::time::Instant::now)).await;
    }
    assert!(cycles <= 5, "{cycles} cycles for three pods");
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_asked_for_no_more_when_the_cycle_s_time_is_over() {
    let World { view, mut writer, context: Context { metrics, .. }, log, .. } =
        World::of(overused_by(20), |_| Reply::Late(Duration::from_millis(150), Box::new(done())));
    let start = tokio::time::Instant::now();
    writer.only(Class::Eviction, &planned(&view)).await;
    // Four at a time, begun after 0 and 150 ms; what is begun after 300 ms belongs to the next cycle.
    assert_eq!(log.all().len(), 8);
    assert_eq!(start.elapsed().as_millis(), 300);
    assert_eq!(metrics.evictions.postponed.get(), 12);
    assert!(writer.next_retry().unwrap() <= tokio::time::Instant::now());
    for _ in 0..2 {
        writer.only(Class::Eviction, &planned(&view)).await;
    }
    assert_eq!(log.all().len(), 20);
    assert_eq!(metrics.evictions.postponed.get(), 0);
    assert_eq!(writer.next_retry(), None);
}

/// A cycle waits for no answer longer than a second: others wait for the next one.
#[tokio::test(start_paused = true)]
async fn evictions_that_hang_hold_up_no_other() {
    let World { view, mut writer, log, .. } =
        World::of(overused_by(20), |_| Reply::Late(Duration::from_secs(4), Box::new(done())));
    let start = tokio::time::Instant::now();
    for _ in 0..2 {
        writer.only(Class::Eviction, &planned(&view)).await;
        assert_eq!((log.all().len(), start.elapsed().as_secs()), (4, 1), "four at a time, waited for once");
    }
    assert_eq!(writer.next_retry(), None, "not time, but an answer is waited for");
    assert!(writer.answered().await);
    assert_eq!(start.elapsed().as_secs(), 4);
    // A pod with an eviction under way counts as terminating: no pod is evicted twice, or in place of another.
    assert_eq!(planned(&view).evictions.len(), 16);
    writer.catch_up();
    writer.only(Class::Eviction, &planned(&view)).await;
    assert_eq!(log.all().len(), 8);
    writer.finish().await;
    assert_eq!(start.elapsed().as_secs(), 8);
    assert_eq!(planned(&view).evictions.len(), 12);
}

/// Answers come when the cycle is long over.
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_believed_as_well() {
    let view = overused();
    let late = |reply| Reply::Late(Duration::from_secs(2), Box::new(reply));
    let refused = by_budget as fn() -> Reply;
    let World { view, mut writer, context: Context { metrics, .. }, mut news, log, .. } =
        World::of(view, move |asked| late(if asked.path.contains("p4") { refused() } else { done() }));
    let start = tokio::time::Instant::now();
    writer.only(Class::Eviction, &planned_now(&view)).await;
    assert_eq!(start.elapsed().as_millis(), 1000);
    assert!(planned_now(&view).evictions.is_empty(), "both count as leaving");
    writer.only(Class::Eviction, &planned_now(&view)).await;
    assert_eq!(log.all().len(), 2);
    assert!(news.try_recv().is_err(), "an event before the eviction");

    tokio::time::timeout(Duration::from_secs(3), writer.finish()).await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 2000);
    tokio::time::timeout(Duration::from_secs(1), view.changed()).await.unwrap();
    assert_eq!(refusals(&metrics, "Budget"), 1);
    assert_eq!(victims(&planned_now(&view)), ["p2"], "p4 stays, p3 is on its way out");
    let Notice::Reclaimed(printed) = news.try_recv().unwrap() else { panic!("a victim is told") };
    assert!(matches!(&printed.subject, Subject::Pod(pod) if pod.name.as_str() == "p3"));
}

#[tokio::test(start_paused = true)]
async fn one_queue_loses_only_so_many_at_once_and_others_go_on() {
    let mut objects = vec![node(8), queue("a"), queue("b"), queue("c"), queue("d")];
    objects.extend([quota("a", 5, Some(2), 2, 2), quota("b", 5, Some(2), 2, 2)]);
    objects.extend([quota("c", 5, Some(1), 0, 0), quota("d", 5, Some(1), 0, 0)]);
    for namespace in ["a", "b"] {
        objects.extend((0..4).map(|number| pod(namespace, &format!("{namespace}{number}"))));
    }
    let World { view, mut writer, context: Context { metrics, .. }, log, .. } =
        World::with(view(&objects), WriteSettings { evictions_per_queue: 1, ..SETTINGS }, |_| done());
    let start = tokio::time::Instant::now();
    let plan = planned(&view);
    assert_eq!(plan.evictions.len(), 4);
    writer.only(Class::Eviction, &plan).await;
    let namespaces = |log: &Log| {
        let mut all: Vec<String> =
            log.all().iter().map(|asked| asked.path.split('/').nth(4).unwrap().to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(namespaces(&log), ["a", "b"]);
    assert_eq!(metrics.evictions.postponed.get(), 2);
    let next = writer.next_retry().unwrap();
    assert_eq!(next.duration_since(start).as_secs(), 60);
    writer.only(Class::Eviction, &planned(&view)).await;
    assert_eq!(log.all().len(), 2);
    tokio::time::sleep_until(next).await;
    writer.only(Class::Eviction, &planned(&view)).await;
    assert_eq!(namespaces(&log), ["a", "a", "b", "b"]);
    assert_eq!(metrics.evictions.postponed.get(), 0);
}
