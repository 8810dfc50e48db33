//! Pods that exist and find no node: what is moved aside for them, and what is not.

use expect_test::expect;

use crate::story::{self, explains, no_pod_goes};

const STUCK: &str = "node n1 cpu=4
    node n2 cpu=4
    queue a request=all
    queue b fixed=cpu:3 guaranteed=cpu:3
    owner a/web replicas=2 cpu=2
    pod a/p1 cpu=2 node=n1 started=10 owner=web
    pod a/p2 cpu=2 node=n2 started=20 owner=web
    pod b/big cpu=3 pending owner=train stuck=990";

#[test]
fn a_stuck_pod_within_its_queues_guarantee_moves_others_aside() {
    explains(STUCK, &expect!["evict a/p2 for b: MovedAside"]);
}

#[test]
fn a_stuck_pod_that_is_not_within_a_guarantee_is_fragmented() {
    explains(&STUCK.replace("guaranteed=cpu:3", "guaranteed=cpu:2"), &expect!["pod big, 3c: Fragmented"]);
}

/// A guarantee of devices needs none of cpu beside it.
#[test]
fn a_guarantee_of_devices_alone_moves_others_aside() {
    let scenario = "node n1..2 cpu=32 nvidia.com/gpu=8
         queue a guaranteed=nvidia.com/gpu:8
         queue b request=all
         owner b/half replicas=2 nvidia.com/gpu=4 cpu=4
         pod b/p1 nvidia.com/gpu=4 cpu=4 node=n1 started=10 owner=half
         pod b/p2 nvidia.com/gpu=4 cpu=4 node=n2 started=20 owner=half
         pod a/whole nvidia.com/gpu=8 cpu=16 pending owner=train stuck=990";
    explains(scenario, &expect!["evict b/p2 for a: MovedAside"]);
}

