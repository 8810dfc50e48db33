//! Asks for nodes, one beside the other: which are served, which cannot be met, and whose priorities count.

use expect_test::expect;

use crate::story::full::reclaims;
use crate::story::{explains, no_pod_goes};

#[test]
fn every_pod_of_an_ask_gets_its_room() {
    reclaims("fixed=cpu:4", "p1..3 cpu=3 node=n1+1; owner b/train replicas=2 cpu=2", "p3..2");
}

#[test]
fn the_most_important_ask_is_served_first() {
    reclaims(
        "fixed=cpu:2",
        "node n1 labels=zone:a; p1 cpu=2 started=90; p2 cpu=2 node=n2 started=20 priority=5
         owner b/older cpu=2 created=10; owner b/urgent cpu=2 created=20 priority=5 selector=zone:a",
        "p1",
    );
}

#[test]
fn an_ask_that_cannot_be_met_does_not_stop_the_others() {
    reclaims(
        "",
        "p1..2 cpu=2 node=n1+1; owner b/lost cpu=2 priority=5 selector=zone:moon; owner b/train cpu=2",
        "1 pods of ReplicaSet lost, 2c each: NoNodeFits; p2; later evict a/p1 for b: Reclaimed",
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
    let compared =
        |pods: &str| format!("settings victimPriority=NotAboveAsk; {pods}; owner b/train cpu=2 priority=5");
    let high = "high cpu=2 started=90 priority=6";
    reclaims(
        "fixed=cpu:2",
        &compared(&format!("{high}; low cpu=2 node=n2 priority=5 do_not_disrupt")),
        "low; high kept: PriorityAboveAsk",
    );
    // Those of lower ones are, although they cost more.
    reclaims(
        "fixed=cpu:2",
        &compared(&format!("{high}; low-1..2 node=n2 priority=5 do_not_disrupt")),
        "low-2..1; high kept: PriorityAboveAsk",
    );
    // Nor are additional victims above the ask.
    reclaims(
        "fixed=cpu:2",
        &compared(&format!("node n1 cpu=4; {high}; waits cpu=2 pending priority=9")),
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (NothingToEvict), lacks 2c; \
         1 pods of ReplicaSet train, 2c each: NothingToEvict; high kept: PriorityAboveAsk; \
         waits kept: PriorityAboveAsk",
    );
}

#[test]
fn by_default_priorities_of_tenants_are_not_compared() {
    reclaims("fixed=cpu:2", "p1..2 cpu=2 priority=900; owner b/train cpu=2 priority=-5", "p2");
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
