//! Gate mode as stories: which gates are removed, in which order, and what becomes of the others.

use std::sync::Arc;

use expect_test::expect;
use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::planner::plan;

use crate::story::{self, decides, plays};

#[test]
fn pods_are_let_in_by_priority_and_age_up_to_the_share() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a,b admission=Gate
         pod a/old cpu=1 memory=1Gi gated created=900
         pod a/new cpu=1 memory=1Gi gated created=990
         pod a/important cpu=1 memory=1Gi gated created=995 priority=10
         pod b/x cpu=1 memory=1Gi gated created=800
         pod b/y cpu=1 memory=1Gi gated created=801
         pod b/z cpu=1 memory=1Gi gated created=802",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
                pod important, 1c 1Gi: RoomAvailable
                pod old, 1c 1Gi: RoomAvailable
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
                pod x, 1c 1Gi: RoomAvailable
              remove the gate of a/important
              remove the gate of a/old
              remove the gate of b/x
              remove the gate of b/y
              started a/important
              started a/old
              started b/x
              started b/y
            step 2: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                pod new, 1c 1Gi: ShareInUse
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                pod z, 1c 1Gi: ShareInUse
        "#]],
    );
}

#[test]
fn pods_of_owners_come_in_as_room_is_reclaimed() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a,b admission=Gate
         owner a/batch replicas=4 cpu=1 memory=1Gi pods=p1..4 node=n1 started=10+10
         owner b/batch replicas=4 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 2c 2Gi (WaitingForPreemption)
                4 pods of ReplicaSet batch, 1c 1Gi each: WaitingForPreemption
              evict a/p4..3 for b: Reclaimed
            step 2: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
                4 pods of ReplicaSet batch, 1c 1Gi each: RoomAvailable
              remove the gate of b/batch-r1001-0..1
              started b/batch-r1001-0..1
            step 3: capacity 4c 4Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
        "#]],
    );
}

#[test]
fn of_two_gangs_on_room_for_one_the_older_runs_first_and_whole() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a admission=Gate
         pod a/x1 cpu=1 memory=1Gi gated created=900 gang=x min=3
         pod a/y1 cpu=1 memory=1Gi gated created=901 gang=y min=3
         pod a/x2 cpu=1 memory=1Gi gated created=902 gang=x min=3
         pod a/y2 cpu=1 memory=1Gi gated created=903 gang=y min=3
         pod a/x3 cpu=1 memory=1Gi gated created=904 gang=x min=3
         pod a/y3 cpu=1 memory=1Gi gated created=905 gang=y min=3
         pod a/single cpu=1 memory=1Gi gated created=999
         then
         delete pod a/x1..3",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 0c 0
                pod x1, 1c 1Gi: RoomAvailable
                pod y1, 1c 1Gi: RoomAvailable
                pod single, 1c 1Gi: RoomAvailable
              remove the gate of a/x1..3
              remove the gate of a/single
              started a/single
              started a/x1..3
            step 2: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
                pod y1, 1c 1Gi: ShareInUse
            then
            step 3: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 1c 1Gi
                pod y1, 1c 1Gi: RoomAvailable
              remove the gate of a/y1..3
              started a/y1..3
            step 4: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
        "#]],
    );
}

#[test]
fn a_gang_that_is_not_created_yet_waits_for_its_pods() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a admission=Gate
         pod a/x1..2 cpu=1 memory=1Gi gated created=900+2 gang=x min=3
         pod a/single cpu=1 memory=1Gi gated created=999",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 3c 3Gi, allocated 4c 4Gi, used 0c 0
                pod x1, 1c 1Gi: RoomAvailable
                pod single, 1c 1Gi: RoomAvailable
              remove the gate of a/single
        "#]],
    );
}

#[test]
fn a_pod_that_fits_no_node_comes_last_and_is_reported() {
    decides(
        "node n1..2 cpu=2 memory=4Gi
         queue a admission=Gate
         pod a/wide cpu=3 memory=1Gi gated created=900 priority=10
         pod a/one cpu=2 memory=1Gi gated created=990
         pod a/two cpu=2 memory=1Gi gated created=991",
        &expect![[r#"
            step 1: capacity 4c 8Gi
              a: deserved 4c 3Gi, allocated 4c 6Gi, used 0c 0, target 4c 2Gi
                pod wide, 3c 1Gi: NoNodeFits
                pod one, 2c 1Gi: RoomAvailable
              remove the gate of a/one
              remove the gate of a/two
        "#]],
    );
}

#[test]
fn the_quota_holds_only_the_limit() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a admission=Gate limit=cpu:2
         queue b admission=Gate
         quota b cpu=2 memory=2Gi granted=cpu:2,memory:2Gi
         pod a/one cpu=1 memory=1Gi gated created=900",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 1c 1Gi, allocated 2c 2Gi, used 0c 0
                pod one, 1c 1Gi: WaitingForQuota
              b: deserved 0c 0, allocated 1c 1Gi, used 0c 0
              remove the gate of a/one
              lower a to 2c
              delete the quota of b
        "#]],
    );
}

