//! Evictions: the body, and what each answer leads to.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp as Clock;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{GateRemoval, Plan, PodId};
use quotient_engine::snapshot::{GatePosition, Mode};
use quotient_engine::time::Timestamp;
use serde_json::json;
use tokio::time::Instant;

use super::{NOW, SETTINGS, World, context, node, planned, planned_now, pod, put, queue, quota, view};
use crate::executor::Class;
use crate::ledger::Dropped;
use crate::metrics::Metrics;
use crate::settings::{LedgerSettings, WriteSettings};
use crate::tests::api::{OneObject, Reply, client};
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

/// Queues a and b hold all of twice so many cpus, with quotas that are half of that, and c and d deserve half.
fn overused_twice(half: u32) -> View {
    let mut objects = vec![node(half * 4)];
    for (namespace, stamp, hard) in [("a", 2, half), ("b", 2, half), ("c", 1, 0), ("d", 1, 0)] {
        objects.extend([queue(namespace), quota(namespace, 5, Some(stamp), hard, hard)]);
        let pods = if hard > 0 { half * 2 } else { 0 };
        objects.extend((0..pods).map(|number| pod(namespace, &format!("{namespace}{number}"))));
    }
    view(&objects)
}

impl World {
    /// One cycle of evictions, by a clock that is beyond everything.
    async fn evict(&mut self) {
        self.cycle(Class::Eviction).await;
    }

    /// One by the clock on the wall, which refusals are told by. Returns the names of its victims.
    async fn evict_now(&mut self) -> Vec<String> {
        let plan = planned_now(&self.view);
        self.writer.only(Class::Eviction, &plan).await;
        victims(&plan)
    }

    fn blocked(&self, plan: &Plan) -> Vec<String> {
        let blocked = self.writer.blocked_queues(plan).into_iter();
        blocked.map(|(queue, blocked)| format!("{queue}: {} {}", blocked.reason, blocked.message)).collect()
    }

    fn refusals(&self, reason: &str) -> u32 {
        refusals(&self.context.metrics, reason)
    }

    /// How many requests were about this namespace.
    fn asked_in(&self, namespace: &str) -> usize {
        self.log.all().iter().filter(|asked| asked.path.contains(&format!("/{namespace}/"))).count()
    }
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
    let mut it = World::of(overused(), |_| done());
    assert_eq!(victims(&planned(&it.view)), ["p4", "p3"]);
    it.evict().await;

    let asked = it.log.all();
    let mut paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/api/v1/namespaces/a/pods/p3/eviction", "/api/v1/namespaces/a/pods/p4/eviction"]);
    for asked in &asked {
        let uid = format!("uid-{}", asked.body["metadata"]["name"].as_str().unwrap());
        assert_eq!(asked.body["deleteOptions"], json!({"preconditions": {"uid": uid}}));
        assert_eq!(asked.body["kind"], "Eviction");
    }
    let mut told = it.told();
    told.sort_unstable();
    let told: Vec<&str> = told.iter().filter_map(|told| Some(told.split_once(" because")?.0)).collect();
    let evicted = "Evicted for queue b/team";
    assert_eq!(
        told,
        [
            format!("Reclaimed on Pod p3: {evicted}"),
            format!("Reclaimed on Pod p4: {evicted}"),
            "Reclaimed on ReplicaSet web: 2 pods evicted for queue b/team".to_owned(),
        ]
    );
    let listed = it.context.reclaims.of(&"queue-a".into());
    let mut listed: Vec<(&str, Option<i32>)> = listed.iter().map(|one| (&*one.pod, one.rank)).collect();
    listed.sort_unstable();
    assert_eq!(listed, [("p3", Some(2)), ("p4", Some(1))]);

    // The watch has shown nothing yet, and still no pod is evicted again or instead.
    it.evict().await;
    assert_eq!(it.asked(), 2);
}

