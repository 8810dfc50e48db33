//! Fences: pods are taken only inside them (S-HARDEN, by the numbers of its points).

use expect_test::expect;

use crate::story::explains;

/// The fence is the lowest queue above the ask whose policy says so. The cheapest victims are of no use if they are outside.
#[test]
fn s21_s23_a_policy_is_a_fence_and_victims_come_only_from_inside() {
    explains(
        "node n1 cpu=12
         queue org children=All from=Subtree guaranteed=cpu:6 weight=0
         queue team children=All parent=org
         queue b parent=team fixed=cpu:2
         queue a parent=org
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1..3 cpu=2 node=n1 started=10+10 owner=w priority=9
         pod outside/p1..2 cpu=3 node=n1 started=80+10 owner=o priority=-9
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            late: deserved 3c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 3c
            evict a/p3 for b: Reclaimed
        "#]],
    );
}

/// A queue on the way up that is full, by its own limit and its own usage, is a fence: room from elsewhere would break the limit.
#[test]
fn s02_s22_a_full_queue_on_the_way_up_is_a_fence() {
    explains(
        "node n1 cpu=12
         queue org children=All limit=cpu:6 guaranteed=cpu:6
         queue b parent=org fixed=cpu:3
         queue a parent=org request=all
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1..2 cpu=3 node=n1 started=10+10 owner=w
         pod outside/p1..3 cpu=2 node=n1 started=70+10 owner=o
         owner b/web replicas=1 cpu=3",
        &expect![[r#"
            1 pods of ReplicaSet web, 3c each: AboveLimit
            late: deserved 3c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 3c
            evict a/p2 for b: Reclaimed
        "#]],
    );
}

/// One that is nearly full is a fence too, for what does not fit under its limit any more.
#[test]
fn s22_a_nearly_full_queue_is_a_fence_for_what_exceeds_it() {
    explains(
        "node n1 cpu=12
         queue org children=All limit=cpu:6 guaranteed=cpu:6
         queue b parent=org fixed=cpu:2
         queue a parent=org request=all
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2..3 cpu=2 node=n1 started=20+10 owner=w
         pod outside/p1..3 cpu=2 node=n1 started=70+10 owner=o
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            1 pods of ReplicaSet web, 2c each: AboveLimit
            late: deserved 3c, allocated 1c, used 0c, preempting 1c (Delayed), lacks 2c
            evict outside/p3 for b: Reclaimed
            evict a/p3 for b: Reclaimed
        "#]],
    );
}
