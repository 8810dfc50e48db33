//! Gangs and owners as stories: surplus first, then gangs as a whole, never a part of what a gang needs.

use expect_test::expect;

use crate::story::{self, decides, explains};

// ---- surplus --------------------------------------------------------------------------------------------

#[test]
fn what_a_gang_can_do_without_goes_before_whole_gangs() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-1..4 cpu=1 node=n1 started=10+10 owner=g gang=g min=2
         pod a/h-1..2 cpu=1 node=n1 started=80+10 owner=h gang=h min=2",
        &expect!["evict a/g-4..3 for b: Reclaimed"],
    );
}

#[test]
fn surplus_goes_before_single_pods_of_lower_priority() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:1
         pod a/g-1..2 cpu=1 node=n1 started=10+10 owner=g gang=g min=1 priority=9
         pod a/single-1..2 cpu=1 node=n1 started=80+10 owner=w",
        &expect!["evict a/g-2 for b: Reclaimed"],
    );
}

#[test]
fn of_a_gang_the_members_that_would_go_first_are_its_surplus() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-1 cpu=1 node=n1 started=90 owner=g gang=g min=2 priority=5
         pod a/g-2..3 cpu=1 node=n1 started=10+10 owner=g gang=g min=2
         pod a/g-4 cpu=1 node=n1 started=80 owner=g gang=g min=2 priority=5",
        &expect!["evict a/g-3..2 for b: Reclaimed"],
    );
}

#[test]
fn what_an_owner_has_above_its_replicas_goes_before_lower_priorities() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:1
         owner a/web replicas=1 cpu=1 priority=9 pods=web-1..2 node=n1 started=10+10
         pod a/single-1..2 cpu=1 node=n1 started=80+10 owner=w",
        &expect!["evict a/web-2 for b: Reclaimed"],
    );
}

#[test]
fn a_member_on_its_way_out_is_no_surplus() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-1..2 cpu=1 node=n1 started=10+10 owner=g gang=g min=2
         pod a/g-3 cpu=1 node=n1 started=30 owner=g gang=g min=2 terminating
         pod a/single cpu=1 node=n1 started=5 owner=w priority=9",
        &expect!["evict a/single for b: Reclaimed"],
    );
}

// ---- whole gangs ----------------------------------------------------------------------------------------

#[test]
fn a_gang_goes_with_all_its_surplus() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-1..3 cpu=1 node=n1 started=10+10 owner=g gang=g min=2
         pod a/h-1..3 cpu=1 node=n1 started=1+1 owner=h gang=h min=3",
        &expect!["evict a/g-3..1 for b: Reclaimed"],
    );
}

#[test]
fn never_a_part_of_what_a_gang_needs() {
    explains(
        "node n1 cpu=3
         queue a request=all
         queue b fixed=cpu:1
         pod a/g-1..3 cpu=1 node=n1 started=10+10 owner=g gang=g min=3",
        &expect!["evict a/g-3..1 for b: Reclaimed"],
    );
}

#[test]
fn single_pods_go_before_whole_gangs_whatever_their_priority() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-0 cpu=0 node=n1 started=1 owner=g priority=99
         pod a/g-1..2 cpu=1 node=n1 started=80+10 owner=g gang=g min=2
         pod a/single-1..2 cpu=1 node=n1 started=5+1 owner=w priority=9
         pod a/last cpu=0 node=n1 started=1 owner=w priority=9",
        &expect!["evict a/single-2..1 for b: Reclaimed"],
    );
}

#[test]
fn a_gang_with_a_protected_member_is_protected() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-0 cpu=0 node=n1 started=1 owner=g priority=99
         pod a/g-1 cpu=1 node=n1 started=80 owner=g gang=g min=2
         pod a/g-2 cpu=1 node=n1 started=90 owner=g gang=g min=2 do_not_disrupt
         pod a/h-0 cpu=0 node=n1 started=1 owner=h priority=99
         pod a/h-1..2 cpu=1 node=n1 started=10+10 owner=h gang=h min=2 priority=9",
        &expect!["evict a/h-2..1 for b: Reclaimed"],
    );
}