#[test]
fn a_pause_leaves_the_quota_of_the_limit_as_a_person_made_it() {
    let queues = |pause: &str| {
        let scenario = format!(
            "node n1 cpu=4 memory=4Gi
             queue lowered admission=Gate limit=cpu:3 {pause}
             queue raised admission=Gate limit=cpu:3 {pause}
             queue added admission=Gate {pause}
             queue deleted admission=Gate limit=cpu:3 {pause}
             queue ungated admission=Gate limit=cpu:3 {pause}
             quota ungated cpu=2 memory=2Gi granted=cpu:2,memory:2Gi
             quota lowered cpu=1 granted=cpu:2,memory:2Gi
             quota raised cpu=4 granted=cpu:2,memory:2Gi
             quota added cpu=0 granted=cpu:2,memory:2Gi"
        );
        plan(&story::parse(&scenario)).queues
    };
    assert!(queues("").values().all(|queue| queue.quota_write.is_some()));
    for (name, queue) in queues("paused=2000") {
        // The quota of a queue that was not in Gate mode before is no one's change.
        let is_left_alone = &*name.name != "ungated";
        assert_eq!((queue.quota_write.is_none(), queue.quota_left_alone), (is_left_alone, is_left_alone));
        // The ledger is the operator's alone.
        assert!(queue.is_granted());
    }
}

/// The ledger, which takes the place of the quota, is written before the evictions of the same plan.
#[test]
fn in_gate_mode_a_pod_goes_in_the_cycle_that_lowers_its_queue() {
    let cycle = |mode: &str| {
        let snapshot = story::parse(&format!(
            "node n1 cpu=2 memory=2Gi
             queue a{mode}
             queue b{mode}
             quota a cpu=2 memory=2Gi granted=cpu:2,memory:2Gi
             owner a/batch replicas=2 cpu=1 memory=1Gi pods=p1..2 node=n1 started=10+10
             owner b/batch replicas=2 cpu=1 memory=1Gi"
        ));
        let plan = plan(&snapshot);
        (plan.evictions.len(), plan.waiting.len())
    };
    assert_eq!(cycle(" admission=Gate"), (1, 0));
    assert_eq!(cycle(""), (0, 1), "the quota is lowered, and enforced, before");
}

#[test]
fn leaving_gate_mode_removes_every_gate_and_evicts_no_pod() {
    plays(
        "node n1 cpu=2 memory=4Gi
         queue a,b admission=Gate
         pod a/p1 cpu=1 memory=1Gi node=n1 started=10
         pod a/p2..3 cpu=1 memory=1Gi gated created=900+1
         then
         queue a
         then
         queue a admission=Gate",
        &expect![[r#"
            step 1: capacity 2c 4Gi
              a: deserved 2c 3Gi, allocated 2c 3Gi, used 1c 1Gi, target 2c 2Gi
                pod p2, 1c 1Gi: RoomAvailable
              b: deserved 0c 0, allocated 0c 1Gi, used 0c 0
              remove the gate of a/p2
              started a/p2
            step 2: capacity 2c 4Gi
              a: deserved 2c 3Gi, allocated 2c 3Gi, used 2c 2Gi, target 2c 2Gi
                pod p3, 1c 1Gi: ShareInUse
            then
            step 3: capacity 2c 4Gi
              a: deserved 2c 3Gi, allocated 2c 4Gi, used 3c 3Gi, target 2c 2Gi
              remove the gate of a/p3
            then
            step 4: capacity 2c 4Gi
              a: deserved 2c 3Gi, allocated 2c 4Gi, used 3c 3Gi, target 2c 2Gi
                pod p3, 1c 1Gi: ShareInUse
        "#]],
    );
}

#[test]
fn without_a_queue_nothing_stays_gated_and_with_a_mistake_everything_does() {
    let removed = |queue: &str| {
        let scenario =
            format!("node n1 cpu=1 memory=1Gi\n{queue}\npod a/p cpu=4 memory=1Gi gated created=900");
        let mut snapshot = story::parse(&scenario);
        let seen = plan(&snapshot).gate_removals.len();
        for state in snapshot.namespaces.values_mut() {
            Arc::make_mut(state).vacant = queue.is_empty();
        }
        (seen, plan(&snapshot).gate_removals.len())
    };
    // That no Queue is seen proves nothing until the API server has confirmed it.
    assert_eq!(removed(""), (0, 1));
    assert_eq!(removed("queue a"), (1, 1));
    assert_eq!(removed("queue a admission=Gate"), (0, 0));
    assert_eq!(removed("queue a admission=Gate mode=Observe"), (1, 1));
    assert_eq!(removed("queue a admission=Gate invalid=why"), (0, 0));
    assert_eq!(removed("queue a admission=Gate paused=2000"), (0, 0));
}

#[test]
fn a_pause_keeps_the_amounts_and_lets_in_what_is_free() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a admission=Gate paused=99999
         queue b admission=Gate
         pod a/p1 cpu=1 memory=1Gi gated created=900
         pod b/q1 cpu=1 memory=1Gi gated created=900",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 1c 1Gi, allocated 2c 2Gi, used 0c 0
                pod p1, 1c 1Gi: RoomAvailable
              b: deserved 1c 1Gi, allocated 2c 2Gi, used 0c 0
                pod q1, 1c 1Gi: RoomAvailable
              remove the gate of a/p1
              remove the gate of b/q1
              started a/p1
              started b/q1
            step 2: capacity 4c 4Gi
              a: deserved 1c 1Gi, allocated 2c 2Gi, used 1c 1Gi
              b: deserved 1c 1Gi, allocated 2c 2Gi, used 1c 1Gi
        "#]],
    );
}

