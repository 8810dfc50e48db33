//! Modes and pauses of single queues as stories: what is named, and what is done.

use std::collections::BTreeSet;

use expect_test::expect;
use quotient_engine::amounts::Resource;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::time::Timestamp;

use crate::cluster::{Cluster, granted};
use crate::story::{self, decides, plays};

/// Team `a` uses all of the cluster, and `b` lacks its half. `HOW` and `WHAT` say how far Quotient goes in them.
const HALF: &str = "settings MODE
     node n1 cpu=4 memory=4Gi
     queue a HOW
     queue b WHAT
     quota a cpu=4 memory=4Gi
     owner a/batch replicas=4 cpu=1 memory=1Gi pods=p1..4 node=n1 started=10+10
     owner b/batch replicas=4 cpu=1 memory=1Gi";

fn half(operator: &str, a: &str, b: &str) -> String {
    HALF.replace("MODE", operator).replace("HOW", a).replace("WHAT", b)
}

/// `a` is kept, in Quota with a lower quota and in Observe with its own; so it is for `b` in Observe or paused. The mode of the
/// operator bounds every queue.
#[test]
fn no_pod_is_evicted_where_a_mode_or_a_pause_withholds_it() {
    for (operator, a, b, cause, writes) in [
        ("", "mode=Observe", "", "a is in Observe", "  lower b\n"),
        ("", "mode=Quota", "", "a is in Quota", "  lower a, b\n"),
        ("", "", "mode=Observe", "b is in Observe", "  lower a\n"),
        ("", "", "paused=1060", "b is paused until 1060", "  lower a\n"),
        ("", "mode=Quota", "mode=Observe", "b is in Observe", "  lower a\n"),
        ("mode=Observe", "", "mode=Quota", "the operator is in Observe", ""),
        ("mode=Quota", "mode=Quota", "", "the operator is in Quota", "  lower a, b\n"),
    ] {
        let scenario = half(operator, a, b);
        let expected = format!(
            "step 1: capacity 4c 4Gi
  a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
  b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 0c 0 (EvictionsDisabled: {cause}), lacks 2c 2Gi
    4 pods of ReplicaSet batch, 1c 1Gi each: EvictionsDisabled
  would evict a/p4 for b: Reclaimed
  would evict a/p3 for b: Reclaimed\n"
        );
        assert_eq!(story::decide(&scenario), expected.clone() + writes);
        assert_eq!(story::play(&scenario), expected, "nothing else happens later");
    }
}

/// Pods of a namespace without a quota wait for nodes, so all queues together have more than the cluster.
#[test]
fn no_pod_is_evicted_for_waiting_pods_of_a_queue_in_observe() {
    let waiting = |how: &str, more: &str| {
        format!(
            "node n1 cpu=4 memory=4Gi
             queue a request=all
             queue b {how} request=all
             quota a cpu=2 memory=2Gi
             pod a/p1..4 cpu=1 memory=1Gi node=n1 started=10+10
             pod b/w1..2 cpu=1 memory=1Gi pending
             {more}"
        )
    };
    decides(
        &waiting("", ""),
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
              evict a/p4..3 for b: Reclaimed
              lower b
        "#]],
    );
    decides(
        &waiting("mode=Observe", ""),
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
              would evict a/p4..3 for b: Reclaimed
        "#]],
    );
    // A third queue in mode Full waits as well: as much as it waits for is evicted.
    decides(
        &waiting("mode=Observe", "queue c\n pod c/w1 cpu=1 memory=1Gi pending"),
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 1500mc 1536Mi, allocated 1c 1Gi, used 4c 4Gi, target 1c 1Gi
              b: deserved 1500mc 1536Mi, allocated 1500mc 1536Mi, used 2c 2Gi
              c: deserved 1c 1Gi, allocated 1c 1Gi, used 1c 1Gi
              would evict a/p4 for b: Reclaimed
              lower a, c
              evict a/p3 once its quota is in force
        "#]],
    );
}

/// A pod that exists and would have the node of a pod above another target says that no pod goes for it. It is no evidence
/// against its workload either, so it is not set aside.
#[test]
fn a_pod_without_a_node_says_that_its_evictions_are_withheld() {
    for (operator, a, b) in
        [("", "mode=Quota", ""), ("", "", "mode=Observe"), ("mode=Quota", "", ""), ("", "", "paused=1060")]
    {
        let scenario = format!(
            "settings {operator}
             node n1 cpu=2
             queue a {a}
             queue b {b}
             owner a/batch replicas=2 cpu=1 pods=p1..2 node=n1 started=10+10
             owner b/web replicas=1 cpu=1
             pod b/w cpu=1 pending owner=web stuck=900"
        );
        let said = story::decide(&scenario);
        assert!(said.contains("EvictionsDisabled") && said.contains("would evict a/p2 for b"), "{said}");
        assert!(!said.contains("WaitingForPreemption") && !said.contains("SetAside"), "{said}");
    }
}

