//! Pods that cannot start, and what they are told, as stories.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use quotient_engine::planner::plan;

use crate::story::{decides, explain, explains, parse, plays};

#[test]
fn every_queue_says_what_stands_in_the_way() {
    decides(
        "settings expandable=gpu:1
         node n1 cpu=12 memory=48Gi
         queue large,used fixed=cpu:3,memory:12Gi
         queue room
         queue limited limit=cpu:2 request=all
         queue foreign request=all
         queue lost roomSince=920
         quota large,used cpu=3 memory=12Gi
         quota limited cpu=2 memory=8Gi
         quota foreign cpu=1 memory=8Gi
         quota room cpu=2 memory=2Gi
         quota lost cpu=1 memory=2Gi
         foreign-quota foreign cpu=1
         owner large/job kind=Job replicas=2 cpu=20 memory=1Gi
         owner room/web replicas=1 cpu=1 memory=1Gi
         pod used/p1 cpu=3 memory=1Gi node=n1 started=10
         owner used/web replicas=1 cpu=1 memory=1Gi
         owner limited/db kind=StatefulSet replicas=1 cpu=3 memory=1Gi
         owner foreign/web replicas=1 cpu=2 memory=1Gi
         pod lost/p1 cpu=1 memory=1Gi pending created=900 stuck=920
         pod lost/p2 cpu=1 memory=1Gi gpu=1 pending created=900 stuck=990
         pod lost/p3 cpu=1 memory=1Gi pending created=900 stuck=990",
        &expect![[r#"
            step 1: capacity 12c 48Gi 1gpu
              foreign: deserved 1c 11520Mi 1gpu, allocated 0c 10Gi 1gpu, used 0c 0 0gpu, target 0c 11520Mi 1gpu, preempting 0c 1280Mi 0gpu (WaitingForQuota)
                1 pods of ReplicaSet web, 2c 1Gi 0gpu each: ForeignQuota
              large: deserved 3c 11520Mi 0gpu, allocated 3c 11520Mi 0gpu, used 0c 0 0gpu
                2 pods of Job job, 20c 1Gi 0gpu each: NoNodeFits
              limited: deserved 2c 11520Mi 0gpu, allocated 2c 10Gi 0gpu, used 0c 0 0gpu, preempting 0c 1280Mi 0gpu (WaitingForQuota)
                1 pods of StatefulSet db, 3c 1Gi 0gpu each: AboveLimit
              lost: deserved 2c 2Gi 0gpu, allocated 1c 1Gi 0gpu, used 3c 3Gi 1gpu, target 1c 1Gi 0gpu
                pod p1, 1c 1Gi 0gpu: SetAside
                pod p2, 1c 1Gi 1gpu: WaitingForNodes
                pod p3, 1c 1Gi 0gpu: ShareInUse
              room: deserved 1c 1Gi 0gpu, allocated 1c 1Gi 0gpu, used 0c 0 0gpu
                1 pods of ReplicaSet web, 1c 1Gi 0gpu each: WaitingForQuota
              used: deserved 3c 11520Mi 0gpu, allocated 3c 11520Mi 0gpu, used 3c 1Gi 0gpu
                1 pods of ReplicaSet web, 1c 1Gi 0gpu each: AboveLimit
              lower foreign, large, limited, lost, room, used
        "#]],
    );
}

#[test]
fn what_is_promised_is_waited_for() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a,b request=all
         quota a cpu=8 memory=8Gi
         pod a/p1 cpu=8 memory=8Gi node=n1 started=10
         owner b/web replicas=2 cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 4c 4Gi, allocated 0c 0, used 8c 8Gi, target 0c 0
              b: deserved 4c 4Gi, allocated 0c 0, used 0c 0, target 8c 8Gi, preempting 8c 8Gi (WaitingForQuota)
                2 pods of ReplicaSet web, 4c 4Gi each: WaitingForQuota
              lower a, b
              evict a/p1 once its quota is in force
        "#]],
    );
}

// ---- pods that do not come to be --------------------------------------------------------------------------

/// Before, this was `RoomAvailable` for ever.
#[test]
fn what_the_api_server_refuses_is_told_in_its_words() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a request=all
         owner a/web replicas=3 cpu=1 memory=1Gi rejected=serviceaccount-not-found
         then after=3600",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 8c 8Gi, allocated 8c 8Gi, used 0c 0
                3 pods of ReplicaSet web, 1c 1Gi each: PodsRejected (serviceaccount-not-found)
            then, 3600 s later
        "#]],
    );
}

