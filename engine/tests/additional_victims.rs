//! Pods that go beside those of the chosen node, so that the quota has room, too. Numbers are points of S-HARDEN.

use expect_test::expect;

use crate::story::full::reclaims;
use crate::story::{explains, no_pod_goes};

#[test]
fn no_pod_goes_if_the_pods_of_the_node_leave_the_quota_short() {
    no_pod_goes(
        "node n0 cpu=3
         node n1 cpu=4
         queue a
         queue c guaranteed=cpu:1
         queue b request=cpu:4 guaranteed=cpu:4
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         pod c/p1 cpu=1 node=n1 started=20 owner=w
         pod c/p2 cpu=3 node=n0 started=30 owner=w
         owner b/train replicas=1 cpu=4",
        "b: deserved 4c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 4c",
    );
}

#[test]
fn an_ask_is_met_although_a_guarantee_keeps_part_of_the_overuse() {
    explains(
        "node n0 cpu=3
         node n1 cpu=2
         queue a guaranteed=cpu:1
         queue b request=cpu:3 guaranteed=cpu:3
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod a/p1 cpu=3 node=n0 started=10 owner=w
         pod a/p2 cpu=2 pending node=n1 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=3",
        &expect![[r#"
            late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
            evict a/p1 for b: Reclaimed
        "#]],
    );
}

#[test]
fn pods_that_go_for_the_quota_may_make_the_pods_of_the_node_unneeded() {
    explains(
        "node n0 cpu=2
         node n1 cpu=4
         queue a
         queue c weight=0
         queue b request=cpu:2 guaranteed=cpu:2
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod a,c/p0 cpu=2 node=n1 started=10 owner=w priority=5
         pod a/p1 cpu=2 node=n0 started=20 owner=w
         pod a,c/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=2",
        &expect![[r#"
            late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
            evict c/p0 for b: Reclaimed
        "#]],
    );
}

/// Where the node is freed and the queue still short, more victims come from elsewhere.
#[test]
fn s34_additional_victims_come_from_elsewhere() {
    reclaims(
        "fixed=cpu:4",
        "node n1 cpu=4 labels=zone:a; p1..2; p3..4 cpu=2 node=n2; waits cpu=2 pending; owner b/web cpu=4 selector=zone:a",
        "p2..1; waits",
    );
}

/// An additional victim has to hold what the queue is short of.
#[test]
fn s35_additional_victims_lower_the_queues_shortfall() {
    reclaims(
        "fixed=cpu:1,gpu:1",
        "node n1 cpu=8 gpu=2; device gpu=1; waits-1 gpu=1 pending created=20 priority=5
         waits-2 cpu=3 pending created=90 priority=-5; owner b/train cpu=1 gpu=1",
        "waits-1",
    );
}

/// Where the node's victims are enough for the queue as well, no others go.
#[test]
fn s36_no_additional_victims_where_none_are_needed() {
    reclaims(
        "fixed=cpu:2",
        "p1..2; p3 node=n2 started=30 priority=1; p4 node=n2 started=40; owner b/web cpu=2",
        "p2..1",
    );
}

/// If all victims together leave the ask short of anything, none of them goes.
#[test]
fn s37_all_or_nothing_for_every_resource() {
    reclaims(
        "fixed=cpu:2,gpu:1",
        "queue a weight=0 guaranteed=gpu:1 request=all; device gpu=2; plain-1..3; owner b/train cpu=2 gpu=1",
        "b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 0c 0gpu (Guarantee), lacks 2c 1gpu; \
         1 pods of ReplicaSet train, 2c 1gpu each: Guarantee; device kept: Guarantee",
    );
}

/// Of the victims that could go only those that are required do.
#[test]
fn s38_only_required_victims_are_released() {
    reclaims(
        "fixed=cpu:3",
        "one started=90; two cpu=2 started=80; three cpu=3 priority=5; owner b/web cpu=3",
        "one; two",
    );
    // What the victims of a later ask free for an earlier one makes that one's own victims unneeded.
    reclaims(
        "fixed=cpu:4",
        "one-1..2 started=80; four cpu=4 priority=5; owner b/web replicas=2 cpu=2",
        "four",
    );
}