#[test]
fn a_parent_bounds_its_children_and_a_child_goes_no_farther() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue org mode=Quota children=All
         queue a parent=org
         queue b parent=org mode=Observe
         queue c
         quota a cpu=4 memory=4Gi
         owner a/batch replicas=4 cpu=1 memory=1Gi
         pod a/p1..2 cpu=2 memory=2Gi node=n1 started=10+10 owner=batch
         owner b,c/batch replicas=4 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 1c 1Gi, allocated 1c 1Gi, used 4c 4Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
              b: deserved 1c 1Gi, allocated 0c 0, used 0c 0, preempting 0c 0 (EvictionsDisabled: b is in Observe), lacks 1c 1Gi
                4 pods of ReplicaSet batch, 1c 1Gi each: EvictionsDisabled
              c: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 0c 0 (EvictionsDisabled: org is in Quota), lacks 2c 2Gi
                4 pods of ReplicaSet batch, 1c 1Gi each: EvictionsDisabled
              org: deserved 2c 2Gi, allocated 1c 1Gi, used 4c 4Gi, preempting 0c 0 (EvictionsDisabled: b is in Observe), lacks 1c 1Gi
              would evict a/p2 for c: Reclaimed
              would evict a/p1 for b: Reclaimed
              lower a, c
        "#]],
    );
}

#[test]
fn the_pause_of_the_giver_keeps_its_pods_and_its_quota_and_ends_by_itself() {
    plays(
        &(half("", "paused=1060", "") + "\n then after=60"),
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 4c 4Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 0c 0 (EvictionsDisabled: a is paused until 1060), lacks 2c 2Gi
                4 pods of ReplicaSet batch, 1c 1Gi each: EvictionsDisabled
              would evict a/p4..3 for b: Reclaimed
            then, 60 s later
            step 2: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 2c 2Gi (WaitingForPreemption)
                4 pods of ReplicaSet batch, 1c 1Gi each: WaitingForPreemption
              evict a/p4..3 for b: Reclaimed
            step 3: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
                4 pods of ReplicaSet batch, 1c 1Gi each: RoomAvailable
              started b/batch-r1063-0..1
            step 4: capacity 4c 4Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
        "#]],
    );
}

#[test]
fn the_latest_pause_above_counts_and_a_pause_that_has_ended_does_not() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue org paused=1200 children=All
         queue a parent=org paused=1100
         queue b paused=999
         quota a cpu=4 memory=4Gi
         owner a/batch replicas=2 cpu=2 memory=2Gi pods=p1..2 node=n1 started=10+10
         owner b/batch replicas=4 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 4c 4Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 0c 0 (EvictionsDisabled: org is paused until 1200), lacks 2c 2Gi
                4 pods of ReplicaSet batch, 1c 1Gi each: EvictionsDisabled
              org: deserved 2c 2Gi, allocated 4c 4Gi, used 4c 4Gi
              would evict a/p2 for b: Reclaimed
              lower b
        "#]],
    );
}

#[test]
fn a_paused_queue_still_grows_into_what_is_free() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a paused=2000 request=all
         owner a/batch replicas=3 cpu=1 memory=1Gi pods=p1 node=n1 started=10",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 1c 1Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: RoomAvailable
              started a/batch-r1001-0..1
            step 2: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 3c 3Gi
        "#]],
    );
}

