//! What the cluster does with a plan, as stories: owners, placement, budgets, time.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use quotient_advance::{advance, advance_until, settle};
use quotient_engine::plan::{Eviction, Plan, PodId};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{Pod, Snapshot};
use quotient_engine::time::Timestamp;

use crate::story::{self, plays};

/// One step, after which `look` tells of every pod.
fn after_a_step(scenario: &str, look: impl Fn(&Pod) -> String, expected: &Expect) {
    let (settled, plan) = settle(&story::parse(scenario));
    expected.assert_eq(&pods(&advance(&settled, &plan).snapshot, look));
}

fn pods(snapshot: &Snapshot, look: impl Fn(&Pod) -> String) -> String {
    let pods = snapshot.namespaces.values().flat_map(|state| &state.pods);
    let printed: Vec<String> = pods.map(|pod| format!("{}: {}\n", pod.uid, look(pod))).collect();
    printed.concat()
}

fn node(pod: &Pod) -> String {
    pod.node.as_ref().map_or("nowhere", |node| node.as_str()).to_owned()
}

// ---- owners ---------------------------------------------------------------------------------------------

#[test]
fn owners_create_what_the_quota_admits_oldest_first() {
    plays(
        "node n1 cpu=9 memory=9Gi
         queue a limit=cpu:3 request=all
         owner a/old replicas=2 cpu=1 memory=1Gi created=10
         owner a/new replicas=2 cpu=1 memory=1Gi created=20
         owner free/any replicas=1 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 9c 9Gi
              a: deserved 3c 9Gi, allocated 3c 9Gi, used 0c 0
                2 pods of ReplicaSet old, 1c 1Gi each: RoomAvailable
                2 pods of ReplicaSet new, 1c 1Gi each: RoomAvailable
              started a/new-r1001-2
              started a/old-r1001-0..1
              started free/any-r1001-0
            step 2: capacity 8c 8Gi
              a: deserved 3c 8Gi, allocated 3c 8Gi, used 3c 3Gi
                1 pods of ReplicaSet new, 1c 1Gi each: AboveLimit
        "#]],
    );
}

#[test]
fn a_pod_needs_room_in_every_resource_and_in_others_quotas() {
    after_a_step(
        "node n1 cpu=9 memory=9Gi
         queue a request=all
         foreign-quota a memory=2Gi
         owner a/web replicas=4 cpu=1 memory=1Gi",
        node,
        &expect![[r#"
            a/web-r1001-0: n1
            a/web-r1001-1: n1
        "#]],
    );
}

#[test]
fn an_evicted_pod_comes_back_only_when_the_quota_rises_and_under_a_new_name() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a,b request=all
         quota a cpu=4 memory=4Gi
         owner a/web replicas=4 cpu=1 memory=1Gi pods=web-1..4 node=n1 started=10+10
         then
         queue b weight=0 request=all",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 2c 2Gi (WaitingForPreemption)
              evict a/web-4..3 for b: Reclaimed
            step 2: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet web, 1c 1Gi each: ShareInUse
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
            then
            step 3: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 2c 2Gi
                2 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              b: deserved 0c 0, allocated 0c 0, used 0c 0
              started a/web-r1003-0..1
            step 4: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
        "#]],
    );
}

