//! Room on nodes: which nodes an ask may use, and of which pods one is freed. Numbers are points of S-HARDEN.

use expect_test::expect;

use crate::story::full::reclaims;
use crate::story::{self, explains};

#[test]
fn free_room_is_used_before_any_eviction() {
    reclaims(
        "fixed=cpu:2",
        "node n1 cpu=2; p1; p2..4 node=n2 started=20+10; owner b/train replicas=2 cpu=1",
        "2 pods of ReplicaSet train, 1c each: RoomAvailable; p4",
    );
    // Also where it is a part of what is needed, or about to be free.
    reclaims(
        "fixed=cpu:3",
        "node n1 cpu=4; p1..2; p3..4 cpu=2 node=n2 started=80; owner b/train cpu=3",
        "p2",
    );
    reclaims("fixed=cpu:2", "old cpu=2 terminating; p2..3 node=n2; owner b/train cpu=2", "nothing");
}

#[test]
fn unbound_pods_of_a_queue_above_its_share_go_first_and_keep_no_room() {
    reclaims("fixed=cpu:2", "node n1 cpu=4; p1..2; p3..4 pending; owner b/train replicas=2 cpu=1", "p4..3");
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
    reclaims(
        "fixed=cpu:2",
        "p1 started=80; p2..4; p5 node=n2 started=90; p6 cpu=3 node=n2 started=20; owner b/web cpu=2",
        "p6",
    );
}

/// A node with room needs no victims; only the queue is short, of what pods without a node hold.
#[test]
fn s27_a_node_with_room_needs_no_victims_of_its_own() {
    reclaims("fixed=cpu:2", "node n2 cpu=2; p1..2 cpu=2; waits cpu=2 pending; owner b/web cpu=2", "waits");
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
    reclaims(
        "fixed=cpu:2,gpu:1",
        "node n1 cpu=8 gpu=2; device-1..2 gpu=1; plain-1..2 started=80 priority=-1; owner b/train cpu=2 gpu=1",
        "device-2",
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

/// Room on a node that the ask may not run on is no room, nor is that of a node that does not count.
#[test]
fn s32_predicates_decide_which_nodes_count() {
    let frees = |expected: &str, node: &str, other: &str, ask: &str| {
        let nodes = format!("node n1 {node}; node n2 {other}; owner b/train cpu=2 {ask}");
        let pods = "cheap cpu=2 started=90 priority=-9; dear cpu=2 node=n2 priority=8";
        reclaims("fixed=cpu:2", &format!("{nodes}; {pods}"), expected);
    };
    frees("dear", "labels=zone:b", "labels=zone:a", "selector=zone:a");
    frees("dear", "labels=zone:a", "labels=zone:b", "affinity=zone:b|c");
    frees("dear", "cordoned", "", "");
    for taint in ["taint=special:NoSchedule", "taint=special:NoExecute"] {
        frees("dear", taint, "", "");
        frees("dear", taint, "", "tolerates=other");
        frees("cheap", taint, "", "tolerates=special");
    }
    frees("cheap", "taint=special:PreferNoSchedule", "", "");
}

/// If no node can be freed, nothing is evicted.
#[test]
fn s33_without_a_node_nothing_goes() {
    for (ask, told) in [
        ("cpu=3", "1 pods of ReplicaSet train, 3c each: NoNodeFits"),
        ("replicas=3 cpu=1 selector=zone:moon", "3 pods of ReplicaSet train, 1c each: NoNodeFits"),
    ] {
        reclaims("", &format!("p1..2 cpu=2 node=n1+1; owner b/train {ask}"), told);
    }
}
