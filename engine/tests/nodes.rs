//! Room on nodes: which nodes an ask may use, and of which pods one is freed. Numbers are points of S-HARDEN.

use expect_test::expect;

use crate::story::{self, explains, no_pod_goes};

#[test]
fn only_selected_nodes_are_freed() {
    explains(
        "node n1 cpu=2 labels=zone:b
         node n2 cpu=2 labels=zone:a
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2 selector=zone:a",
        &expect!["evict a/dear for b: Reclaimed"],
    );
}

#[test]
fn required_affinity_is_obeyed() {
    explains(
        "node n1 cpu=2 labels=zone:a
         node n2 cpu=2 labels=zone:b
         node n3 cpu=2 labels=zone:c
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=7
         pod a/dearer cpu=2 node=n3 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2 affinity=zone:b|c",
        &expect!["evict a/dear for b: Reclaimed"],
    );
}

#[test]
fn taints_keep_asks_away_that_do_not_tolerate_them() {
    let scenario = |taint: &str, tolerates: &str| {
        format!(
            "node n1 cpu=2 taint=special:{taint}
             node n2 cpu=2
             queue a request=all
             queue b fixed=cpu:2
             pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
             pod a/dear cpu=2 node=n2 started=10 owner=w priority=8
             pod a/last cpu=0 node=n2 started=1 owner=w priority=9
             owner b/train replicas=1 cpu=2 {tolerates}"
        )
    };
    for taint in ["NoSchedule", "NoExecute"] {
        assert!(story::explain(&scenario(taint, "")).contains("evict a/dear"));
        assert!(story::explain(&scenario(taint, "tolerates=other")).contains("evict a/dear"));
        assert!(story::explain(&scenario(taint, "tolerates=special")).contains("evict a/cheap"));
    }
    assert!(story::explain(&scenario("PreferNoSchedule", "")).contains("evict a/cheap"));
}

#[test]
fn pods_on_nodes_that_do_not_count_make_no_room() {
    explains(
        "node n1 cpu=2 cordoned
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2",
        &expect!["evict a/dear for b: Reclaimed"],
    );
}