#[test]
fn owners_delete_what_they_have_too_many_of() {
    after_a_step(
        "node n1 cpu=4 memory=4Gi
         queue a request=all
         owner a/web replicas=2 cpu=1 memory=1Gi
         pod a/old cpu=1 memory=1Gi node=n1 started=10 owner=web
         pod a/young cpu=1 memory=1Gi node=n1 started=20 owner=web
         pod a/broken cpu=1 memory=1Gi node=n1 started=5 stuck=10 owner=web
         pod a/unbound cpu=1 memory=1Gi pending created=1 owner=web
         pod a/somebody-elses cpu=1 memory=1Gi node=n1 started=30 owner=other",
        node,
        &expect![[r#"
            a/old: n1
            a/young: n1
            a/somebody-elses: n1
        "#]],
    );
}

#[test]
fn a_stateful_set_waits_until_a_pod_is_gone() {
    let stuck = "node n1 cpu=4 memory=4Gi
         queue a request=all
         owner a/db replicas=1 cpu=1 memory=1Gi kind=KIND pods=db-0 node=n1 started=10 terminating=900";
    after_a_step(
        &stuck.replace("KIND", "StatefulSet"),
        node,
        &expect![[r#"
        a/db-0: n1
    "#]],
    );
    after_a_step(
        &stuck.replace("KIND", "ReplicaSet"),
        node,
        &expect![[r#"
        a/db-0: n1
        a/db-r1001-0: n1
    "#]],
    );
}

#[test]
fn a_stateful_set_creates_its_lowest_free_ordinals() {
    after_a_step(
        "node n1 cpu=4
         queue a request=all
         owner a/web replicas=4 cpu=1 kind=StatefulSet
         pod a/web-0 cpu=1 node=n1 started=10 owner=web
         pod a/web-2 cpu=1 node=n1 started=10 owner=web",
        |pod| pod.name.to_string(),
        &expect![[r#"
            a/web-0: web-0
            a/web-2: web-2
            a/web-r1001-0: web-1
            a/web-r1001-1: web-3
        "#]],
    );
}

#[test]
fn new_pods_take_after_their_siblings() {
    after_a_step(
        "node n1 cpu=4 memory=4Gi
         queue a request=all
         owner a/web replicas=1 cpu=1 memory=1Gi gang=g min=2 priority=7
         pod a/web-1 cpu=1 memory=1Gi node=n1 started=10 owner=web labels=app:web do_not_disrupt terminating",
        |pod| format!("{:?} priority {} do_not_disrupt {}", pod.metadata, pod.priority, pod.do_not_disrupt),
        &expect![[r#"
            a/web-r1001-0: PodMetadata { owner: Some(Workload { api_version: "apps/v1", kind: "ReplicaSet", name: "web", uid: OwnerUid("web") }), gang: Some(Gang { name: GangName("g"), min_available: 2 }), labels: Labels([("app", "web")]) } priority 7 do_not_disrupt true
        "#]],
    );
}

// ---- the scheduler --------------------------------------------------------------------------------------

#[test]
fn pods_go_where_selectors_affinity_and_taints_let_them() {
    after_a_step(
        "node n1 cpu=2 memory=2Gi
         node n2 cpu=2 memory=2Gi labels=zone:a
         node n3 cpu=2 memory=2Gi labels=zone:b
         node n4 cpu=2 memory=2Gi labels=zone:c taint=gpu:NoSchedule
         node n5 cpu=9 memory=9Gi labels=zone:d cordoned
         pod x/anywhere cpu=1 memory=1Gi pending
         pod x/selects cpu=1 memory=1Gi pending selector=zone:b
         pod x/requires cpu=1 memory=1Gi pending affinity=zone:c|b
         pod x/prefers cpu=1 memory=1Gi pending prefers=zone:a
         pod x/tolerates cpu=1 memory=1Gi pending selector=zone:c tolerates=gpu
         pod x/repelled cpu=1 memory=1Gi pending selector=zone:c
         pod x/on-a-cordoned-node cpu=1 memory=1Gi pending selector=zone:d",
        node,
        &expect![[r#"
            x/anywhere: n1
            x/selects: n3
            x/requires: n3
            x/prefers: n2
            x/tolerates: n4
            x/repelled: nowhere
            x/on-a-cordoned-node: nowhere
        "#]],
    );
}

#[test]
fn higher_priority_first_then_older_and_who_fits_nowhere_is_unschedulable_from_then_on() {
    let scenario = "node n1 cpu=2 memory=2Gi
         pod x/low cpu=1 memory=1Gi pending created=1
         pod x/high cpu=1 memory=1Gi pending created=30 priority=5
         pod x/older cpu=1 memory=1Gi pending created=10 priority=5
         pod x/known cpu=1 memory=1Gi pending created=9 stuck=990";
    let look = |pod: &Pod| {
        let stuck = pod.stuck.map_or_else(String::new, |at| format!(", stuck since {}", at.millis() / 1000));
        node(pod) + &stuck
    };
    after_a_step(
        scenario,
        look,
        &expect![[r#"
        x/low: nowhere, stuck since 1001
        x/high: n1
        x/older: n1
        x/known: nowhere, stuck since 990
    "#]],
    );
}

#[test]
fn what_has_not_got_on_for_a_minute_does_not_by_itself() {
    let look = |pod: &Pod| format!("{:?}, stuck {}", pod.phase, pod.stuck.is_some());
    after_a_step(
        "node n1 cpu=9 memory=9Gi
         pod x/starting cpu=1 memory=1Gi pending node=n1 stuck=990
         pod x/broken cpu=1 memory=1Gi pending node=n1 stuck=900
         pod x/unready cpu=1 memory=1Gi node=n1 stuck=990
         pod x/never-ready cpu=1 memory=1Gi node=n1 stuck=900
         pod x/leaving cpu=1 memory=1Gi node=n1 terminating=990
         pod x/hanging cpu=1 memory=1Gi node=n1 terminating=900
         pod x/done cpu=1 memory=1Gi node=n1 finished",
        look,
        &expect![[r#"
            x/starting: Running, stuck false
            x/broken: Pending, stuck true
            x/unready: Running, stuck false
            x/never-ready: Running, stuck true
            x/hanging: Running, stuck false
        "#]],
    );
}

// ---- evictions ------------------------------------------------------------------------------------------

#[test]
fn a_budget_refuses_what_it_does_not_allow_and_recovers_with_what_runs() {
    let scenario = "node n1 cpu=4 memory=4Gi
         queue a request=all
         owner a/web replicas=3 cpu=1 memory=1Gi
         pod a/web-1..2 cpu=1 memory=1Gi node=n1 started=10+10 owner=web labels=app:web
         pod a/web-3 cpu=1 memory=1Gi pending owner=web labels=app:web
         pod a/other cpu=1 memory=1Gi node=n1 started=20
         budget a/web allowed=1 selects=app:web";
    let (settled, decided) = settle(&story::parse(scenario));
    let mut printed = String::new();
    let mut world = settled;
    for victims in [vec!["a/web-1", "a/web-2", "a/web-3", "a/other"], vec![]] {
        let evictions = victims.into_iter().map(|uid| eviction(&world, uid)).collect();
        world = advance(&world, &Plan { evictions, ..decided.clone() }).snapshot;
        let state = world.namespaces.values().next().unwrap();
        let pods: Vec<&str> = state.pods.iter().map(|pod| pod.name.as_str()).collect();
        let allowed = state.budgets[0].allowed;
        writeln!(printed, "{pods:?} refused {:?} allowed {allowed}", state.refused).unwrap();
    }
    expect![[r#"
        ["web-2", "web-r1001-0", "web-r1001-1"] refused {PodUid("a/web-2")} allowed 2
        ["web-2", "web-r1001-0", "web-r1001-1"] refused {} allowed 2
    "#]]
    .assert_eq(&printed);
}

fn eviction(world: &Snapshot, uid: &str) -> Eviction {
    use quotient_engine::names::QueueName;
    use quotient_engine::plan::Stage;
    use quotient_engine::reasons::EvictionReason;
    let (namespace, state) = world.namespaces.iter().next().unwrap();
    let pod = state.pods.iter().find(|pod| pod.uid.as_str() == uid).unwrap();
    Eviction {
        pod: PodId { namespace: namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() },
        workload: None,
        queue: QueueName::new(namespace.clone(), "a"),
        beneficiary: None,
        reason: EvictionReason::Overcommitted,
        stage: Stage::Committed,
        rank: None,
        priority: 0,
        requests: pod.requests().clone(),
        used: pod.requests().clone().into(),
        deserved: pod.requests().clone().into(),
        grace_seconds: None,
    }
}

#[test]
fn a_pod_that_several_budgets_protect_stays() {
    let scenario = "queue a request=all
         pod a/web-1 cpu=1 memory=1Gi node=n1 started=10 labels=app:web
         budget a/one allowed=1
         budget a/other allowed=1 selects=app:web";
    let world = story::parse(scenario);
    let plan = Plan { evictions: vec![eviction(&world, "a/web-1")], ..Plan::default() };
    let next = advance(&world, &plan).snapshot;
    assert_eq!(next.namespaces.values().next().unwrap().pods.len(), 1);
}

#[test]
fn a_pod_deleted_without_grace_is_gone_whatever_held_it() {
    let world = story::parse("pod x/hanging cpu=1 memory=1Gi node=n1 terminating=100");
    let forced = Eviction { grace_seconds: Some(0), ..eviction(&world, "x/hanging") };
    let plan = Plan { shortened: vec![forced], ..Plan::default() };
    assert_eq!(pods(&advance(&world, &Plan::default()).snapshot, node), "x/hanging: n1\n");
    assert_eq!(pods(&advance(&world, &plan).snapshot, node), "");
}

// ---- what is kept ---------------------------------------------------------------------------------------

#[test]
fn quotas_whose_queue_is_gone_are_collected() {
    let world = story::parse(
        "quota a cpu=4 memory=4Gi
         quota b cpu=4 memory=4Gi ownerless
         queue c request=all
         quota c cpu=4 memory=4Gi",
    );
    let next = advance(&world, &Plan::default()).snapshot;
    let quotas: Vec<_> = next.namespaces.values().map(|state| state.quota.is_some()).collect();
    assert_eq!(quotas, [false, true, true]);
}

#[test]
fn what_a_plan_remembers_stands_in_the_queues_status() {
    let world = story::parse("node n1 cpu=4 memory=4Gi\nqueue a request=all");
    let mut plan = plan(&world);
    let since = Some(Timestamp::from_seconds(900));
    plan.queues.values_mut().for_each(|queue| queue.remember.short_since = since);
    let next = advance(&world, &plan).snapshot;
    assert_eq!(next.namespaces.values().next().unwrap().queues[0].remembered.short_since, since);
}

#[test]
fn time_goes_as_far_as_told_and_never_stands_still() {
    let world = story::parse("now 50\nnode n1 cpu=4 memory=4Gi");
    let at = |seconds| advance_until(&world, &Plan::default(), Timestamp::from_seconds(seconds)).snapshot.now;
    assert_eq!([0, 50, 51, 90].map(|seconds| at(seconds).millis()), [51_000, 51_000, 51_000, 90_000]);
    assert!(advance(&world, &Plan::default()).rests(&world));
}