#[test]
fn where_only_surplus_may_go_a_gangs_room_is_not_promised() {
    explains(
        "node n1 cpu=6
         queue a gangs=Never request=all
         queue b weight=5 request=all
         pod a/g-1..4 cpu=1 node=n1 started=10+10 owner=g gang=g min=3
         pod a/single-1..2 cpu=1 node=n1 started=80+10 owner=w",
        &expect![[r#"
            b: deserved 5c, allocated 0c, used 0c, preempting 3c (NothingToEvict), lacks 5c
            evict a/g-4 for b: Reclaimed
            evict a/single-2..1 for b: Reclaimed
            spare a/g-1..3: GangFloor
        "#]],
    );
}

#[test]
fn a_gang_that_its_queues_guarantee_needs_stays_and_its_surplus_goes() {
    explains(
        "node n1 cpu=5
         queue a fixed=cpu:1 guaranteed=cpu:1
         queue b fixed=cpu:4
         pod a/small cpu=1 node=n1 started=90 owner=g gang=g min=1
         pod a/large cpu=4 node=n1 started=10 owner=g gang=g min=1",
        &expect![[r#"
            b: deserved 4c, allocated 0c, used 0c, preempting 1c (Guarantee), lacks 4c
            evict a/small for b: Reclaimed
            spare a/large: Guarantee
        "#]],
    );
}

// ---- gangs that do not run ------------------------------------------------------------------------------

/// A pending member does not make it run either.
#[test]
fn the_members_of_a_gang_below_its_floor_count_as_not_yet_running() {
    let scenario = |members: &str| {
        format!(
            "node n1 cpu=4
             queue a request=all
             queue b fixed=cpu:2
             pod a/g-0 cpu=0 node=n1 started=1 owner=g
             pod a/single-1..2 cpu=1 node=n1 started=80+10 owner=w
             {members}"
        )
    };
    let below = "pod a/g-1..2 cpu=1 node=n1 started=10+10 owner=g gang=g min=3 priority=9";
    let pending = "pod a/g-1 cpu=1 node=n1 started=10 owner=g gang=g min=2 priority=9
                   pod a/g-2 cpu=1 pending owner=g gang=g min=2 priority=9";
    assert_eq!(story::explain(&scenario(below)), story::explain(&scenario(pending)));
    explains(&scenario(below), &expect!["evict a/g-2..1 for b: Reclaimed"]);
}

#[test]
fn a_gang_that_asks_gets_room_for_its_floor_or_takes_none() {
    explains(
        "node n1..2 cpu=1 labels=zone:a
         node n3 cpu=1
         queue a weight=0 request=all
         queue b fixed=cpu:3
         pod a/p1..3 cpu=1 node=n1+1 started=10+10 owner=w
         owner b/train replicas=3 cpu=1 kind=Job gang=t min=3 selector=zone:a",
        &expect![[r#"
            b: deserved 3c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 3c
            3 pods of Job train, 1c each: Fragmented
        "#]],
    );
}

// ---- gangs and nodes ------------------------------------------------------------------------------------

#[test]
fn a_node_is_freed_of_a_gang_only_if_no_other_node_can_be() {
    explains(
        "node n1..3 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/g-1..2 cpu=2 node=n1+1 started=80+10 owner=g gang=g min=2
         pod a/g-0 cpu=0 node=n1 started=1 owner=g priority=99
         pod a/last cpu=0 node=n3 started=1 owner=w priority=9
         pod a/single cpu=2 node=n3 started=5 owner=w priority=9
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/single for b: Reclaimed"],
    );
}

#[test]
fn a_gang_goes_from_all_its_nodes_and_what_that_leaves_is_used() {
    explains(
        "node n1..2 cpu=2
         queue a weight=0 request=all
         queue b fixed=cpu:4
         pod a/g-1..2 cpu=2 node=n1+1 started=80+10 owner=g gang=g min=2
         owner b/web replicas=2 cpu=2",
        &expect!["evict a/g-2..1 for b: Reclaimed"],
    );
}

#[test]
fn what_goes_for_one_room_goes_at_once() {
    explains(
        "node n1 cpu=6 memory=9Gi
         node n2 cpu=8 memory=3Gi
         queue a weight=0 request=all
         queue b weight=0
         owner a/train replicas=7 cpu=1500m memory=100Mi gang=train min=2
         owner b/web replicas=1 cpu=1 memory=1Gi pods=web-1 node=n1
         owner b/big replicas=2 cpu=2 memory=512Mi created=10
         pod a/train-1..2 cpu=1500m memory=100Mi node=n1 owner=train gang=train min=2
         pod a/train-3..7 cpu=1500m memory=100Mi node=n2 owner=train gang=train min=2
         pod c/other cpu=1500m memory=100Mi node=n1",
        &expect![[r#"
            b: deserved 5c 2Gi, allocated 1c 1Gi, used 1c 1Gi, preempting 2c 512Mi (Fragmented), lacks 4c 1Gi
            2 pods of ReplicaSet big, 2c 512Mi each: Fragmented
            evict a/train-7 for b: Reclaimed
        "#]],
    );
}

#[test]
fn of_a_gang_below_its_minimum_the_pending_pod_goes_before_the_running_one() {
    decides(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:1
         pod a/g-0 cpu=1 node=n1 started=10 owner=g gang=g min=3
         pod a/g-1 cpu=1 pending node=n1 created=5 owner=g gang=g min=3
         pod a/single-1..2 cpu=1 node=n1 started=80+10 owner=w
         quota a cpu=4",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 3c, allocated 3c, used 4c
              b: deserved 1c, allocated 0c, used 0c, preempting 1c (WaitingForQuota)
              lower a, b
              evict a/g-1 once its quota is in force
        "#]],
    );
}

// ---- a minimum without room -----------------------------------------------------------------------------

#[test]
fn no_pod_goes_for_one_of_a_gang_whose_minimum_is_more_than_the_share() {
    explains(
        "node n1 cpu=4
         queue a
         queue b weight=3
         owner a/train replicas=5 cpu=1 kind=Job gang=t min=3
         owner b/web replicas=4 cpu=1 pods=web-1..4 node=n1 started=10+10",
        &expect!["5 pods of Job train, 1c each: UnitAboveShare"],
    );
}

#[test]
fn no_pod_goes_for_one_of_a_gang_whose_minimum_no_quota_has_room_for() {
    explains(
        "node n1 cpu=8 labels=zone:a
         queue a,b
         owner a/train replicas=5 cpu=1 kind=Job gang=t min=3
         owner a/lost replicas=2 cpu=1 selector=zone:b created=995 pods=lost-1..2 created=995 pending stuck=995
         owner b/web replicas=8 cpu=1 pods=web-1..8 node=n1 started=10+10",
        &expect![[r#"
              2 pods of ReplicaSet lost, 1c each: NoNodeFits
              5 pods of Job train, 1c each: ShareInUse
        "#]],
    );
}

#[test]
fn no_pod_of_a_lower_priority_goes_for_one_of_a_gang_whose_minimum_has_no_room() {
    explains(
        "node n1 cpu=4
         queue a limit=cpu:4 preemption=LowerPriority
         owner a/web replicas=4 cpu=1 pods=web-1..4 node=n1 started=10+10
         budget a/all allowed=1
         owner a/train replicas=5 cpu=1 kind=Job gang=t min=3 priority=9",
        &expect!["5 pods of Job train, 1c each: AboveLimit"],
    );
}

#[test]
fn no_pod_goes_for_one_of_a_gang_whose_minimum_no_nodes_have_room_for() {
    explains(
        "node n1..2 cpu=1 labels=zone:a
         node n3..5 cpu=1
         queue a weight=0 request=all
         queue b fixed=cpu:5
         pod a/p1..5 cpu=1 node=n1+1 started=10+10 owner=w
         owner b/train replicas=5 cpu=1 kind=Job gang=t min=3 selector=zone:a",
        &expect![[r#"
            b: deserved 5c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 5c
            5 pods of Job train, 1c each: Fragmented
        "#]],
    );
}

#[test]
fn no_pod_goes_for_an_important_owner_of_a_gang_whose_minimum_no_nodes_have_room_for() {
    explains(
        "node n1..2 cpu=1 labels=zone:a
         node n3..5 cpu=1
         queue a weight=0 request=all
         queue b fixed=cpu:5
         pod a/p1..5 cpu=1 node=n1+1 started=10+10 owner=w
         owner b/launch replicas=3 cpu=1 kind=Job gang=t min=3 created=1 selector=zone:a
         owner b/train replicas=2 cpu=1 kind=Job gang=t min=3 created=2 priority=9",
        &expect![[r#"
            b: deserved 5c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 5c
            2 pods of Job train, 1c each: Fragmented
            3 pods of Job launch, 1c each: Fragmented
        "#]],
    );
}

#[test]
fn a_gang_has_no_quota_for_one_pod_before_its_minimum_has_room() {
    explains(
        "node n1 cpu=4
         queue a weight=0 request=all
         queue b fixed=cpu:4
         pod a/p1..3 cpu=1 node=n1 started=10 owner=w
         budget a/all allowed=0
         owner b/train replicas=4 cpu=1 kind=Job gang=t min=3",
        &expect![[r#"
            b: deserved 4c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 4c
            4 pods of Job train, 1c each: Blocked
            spare a/p1..3: Budget
        "#]],
    );
}