#[test]
fn a_pause_creates_no_quota_and_bounds_no_further_resource() {
    decides(
        "node n1 cpu=4 memory=4Gi gpu=4
         queue a,b paused=2000 request=all
         quota b cpu=1 memory=1Gi
         owner a/batch replicas=4 cpu=1 memory=1Gi pods=p1 node=n1 started=10",
        &expect![[r#"
            step 1: capacity 4c 4Gi 4gpu
              a: deserved 2c 2Gi 2gpu, allocated 2c 2Gi 2gpu, used 1c 1Gi 0gpu
                3 pods of ReplicaSet batch, 1c 1Gi 0gpu each: RoomAvailable
              b: deserved 2c 2Gi 2gpu, allocated 2c 2Gi 2gpu, used 0c 0 0gpu
        "#]],
    );
}

/// Of the two cpu that a pod of `b` needs, one is free, and the eviction for the other is withheld. The pod of `c` needs no more.
#[test]
fn what_is_free_beside_withheld_evictions_is_kept_from_no_queue() {
    for how in ["mode=Observe", "mode=Quota", "paused=99999"] {
        let printed = story::play(&format!(
            "node n1 cpu=4
             queue a {how}
             queue b guaranteed=cpu:2
             owner a/batch replicas=3 cpu=1 pods=p1..3 node=n1 started=10+10
             owner b/big cpu=2
             then
             queue c
             owner c/web cpu=1"
        ));
        assert!(printed.contains("would evict a/p3 for b") && printed.contains("started c/web"), "{printed}");
    }
}

/// The pod of `c` needs the room of a pod of `a` and of one of `b`. One of its two pods has room with what `b` alone gives.
#[test]
fn no_pod_goes_in_vain_beside_withheld_evictions() {
    for how in ["mode=Observe", "mode=Quota", "paused=99999"] {
        let decided = |cpu: u32| {
            story::decide(&format!(
                "node n1 cpu=4
                 queue a {how}
                 queue b
                 queue c guaranteed=cpu:2
                 owner a/batch replicas=2 cpu=1 pods=p1..2 node=n1 started=10+10
                 owner b/batch replicas=2 cpu=1 pods=q1..2 node=n1 started=10+10
                 owner c/web replicas={} cpu={cpu}",
                2 / cpu
            ))
        };
        let printed = decided(2);
        assert!(printed.contains("would evict a/p2 for c"), "{printed}");
        assert!(printed.contains("would evict b/q2 for c"), "{printed}");
        let printed = decided(1);
        assert!(printed.contains("would evict a/p2 for c"), "{printed}");
        assert!(printed.contains("  evict b/q2 once"), "{printed}");
    }
}

/// Each pod of `c` needs a whole node. What `b` alone gives is enough for one of them, but on no node.
#[test]
fn no_part_of_a_node_is_freed_beside_withheld_evictions() {
    decides(
        "node n1..2 cpu=4
         queue a weight=0 mode=Quota
         queue b weight=0
         queue c
         owner a/batch replicas=2 cpu=2
         owner b/batch replicas=2 cpu=2
         pod a/p1 cpu=2 node=n1 started=10 owner=batch
         pod a/p2 cpu=2 node=n2 started=20 owner=batch
         pod b/q1 cpu=2 node=n1 started=10 owner=batch
         pod b/q2 cpu=2 node=n2 started=20 owner=batch
         owner c/web replicas=2 cpu=4",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 0c, allocated 0c, used 4c
              b: deserved 0c, allocated 0c, used 4c
              c: deserved 8c, allocated 0c, used 0c, preempting 0c (EvictionsDisabled: a is in Quota), lacks 8c
                2 pods of ReplicaSet web, 4c each: EvictionsDisabled
              would evict b/q2 for c: Reclaimed
              would evict a/p2 for c: Reclaimed
              would evict b/q1 for c: Reclaimed
              would evict a/p1 for c: Reclaimed
              lower a, b, c
        "#]],
    );
}

/// One pod of the gang needs what `a` keeps, so room for the other one is of no use. That for `web` is.
#[test]
fn no_part_of_the_room_of_a_gang_is_freed_beside_withheld_evictions() {
    decides(
        "node n1..2 cpu=2 labels=zone:a
         node n3 cpu=2 labels=zone:b
         queue a weight=0 mode=Quota
         queue b weight=0
         queue c
         owner a/batch replicas=1 cpu=2 pods=p1 node=n1 started=10
         owner b/batch replicas=2 cpu=2
         pod b/q1 cpu=2 node=n2 started=10 owner=batch
         pod b/q2 cpu=2 node=n3 started=10 owner=batch
         owner c/train replicas=2 cpu=2 gang=train min=2 selector=zone:a created=1
         owner c/web replicas=1 cpu=2 selector=zone:b created=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 0c, allocated 0c, used 2c
              b: deserved 0c, allocated 0c, used 4c
              c: deserved 6c, allocated 0c, used 0c, preempting 2c (WaitingForQuota), lacks 6c
                2 pods of ReplicaSet train, 2c each: WaitingForQuota
                1 pods of ReplicaSet web, 2c each: WaitingForQuota
              would evict b/q1 for c: Reclaimed
              would evict a/p1 for c: Reclaimed
              lower a, b, c
              evict b/q2 once its quota is in force
        "#]],
    );
}

/// What `a` keeps is for `web`. The pod `waits` exists and needs what `b` gives.
#[test]
fn pods_go_for_a_pod_that_exists_beside_withheld_evictions() {
    decides(
        "node n1 cpu=2 labels=zone:a
         node n2 cpu=2 labels=zone:b
         queue a weight=0 mode=Quota
         queue b weight=0
         queue c guaranteed=cpu:4
         owner a/batch replicas=1 cpu=2 pods=p1 node=n1 started=10
         owner b/batch replicas=1 cpu=2 pods=q1 node=n2 started=10
         owner c/web replicas=1 cpu=2 selector=zone:a
         pod c/waits cpu=2 pending selector=zone:b owner=train stuck=990",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 0c, allocated 0c, used 2c
              b: deserved 0c, allocated 0c, used 2c
              c: deserved 4c, allocated 2c, used 2c, preempting 0c (EvictionsDisabled: a is in Quota), lacks 2c
                pod waits, 2c: WaitingForPreemption
                1 pods of ReplicaSet web, 2c each: EvictionsDisabled
              would evict a/p1 for c: Reclaimed
              lower a, b, c
              evict b/q1 once its quota is in force
        "#]],
    );
}

#[test]
fn a_plan_is_due_again_when_the_next_pause_ends() {
    let next = |text: &str| plan(&story::parse(text)).next_change;
    let queues = "node n1 cpu=4 memory=4Gi
                  queue a paused=1300
                  queue b paused=1200
                  queue c paused=900";
    assert_eq!(next(queues), Some(Timestamp::from_seconds(1200)));
    assert_eq!(next(&queues.replace("1200", "1000")), Some(Timestamp::from_seconds(1300)));
}

#[test]
fn nothing_is_forced_or_scaled_where_no_pod_is_evicted() {
    for how in ["mode=Quota", "mode=Observe", "paused=1001"] {
        let text = format!(
            "node n1 gpu=2
             queue a preemption=LowerPriority forceAfter=60 {how}
             quota a gpu=2
             owner a/low replicas=2 gpu=1 priority=1 pods=low-1..2 node=n1 started=10+10
             owner a/high replicas=1 gpu=1 priority=9
             pod a/hangs node=n1 terminating=900"
        );
        let decided = plan(&story::parse(&text));
        assert!(decided.shortened.is_empty() && decided.overdue.len() == 1, "{how}");
        assert!(decided.scalings.is_empty(), "{how}");
        let unmet = &decided.queues[&QueueName::new("a", "a")].unmet;
        let reasons: Vec<_> = unmet.iter().map(|unmet| unmet.reason).collect();
        assert_eq!(reasons, [ShortReason::EvictionsDisabled], "{how}");
    }
}

#[test]
fn slots_are_given_and_not_taken_in_quota_and_nothing_is_done_in_observe() {
    let jobs = "node n1 cpu=4
         queue a MODE
         queuejob a/job-01 min=2 replicas=4 cpu=1 created=10
         then after=5
         queuejob a/job-02 min=1 replicas=4 cpu=1 created=20";
    plays(
        &jobs.replace("MODE", "mode=Quota"),
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/job-01: 4 slots, Starting (Admitted)
              started a/job-01-r1001-0..3
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
              a/job-01: 4 slots, Running (Admitted)
            then, 5 s later
            step 4: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
                4 pods of QueueJob job-02, 1c each: ShareInUse
              a/job-01: 2 slots, 4 now, Running (Admitted)
              a/job-02: 2 slots, 0 now, Waiting (WaitingForQuota)
        "#]],
    );
    plays(
        &jobs.replace("MODE", "mode=Observe"),
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/job-01: 4 slots, 0 now, Waiting (WaitingForQuota)
            then, 5 s later
            step 3: capacity 4c
              a/job-01: 2 slots, 0 now, Waiting (WaitingForQuota)
              a/job-02: 2 slots, 0 now, Waiting (WaitingForQuota)
        "#]],
    );
}

#[test]
fn a_queue_without_a_share_keeps_its_mode() {
    let retained = |how: &str| {
        let text = format!(
            "node n1 cpu=4 memory=4Gi
             queue a {how} invalid=typo
             quota a cpu=4 memory=4Gi granted=cpu:2,memory:2Gi drifted"
        );
        plan(&story::parse(&text)).retained.len()
    };
    assert_eq!(
        ["", "mode=Quota", "mode=Observe", "paused=1001", "paused=999"].map(retained),
        [1, 1, 0, 0, 1]
    );
}

/// A quota of unused amounts is lowered without an eviction; in Observe it is not.
#[test]
fn a_queue_that_waits_for_a_quota_that_stays_is_told_so() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a mode=Observe request=cpu:1,memory:1Gi
         queue b request=cpu:4,memory:4Gi
         quota a cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 1c 1Gi, allocated 1c 1Gi, used 0c 0
              b: deserved 3c 3Gi, allocated 0c 0, used 0c 0, preempting 3c 3Gi (EvictionsDisabled: a is in Observe)
              lower b
        "#]],
    );
}

