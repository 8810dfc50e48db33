//! Whole pods: what runs no pod here runs one there, as stories.

use expect_test::expect;

use crate::story::{decides, explains, plays};

#[test]
fn nine_cpus_run_nine_pods() {
    plays(
        "node n1 cpu=9 memory=90Gi
         queue a,b
         owner a,b/web replicas=9 cpu=1 memory=1Gi created=10",
        &expect![[r#"
            step 1: capacity 9c 90Gi
              a: deserved 4500mc 9Gi, allocated 5c 13Gi, used 0c 0, target 5c 5Gi
                9 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              b: deserved 4500mc 9Gi, allocated 4c 12Gi, used 0c 0, target 4c 4Gi
                9 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              started a/web-r1001-0..4
              started b/web-r1001-0..3
            step 2: capacity 9c 90Gi
              a: deserved 4500mc 9Gi, allocated 5c 13Gi, used 5c 5Gi, target 5c 5Gi
                4 pods of ReplicaSet web, 1c 1Gi each: ShareInUse
              b: deserved 4500mc 9Gi, allocated 4c 12Gi, used 4c 4Gi, target 4c 4Gi
                5 pods of ReplicaSet web, 1c 1Gi each: ShareInUse
        "#]],
    );
}

#[test]
fn nothing_is_given_through_a_fence() {
    decides(
        "node n1 cpu=9 memory=90Gi
         queue org children=All from=Subtree weight=1
         queue a parent=org
         queue b
         owner a/web replicas=9 cpu=1 memory=1Gi created=10
         owner b/web replicas=4 cpu=1500m memory=1Gi created=10",
        &expect![[r#"
            step 1: capacity 9c 90Gi
              a: deserved 4500mc 9Gi, allocated 4500mc 12Gi, used 0c 0, target 4c 4Gi
                9 pods of ReplicaSet web, 1c 1Gi each: WaitingForQuota
              b: deserved 4500mc 4Gi, allocated 5c 11Gi, used 0c 0, target 4500mc 3Gi
                4 pods of ReplicaSet web, 1500mc 1Gi each: WaitingForQuota
              org: deserved 4500mc 9Gi, allocated 4500mc 12Gi, used 0c 0, target 4c 4Gi
              lower a, b
        "#]],
    );
}

#[test]
fn what_is_free_completes_a_unit_where_it_can() {
    decides(
        "node n1 cpu=12 memory=90Gi
         queue a,b
         queue c fixed=cpu:1,memory:0
         quota a,b cpu=0 memory=20Gi
         quota c cpu=9 memory=1Gi
         pod c/p1 cpu=9 memory=1Gi node=n1 started=10
         owner a,b/web replicas=2 cpu=3 memory=1Gi created=10",
        &expect![[r#"
            step 1: capacity 12c 90Gi
              a: deserved 5500mc 2Gi, allocated 3c 10Gi, used 0c 0, target 6c 2Gi, preempting 3c 0 (WaitingForQuota), lacks 3c 1Gi
                2 pods of ReplicaSet web, 3c 1Gi each: WaitingForQuota
              b: deserved 5500mc 2Gi, allocated 0c 9Gi, used 0c 0, target 3c 1Gi, preempting 3c 0 (WaitingForQuota), lacks 3c 1Gi
                2 pods of ReplicaSet web, 3c 1Gi each: WaitingForQuota
              c: deserved 1c 0, allocated 1c 0, used 9c 1Gi
              lower a, b, c
              evict c/p1 once its quota is in force
        "#]],
    );
}

#[test]
fn of_pods_none_of_which_fits_in_its_share_as_few_go_as_possible() {
    plays(
        "node n1 memory=2Gi
         queue a,b,c request=all
         owner a,b/web replicas=1 memory=1Gi created=10 pods=p node=n1 started=10
         owner c/web replicas=1 memory=1Gi created=10 pods=p pending",
        &expect![[r#"
            step 1: capacity 2Gi
              a: deserved 683Mi, allocated 683Mi, used 1Gi
              b: deserved 683Mi, allocated 683Mi, used 1Gi
              c: deserved 682Mi, allocated 682Mi, used 1Gi
        "#]],
    );
}

#[test]
fn shares_are_made_whole_around_the_pods_that_reclaim_keeps() {
    // a's youngest pod is not recreated, so it goes last: with it and two others a's share is whole.
    explains(
        "node n1 cpu=9
         queue a,b request=all
         owner a/web replicas=5 cpu=1 created=10 pods=web-1..5 node=n1 started=10+10
         owner b/web replicas=9 cpu=1 created=10
         pod a/bare cpu=2500m node=n1 started=60",
        &expect![[r#"
            9 pods of ReplicaSet web, 1c each: RoomAvailable
            evict a/web-5..3 for b: Reclaimed
        "#]],
    );
}

#[test]
fn for_what_there_is_nothing_of_no_pod_goes_and_shares_are_whole_with_those_that_stay() {
    plays(
        "settings resources=cpu,gpu
         node n1 cpu=4500m
         queue a weight=1 request=all
         queue b weight=3 request=all
         owner a/web replicas=4 cpu=1 created=5 pods=web-1 node=n1 started=10
         owner b/gpu replicas=4 cpu=250m gpu=1 created=5
         owner b/web replicas=3 cpu=1 created=6
         owner b/small replicas=1 cpu=500m created=7 pods=small-1 node=n1 started=20
         pod b/gpu-1..4 cpu=250m gpu=1 pending owner=gpu priority=1
         pod b/web-1..2 cpu=1 node=n1 started=10 owner=web priority=1",
        &expect![[r#"
            step 1: capacity 4500mc 0gpu
              a: deserved 1125mc 0gpu, allocated 1125mc 0gpu, used 1c 0gpu
                3 pods of ReplicaSet web, 1c 0gpu each: ShareInUse
              b: deserved 3375mc 0gpu, allocated 3375mc 4gpu, used 3500mc 4gpu
                4 pods of ReplicaSet gpu, 250mc 1gpu each: SetAside
                1 pods of ReplicaSet web, 1c 0gpu each: ShareInUse
        "#]],
    );
}

/// `high` asks for less memory than its pods hold, because the three that wait for a GPU ask for nothing that a queue has.
/// There is memory enough, so none of them goes, and what they hold of cpu is not left over for `low`: else one of the
/// others would go for it, come back, and go again.
#[test]
fn where_there_is_enough_of_one_resource_no_queue_gives_another_for_lack_of_it() {
    plays(
        "settings resources=cpu,memory,gpu
         node n1 cpu=10 memory=12Gi labels=zone:b
         node n2 cpu=5500m memory=13Gi labels=zone:a
         queue low weight=0
         queue high weight=3 limit=cpu:7313m,memory:7259Mi,gpu:2
         owner low/big replicas=7 cpu=2 memory=512Mi kind=Job created=1 pods=big-1..4 node=n1 started=10
         owner low/small replicas=7 cpu=1 memory=1Gi selector=zone:b created=1
         owner high/runs replicas=6 cpu=1 memory=1Gi kind=Job priority=2 created=1
         owner high/gpu replicas=3 cpu=250m memory=256Mi gpu=1 created=2 pods=gpu-1..3 pending stuck=20
         owner high/waits replicas=7 cpu=1500m memory=100Mi kind=Job priority=2 created=3
         pod high/runs-1..2 cpu=1 memory=1Gi node=n1 started=30 owner=runs priority=2
         pod high/runs-3..6 cpu=1 memory=1Gi node=n2 started=30 owner=runs priority=2",
        &expect![[r#"
            step 1: capacity 15500mc 25Gi 0gpu
              high: deserved 7313mc 6244Mi 0gpu, allocated 6c 7112Mi 3gpu, used 6750mc 6912Mi 3gpu, target 6c 6Gi 0gpu
                3 pods of ReplicaSet gpu, 250mc 256Mi 1gpu each: SetAside
                1 pods of Job waits, 1500mc 100Mi 0gpu each: AboveLimit
                6 pods of Job waits, 1500mc 100Mi 0gpu each: OneAtATime
              low: deserved 8187mc 10752Mi 0gpu, allocated 9c 9472Mi 0gpu, used 8c 2Gi 0gpu, target 9c 3Gi 0gpu
                3 pods of Job big, 2c 512Mi 0gpu each: ShareInUse
                1 pods of ReplicaSet small, 1c 1Gi 0gpu each: Fragmented
                6 pods of ReplicaSet small, 1c 1Gi 0gpu each: RoomAvailable
        "#]],
    );
}

/// `db` cannot go: without it the team were below what it is guaranteed. So it is `gpu` that would go for memory that
/// `web` cannot use; `db` is completed around that, and both stay. Else `gpu` would go, come back, and go again.
#[test]
fn shares_are_made_whole_around_what_a_guarantee_keeps() {
    plays(
        "node n1 cpu=3 memory=3Gi gpu=1
         queue other weight=4
         queue team weight=2 guaranteed=cpu:419m,memory:1186Mi limit=memory:6736Mi
         owner other/web replicas=7 cpu=2 memory=512Mi kind=StatefulSet created=1 pods=web-1 node=n1 started=10
         owner other/batch replicas=2 cpu=1 memory=1Gi kind=Job created=2
         owner team/gpu replicas=3 cpu=250m memory=256Mi gpu=1 created=1 pods=gpu-1 node=n1 started=20
         owner team/db replicas=7 cpu=500m memory=2Gi kind=StatefulSet created=2
         owner team/web replicas=1 cpu=1 memory=1Gi created=3
         pod team/db-1 cpu=500m memory=2Gi node=n1 started=10 owner=db priority=2
         budget other/all allowed=0",
        &expect![[r#"
            step 1: capacity 3c 3Gi 1gpu
              other: deserved 1721mc 1258Mi 0gpu, allocated 1c 768Mi 0gpu, used 2c 512Mi 0gpu, target 1c 1Gi 0gpu
                6 pods of StatefulSet web, 2c 512Mi 0gpu each: UnitAboveShare
                2 pods of Job batch, 1c 1Gi 0gpu each: ShareInUse
              team: deserved 1279mc 1814Mi 1gpu, allocated 1c 1280Mi 1gpu, used 750mc 2304Mi 1gpu, target 1250mc 1280Mi 1gpu
                2 pods of ReplicaSet gpu, 250mc 256Mi 1gpu each: ShareInUse
                6 pods of StatefulSet db, 500mc 2Gi 0gpu each: UnitAboveShare
                1 pods of ReplicaSet web, 1c 1Gi 0gpu each: ShareInUse
        "#]],
    );
}

/// Pods of `gpu` hold GPUs that no queue asks for. Of them only cpu counts, and there 71m complete each of the last two.
#[test]
fn what_no_queue_lacks_keeps_no_pod_from_being_completed() {
    plays(
        "node n1 cpu=16 memory=26Gi gpu=5
         queue one weight=3 limit=cpu:8321m,gpu:2
         queue two weight=1
         owner one/web replicas=4 cpu=2 memory=512Mi created=1 pods=web-1..4 node=n1 started=10
         owner one/waits replicas=2 cpu=500m memory=2Gi kind=Job created=2
         owner two/gpu replicas=4 cpu=250m memory=256Mi gpu=1 created=1 pods=gpu-1..4 node=n1 started=10
         owner two/web replicas=7 cpu=1 memory=1Gi created=1
         pod two/web-1..6 cpu=1 memory=1Gi node=n1 started=20 owner=web
         pod two/web-7 cpu=1 memory=1Gi node=n1 started=30 owner=web",
        &expect![[r#"
            step 1: capacity 16c 26Gi 5gpu
              one: deserved 8321mc 6Gi 0gpu, allocated 8c 8704Mi 1gpu, used 8c 2Gi 0gpu, target 8c 2Gi 0gpu
                2 pods of Job waits, 500mc 2Gi 0gpu each: AboveLimit
              two: deserved 7679mc 8Gi 4gpu, allocated 8c 14848Mi 5gpu, used 8c 8Gi 4gpu, target 8c 8Gi 4gpu
        "#]],
    );
}

/// What is there to share is the same before and after, and so is what workloads want.
#[test]
fn targets_change_when_a_node_can_run_what_none_could() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a,b
         owner a/batch replicas=4 cpu=1 memory=1Gi pods=p1..4 node=n1 started=10+10
         owner b/web replicas=4 cpu=1 memory=1Gi selector=zone:x
         then
         node n1 cpu=4 memory=4Gi labels=zone:x",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 4c 4Gi, used 4c 4Gi, target 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, target 0c 0
                4 pods of ReplicaSet web, 1c 1Gi each: NoNodeFits
            then
            step 2: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 2c 2Gi (WaitingForPreemption)
                4 pods of ReplicaSet web, 1c 1Gi each: WaitingForPreemption
              evict a/p4..3 for b: Reclaimed
            step 3: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet batch, 1c 1Gi each: ShareInUse
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
                4 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              started b/web-r1003-0..1
            step 4: capacity 4c 4Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
                2 pods of ReplicaSet web, 1c 1Gi each: ShareInUse
        "#]],
    );
}

/// No workload wants these pods, so what workloads want is the same before and after. The queue's request keeps what it deserves.
#[test]
fn targets_change_when_a_pod_ends_that_no_workload_wants() {
    plays(
        "node n1 cpu=10 memory=10Gi
         queue a request=cpu:10,memory:10Gi
         owner a/ring replicas=8 cpu=1 memory=1Gi kind=Job gang=ring min=8
         pod a/tool-1..3 cpu=1 memory=1Gi node=n1 started=10+10
         then
         delete pod a/tool-1",
        &expect![[r#"
            step 1: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 5c 8Gi, used 3c 3Gi, target 3c 3Gi
                8 pods of Job ring, 1c 1Gi each: ShareInUse
              started a/ring-r1001-0..1
            step 2: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 7c 8Gi, used 5c 5Gi, target 3c 3Gi
                6 pods of Job ring, 1c 1Gi each: ShareInUse
              started a/ring-r1002-0..1
            step 3: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 9c 9728Mi, used 7c 7Gi, target 3c 3Gi
                4 pods of Job ring, 1c 1Gi each: ShareInUse
              started a/ring-r1003-0..1
            step 4: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 10c 9728Mi, used 9c 9Gi, target 3c 3Gi
                2 pods of Job ring, 1c 1Gi each: ShareInUse
            then
            step 5: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 10c 10Gi, used 8c 8Gi
                2 pods of Job ring, 1c 1Gi each: RoomAvailable
              started a/ring-r1005-0..1
            step 6: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 10c 10Gi, used 10c 10Gi
        "#]],
    );
}