#[tokio::test]
async fn what_victims_have_run_counts_as_lost() {
    let mut it = World::of(overused(), |_| done());
    for name in ["p1", "p2", "p3", "p4"] {
        let mut running = pod("a", name);
        let an_hour_ago = Clock::now() - Duration::from_secs(3600);
        running["metadata"]["resourceVersion"] = "2".into();
        running["status"]["containerStatuses"] = json!([{
            "name": "main", "image": "main", "imageID": "", "ready": true, "restartCount": 0,
            "state": {"running": {"startedAt": an_hour_ago.to_string()}},
        }]);
        put(&it.view, &running);
    }
    it.evict().await;
    let lost = |namespace: &str| {
        it.context.metrics.queues.evictions(&QueueName::new(namespace, "team")).lost.as_secs()
    };
    assert!((7200..7320).contains(&lost("a")), "{}", lost("a"));
    assert_eq!((it.asked(), lost("b")), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refused_pod_is_told_and_others_are_chosen() {
    let mut it = World::of(overused(), |asked| if asked.path.contains("p4") { by_budget() } else { done() });
    let plan = planned_now(&it.view);
    assert_eq!(it.evict_now().await, ["p4", "p3"]);
    assert_eq!(it.refusals("Budget"), 1);
    assert_eq!(
        it.blocked(&plan),
        ["b/team: EvictionRefused pod a/p4 cannot be evicted: \
             The disruption budget web needs 4 healthy pods and has 4 currently"]
    );
    // The loop is woken, and the next plan goes without the pod.
    tokio::time::timeout(Duration::from_secs(1), it.view.changed()).await.unwrap();
    assert_eq!(it.evict_now().await, ["p2"]);
    assert_eq!(it.asked(), 3);
    // When no queue lacks anything any more, nothing is blocked.
    assert_eq!(it.blocked(&Plan::default()), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_pod_is_tried_again_later() {
    let mut it = World::of(overused(), |_| by_budget());
    // A plan that does not know of the refusals, as when they have just passed for the index.
    let plan = planned(&it.view);
    it.writer.only(Class::Eviction, &plan).await;
    it.writer.only(Class::Eviction, &plan).await;
    assert_eq!(it.asked(), 2);
    let printed = "b/team: EvictionRefused pod a/p3 cannot be evicted: \
                The disruption budget web needs 4 healthy pods and has 4 currently (and 1 more pod)";
    assert_eq!(it.blocked(&plan), [printed]);
    let now = Timestamp::from_millis(Clock::now().as_millisecond());
    let wait = it.view.read(|index| index.next_change(now)).unwrap().millis_since(now);
    assert!((9_000..=10_000).contains(&wait), "{wait}");
    tokio::time::sleep_until(it.writer.next_retry().unwrap()).await;
    it.writer.only(Class::Eviction, &plan).await;
    assert_eq!(it.asked(), 4);
}

/// As while an admission webhook that fails closed is down, or one that says no.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_no_budget_explains_has_to_be_said_twice_before_another_pod_goes() {
    let down = "Internal error occurred: failed calling webhook \"pods.example.com\"";
    for (code, message, reason) in [(403, "a webhook says no", "Forbidden"), (500, down, "ServerError")] {
        let mut it = World::of(overused(), move |asked| {
            if asked.path.contains("p4") { Reply::failure(code, "", message) } else { done() }
        });
        it.evict_now().await;
        assert_eq!(it.evict_now().await, ["p4"], "one failure may be a passing one");
        assert_eq!(it.asked(), 2, "it is left alone for a moment");
        tokio::time::advance(Duration::from_secs(1)).await;
        it.evict_now().await;
        assert_eq!(it.asked(), 3);
        let plan = planned_now(&it.view);
        assert_eq!(victims(&plan), ["p2"]);
        let expected = format!("b/team: EvictionRefused pod a/p4 cannot be evicted: {message}");
        assert_eq!((it.blocked(&plan), it.refusals(reason)), (vec![expected], 2));
    }
}

/// A webhook hangs for the pods of one namespace; the pods of another go at once.
#[tokio::test(start_paused = true)]
async fn evictions_that_hang_in_one_namespace_take_no_slot_from_another() {
    // A slot for each of two pods at a time.
    let settings = WriteSettings { evictions_in_parallel: 2, ..SETTINGS };
    let mut it = World::with(overused_twice(4), settings, |asked| {
        if asked.path.contains("/a/") { Reply::Silence } else { done() }
    });
    assert_eq!(planned(&it.view).evictions.len(), 8);
    let _ = tokio::time::timeout(Duration::from_millis(300), it.evict()).await;
    assert_eq!((it.asked_in("a"), it.asked_in("b")), (2, 4));
}

/// Until the answer comes nothing turns: time would stand still here.
#[tokio::test(start_paused = true)]
async fn an_eviction_that_hangs_waits_beside_a_removal_that_takes_long() {
    let mut it = World::of(overused(), |asked| match asked.method {
        http::Method::POST => Reply::Silence,
        _ => Reply::Late(Duration::from_secs(3), Box::new(Reply::failure(404, "NotFound", "gone"))),
    });
    let mut plan = planned(&it.view);
    let pod = PodId { namespace: "b".into(), name: "gated".into(), uid: "uid-gated".into() };
    plan.gate_removals = vec![GateRemoval { pod, position: GatePosition::default() }];
    let began = Instant::now();
    it.writer.evict_and_admit(&plan).await.unwrap();
    assert_eq!((began.elapsed().as_secs(), it.asked()), (3, plan.evictions.len() + 1));
}

/// What comes of the evictions of a plan, and how many are sent, where the ledger has this version by then.
async fn evicted_with_the_ledger_at(version: &str) -> (Result<(), Dropped>, usize) {
    let ledger = |version: &str| {
        let metadata = json!({"name": "quotient-ledger", "namespace": "home", "resourceVersion": version});
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})
    };
    let stored = OneObject::of(ledger("1"));
    let server = stored.clone();
    let (client, log) =
        client(move |asked| if asked.path.ends_with("/eviction") { done() } else { server.answer(asked) });
    let view = overused();
    let plan = planned(&view);
    let (context, _told) = context(client, view);
    let settings = LedgerSettings { namespace: "home".to_owned(), limit: LedgerSettings::LIMIT };
    let mut writer = Writer::new(&context, Mode::Full, SETTINGS, settings);
    writer.before_snapshot().await.unwrap();
    stored.set(Some(ledger(version)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let result = writer.evict_and_admit(&plan).await;
    (result, log.lines().iter().filter(|line| line.ends_with("/eviction")).count())
}

#[tokio::test(start_paused = true)]
async fn no_pod_is_evicted_for_a_plan_that_another_leader_has_overtaken() {
    assert_eq!(evicted_with_the_ledger_at("1").await, (Ok(()), 2));
    assert_eq!(evicted_with_the_ledger_at("2").await, (Err(Dropped::StartOver), 0));
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_server_is_given_a_second_and_the_same_pods() {
    let mut it = World::of(overused(), |_| {
        Reply::detailed_failure(429, "TooManyRequests", "Too many requests", &json!({"retryAfterSeconds": 1}))
    });
    it.evict_now().await;
    assert_eq!(it.evict_now().await, ["p4", "p3"]);
    assert_eq!((it.asked(), it.refusals("Overloaded")), (2, 2));
    assert_eq!(it.blocked(&planned_now(&it.view)), [""; 0]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    it.evict_now().await;
    assert_eq!(it.asked(), 4);
}

#[tokio::test]
async fn a_grace_period_above_the_queues_cap_is_cut_and_believed() {
    let mut it = World::of(overused(), |_| done());
    let mut patient = queue("a");
    patient["metadata"]["resourceVersion"] = "2".into();
    patient["spec"] = json!({"eviction": {"maxGraceSeconds": 300}});
    put(&it.view, &patient);
    for name in ["p1", "p2", "p3", "p4"] {
        let mut pod = pod("a", name);
        pod["metadata"]["resourceVersion"] = "2".into();
        pod["spec"]["terminationGracePeriodSeconds"] = 3600.into();
        put(&it.view, &pod);
    }
    it.evict().await;
    assert_eq!(it.log.all()[0].body["deleteOptions"]["gracePeriodSeconds"], 300);
    let snapshot = it.view.read(|index| index.snapshot(NOW));
    let deadlines: Vec<Timestamp> =
        snapshot.namespaces.values().flat_map(|state| &state.pods).filter_map(|pod| pod.deletion).collect();
    let now = Timestamp::from_millis(Clock::now().as_millisecond());
    let waits = deadlines.iter().map(|deadline| deadline.millis_since(now));
    assert!(deadlines.len() == 2 && waits.min().unwrap() > 290_000, "{deadlines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_counts_as_evicted_for_a_while() {
    let mut it = World::of(overused(), |_| Reply::Silence);
    it.evict().await;
    assert_eq!(it.asked(), 2);
    it.writer.catch_up();
    assert_eq!(it.writer.next_retry(), None, "as long as an answer may come, it is waited for");
    assert_eq!(victims(&planned(&it.view)), [""; 0]);
    assert!(it.writer.answered().await, "the loop has to look again when it does not come");
    it.writer.catch_up();
    assert_eq!(victims(&planned(&it.view)), [""; 0]);
    tokio::time::sleep_until(it.writer.next_retry().unwrap()).await;
    it.writer.catch_up();
    assert_eq!(victims(&planned(&it.view)), ["p4", "p3"]);
}

#[tokio::test]
async fn a_pod_that_is_gone_is_not_asked_for_again() {
    for (code, message) in [
        (404, "pods \"p4\" not found"),
        (409, "the UID in the precondition (a) does not match the UID in record (b)"),
    ] {
        let mut it = World::of(overused(), move |_| Reply::failure(code, "", message));
        it.evict().await;
        it.evict().await;
        assert_eq!(it.asked(), 2, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_preemption_is_asked_for_in_pieces() {
    let mut it = World::of(overused_by(60), |_| done());
    it.evict().await;
    // A hundred a second: a burst of twenty, and one every 10 ms until 250 ms have passed.
    assert_eq!(it.asked(), 45);
    assert!(it.writer.next_retry().unwrap() <= Instant::now());
    for _ in 0..10 {
        it.evict().await;
    }
    assert_eq!((it.asked(), it.writer.next_retry()), (60, None));
}

#[tokio::test(start_paused = true)]
async fn with_a_low_rate_the_loop_sleeps_until_the_next_pod_may_go() {
    let settings = WriteSettings { evictions_per_second: 1, ..SETTINGS };
    let mut it = World::with(overused_by(3), settings, |_| done());
    let mut cycles = 0;
    while it.asked() < 3 && cycles < 10 {
        it.evict().await;
        cycles += 1;
        tokio::time::sleep_until(it.writer.next_retry().unwrap_or_else(Instant::now)).await;
    }
    assert!(cycles <= 5, "{cycles} cycles for three pods");
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_asked_for_no_more_when_the_cycle_s_time_is_over() {
    let mut it = World::of(overused_by(20), |_| Reply::Late(Duration::from_millis(150), Box::new(done())));
    let start = Instant::now();
    it.evict().await;
    // Four at a time, begun after 0 and 150 ms; what is begun after 300 ms belongs to the next cycle.
    assert_eq!((it.asked(), start.elapsed().as_millis()), (8, 300));
    assert_eq!(it.context.metrics.evictions.postponed.get(), 12);
    assert!(it.writer.next_retry().unwrap() <= Instant::now());
    for _ in 0..2 {
        it.evict().await;
    }
    assert_eq!((it.asked(), it.writer.next_retry()), (20, None));
    assert_eq!(it.context.metrics.evictions.postponed.get(), 0);
}

/// A cycle waits for no answer longer than a second: others wait for the next one.
#[tokio::test(start_paused = true)]
async fn evictions_that_hang_hold_up_no_other() {
    let mut it = World::of(overused_by(20), |_| Reply::Late(Duration::from_secs(4), Box::new(done())));
    let start = Instant::now();
    for _ in 0..2 {
        it.evict().await;
        assert_eq!((it.asked(), start.elapsed().as_secs()), (4, 1), "four at a time, waited for once");
    }
    assert_eq!(it.writer.next_retry(), None, "not time, but an answer is waited for");
    assert!(it.writer.answered().await);
    assert_eq!(start.elapsed().as_secs(), 4);
    // A pod with an eviction under way counts as terminating: no pod is evicted twice, or in place of another.
    assert_eq!(planned(&it.view).evictions.len(), 16);
    it.writer.catch_up();
    it.evict().await;
    assert_eq!(it.asked(), 8);
    it.writer.finish().await;
    assert_eq!(start.elapsed().as_secs(), 8);
    assert_eq!(planned(&it.view).evictions.len(), 12);
}

/// Answers come when the cycle is long over.
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_believed_as_well() {
    let late = |reply| Reply::Late(Duration::from_secs(2), Box::new(reply));
    let mut it = World::of(overused(), move |asked| {
        late(if asked.path.contains("p4") { by_budget() } else { done() })
    });
    let start = Instant::now();
    it.evict_now().await;
    assert_eq!(start.elapsed().as_millis(), 1000);
    assert_eq!(it.evict_now().await, [""; 0], "both count as leaving");
    assert_eq!((it.asked(), it.told()), (2, vec![]), "no event before the eviction");

    tokio::time::timeout(Duration::from_secs(3), it.writer.finish()).await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 2000);
    tokio::time::timeout(Duration::from_secs(1), it.view.changed()).await.unwrap();
    assert_eq!(it.refusals("Budget"), 1);
    assert_eq!(victims(&planned_now(&it.view)), ["p2"], "p4 stays, p3 is on its way out");
    assert!(it.told()[0].starts_with("Reclaimed on Pod p3: "));
}

#[tokio::test(start_paused = true)]
async fn one_queue_loses_only_so_many_at_once_and_others_go_on() {
    let settings = WriteSettings { evictions_per_queue: 1, ..SETTINGS };
    let mut it = World::with(overused_twice(2), settings, |_| done());
    let start = Instant::now();
    let plan = planned(&it.view);
    assert_eq!(plan.evictions.len(), 4);
    it.writer.only(Class::Eviction, &plan).await;
    assert_eq!((it.asked_in("a"), it.asked_in("b")), (1, 1));
    assert_eq!(it.context.metrics.evictions.postponed.get(), 2);
    let next = it.writer.next_retry().unwrap();
    assert_eq!(next.duration_since(start).as_secs(), 60);
    it.evict().await;
    assert_eq!(it.asked(), 2);
    tokio::time::sleep_until(next).await;
    it.evict().await;
    assert_eq!((it.asked_in("a"), it.asked_in("b")), (2, 2));
    assert_eq!(it.context.metrics.evictions.postponed.get(), 0);
}