// ---- the ledger, and quotas that a person edits or deletes -----------------------------------------------

/// 10 cpu and two queues.
const TWO: &str = "node n1 cpu=10 memory=10Gi
                   queue a request=cpu:8 HOW
                   queue b request=cpu:8";

/// The cluster at rest before `a` is like that.
fn then(how: &str) -> Cluster {
    let mut cluster = Cluster::new(story::parse(&TWO.replace("HOW", "")));
    cluster.leader().settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (5, 5));
    change(&mut cluster, how);
    cluster
}

fn change(cluster: &mut Cluster, how: &str) {
    cluster.becomes(story::parse(&TWO.replace("HOW", how)));
}

#[test]
fn nothing_is_granted_to_a_queue_in_observe() {
    let mut cluster = Cluster::new(story::parse(&TWO.replace("HOW", "mode=Observe")));
    let mut leader = cluster.leader();
    leader.settle(&mut cluster);
    let entries: BTreeSet<&str> = leader.ledger.entries.keys().map(Namespace::as_str).collect();
    assert_eq!(entries, BTreeSet::from(["b"]));
    assert_eq!(cluster.quota("b").hard, 5);
    // The mode rises, and it gets what the plan said.
    change(&mut cluster, "mode=Quota");
    leader.settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (5, 5));
}

