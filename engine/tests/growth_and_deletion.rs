//! Clusters that may grow, and Queues that are deleted, as stories.

use expect_test::expect;

use crate::story::{decides, plays};

#[test]
fn what_may_be_added_is_shared_and_pods_that_wait_for_it_evict_nobody() {
    plays(
        "settings expandable=cpu:4,memory:4Gi
         node n1 cpu=4 memory=4Gi
         queue a demand=Observed
         queue b demand=Observed
         quota a cpu=4 memory=4Gi
         pod a/p1 cpu=2 memory=2Gi node=n1 started=10
         pod a/p2 cpu=2 memory=2Gi node=n1 started=20
         owner b/web replicas=3 cpu=1 memory=1Gi
         then after=1
         node n2 cpu=4 memory=4Gi
         settings resources=cpu,memory",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 4400mc 4505Mi, allocated 4400mc 4505Mi, used 4c 4Gi, idle 400mc 409Mi
              b: deserved 3400mc 3481Mi, allocated 3400mc 3481Mi, used 0c 0, idle 400mc 409Mi
                3 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
            then, 1 s later
            step 2: capacity 8c 8Gi
              a: deserved 4400mc 4505Mi, allocated 4400mc 4505Mi, used 4c 4Gi, idle 400mc 409Mi
              b: deserved 3400mc 3481Mi, allocated 3400mc 3481Mi, used 3c 3Gi, idle 400mc 409Mi
                3 pods of ReplicaSet web, 1c 1Gi each: RoomAvailable
              started b/web-r1001-0
              started b/web-r1001-1
              started b/web-r1001-2
            step 3: capacity 8c 8Gi
              a: deserved 4400mc 4505Mi, allocated 4400mc 4505Mi, used 4c 4Gi, idle 400mc 409Mi
              b: deserved 3400mc 3481Mi, allocated 3400mc 3481Mi, used 3c 3Gi, idle 400mc 409Mi
        "#]],
    );
}

#[test]
fn what_may_be_added_is_nothing_where_no_node_is_seen() {
    decides(
        "settings expandable=cpu:4,memory:4Gi
         queue a
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
         queue a demand=Observed
         pod a/p1 cpu=1 memory=1Gi gpu=1 pending created=900 stuck=910
         then after=500
         then after=40",
        &expect![[r#"
            step 1: capacity 8c 8Gi 4gpu
              a: deserved 4500mc 4608Mi 2gpu, allocated 4500mc 4608Mi 2gpu, used 1c 1Gi 1gpu, idle 3500mc 3584Mi 1gpu
                pod p1, 1c 1Gi 1gpu: WaitingForNodes
            then, 500 s later
            step 2: capacity 8c 8Gi 4gpu
              a: deserved 4500mc 4608Mi 2gpu, allocated 4500mc 4608Mi 2gpu, used 1c 1Gi 1gpu, idle 3500mc 3584Mi 1gpu
                pod p1, 1c 1Gi 1gpu: WaitingForNodes
            then, 40 s later
            step 3: capacity 8c 8Gi 4gpu
              a: deserved 4500mc 4608Mi 2gpu, allocated 4500mc 4608Mi 2gpu, used 1c 1Gi 1gpu, idle 3500mc 3584Mi 1gpu
                pod p1, 1c 1Gi 1gpu: NotTakenUp
        "#]],
    );
}

#[test]
fn a_quota_without_a_queue_is_lowered_to_what_is_charged() {
    decides(
        "node n1 cpu=8 memory=8Gi
         quota a cpu=4 memory=1Gi
         pod a/p1 cpu=2 memory=2Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 4c 6Gi
              lower a, which no queue is left in, to 2c 1Gi
        "#]],
    );
}

#[test]
fn it_goes_where_its_queue_said_so_and_stays_where_a_queue_only_stalls() {
    decides(
        "node n1 cpu=8 memory=8Gi
         quota a cpu=4 memory=1Gi goesWithQueue
         queue b parent=nowhere
         quota b cpu=4 memory=1Gi
         quota c cpu=1 memory=1Gi foreign",
        &expect![[r#"
            step 1: capacity 0c 6Gi
              b/b has no share: ParentNotFound: spec.parentRef names nowhere/nowhere, which does not exist: create that Queue or correct the reference
              remove the quota of a, which no queue is left in
        "#]],
    );
}
