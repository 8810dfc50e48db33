//! Gangs and owners as stories: surplus first, then gangs as a whole, never a part of what a gang needs.

use expect_test::expect;

use crate::story::explains;
use crate::story::full::reclaims;

// ---- surplus --------------------------------------------------------------------------------------------

#[test]
fn surplus_goes_before_whole_gangs_and_before_single_pods_of_lower_priority() {
    reclaims("fixed=cpu:2", "g-1..4 gang=g min=2; h-1..2 started=80 gang=h min=2", "g-4..3");
    reclaims("fixed=cpu:1", "g-1..2 gang=g min=1 priority=9; single-1..2 started=80", "g-2");
    // So does what an owner has above its replicas.
    let web = "owner a/web replicas=1 cpu=1 priority=9 pods=web-1..2 node=n1 started=10";
    reclaims("fixed=cpu:1", &format!("{web}; single-1..2 started=80"), "web-2");
}

#[test]
fn of_a_gang_the_members_that_would_go_first_are_its_surplus() {
    reclaims(
        "fixed=cpu:2",
        "g-1 started=90 priority=5 gang=g min=2
         g-2..3 started=10+10 gang=g min=2
         g-4 started=80 priority=5 gang=g min=2",
        "g-3..2",
    );
}

#[test]
fn a_member_on_its_way_out_is_no_surplus() {
    reclaims("fixed=cpu:2", "g-1..2 gang=g min=2; g-3 gang=g min=2 terminating; single priority=9", "single");
}

// ---- whole gangs ----------------------------------------------------------------------------------------

#[test]
fn a_gang_goes_with_all_its_surplus() {
    reclaims("fixed=cpu:2", "g-1..3 gang=g min=2; h-1..3 started=1 gang=h min=3", "g-3..1");
}

#[test]
fn never_a_part_of_what_a_gang_needs() {
    reclaims("fixed=cpu:1", "g-1..3 gang=g min=3", "g-3..1");
}

#[test]
fn single_pods_go_before_whole_gangs_whatever_their_priority() {
    reclaims(
        "fixed=cpu:2",
        "g-1..2 started=80 gang=g min=2; single-1..2 started=5 priority=9",
        "single-2..1",
    );
}

#[test]
fn a_gang_with_a_protected_member_is_protected() {
    reclaims(
        "fixed=cpu:2",
        "g-1 started=80 gang=g min=2; g-2 started=90 gang=g min=2 do_not_disrupt; h-1..2 gang=h min=2 priority=9",
        "h-2..1",
    );
}

#[test]
fn where_only_surplus_may_go_a_gangs_room_is_not_promised() {
    reclaims(
        "fixed=cpu:5",
        "queue a gangs=Never weight=0 request=all; g-1..4 gang=g min=3; single-1..2 started=80",
        "b: deserved 5c, allocated 0c, used 0c, preempting 3c (NothingToEvict), lacks 5c; \
         g-4; single-2..1; g-1..3 kept: GangFloor",
    );
}

#[test]
fn a_gang_that_its_queues_guarantee_needs_stays_and_its_surplus_goes() {
    reclaims(
        "fixed=cpu:4",
        "queue a fixed=cpu:1 guaranteed=cpu:1; small started=90 gang=g min=1; large cpu=4 gang=g min=1",
        "b: deserved 4c, allocated 0c, used 0c, preempting 1c (Guarantee), lacks 4c; \
         small; large kept: Guarantee",
    );
}

// ---- gangs that do not run ------------------------------------------------------------------------------

/// A pending member does not make it run either.
#[test]
fn the_members_of_a_gang_below_its_floor_count_as_not_yet_running() {
    let single = "node n1 cpu=4; single-1..2 started=80";
    reclaims("fixed=cpu:2", &format!("{single}; g-1..2 gang=g min=3 priority=9"), "g-2..1");
    let pending = "g-1 gang=g min=2 priority=9; g-2 pending gang=g min=2 priority=9";
    reclaims("fixed=cpu:2", &format!("{single}; {pending}"), "g-2..1");
}

#[test]
fn of_a_gang_below_its_minimum_the_pending_pod_goes_before_the_running_one() {
    reclaims(
        "fixed=cpu:1",
        "g-0 gang=g min=3; g-1 pending node=n1 created=5 gang=g min=3; single-1..2 started=80",
        "g-1",
    );
}

// ---- gangs and nodes ------------------------------------------------------------------------------------

#[test]
fn a_node_is_freed_of_a_gang_only_if_no_other_node_can_be() {
    reclaims(
        "fixed=cpu:2",
        "g-1..2 cpu=2 node=n1+1 started=80 gang=g min=2
         single cpu=2 node=n3 started=5 priority=9
         owner b/web replicas=1 cpu=2",
        "single",
    );
}

#[test]
fn a_gang_goes_from_all_its_nodes_and_what_that_leaves_is_used() {
    reclaims("fixed=cpu:4", "g-1..2 cpu=2 node=n1+1 gang=g min=2; owner b/web replicas=2 cpu=2", "g-2..1");
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

/// Five nodes of one cpu, of which two are in zone `a`.
const ZONES: &str = "node n1 labels=zone:a; node n2 labels=zone:a; p1..5 node=n1+1";

#[test]
fn no_pod_goes_for_one_of_a_gang_whose_minimum_no_nodes_have_room_for() {
    let train = "owner b/train replicas=5 cpu=1 kind=Job gang=t min=3 selector=zone:a";
    reclaims(
        "fixed=cpu:5",
        &format!("{ZONES}; {train}"),
        "b: deserved 5c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 5c; \
         5 pods of Job train, 1c each: Fragmented",
    );
    // Nor for an important owner of such a gang, whose pods would fit elsewhere.
    let train = "owner b/launch replicas=3 cpu=1 kind=Job gang=t min=3 created=1 selector=zone:a
                 owner b/train replicas=2 cpu=1 kind=Job gang=t min=3 created=2 priority=9";
    reclaims(
        "fixed=cpu:5",
        &format!("{ZONES}; {train}"),
        "b: deserved 5c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 5c; \
         2 pods of Job train, 1c each: Fragmented; 3 pods of Job launch, 1c each: Fragmented",
    );
}

#[test]
fn a_gang_has_no_quota_for_one_pod_before_its_minimum_has_room() {
    reclaims(
        "fixed=cpu:4",
        "node n1 cpu=4; p1..3; budget a/all allowed=0
         owner b/train replicas=4 cpu=1 kind=Job gang=t min=3",
        "b: deserved 4c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 4c; \
         4 pods of Job train, 1c each: Blocked; p1..3 kept: Budget",
    );
}
