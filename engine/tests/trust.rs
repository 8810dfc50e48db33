//! Trust and evidence, as timelines: what a workload that does not start takes from others, and when it is tried again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use quotient_advance::{advance_until, keep, settle};
use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::names::{PodUid, QueueName};
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{Phase, Pod, Snapshot};
use quotient_engine::time::Timestamp;

use crate::story::{self, decides, parse, plays};

/// What is wrong with the pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// They never start, and the kubelet says why.
    Reported,
    /// They never start, and nothing says why.
    Silent,
    /// They are never created.
    NotCreated,
}

/// Happens to a cluster after so many seconds.
type Then<'a> = (i64, &'a dyn Fn(&mut Snapshot));

/// Plays `scenario` for so many `seconds`, where pods of owners called `broken…` have a fault, and tells what queue `a` demands
/// and which pods are evicted, whenever that changes.
fn timeline(scenario: &str, fault: Fault, seconds: i64, then: &[Then<'_>]) -> String {
    let mut snapshot = parse(scenario);
    let begin = snapshot.now;
    let end = begin.plus_seconds(seconds);
    let pods = snapshot.namespaces.values().flat_map(|state| &state.pods);
    let mut stuck: BTreeMap<PodUid, Timestamp> =
        pods.filter_map(|pod| Some((pod.uid.clone(), pod.stuck?))).collect();
    let (mut printed, mut last) = (String::new(), String::new());
    let mut then = then.iter().peekable();
    while snapshot.now <= end {
        if let Some((_, happen)) = then.next_if(|(at, _)| begin.plus_seconds(*at) <= snapshot.now) {
            happen(&mut snapshot);
        }
        let (settled, plan) = settle(&snapshot);
        let line = summary(&plan);
        if line != last {
            writeln!(printed, "at {} s: {line}", (settled.now.millis() - begin.millis()) / 1000).unwrap();
            last = line;
        }
        let next = advance_until(&settled, &plan, settled.now);
        let moves = !plan.evictions.is_empty() || !next.started.is_empty();
        let due = then.peek().map(|(at, _)| begin.plus_seconds(*at));
        let until = plan.due().into_iter().chain(due).min().unwrap_or(end.plus_seconds(1));
        snapshot = if moves { next.snapshot } else { advance_until(&settled, &plan, until).snapshot };
        for state in snapshot.namespaces.values_mut().map(Arc::make_mut) {
            let is_broken = |pod: &Pod| pod.owner().is_some_and(|owner| owner.as_str().starts_with("broken"));
            if fault == Fault::NotCreated {
                state.pods.retain(|pod| !is_broken(pod));
            }
            for pod in state.pods.iter_mut().filter(|pod| is_broken(pod)) {
                let since = pod.stuck.unwrap_or(snapshot.now);
                let since = *stuck.entry(pod.uid.clone()).or_insert(since);
                (pod.phase, pod.started, pod.stuck) = (Phase::Pending, None, Some(since));
                pod.failing = fault == Fault::Reported;
            }
        }
    }
    printed
}

fn summary(plan: &Plan) -> String {
    let queue = |name: &str| plan.queues.iter().find(|(queue, _)| &*queue.name == name).unwrap().1;
    let a = queue("a");
    let mut line = format!("a demands {}, uses {}", a.demand.compact(), a.used.compact());
    for unmet in &a.unmet {
        write!(line, "; {} {}", unmet.pods, unmet.reason).unwrap();
    }
    let mut gone: BTreeMap<&str, usize> = BTreeMap::new();
    for eviction in &plan.evictions {
        *gone.entry(eviction.pod.namespace.as_str()).or_default() += 1;
    }
    for (namespace, pods) in gone {
        write!(line, "; evicts {pods} of {namespace}").unwrap();
    }
    line
}

/// A hundred cpu, of which `b` uses 98 and `more` says what `a` wants.
fn cluster(more: &str) -> String {
    format!(
        "node n1 cpu=100
         queue a,b
         owner b/web replicas=100 cpu=1 pods=web-1..98 node=n1 started=1+1
         {more}"
    )
}

/// Puts the second ReplicaSet of the Deployment in place of the first.
fn redeploy(snapshot: &mut Snapshot) {
    let now = snapshot.now;
    let state = Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap());
    let owner = &mut state.owners[0];
    (owner.uid, owner.name, owner.created) = ("broken-2".into(), "broken-2".into(), now);
    state.pods.clear();
}

