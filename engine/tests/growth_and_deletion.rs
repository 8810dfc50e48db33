//! Clusters that may grow, and Queues that are deleted, as stories.

use expect_test::expect;

use crate::story::{decides, plays};

#[test]
fn what_may_be_added_is_shared_and_pods_that_wait_for_it_evict_no_pod() {
    plays(
        "settings expandable=cpu:4,memory:4Gi
         node n1 cpu=4 memory=4Gi
         queue a,b
         quota a cpu=4 memory=4Gi
         pod a/p1..2 cpu=2 memory=2Gi node=n1 started=10+10
         owner b/web replicas=3 cpu=1 memory=1Gi
         then after=1
         node n2 cpu=4 memory=4Gi
         settings mode=Full",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 4c 4Gi, allocated 5c 5Gi, used 4c 4Gi
              b: deserved 3c 3Gi, allocated 4c 4Gi, used 0c 0
                3 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
            then, 1 s later
            step 2: capacity 8c 8Gi
              b: deserved 3c 3Gi, allocated 4c 4Gi, used 3c 3Gi
                3 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              started b/web-r1001-0..2
            step 3: capacity 8c 8Gi
              b: deserved 3c 3Gi, allocated 4c 4Gi, used 3c 3Gi
        "#]],
    );
}

#[test]
fn what_may_be_added_is_nothing_where_no_node_is_seen() {
    decides(
        "settings expandable=cpu:4,memory:4Gi
         queue a request=all
         quota a cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 0c 0
              a: deserved 0c 0, allocated 4c 4Gi, used 0c 0
        "#]],
    );
}

#[test]
fn a_pod_waits_ten_minutes_for_a_node_that_may_be_added() {
    plays(
        "settings expandable=gpu:4
         node n1 cpu=8 memory=8Gi
         queue a
         pod a/p1 cpu=1 memory=1Gi gpu=1 pending created=900 stuck=910
         then after=500
         then after=40",
        &expect![[r#"
            step 1: capacity 8c 8Gi 4gpu
              a: deserved 1c 1Gi 1gpu, allocated 3c 5Gi 1gpu, used 1c 1Gi 1gpu
                pod p1, 1c 1Gi 1gpu: WaitingForNodes
            then, 500 s later
            then, 40 s later
            step 3: capacity 8c 8Gi 4gpu
              a: deserved 0c 0 0gpu, allocated 3c 5Gi 1gpu, used 1c 1Gi 1gpu
                pod p1, 1c 1Gi 1gpu: SetAside
        "#]],
    );
}

#[test]
fn a_quota_without_an_owner_grants_nothing_where_no_queue_is() {
    decides(
        "node n1 cpu=8 memory=8Gi
         quota a cpu=4 memory=1Gi ownerless
         pod a/p1 cpu=2 memory=2Gi node=n1 started=10
         queue b request=all
         quota b cpu=6 memory=6Gi
         quota c cpu=1 memory=1Gi foreign",
        &expect![[r#"
            step 1: capacity 6c 6Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
        "#]],
    );
}

/// Garbage collection takes the reference away before the Queue is gone (`--cascade=orphan`).
#[test]
fn a_queue_that_is_being_deleted_does_not_take_its_quota_back() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a leaving request=all
         quota a cpu=8 memory=8Gi ownerless",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 8c 8Gi, allocated 8c 8Gi, used 0c 0
        "#]],
    );
}