#[test]
fn no_pod_is_moved_aside_that_would_be_scheduled_before_the_stuck_pod() {
    explains(
        &STUCK.replace("node=n2", "node=n2 priority=1").replace("node=n1", "node=n1 priority=1"),
        &expect![[r#"
            pod big, 3c: Fragmented
            spare a/p1..2: PriorityAboveAsk
        "#]],
    );
}

#[test]
fn no_pod_is_moved_aside_out_of_its_own_guarantee() {
    explains(
        &STUCK.replace("queue a", "queue a guaranteed=cpu:4"),
        &expect![[r#"
            pod big, 3c: Fragmented
            spare a/p1..2: Guarantee
        "#]],
    );
    explains(&STUCK.replace("queue a", "queue a guaranteed=cpu:2"), &expect!["evict a/p2 for b: MovedAside"]);
}

#[test]
fn no_pod_is_moved_aside_that_fits_nowhere_else() {
    explains(
        "node n1..2 cpu=4
         queue a request=all
         queue b fixed=cpu:3 guaranteed=cpu:3
         owner a/web replicas=1 cpu=2 pods=p2 node=n2 started=20
         pod a/p1 cpu=3 node=n1 started=10 owner=other
         pod b/big cpu=3 pending owner=train stuck=990",
        &expect!["pod big, 3c: Fragmented"],
    );
}

#[test]
fn pods_above_their_queues_share_go_for_a_stuck_one_before_others_are_moved() {
    explains(
        "node n1..2 cpu=4
         queue a
         queue c weight=0
         queue b request=cpu:3
         queue late request=cpu:3 guaranteed=cpu:3 after=600
         pod a/p1 cpu=2 node=n1 started=90 owner=web priority=-5
         pod c/p1 cpu=2 node=n2 started=10 owner=w priority=5
         pod b/big cpu=3 pending owner=train stuck=990",
        &expect!["evict c/p1 for b: Reclaimed"],
    );
}

#[test]
fn no_pod_goes_for_a_pod_that_has_been_stuck_for_a_minute() {
    explains(
        &STUCK
            .replace("stuck=990", "stuck=940")
            .replace("guaranteed=cpu:3", "guaranteed=cpu:3 roomSince=940"),
        &expect!["pod big, 3c: SetAside"],
    );
}

#[test]
fn no_pod_goes_for_a_pod_of_which_the_scheduler_has_said_nothing() {
    explains(&STUCK.replace("stuck=990", ""), &expect!["later evict a/p2 for b: MovedAside"]);
}

#[test]
fn a_stuck_pod_that_no_node_could_run_is_told() {
    explains(
        &STUCK.replace("owner=train", "owner=train selector=zone:moon"),
        &expect!["pod big, 3c: NoNodeFits"],
    );
}

#[test]
fn where_nodes_may_be_added_a_stuck_pod_waits_for_them() {
    let expandable = format!("settings expandable=cpu:4\n{STUCK}");
    for stuck in ["stuck=990", "stuck=600", "stuck=401"] {
        no_pod_goes(&expandable.replace("stuck=990", stuck), "pod big, 3c: WaitingForNodes");
    }
    no_pod_goes(&expandable.replace("stuck=990", "stuck=400"), "pod big, 3c: SetAside");
}

#[test]
fn while_pods_wait_for_nodes_overuse_of_the_existing_ones_evicts_no_pod() {
    let scenario = |stuck: &str| {
        format!(
            "settings expandable=cpu:2
             node n1 cpu=4
             queue a
             queue b fixed=cpu:4
             pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
             pod b/p1 cpu=2 pending owner=train stuck={stuck}
             owner b/train replicas=2 cpu=2"
        )
    };
    let printed = story::explain(&scenario("900"));
    assert!(!printed.contains("evict"), "{printed}");
}

/// What no node could run takes no room from those that some node can.
#[test]
fn a_pod_that_fits_no_node_keeps_no_other_of_its_queue_from_one() {
    explains(
        "node n1..2 cpu=5
         queue a fixed=cpu:6
         queue b request=all
         owner b/web replicas=2 cpu=3
         pod b/p1 cpu=3 node=n1 started=10 owner=web
         pod b/p2 cpu=3 node=n2 started=20 owner=web
         pod a/absurd cpu=6 pending created=1 owner=absurd stuck=990
         pod a/fair cpu=4 pending created=2 owner=fair stuck=990",
        &expect![[r#"
            pod absurd, 6c: NoNodeFits
            evict b/p2 for a: Reclaimed
        "#]],
    );
}

/// The first pod of `web` that is created takes the only other place: no pod is moved there.
#[test]
fn no_pod_is_moved_aside_to_the_place_of_a_promised_pod() {
    let scenario = |replicas: u32| {
        format!(
            "node n1 cpu=4 labels=zone:a
             node n2 cpu=2
             node n3 cpu=1
             queue a request=all
             queue b fixed=cpu:3 guaranteed=cpu:3
             owner a/web replicas={replicas} cpu=2 pods=p1 node=n1 started=10
             pod b/big cpu=3 pending owner=train selector=zone:a stuck=990"
        )
    };
    explains(&scenario(1), &expect!["evict a/p1 for b: MovedAside"]);
    no_pod_goes(&scenario(2), "pod big, 3c: Fragmented");
}

/// What `web` leaves beside the pod that it makes room for is a place for `other`, which comes first and had none before.
#[test]
fn while_a_pod_is_moved_aside_no_other_is() {
    let scenario = |leaves: &str| {
        format!(
            "node n1 cpu=4 memory=4Gi labels=zone:a
             node n2 cpu=8 memory=4Gi labels=zone:b
             node n3 cpu=1 memory=4Gi labels=zone:c
             queue a request=all
             queue b guaranteed=cpu:6,memory:1Gi
             owner a/web replicas=1 cpu=1 memory=4Gi
             owner a/other replicas=1 cpu=2 memory=1Gi
             pod a/w1 cpu=1 memory=4Gi node=n2 started=20 owner=web {leaves}
             pod a/o1 cpu=2 memory=1Gi node=n1 started=10 owner=other
             pod b/large cpu=3 memory=256Mi priority=1 pending selector=zone:a owner=large stuck=990
             pod b/small cpu=3 memory=256Mi pending selector=zone:b owner=small stuck=990"
        )
    };
    explains(
        &scenario(""),
        &expect![[r#"
        pod large, 3c 256Mi: Fragmented
        evict a/w1 for b: MovedAside
        later evict a/o1 for b: MovedAside
    "#]],
    );
    no_pod_goes(&scenario("terminating evicted deadline=1030"), "pod large, 3c 256Mi: WaitingForPreemption");
}

/// Of a large cluster some pod is being deleted at any time, and one that hangs is for hours. The room of both counts as free
/// already, and it is too little.
#[test]
fn a_stuck_pod_waits_for_no_pod_that_ends_on_another_node() {
    for leaves in ["terminating", "terminating evicted deadline=900"] {
        let scenario = format!(
            "{STUCK}
             node n3 cpu=4
             owner c/web replicas=1 cpu=2
             pod c/p1 cpu=2 node=n3 started=10 owner=web
             pod c/p2 cpu=1 node=n3 started=10 {leaves}"
        );
        explains(&scenario, &expect!["evict a/p2 for b: MovedAside"]);
    }
}
