//! Pods that go beside those of the chosen node, so that the quota has room, too. Numbers are points of S-HARDEN.

use expect_test::expect;

use crate::story::{self, explains, no_pod_goes};

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
    explains(
        "node n1 cpu=4 labels=zone:a
         node n2 cpu=4
         queue a request=all
         queue b fixed=cpu:4
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         pod a/p3..4 cpu=2 node=n2 started=30+10 owner=w
         pod a/waits cpu=2 pending owner=w
         owner b/web replicas=1 cpu=4 selector=zone:a",
        &expect![[r#"
            evict a/p2..1 for b: Reclaimed
            evict a/waits for b: Reclaimed
        "#]],
    );
}

/// An additional victim has to hold what the queue is short of.
#[test]
fn s35_additional_victims_lower_the_queues_shortfall() {
    explains(
        "node n1 cpu=8 gpu=2
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/device cpu=1 gpu=1 node=n1 started=10 owner=w
         pod a/waits-1 cpu=1 gpu=1 pending owner=w created=20 priority=5
         pod a/waits-2 cpu=3 pending owner=w created=90 priority=-5
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect!["evict a/waits-1 for b: Reclaimed"],
    );
}

/// Where the node's victims are enough for the queue as well, no others go.
#[test]
fn s36_no_additional_victims_where_none_are_needed() {
    explains(
        "node n1..2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         pod a/p3 cpu=1 node=n2 started=30 owner=w priority=1
         pod a/p4 cpu=1 node=n2 started=40 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p2..1 for b: Reclaimed"],
    );
}

/// If all victims together leave the ask short of anything, none of them goes.
#[test]
fn s37_all_or_nothing_for_every_resource() {
    let printed = story::play(
        "node n1 cpu=4 gpu=2
         queue a guaranteed=gpu:1 request=all
         queue b fixed=cpu:2,gpu:1 weight=5
         pod a/device cpu=1 gpu=2 node=n1 started=10 owner=w
         pod a/plain-1..3 cpu=1 node=n1 started=20+10 owner=w
         owner b/train replicas=1 cpu=2 gpu=1",
    );
    assert!(
        printed.contains(
            "b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 0c 0gpu (Guarantee), lacks 2c 1gpu"
        ),
        "{printed}"
    );
    assert!(!printed.contains("evict"), "{printed}");
}

/// Of the victims that could go only those that are required do.
#[test]
fn s38_only_required_victims_are_released() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b fixed=cpu:3
         pod a/one cpu=1 node=n1 started=90 owner=w
         pod a/two cpu=2 node=n1 started=80 owner=w
         pod a/three cpu=3 node=n1 started=10 owner=w
         owner b/web replicas=1 cpu=3",
        &expect![[r#"
            evict a/one for b: Reclaimed
            evict a/two for b: Reclaimed
        "#]],
    );
}

/// What the victims of a later ask free for an earlier one makes that one's own victims unneeded.
#[test]
fn s38_victims_that_a_later_one_replaces_are_not_released() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b weight=2 fixed=cpu:4
         pod a/one-1..2 cpu=1 node=n1 started=80+10 owner=w
         pod a/four cpu=4 node=n1 started=10 owner=w priority=5
         pod a/last cpu=0 node=n1 started=1 owner=w priority=9
         owner b/web replicas=2 cpu=2",
        &expect!["evict a/four for b: Reclaimed"],
    );
}