#[test]
fn of_a_rollout_that_waits_the_newest_revision_comes_first() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a admission=Gate
         owner a/web-1..2 replicas=2 cpu=1 memory=1Gi deployment=web of=4 created=100+400
         owner a/other replicas=2 cpu=1 memory=1Gi created=50
         pod a/old-1..2 cpu=1 memory=1Gi gated created=900+1 owner=web-1
         pod a/other-1 cpu=1 memory=1Gi gated created=902 owner=other
         pod a/new-1..2 cpu=1 memory=1Gi gated created=990+1 owner=web-2
         pod a/other-2 cpu=1 memory=1Gi gated created=992 owner=other",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 0c 0
                2 pods of ReplicaSet other, 1c 1Gi each: RoomAvailable
                2 pods of ReplicaSet web-1, 1c 1Gi each: RoomAvailable
                2 pods of ReplicaSet web-2, 1c 1Gi each: RoomAvailable
              remove the gate of a/new-1..2
              remove the gate of a/other-1
              remove the gate of a/old-1
        "#]],
    );
}

#[test]
fn what_has_succeeded_counts_for_the_minimum_of_a_gang() {
    let scenario = "node n1 cpu=4 memory=4Gi
         queue a admission=Gate
         owner a/train kind=Job replicas=1 cpu=1 memory=1Gi gang=g min=3 succeeded=2 pods=last gated created=900";
    let removed = |scenario: &str| plan(&story::parse(scenario)).gate_removals.len();
    assert_eq!(removed(scenario), 1);
    assert_eq!(removed(&scenario.replace("succeeded=2", "succeeded=1")), 0);
}

#[test]
fn a_gang_of_several_shapes_comes_in_whole_before_a_younger_single_pod() {
    plays(
        "node n1 cpu=4 memory=64Gi
         queue a admission=Gate
         pod a/leader cpu=1 memory=1Gi gated created=990 gang=g min=3
         pod a/worker-1..2 cpu=1500m memory=1Gi gated created=990 gang=g min=3
         pod a/single cpu=500m memory=1Gi gated created=990",
        &expect![[r#"
            step 1: capacity 4c 64Gi
              a: deserved 4c 4Gi, allocated 4c 11Gi, used 0c 0, target 4c 3Gi
                pod leader, 1c 1Gi: RoomAvailable
                pod single, 500mc 1Gi: RoomAvailable
                pod worker-1, 1500mc 1Gi: RoomAvailable
              remove the gate of a/leader
              remove the gate of a/worker-1..2
              started a/leader
              started a/worker-1..2
            step 2: capacity 4c 64Gi
              a: deserved 4c 4Gi, allocated 4c 11Gi, used 4c 3Gi, target 4c 3Gi
                pod single, 500mc 1Gi: ShareInUse
        "#]],
    );
}

#[test]
fn of_a_gang_whose_minimum_has_no_room_no_pod_is_let_in() {
    plays(
        "node n1 cpu=4
         queue a admission=Gate limit=cpu:2
         pod a/g-1..5 cpu=1 gated created=10+1 gang=g min=3",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 0c, target 0c
                pod g-1, 1c: AboveLimit
        "#]],
    );
}

/// Its quota says what it may never exceed. What it was granted is what it holds, however many of its pods wait gated.
#[test]
fn a_gated_queue_without_a_share_holds_what_it_was_granted() {
    let waiting = "pod a/waiting-1..60 cpu=1 gated owner=o\npod a/absurd cpu=1000000 gated";
    let deserved = |queue: &str, more: &str, is_confirmed: bool| {
        let mut snapshot = story::parse(&format!(
            "node n cpu=100
             {queue}
             quota a cpu=80 granted=cpu:10
             queue b
             quota b cpu=90
             owner b/o replicas=90 cpu=1
             pod a/p-1..10 cpu=1 node=n started=1 owner=o
             {more}"
        ));
        for state in snapshot.namespaces.values_mut() {
            Arc::make_mut(state).vacant = is_confirmed && state.governing().is_none();
        }
        plan(&snapshot).queues[&QueueName::new("b", "b")].deserved.get(&Resource::Cpu)
    };
    let gated = "queue a admission=Gate limit=cpu:80";
    assert_eq!(deserved(gated, "", true), Amount::new(90_000));
    assert_eq!(deserved(&format!("{gated} invalid=why"), waiting, true), Amount::new(90_000));
    // Of a Queue that is not seen the mode is not known: its quota may let in what it says.
    assert_eq!(deserved("", waiting, false), Amount::new(20_000));
    // Of a Queue that is gone it is not known either, but what was granted is.
    assert_eq!(deserved("", waiting, true), Amount::new(90_000));
}
