//! Asks for nodes, one beside the other: which are served, which cannot be met, and whose priorities count.

use expect_test::expect;

use crate::story::{self, explains, no_pod_goes};

#[test]
fn every_pod_of_an_ask_gets_its_room() {
    explains(
        "node n1..3 cpu=3
         queue a request=all
         queue b fixed=cpu:4
         pod a/p1..3 cpu=3 node=n1+1 started=10+10 owner=w
         owner b/train replicas=2 cpu=2",
        &expect!["evict a/p3..2 for b: Reclaimed"],
    );
}

#[test]
fn the_most_important_ask_is_served_first() {
    let printed = story::play(
        "node n1 cpu=2 labels=zone:a
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=90 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w priority=5
         owner b/older replicas=1 cpu=2 created=10
         owner b/urgent replicas=1 cpu=2 created=20 priority=5 selector=zone:a",
    );
    assert_eq!(printed.matches("evict").count(), 1, "{printed}");
    assert!(printed.contains("evict a/p1 for b"), "{printed}");
}

#[test]
fn an_ask_that_cannot_be_met_does_not_stop_the_others() {
    explains(
        "node n1..2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1..2 cpu=2 node=n1+1 started=10+10 owner=w
         owner b/lost replicas=1 cpu=2 priority=5 selector=zone:moon
         owner b/train replicas=1 cpu=2",
        &expect![[r#"
            1 pods of ReplicaSet lost, 2c each: NoNodeFits
            evict a/p2 for b: Reclaimed
            later evict a/p1 for b: Reclaimed
        "#]],
    );
}

#[test]
fn what_cannot_run_is_told_with_its_number() {
    explains(
        "node n1..2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1..2 cpu=2 node=n1+1 started=10+10 owner=w
         owner b/lost replicas=3 cpu=1 selector=zone:moon",
        &expect!["3 pods of ReplicaSet lost, 1c each: NoNodeFits"],
    );
}

#[test]
fn no_pod_goes_for_a_pod_larger_than_every_node() {
    explains(
        "node n1..2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1..2 cpu=2 node=n1+1 started=10+10 owner=w
         owner b/train replicas=1 cpu=3",
        &expect!["1 pods of ReplicaSet train, 3c each: NoNodeFits"],
    );
}

#[test]
fn no_pod_goes_for_a_pod_that_no_node_is_selected_by() {
    no_pod_goes(
        "node n1 cpu=4
         queue a request=all
         queue b
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
         owner b/train replicas=1 cpu=2 selector=zone:moon",
        "1 pods of ReplicaSet train, 2c each: NoNodeFits",
    );
}

#[test]
fn no_pod_goes_inside_or_outside_a_limit_for_a_pod_that_no_node_is_selected_by() {
    no_pod_goes(
        "node n1 cpu=8
         queue org children=All limit=cpu:4
         queue b,a parent=org
         queue outside
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
         pod outside/p1..2 cpu=2 node=n1 started=10+10 owner=o
         owner b/train replicas=1 cpu=2 selector=zone:moon",
        "1 pods of ReplicaSet train, 2c each: NoNodeFits",
    );
}

#[test]
fn no_pod_goes_where_the_nodes_pods_belong_to_queues_within_their_share() {
    no_pod_goes(
        "node n1 cpu=2 labels=zone:a
         node n2 cpu=4
         queue kept,b fixed=cpu:2
         queue a
         pod kept/p1 cpu=2 node=n1 started=90 owner=k
         pod a/p1..2 cpu=2 node=n2 started=10+10 owner=w
         owner b/train replicas=1 cpu=2 selector=zone:a",
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 2c",
    );
}

#[test]
fn no_pod_goes_for_an_ask_while_a_rule_keeps_what_one_resource_needs() {
    no_pod_goes(
        "node n1 cpu=4 gpu=1
         queue a
         queue b request=cpu:2,gpu:1 guaranteed=cpu:2,gpu:1
         pod a/device cpu=1 gpu=1 node=n1 started=10 owner=w refused
         pod a/p1..3 cpu=1 node=n1 started=20+10 owner=w
         owner b/train replicas=1 cpu=2 gpu=1",
        "b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 0c 0gpu (Fragmented), lacks 2c 1gpu",
    );
}

#[test]
fn where_priorities_are_compared_nodes_of_higher_ones_are_not_freed() {
    let printed = story::explain(
        "settings victimPriority=NotAboveAsk
         node n1..2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/high cpu=2 node=n1 started=90 owner=w priority=6
         pod a/low cpu=2 node=n2 started=10 owner=w priority=5 do_not_disrupt
         owner b/train replicas=1 cpu=2 priority=5",
    );
    assert_eq!(printed.matches("evict").count(), 1, "{printed}");
    assert!(printed.contains("evict a/low for b"), "{printed}");
}

#[test]
fn where_priorities_are_compared_dearer_nodes_of_lower_ones_are_freed() {
    explains(
        "settings victimPriority=NotAboveAsk
         node n1..2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/high cpu=2 node=n1 started=90 owner=w priority=6
         pod a/low-1..2 cpu=1 node=n2 started=10 owner=w priority=5 do_not_disrupt
         owner b/train replicas=1 cpu=2 priority=5",
        &expect![[r#"
            evict a/low-2..1 for b: Reclaimed
            spare a/high: PriorityAboveAsk
        "#]],
    );
}

#[test]
fn where_priorities_are_compared_additional_victims_are_not_above_the_ask_either() {
    no_pod_goes(
        "settings victimPriority=NotAboveAsk
         node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/high cpu=2 node=n1 started=90 owner=w priority=9
         pod a/waits cpu=2 pending owner=w priority=9
         owner b/train replicas=1 cpu=2 priority=5",
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (NothingToEvict), lacks 2c",
    );
}

#[test]
fn by_default_priorities_of_tenants_are_not_compared() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w priority=900
         owner b/train replicas=1 cpu=2 priority=-5",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

#[test]
fn nothing_is_made_room_for_where_there_is_nothing_to_share() {
    // What a queue whose parent does not exist was granted leaves no capacity.
    let scenario = "node n1 cpu=4
         queue a,b request=all
         queue c parent=org/none
         quota a,b cpu=0
         quota c cpu=6
         owner a/web replicas=2 cpu=1 pods=web-1 node=n1 started=1
         pod c/own cpu=1 node=n1 started=1
         pod b/moved cpu=3 pending created=1 stuck=1";
    explains(
        scenario,
        &expect![[r#"
            1 pods of ReplicaSet web, 1c each: UnitAboveShare
            pod moved, 3c: ShareInUse
            c/c has no share: ParentNotFound: spec.parentRef names org/none, which does not exist: create that Queue or correct the reference
        "#]],
    );
}
