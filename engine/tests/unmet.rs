//! Pods that cannot start, and what they are told, as stories.

use expect_test::expect;

use crate::story::decides;

#[test]
fn everybody_is_told_what_stands_in_the_way() {
    decides(
        "settings expandable=gpu:1
         node n1 cpu=12 memory=48Gi
         queue large request=cpu:3,memory:12Gi
         queue room demand=Observed
         queue used request=cpu:3,memory:12Gi
         queue limited limit=cpu:2
         queue foreign
         queue lost demand=Observed
         quota large cpu=3 memory=12Gi
         quota used cpu=3 memory=12Gi
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
              foreign: deserved 1c 11520Mi 1gpu, allocated 1c 9728Mi 0gpu, used 0c 0 0gpu, preempting 0c 1792Mi 1gpu (WaitingForNodes)
                1 pods of ReplicaSet web, 2c 1Gi 0gpu each: ForeignQuota
              large: deserved 3c 11520Mi 0gpu, allocated 3c 11520Mi 0gpu, used 0c 0 0gpu
                2 pods of Job job, 20c 1Gi 0gpu each: UnitAboveShare
              limited: deserved 2c 11520Mi 0gpu, allocated 2c 9728Mi 0gpu, used 0c 0 0gpu, preempting 0c 1792Mi 0gpu (WaitingForNodes)
                1 pods of StatefulSet db, 3c 1Gi 0gpu each: AboveLimit
              lost: deserved 2c 2Gi 0gpu, allocated 1c 2Gi 0gpu, used 3c 3Gi 1gpu, its quota lacks 1c 0 0gpu that its pods hold
                pod p1, 1c 1Gi 0gpu: NotTakenUp
                pod p2, 1c 1Gi 1gpu: WaitingForNodes
                pod p3, 1c 1Gi 0gpu: RoomAvailable
              room: deserved 1c 1Gi 0gpu, allocated 1c 1Gi 0gpu, used 0c 0 0gpu
                1 pods of ReplicaSet web, 1c 1Gi 0gpu each: WaitingForQuota
              used: deserved 3c 11520Mi 0gpu, allocated 3c 11520Mi 0gpu, used 3c 1Gi 0gpu
                1 pods of ReplicaSet web, 1c 1Gi 0gpu each: ShareInUse
              evict lost/p3 for foreign: Reclaimed
              lower foreign to 1c 9728Mi 0gpu
              lower large to 3c 11520Mi 0gpu
              lower limited to 2c 9728Mi 0gpu
              lower lost to 1c 2Gi 0gpu
              lower room to 1c 1Gi 0gpu
              lower used to 3c 11520Mi 0gpu
        "#]],
    );
}

#[test]
fn what_is_promised_is_waited_for() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b
         quota a cpu=8 memory=8Gi
         pod a/p1 cpu=8 memory=8Gi node=n1 started=10
         owner b/web replicas=2 cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 8c 8Gi
              b: deserved 4c 4Gi, allocated 0c 0, used 0c 0, preempting 4c 4Gi (WaitingForQuota)
                2 pods of ReplicaSet web, 4c 4Gi each: WaitingForQuota
              lower a to 4c 4Gi
              lower b to 0c 0
              evict a/p1 once its quota is in force
        "#]],
    );
}