const BROKEN: &str = "owner a/broken-1 deployment=broken of=50 replicas=50 cpu=1
    pod a/p1..2 cpu=1 node=n1 pending stuck=990 failing owner=broken-1";

#[test]
fn a_broken_image_takes_one_more_pod_at_each_try_and_at_each_redeploy() {
    expect![[r#"
        at 0 s: a demands 2c, uses 2c; 48 OneAtATime
        at 50 s: a demands 0, uses 2c; 48 SetAside; evicts 2 of a
        at 51 s: a demands 0, uses 0; 50 SetAside
        at 110 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 111 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 112 s: a demands 1c, uses 1c; 49 OneAtATime
        at 172 s: a demands 0, uses 1c; 49 SetAside; evicts 1 of a
        at 173 s: a demands 0, uses 0; 50 SetAside
        at 200 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 201 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 202 s: a demands 1c, uses 1c; 49 OneAtATime
        at 262 s: a demands 0, uses 1c; 49 SetAside; evicts 1 of a
        at 263 s: a demands 0, uses 0; 50 SetAside
    "#]]
    .assert_eq(&timeline(&cluster(BROKEN), Fault::Reported, 300, &[(200, &redeploy)]));
}

/// Times at which a pod of `b` is evicted for the try of a workload that never starts.
#[test]
fn it_is_tried_again_after_1_2_4_8_16_and_30_minutes() {
    let printed = timeline(&cluster(BROKEN), Fault::Reported, 10_000, &[]);
    let tries = printed.lines().filter(|line| line.ends_with("evicts 1 of b"));
    let tries: Vec<i64> = tries.map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    let minutes: Vec<i64> = tries.windows(2).map(|pair| (pair[1] - pair[0] - 62) / 60).collect();
    assert_eq!(minutes, [2, 4, 8, 16, 30, 30, 30, 30], "{printed}");
}

#[test]
fn without_a_report_what_it_took_is_given_back_after_five_minutes() {
    expect![[r#"
        at 0 s: a demands 2c, uses 2c; 48 OneAtATime
        at 290 s: a demands 0, uses 2c; 48 SetAside; evicts 2 of a
        at 291 s: a demands 0, uses 0; 50 SetAside
        at 350 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 351 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 352 s: a demands 1c, uses 1c; 49 OneAtATime
        at 652 s: a demands 0, uses 1c; 49 SetAside; evicts 1 of a
        at 653 s: a demands 0, uses 0; 50 SetAside
    "#]]
    .assert_eq(&timeline(&cluster(&BROKEN.replace("failing ", "")), Fault::Silent, 700, &[]));
}

#[test]
fn pods_that_are_never_created_are_tried_again() {
    let job = "owner a/broken-1 kind=Job replicas=50 cpu=1";
    expect![[r#"
        at 0 s: a demands 50c, uses 0; 50 RoomAvailable; evicts 48 of b
        at 1 s: a demands 50c, uses 0; 50 RoomAvailable
        at 10 s: a demands 50c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 40 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 60 s: a demands 1c, uses 0; 1 PodsNotCreated; 49 OneAtATime
        at 300 s: a demands 0, uses 0; 50 SetAside
        at 360 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 361 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
    "#]]
    .assert_eq(&timeline(&cluster(job), Fault::NotCreated, 400, &[]));
}

#[test]
fn rejected_pods_are_set_aside_after_a_minute() {
    let set = "owner a/broken-1 replicas=50 cpu=1 rejected=serviceaccount-not-found";
    expect![[r#"
        at 0 s: a demands 50c, uses 0; 50 PodsRejected; evicts 48 of b
        at 1 s: a demands 50c, uses 0; 50 PodsRejected
        at 40 s: a demands 1c, uses 0; 50 PodsRejected
        at 60 s: a demands 0, uses 0; 50 PodsRejected
        at 120 s: a demands 1c, uses 0; 50 PodsRejected; evicts 1 of b
        at 121 s: a demands 1c, uses 0; 50 PodsRejected
        at 181 s: a demands 0, uses 0; 50 PodsRejected
    "#]]
    .assert_eq(&timeline(&cluster(set), Fault::NotCreated, 250, &[]));
}

#[test]
fn a_job_whose_pods_only_fail_is_tried_one_at_a_time() {
    let job = "owner a/broken-1 kind=Job replicas=50 cpu=1 fails";
    expect![[r#"
        at 0 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 1 s: a demands 1c, uses 1c; 49 OneAtATime
        at 61 s: a demands 0, uses 1c; 49 SetAside; evicts 1 of a
        at 62 s: a demands 0, uses 0; 50 SetAside
        at 121 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 122 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 123 s: a demands 1c, uses 1c; 49 OneAtATime
        at 183 s: a demands 0, uses 1c; 49 SetAside; evicts 1 of a
        at 184 s: a demands 0, uses 0; 50 SetAside
    "#]]
    .assert_eq(&timeline(&cluster(job), Fault::Reported, 200, &[]));
}

#[test]
fn sound_work_waits_for_nothing() {
    expect![[r#"
        at 0 s: a demands 50c, uses 0; 50 RoomAvailable; evicts 48 of b
        at 1 s: a demands 50c, uses 2c; 48 RoomAvailable
        at 2 s: a demands 50c, uses 50c
    "#]]
    .assert_eq(&timeline(&cluster("owner a/web replicas=50 cpu=1"), Fault::Reported, 60, &[]));
    let job = "owner a/train kind=Job replicas=250 cpu=200m";
    expect![[r#"
        at 0 s: a demands 50c, uses 0; 250 RoomAvailable; evicts 48 of b
        at 1 s: a demands 50c, uses 2c; 240 RoomAvailable
        at 2 s: a demands 50c, uses 50c
    "#]]
    .assert_eq(&timeline(&cluster(job), Fault::Reported, 60, &[]));
}

/// Another workload of the queue gets one pod at a time and twice as many with every Ready one.
#[test]
fn beside_a_workload_that_was_set_aside_another_one_starts_by_doubling() {
    let arrives = |snapshot: &mut Snapshot| {
        let state = Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap());
        let mut web = state.owners[0].clone();
        (web.uid, web.name, web.controller) = ("web".into(), "web".into(), None);
        state.owners = vec![web];
        state.pods.clear();
    };
    expect![[r#"
        at 0 s: a demands 2c, uses 2c; 48 OneAtATime
        at 50 s: a demands 0, uses 2c; 48 SetAside; evicts 2 of a
        at 51 s: a demands 0, uses 0; 50 SetAside
        at 60 s: a demands 1c, uses 0; 1 WaitingForPreemption; 49 OneAtATime; evicts 1 of b
        at 61 s: a demands 1c, uses 0; 1 RoomAvailable; 49 OneAtATime
        at 62 s: a demands 3c, uses 1c; 2 WaitingForPreemption; 47 OneAtATime; evicts 2 of b
        at 63 s: a demands 3c, uses 1c; 2 RoomAvailable; 47 OneAtATime
        at 64 s: a demands 7c, uses 3c; 4 WaitingForPreemption; 43 OneAtATime; evicts 4 of b
        at 65 s: a demands 7c, uses 3c; 4 RoomAvailable; 43 OneAtATime
        at 66 s: a demands 15c, uses 7c; 8 WaitingForPreemption; 35 OneAtATime; evicts 8 of b
        at 67 s: a demands 15c, uses 7c; 8 RoomAvailable; 35 OneAtATime
        at 68 s: a demands 31c, uses 15c; 16 WaitingForPreemption; 19 OneAtATime; evicts 16 of b
        at 69 s: a demands 31c, uses 15c; 16 RoomAvailable; 19 OneAtATime
        at 70 s: a demands 50c, uses 31c; 19 WaitingForPreemption; evicts 19 of b
        at 71 s: a demands 50c, uses 31c; 19 RoomAvailable
        at 72 s: a demands 50c, uses 50c
    "#]]
    .assert_eq(&timeline(&cluster(BROKEN), Fault::Reported, 80, &[(60, &arrives)]));
}

/// The quota knows no workload, so the older controller takes what the queue gets for `web`. Once the broken workload was set
/// aside, one pod of it counts at each try, and one that `web` lacks.
#[test]
fn a_broken_workload_takes_no_share_with_room_for_another_one_of_its_queue() {
    let both = [BROKEN, "\n owner a/web replicas=20 cpu=1 created=500"].concat();
    expect![[r#"
        at 0 s: a demands 22c, uses 2c; 48 OneAtATime; 20 WaitingForPreemption; evicts 20 of b
        at 1 s: a demands 22c, uses 2c; 48 OneAtATime; 20 RoomAvailable
        at 2 s: a demands 42c, uses 22c; 28 OneAtATime; 20 WaitingForPreemption; evicts 20 of b
        at 3 s: a demands 42c, uses 22c; 28 OneAtATime; 20 RoomAvailable
        at 4 s: a demands 62c, uses 42c; 8 OneAtATime; 20 WaitingForPreemption; evicts 8 of b
        at 5 s: a demands 62c, uses 42c; 8 OneAtATime; 20 RoomAvailable
        at 6 s: a demands 70c, uses 50c; 20 ShareInUse
        at 50 s: a demands 20c, uses 50c; 1 ShareInUse; 19 OneAtATime; evicts 30 of a
        at 51 s: a demands 20c, uses 20c; 30 SetAside; 1 ShareInUse; 19 OneAtATime
        at 80 s: a demands 1c, uses 20c; 30 SetAside; 1 ShareInUse; 19 OneAtATime; evicts 19 of a
        at 81 s: a demands 1c, uses 1c; 49 SetAside; 1 ShareInUse; 19 OneAtATime
        at 110 s: a demands 2c, uses 1c; 49 OneAtATime; 1 WaitingForPreemption; 19 OneAtATime; evicts 1 of b
        at 111 s: a demands 2c, uses 1c; 49 OneAtATime; 1 RoomAvailable; 19 OneAtATime
        at 112 s: a demands 2c, uses 2c; 48 OneAtATime; 1 ShareInUse; 19 OneAtATime
        at 170 s: a demands 1c, uses 2c; 48 SetAside; 1 ShareInUse; 19 OneAtATime; evicts 1 of a
        at 171 s: a demands 1c, uses 1c; 49 SetAside; 1 ShareInUse; 19 OneAtATime
    "#]]
    .assert_eq(&timeline(&cluster(&both), Fault::Reported, 200, &[]));
}

/// Four GPUs that no node had count as soon as one has them; a node that joins is a try for any.
#[test]
fn a_new_node_and_free_room_are_a_new_try() {
    plays(
        "node n1 cpu=8 gpu=8
         queue a roomSince=940
         queue b guaranteed=gpu:6
         owner a/train kind=Job cpu=1 gpu=4 pods=train-1 pending created=900 stuck=940
         owner b/serve replicas=1 cpu=1 gpu=6 pods=serve-1 node=n1 started=10
         then
         delete owner b/serve
         delete pod b/serve-1
         then after=31",
        &expect![[r#"
            step 1: capacity 8c 8gpu
              a: deserved 0c 0gpu, allocated 3c 0gpu, used 1c 4gpu
                1 pods of Job train, 1c 4gpu each: SetAside
              b: deserved 1c 6gpu, allocated 3c 6gpu, used 1c 6gpu
            then
            step 2: capacity 8c 8gpu
              a: deserved 1c 2gpu, allocated 3c 0gpu, used 1c 4gpu, target 0c 0gpu
                1 pods of Job train, 1c 4gpu each: ShareInUse
              b: deserved 1c 6gpu, allocated 3c 6gpu, used 0c 0gpu
              started a/train-1
            step 3: capacity 8c 8gpu
              a: deserved 1c 2gpu, allocated 3c 0gpu, used 1c 4gpu, target 0c 0gpu
            then, 31 s later
            step 4: capacity 8c 8gpu
              a: deserved 1c 4gpu, allocated 3c 8gpu, used 1c 4gpu
              b: deserved 0c 0gpu, allocated 2c 4gpu, used 0c 0gpu
        "#]],
    );
    plays(
        "node n1 cpu=2
         queue a request=cpu:4
         owner a/web cpu=3 pods=web-1 pending created=900 stuck=940
         then
         node n2 cpu=2
         then
         node n3 cpu=4",
        &expect![[r#"
            step 1: capacity 2c
              a: deserved 2c, allocated 2c, used 3c
                1 pods of ReplicaSet web, 3c each: SetAside
            then
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 3c
                1 pods of ReplicaSet web, 3c each: NoNodeFits
            then
            step 3: capacity 8c
              a: deserved 4c, allocated 6c, used 3c
                1 pods of ReplicaSet web, 3c each: RoomAvailable
              started a/web-1
            step 4: capacity 8c
              a: deserved 4c, allocated 6c, used 3c
        "#]],
    );
}

/// A service whose database is down for an hour keeps what it runs, and gets the pod back that it lost with a node.
#[test]
fn a_guaranteed_service_that_is_not_ready_keeps_its_share() {
    for stuck in ["stuck=20", "stuck=5", "stuck=20 failing"] {
        let mut scenario = "now 5000
         node n1 cpu=20
         queue a guaranteed=cpu:10
         queue b
         owner a/web replicas=10 cpu=1
         owner b/web replicas=20 cpu=1
        "
        .to_owned();
        for number in 1..=9 {
            writeln!(scenario, "pod a/p{number} cpu=1 node=n1 started=10 {stuck} owner=web").unwrap();
        }
        for number in 1..=11 {
            writeln!(scenario, "pod b/p{number} cpu=1 node=n1 started=10 owner=web").unwrap();
        }
        let printed = story::explain(&scenario);
        assert!(printed.contains("a: deserved 10c, allocated 9c, used 9c"), "{stuck}: {printed}");
        assert!(printed.contains("for a: Reclaimed"), "{stuck}: {printed}");
        assert!(!printed.contains("evict a/"), "{stuck}: {printed}");
    }
}

/// What pods of others hold is no evidence against a workload, however long it waits: in Observe no pod is evicted for it.
#[test]
fn a_pod_that_waits_for_others_to_go_is_not_set_aside() {
    plays(
        "settings mode=Observe
         node n1 cpu=4
         queue a,b
         owner a/web replicas=4 cpu=1 pods=web-1..4 node=n1 started=10+10
         owner b/train replicas=2 cpu=1 pods=train-1..2 pending created=900 stuck=900
         then after=400
         then
         settings mode=Full",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 2c, used 2c
                2 pods of ReplicaSet train, 1c each: EvictionsDisabled
              would evict a/web-4..3 for b: Reclaimed
            then, 400 s later
            step 2: capacity 4c
              would evict a/web-4..3 for b: Reclaimed
            then
            step 3: capacity 4c
              b: deserved 2c, allocated 2c, used 2c
                2 pods of ReplicaSet train, 1c each: WaitingForPreemption
              evict a/web-4..3 for b: Reclaimed
              started b/train-1..2
            step 4: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
                2 pods of ReplicaSet web, 1c each: ShareInUse
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A scheduler that does not run, or a gate that nothing removes: no condition ever says that a node is lacking. The pods have
/// room for five minutes and then count no more, so that other queues get back what was taken for them.
#[test]
fn pods_that_no_scheduler_looks_at_are_set_aside_and_tried_again() {
    let scenario = "
        node n1 cpu=8
        queue a
        queue b request=all
        quota a,b cpu=4
        pod a/p1..2 cpu=2 pending created=990
        pod b/p1 cpu=4 node=n1
        ";
    expect![[r#"
        0: cpu 4
        50: cpu 4
        200: cpu 4
        349: cpu 4
        350: nothing SetAside SetAside
        409: nothing SetAside SetAside
        411: cpu 4"#]]
    .assert_eq(&unscheduled(scenario, &[0, 50, 200, 349, 350, 409, 411]));
}

/// Between two plans of one second a pod would count again only because its room was seen for the first time.
#[test]
fn a_pod_without_a_node_is_set_aside_with_its_workload() {
    let scenario = "
        node n1 cpu=8
        queue a
        pod a/p1 cpu=2 node=n1 created=600 pending stuck=600 owner=web
        pod a/p2 cpu=2 created=600 pending owner=web
        ";
    expect![[r#"
        0: nothing SetAside
        1: nothing SetAside
        59: nothing SetAside
        61: cpu 2 OneAtATime"#]]
    .assert_eq(&unscheduled(scenario, &[0, 1, 59, 61]));
}

/// Or the share moves back once the pod that went for it is gone, and the next one that starts has to go again.
#[test]
fn an_eviction_changes_no_demand_beside_a_workload_that_is_set_aside() {
    let mut snapshot = parse(
        "
        node n1 cpu=8
        queue a
        pod a/broken cpu=9 created=600 pending stuck=600
        owner a/web replicas=8 cpu=1 pods=web-1 node=n1 started=900
        ",
    );
    let mut demand = Vec::new();
    for seconds in [1, 31, 0] {
        let (mut settled, plan) = settle(&snapshot);
        keep(&mut settled, &plan);
        demand.extend(plan.queues.values().map(|queue| queue.demand.to_string()));
        snapshot = settled;
        snapshot.now = snapshot.now.plus_seconds(seconds);
        Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap())
            .pods
            .retain(|pod| pod.uid.as_str() != "a/web-1");
    }
    assert_eq!(demand, ["cpu 3", "cpu 3", "cpu 3"]);
}

/// What queue `a` demands after so many `seconds`, and why its pods do not count, where no scheduler binds any.
fn unscheduled(scenario: &str, seconds: &[i64]) -> String {
    let mut snapshot = parse(scenario);
    let begin = snapshot.now;
    let mut printed = Vec::new();
    for second in seconds {
        snapshot.now = begin.plus_seconds(*second);
        let (mut settled, plan) = settle(&snapshot);
        keep(&mut settled, &plan);
        let queue = plan.queues.iter().find(|(name, _)| &*name.name == "a").unwrap().1;
        let reasons = queue.unmet.iter().map(|unmet| unmet.reason.name());
        let words: Vec<&str> = reasons.collect();
        printed.push(format!("{second}: {} {}", queue.demand, words.join(" ")).trim_end().to_owned());
        snapshot = settled;
    }
    printed.join("\n")
}

/// What its kubelet has not reported yet is not known to run: a moment after each binding the next pod would go for it.
#[test]
fn a_pod_that_was_bound_just_now_is_in_the_making() {
    decides(
        "node n1 cpu=10 memory=40Gi
         queue a,b
         quota a cpu=8 memory=32Gi
         quota b cpu=2 memory=8Gi
         owner a/web replicas=8 cpu=1 memory=1Gi pods=w1..8 node=n1 started=10
         owner b/api replicas=50 cpu=1 memory=1Gi
         pod b/p1 cpu=1 memory=1Gi node=n1 pending created=970 stuck=970 owner=api
         pod b/p2 cpu=1 memory=1Gi node=n1 pending created=1000 owner=api",
        &expect![[r#"
            step 1: capacity 10c 40Gi
              a: deserved 8c 8Gi, allocated 8c 16Gi, used 8c 8Gi
              b: deserved 2c 2Gi, allocated 2c 8Gi, used 2c 2Gi
                48 pods of ReplicaSet api, 1c 1Gi each: OneAtATime
              lower a
        "#]],
    );
}

/// Its pods are never evicted, so they count before all else; those that did not start hold nothing.
#[test]
fn pods_that_never_start_hold_no_room_in_a_queue_without_evictions() {
    let snapshot = story::parse(
        "node n cpu=100 labels=zone:a
         queue a eviction=Never
         quota a cpu=80
         queue b
         quota b cpu=0
         owner b/o replicas=100 cpu=1
         owner a/o replicas=10 cpu=8 selector=zone:z9 pods=p-1..10 pending stuck=900 created=100",
    );
    let plan = plan(&snapshot);
    assert_eq!(plan.queues[&QueueName::new("b", "b")].deserved.get(&Resource::Cpu), Amount::new(100_000));
}