#[test]
fn an_edit_is_restored_unless_the_queue_is_paused_or_observed() {
    for (how, stays) in [("", false), ("mode=Quota", false), ("mode=Observe", true), ("paused=1060", true)] {
        for edited in [1, 9] {
            let mut cluster = then(how);
            cluster.edit("a").hard = edited;
            let mut leader = cluster.leader();
            leader.settle(&mut cluster);
            assert_eq!(cluster.quota("a").hard, if stays { edited } else { 5 }, "{how} {edited}");
            // What a person wrote is held, and grants nothing.
            let expected = if stays && edited > 5 { 1 } else { 5 };
            assert!(cluster.quota("b").hard >= expected, "{how} {edited}");
            let decided = plan(&cluster.see(&leader));
            assert_eq!(decided.ledger_after(&leader.ledger, &cluster.see(&leader)), None, "{how} {edited}");
            // The pause ends by itself.
            cluster.rest.now = Timestamp::from_seconds(1060);
            leader.settle(&mut cluster);
            assert_eq!(
                cluster.quota("a").hard,
                if how == "mode=Observe" { edited } else { 5 },
                "{how} {edited}"
            );
        }
    }
}

#[test]
fn a_quota_that_a_person_deletes_during_a_pause_comes_back_after_it() {
    let mut cluster = then("paused=1060");
    cluster.quotas.clear();
    let mut leader = cluster.leader();
    leader.settle(&mut cluster);
    assert!(cluster.quotas.keys().all(|name| name.as_str() == "b"));
    cluster.rest.now = Timestamp::from_seconds(1060);
    leader.settle(&mut cluster);
    assert_eq!(cluster.quota("a").hard, 5);
}

#[test]
fn a_write_that_was_granted_before_the_pause_is_carried_out_if_it_raises() {
    for (before, after, expected) in [(3, 8, 8), (8, 3, 8)] {
        let text = |request: i32, how: &str| {
            format!(
                "node n1 cpu=10 memory=10Gi
                 queue a fixed=cpu:{request} {how}"
            )
        };
        let mut cluster = Cluster::new(story::parse(&text(before, "")));
        let mut leader = cluster.leader();
        leader.settle(&mut cluster);
        // The ledger is written, and the operator ends before the quota is.
        cluster.becomes(story::parse(&text(after, "")));
        let (decided, _) = leader.act(&mut cluster);
        assert_eq!(granted(&decided, "a"), after.into());
        cluster.becomes(story::parse(&text(after, "paused=2000")));
        let mut leader = cluster.leader();
        leader.settle(&mut cluster);
        assert_eq!(cluster.quota("a").hard, expected);
        assert_eq!(plan(&cluster.see(&leader)).resources, [Resource::Cpu]);
    }
}
