//! Idle capacity, and which queue has it meanwhile, as stories.

use expect_test::expect;

use crate::story::{decides, plays};

#[test]
fn limits_hold_where_idle_capacity_is_lent() {
    decides(
        "node n1 cpu=16 memory=16Gi
         queue a weight=3
         queue b weight=1
         queue c weight=4 limit=cpu:1",
        &expect![[r#"
            step 1: capacity 16c 16Gi
              a: deserved 0c 0, allocated 2c 2863311530, used 0c 0
              b: deserved 0c 0, allocated 2c 2863311530, used 0c 0
              c: deserved 0c 0, allocated 1c 2863311530, used 0c 0
              lower a, b, c
        "#]],
    );
}

/// Alone each may use what the limit above leaves. Together they may not use more, and none is left without.
#[test]
fn what_a_limit_above_leaves_is_lent_once_and_evenly() {
    decides(
        "node n1 cpu=100 memory=100Gi
         queue org children=All limit=cpu:2
         queue a,b parent=org
         queue other children=All limit=cpu:8
         queue c,d parent=other
         pod d/p cpu=1 node=n1 started=10",
        &expect![[r#"
            step 1: capacity 100c 100Gi
              a: deserved 0c 0, allocated 1c 8Gi, used 0c 0
              b: deserved 0c 0, allocated 1c 8Gi, used 0c 0
              c: deserved 0c 0, allocated 2c 8Gi, used 0c 0
              d: deserved 1c 0, allocated 3c 8Gi, used 1c 0
              org: deserved 0c 0, allocated 2c 16Gi, used 0c 0
              other: deserved 1c 0, allocated 5c 16Gi, used 1c 0
              lower a, b, c, d
        "#]],
    );
}

/// Pods without a GPU wait for no GPU that pods of their queue hold above its quota.
#[test]
fn a_queue_above_its_quota_of_gpus_starts_pods_without_gpus() {
    decides(
        "node n1 cpu=8 memory=8Gi gpu=2
         queue a weight=3
         queue b
         quota a cpu=2 memory=2Gi gpu=1
         quota b cpu=1 memory=1Gi gpu=1
         owner a/web replicas=3 cpu=1 memory=1Gi created=900
         pod a/train-1..2 cpu=1 memory=1Gi gpu=1 node=n1 started=10
         pod b/p cpu=1 memory=1Gi gpu=1 pending created=999",
        &expect![[r#"
            step 1: capacity 8c 8Gi 2gpu
              a: deserved 5c 5Gi 2gpu, allocated 7c 7Gi 1gpu, used 2c 2Gi 2gpu
                3 pods of ReplicaSet web, 1c 1Gi 0gpu each: WaitingForQuota
              b: deserved 1c 1Gi 0gpu, allocated 3c 3Gi 0gpu, used 1c 1Gi 1gpu, target 0c 0 0gpu
              lower b
              raise a
        "#]],
    );
}

#[test]
fn overuse_that_no_queue_needs_is_no_idle_capacity() {
    plays(
        "node n1 cpu=10 memory=10Gi
         queue a,b
         quota b cpu=9 memory=9Gi
         pod b/p1 cpu=8 memory=8Gi node=n1 started=10
         then
         delete pod b/p1",
        &expect![[r#"
            step 1: capacity 10c 10Gi
              a: deserved 0c 0, allocated 2c 1280Mi, used 0c 0
              b: deserved 8c 8Gi, allocated 9c 9Gi, used 8c 8Gi
            then
            step 2: capacity 10c 10Gi
              b: deserved 8c 8Gi, allocated 9c 9Gi, used 0c 0
        "#]],
    );
}

#[test]
fn the_idle_part_goes_before_any_eviction() {
    plays(
        "node n1 cpu=10 memory=10Gi
         queue a,b
         quota a cpu=7 memory=7Gi
         quota b cpu=3 memory=3Gi
         pod a/p1 cpu=4 memory=4Gi node=n1 started=10
         pod b/p1 cpu=3 memory=3Gi node=n1 started=10
         owner b/web replicas=3 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 10c 10Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 3c 3Gi
                3 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              started b/web-r1001-0..2
            step 2: capacity 10c 10Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 6c 6Gi
        "#]],
    );
}

/// Found by a benchmark: a client created pods one by one, and once what its queue was given was used up, the rest of
/// the cluster stayed empty for ever.
#[test]
fn a_queue_that_has_used_up_its_part_gets_more_of_what_is_idle() {
    plays(
        "node n1 cpu=100 memory=100Gi
         queue a,b
         quota a cpu=32 memory=32Gi
         quota b cpu=25 memory=25Gi
         pod a/p1 cpu=32 memory=32Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 100c 100Gi
              a: deserved 32c 32Gi, allocated 34c 40Gi, used 32c 32Gi
              b: deserved 0c 0, allocated 2c 8Gi, used 0c 0
        "#]],
    );
}

#[test]
fn no_queue_releases_what_a_limit_keeps_away() {
    plays(
        "node n1 cpu=100 memory=100Gi
         queue org children=All limit=cpu:10,memory:10Gi
         queue a
         queue b parent=org
         quota a cpu=90 memory=90Gi
         quota b cpu=10 memory=10Gi
         pod a/p1 cpu=5 memory=5Gi node=n1 started=10
         pod b/p1 cpu=10 memory=10Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 100c 100Gi
              a: deserved 5c 5Gi, allocated 7c 13Gi, used 5c 5Gi
              b: deserved 10c 10Gi, allocated 10c 10Gi, used 10c 10Gi
              org: deserved 10c 10Gi, allocated 10c 10Gi, used 10c 10Gi
        "#]],
    );
}

/// Found by random histories: a pod of `a` hangs on a lost node, so its successor has room in the quota and is not admitted yet.
/// The loan of `b` let a pod in that had to go for it, again and again.
#[test]
fn a_loan_does_not_let_in_again_what_went_for_granted_room() {
    plays(
        "settings resources=cpu
         node n1 cpu=3500m
         node n2 cpu=1 cordoned
         queue a weight=26
         queue b weight=19 request=all
         quota a cpu=2
         quota b cpu=1900m
         owner a/web replicas=3 cpu=1
         pod a/web-1 cpu=1 node=n1 started=10 owner=web
         pod a/web-2 cpu=1 node=n2 started=10 owner=web terminating=900
         owner b/batch replicas=2 cpu=1
         pod b/batch-1 cpu=1 node=n1 started=10 owner=batch",
        &expect![[r#"
            step 1: capacity 4500mc
              a: deserved 2600mc, allocated 2562mc, used 2c, target 2c
                2 pods of ReplicaSet web, 1c each: ShareInUse
              b: deserved 1900mc, allocated 2462mc, used 1c
                1 pods of ReplicaSet batch, 1c each: RoomAvailable
              started b/batch-r1001-0
            step 2: capacity 4500mc
              a: deserved 2600mc, allocated 2281mc, used 2c, target 2c
                1 pods of ReplicaSet web, 1c each: WaitingForPreemption
                1 pods of ReplicaSet web, 1c each: ShareInUse
              b: deserved 1900mc, allocated 1900mc, used 2c
              evict b/batch-r1001-0 for a: Reclaimed
            step 3: capacity 4500mc
              a: deserved 2600mc, allocated 2281mc, used 2c, target 2c
                2 pods of ReplicaSet web, 1c each: ShareInUse
              b: deserved 1900mc, allocated 1950mc, used 1c
                1 pods of ReplicaSet batch, 1c each: ShareInUse
        "#]],
    );
}