/// Waiting for room helps nothing that admission refuses before it looks for room.
#[test]
fn a_rejection_is_told_although_there_is_no_room() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a request=all
         quota a cpu=4 memory=4Gi
         pod a/p1 cpu=4 memory=4Gi node=n1 started=10
         owner a/web cpu=1 memory=1Gi rejected=policy
         owner a/job kind=Job cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
                1 pods of Job job, 1c 1Gi each: ShareInUse
                1 pods of ReplicaSet web, 1c 1Gi each: PodsRejected (policy)
        "#]],
    );
}

#[test]
fn a_template_without_a_request_that_the_quota_demands_is_refused() {
    explains(
        "node n1 cpu=8 memory=8Gi
         queue a request=all
         owner a/train kind=Job replicas=2 cpu=1 unspecified=memory
         owner a/web kind=StatefulSet unspecified=cpu,memory
         owner a/fine cpu=1 memory=1Gi",
        &expect![[r#"
              1 pods of ReplicaSet fine, 1c 1Gi each: RoomAvailable
              2 pods of Job train, 1c 0 each: PodsRejected (no request for [Memory])
              1 pods of StatefulSet web, 0c 0 each: PodsRejected (no request for [Cpu, Memory])
        "#]],
    );
}

/// What the quota does not bound it demands no request for.
#[test]
fn a_template_need_not_name_what_the_quota_does_not_bound() {
    decides(
        "node n1 cpu=8 memory=8Gi
         settings resources=cpu
         queue a request=all
         quota a cpu=8 enforced=cpu:8
         owner a/train kind=Job cpu=1 unspecified=memory
         owner a/web unspecified=cpu,memory",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 8c, allocated 8c, used 0c
                1 pods of Job train, 1c each: RoomAvailable
                1 pods of ReplicaSet web, 0c each: PodsRejected (no request for [Cpu])
              raise a
        "#]],
    );
}

/// The scenario once more, so many seconds after 1000; what each decision remembers the next one knows.
fn later(scenario: &str, seconds: &[i64]) -> String {
    let mut snapshot = parse(scenario);
    let begin = snapshot.now;
    let mut printed = String::new();
    for after in seconds {
        snapshot.now = begin.plus_seconds(*after);
        let plan = plan(&snapshot);
        for (name, queue) in &plan.queues {
            let state = Arc::make_mut(snapshot.namespaces.get_mut(&name.namespace).unwrap());
            state.queues[0].remembered = queue.remember.clone();
            for unmet in &queue.unmet {
                writeln!(printed, "at {after} s: {}: {}", name.namespace, unmet.reason).unwrap();
            }
        }
        if let Some(next) = plan.due() {
            writeln!(printed, "  until {} s", (next.millis() - begin.millis()) / 1000).unwrap();
        }
    }
    printed
}

/// A Job has no condition for it. Before, this was `RoomAvailable` for ever.
#[test]
fn after_a_minute_with_room_pods_that_are_not_there_are_not_created() {
    let scenario = "node n1 cpu=8 memory=8Gi
         queue a request=all
         quota a cpu=8 memory=8Gi
         owner a/train kind=Job cpu=1 memory=1Gi";
    expect![[r#"
        at 0 s: a: RoomAvailable
          until 60 s
        at 59 s: a: RoomAvailable
          until 60 s
        at 60 s: a: PodsNotCreated
          until 300 s
        at 600 s: a: SetAside
          until 660 s
    "#]]
    .assert_eq(&later(scenario, &[0, 59, 60, 600]));
}

/// One pod after the other is slow and no refusal. And the time does not begin anew with every quota that is written.
#[test]
fn a_pod_that_comes_begins_the_minute_anew() {
    let scenario = "node n1 cpu=8 memory=8Gi
         queue a request=all
         quota a cpu=8 memory=8Gi
         pod a/train-1 cpu=1 memory=1Gi node=n1 started=1030 created=1030 owner=train
         owner a/train kind=Job replicas=3 cpu=1 memory=1Gi";
    expect![[r#"
        at 0 s: a: RoomAvailable
          until 60 s
        at 40 s: a: RoomAvailable
          until 90 s
        at 89 s: a: RoomAvailable
          until 90 s
        at 90 s: a: PodsNotCreated
          until 330 s
    "#]]
    .assert_eq(&later(scenario, &[0, 40, 89, 90]));
    let rewritten = "node n1 cpu=8 memory=8Gi
         queue a,b request=all
         quota a cpu=8 memory=8Gi
         owner a/train kind=Job cpu=1 memory=1Gi";
    expect![[r#"
        at 0 s: a: WaitingForQuota
          until 60 s
        at 60 s: a: PodsNotCreated
          until 300 s
    "#]]
    .assert_eq(&later(rewritten, &[0, 60]));
}

/// Without room nothing is to be created.
#[test]
fn the_minute_is_one_with_room() {
    let full = "node n1 cpu=8 memory=8Gi
         queue a request=all
         quota a cpu=8 memory=8Gi
         pod a/p cpu=8 memory=8Gi node=n1 started=10
         owner a/train kind=Job cpu=1 memory=1Gi";
    expect![[r#"
        at 0 s: a: ShareInUse
        at 60 s: a: ShareInUse
        at 120 s: a: ShareInUse
    "#]]
    .assert_eq(&later(full, &[0, 60, 120]));
}

// ---- resources that nothing offers --------------------------------------------------------------------------

#[test]
fn what_no_node_offers_can_never_run_however_much_is_asked_for() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b request=all
         quota a cpu=8 memory=8Gi
         pod a/p1 cpu=1 memory=1Gi example.org/fpga=1 pending created=990 stuck=990
         pod a/p2 example.org/fpga=1 pending created=990 stuck=990
         owner a/web cpu=1 memory=1Gi example.org/other=1",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 1c 1Gi
                pod p1, 1c 1Gi: NoNodeFits
                pod p2, 0c 0: NoNodeFits
                1 pods of ReplicaSet web, 1c 1Gi each: NoNodeFits
              b: deserved 6c 6Gi, allocated 0c 0, used 0c 0, preempting 6c 6Gi (WaitingForQuota)
              lower a, b
        "#]],
    );
}

/// A rollout that keeps all of its older pods until a new one is available, at a full share.
fn rollout(newest: &str, more: &str) -> String {
    format!(
        "node n1 cpu=4
         queue a limit=cpu:3 request=cpu:4
         owner a/web-1 replicas=3 cpu=1 deployment=web of=3 pods=p1..2 node=n1 started=10+10
         owner a/web-2 cpu=1 deployment=web of=3 surges {newest}
         {more}"
    )
}

#[test]
fn a_rollout_without_room_for_its_surge_says_so() {
    let printed = |newest: &str, more: &str| {
        let plan = explain(&rollout(newest, more));
        plan.lines().filter(|line| line.contains("web-2")).map(str::trim).collect::<Vec<_>>().join("; ")
    };
    let third = "pod a/p3 cpu=1 node=n1 started=30 owner=web-1";
    assert_eq!(printed("", third), "1 pods of ReplicaSet web-2, 1c each: RolloutNeedsRoom");
    // An older pod ends, or a new one starts: it goes on by itself.
    assert_eq!(
        printed("", &format!("{third} terminating=9000")),
        "1 pods of ReplicaSet web-2, 1c each: AboveLimit"
    );
    let starts = "pod a/n1 cpu=1 node=n1 started=30 owner=web-2 stuck=900";
    assert_eq!(printed("replicas=2", starts), "1 pods of ReplicaSet web-2, 1c each: AboveLimit");
    // A new pod is available: the Deployment removes an older one.
    let ready = "pod a/n1 cpu=1 node=n1 started=30 owner=web-2";
    assert_eq!(printed("replicas=2", ready), "1 pods of ReplicaSet web-2, 1c each: AboveLimit");
    // Other pods of the queue hold the room: the rollout would gain nothing by giving up one of its own.
    let greater =
        "pod a/p3 cpu=1 node=n1 started=30 owner=web-1\n owner a/web-2 cpu=4 deployment=web of=3 surges";
    assert_eq!(printed("", greater), "1 pods of ReplicaSet web-2, 4c each: AboveLimit");
}

/// Admission charges a pod that no node could run. The quota lets in no other pod beside it, so an eviction for one would be in
/// vain, and in vain again after each return of the victim.
#[test]
fn a_pod_that_no_node_could_run_keeps_its_place_in_the_quota() {
    decides(
        "node n1 cpu=4 memory=40Gi
         queue lost,busy
         quota lost,busy cpu=2 memory=20Gi
         owner lost/web replicas=2 cpu=1 memory=1Gi
         pod lost/p1 cpu=2 memory=1Gi selector=zone:x pending created=980 stuck=980
         owner busy/web replicas=3 cpu=1 memory=1Gi pods=p1..3 node=n1 started=10+10",
        &expect![[r#"
            step 1: capacity 4c 40Gi
              busy: deserved 2c 3Gi, allocated 2c 11Gi, used 3c 3Gi, target 2c 2Gi
              lost: deserved 2c 3Gi, allocated 2c 10Gi, used 2c 1Gi, target 2c 2Gi
                pod p1, 2c 1Gi: NoNodeFits
                2 pods of ReplicaSet web, 1c 1Gi each: ShareInUse
              lower busy, lost
        "#]],
    );
}