#[test]
fn free_room_is_used_before_any_eviction() {
    explains(
        "node n1 cpu=2
         node n2 cpu=3
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2..4 cpu=1 node=n2 started=20+10 owner=w
         owner b/train replicas=2 cpu=1",
        &expect![[r#"
            2 pods of ReplicaSet train, 1c each: RoomAvailable
            evict a/p4 for b: Reclaimed
        "#]],
    );
}

#[test]
fn part_of_the_room_may_be_free_already() {
    explains(
        "node n1..2 cpu=4
         queue a request=all
         queue b fixed=cpu:3
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         pod a/p3..4 cpu=2 node=n2 started=80+10 owner=w
         owner b/train replicas=1 cpu=3",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

#[test]
fn room_that_is_about_to_be_free_is_used_before_any_eviction() {
    no_pod_goes(
        "node n1..2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/leaving cpu=2 node=n1 started=10 owner=w terminating
         pod a/p2..3 cpu=1 node=n2 started=20+10 owner=w
         owner b/train replicas=1 cpu=2",
        "b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)",
    );
}

#[test]
fn unbound_pods_of_a_queue_above_its_share_go_first_and_keep_no_room() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         pod a/p3..4 cpu=1 pending created=30+10 owner=w
         owner b/train replicas=2 cpu=1",
        &expect!["evict a/p4..3 for b: Reclaimed"],
    );
}

#[test]
fn of_the_queue_that_gives_first_the_youngest_pod_goes_although_others_give_on_its_node() {
    explains(
        "node n1 cpu=3
         node n2 cpu=4
         queue a fixed=cpu:3
         queue b fixed=cpu:2
         queue c fixed=cpu:2 weight=2
         pod a/oldest cpu=1 node=n1 started=10
         pod a/old cpu=1 node=n1 started=20
         pod a/young cpu=1 node=n2 started=30
         pod a/youngest cpu=1 node=n2 started=40
         pod c/old cpu=1 node=n1 started=10
         pod c/young cpu=1 node=n2 started=50
         pod c/youngest cpu=1 node=n2 started=60
         owner b/train replicas=2 cpu=1",
        &expect![[r#"
            evict a/youngest for b: Reclaimed
            evict c/youngest for b: Reclaimed
        "#]],
    );
}

/// Victims are chosen with their node: room in two halves is none.
#[test]
fn s26_a_node_is_chosen_together_with_its_victims() {
    explains(
        "node n1..2 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n2 started=90 owner=w
         pod a/p3 cpu=3 node=n2 started=20 owner=w
         pod a/p4 cpu=1 node=n1 started=80 owner=w
         pod a/p5 cpu=1 node=n1 started=5 owner=w
         pod a/p6 cpu=1 node=n1 started=4 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p3 for b: Reclaimed"],
    );
}

/// A node with room needs no victims; only the queue is short, of what pods without a node hold.
#[test]
fn s27_a_node_with_room_needs_no_victims_of_its_own() {
    explains(
        "node n1 cpu=4
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
         pod a/waits cpu=2 pending owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/waits for b: Reclaimed"],
    );
}

/// A victim may take its queue down to its guarantee.
#[test]
fn s28_a_guarantee_may_be_reached() {
    explains(
        "node n1 cpu=6
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:2
         pod a/p1..3 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p3 for b: Reclaimed"],
    );
}

/// A victim may not take its queue below its guarantee.
#[test]
fn s28_a_guarantee_may_not_be_crossed() {
    explains(
        "node n1 cpu=6
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=3 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            b: deserved 2c, allocated 0c, used 0c, preempting 0c (Guarantee), lacks 2c
            1 pods of ReplicaSet web, 2c each: Guarantee
            spare a/p1..2: Guarantee
        "#]],
    );
}

/// What a victim leaves may not take the asking queue beyond its share: three of five pods are let in.
#[test]
fn s29_the_asking_queue_stays_within_its_share() {
    let printed = story::play(
        "node n1 cpu=6
         queue a request=all
         queue b
         pod a/p1..6 cpu=1 node=n1 started=10+10 owner=w
         owner b/web replicas=5 cpu=1",
    );
    assert_eq!(
        (printed.matches("evict a/").count(), printed.matches("started b/").count()),
        (3, 3),
        "{printed}"
    );
}

/// A victim that does not help the node with what it lacks is skipped, and the search goes on.
#[test]
fn s30_victims_that_do_not_help_the_node_are_skipped() {
    explains(
        "node n1 cpu=8 gpu=2
         queue a request=all
         queue b fixed=cpu:2,gpu:1
         pod a/device-1..2 cpu=1 gpu=1 node=n1 started=10+10 owner=w
         pod a/plain-1..2 cpu=1 node=n1 started=80+10 owner=w priority=-1
         owner b/train replicas=1 cpu=2 gpu=1",
        &expect!["evict a/device-2 for b: Reclaimed"],
    );
}

/// Two victims of a node that may go one by one and not together do not free it: the next node is taken.
#[test]
fn s31_the_second_pass_keeps_the_victims_guarantee() {
    explains(
        "node n1..2 cpu=2
         queue kept guaranteed=cpu:1
         queue a
         queue b request=cpu:2 guaranteed=cpu:2
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod kept/p1..2 cpu=1 node=n1 started=80+10 owner=w priority=-5
         pod a/p1..2 cpu=1 node=n2 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
            evict a/p2..1 for b: Reclaimed
        "#]],
    );
}

/// Room on a node that the ask may not run on is no room.
#[test]
fn s32_predicates_decide_which_nodes_count() {
    explains(
        "node free cpu=2 labels=zone:b
         node full cpu=4 labels=zone:a
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=2 node=full started=10+10 owner=w
         pod a/p3 cpu=2 node=free started=30 owner=w
         owner b/web replicas=1 cpu=2 selector=zone:a",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

/// If no node can be freed, nothing is evicted.
#[test]
fn s33_without_a_node_nothing_goes() {
    let printed = story::play(
        "node n1..2 cpu=2
         queue a request=all
         queue b weight=3
         pod a/p1..2 cpu=2 node=n1+1 started=10+10 owner=w
         owner b/web replicas=1 cpu=3",
    );
    assert!(printed.contains("1 pods of ReplicaSet web, 3c each: NoNodeFits"), "{printed}");
    assert!(!printed.contains("evict"), "{printed}");
}
