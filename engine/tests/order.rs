//! In which order pods go, and for which queues they go at all.

use std::sync::Arc;

use expect_test::expect;
use quotient_advance::settle;
use quotient_engine::names::Namespace;
use quotient_engine::time::Timestamp;

use crate::story::full::reclaims;
use crate::story::{self, explains, plays};

/// Of two pods of one cpu, which are told apart only by what is given, exactly the first goes, whatever its name.
fn goes_first(victim: &str, other: &str) {
    for (first, second) in [("p1", "p2"), ("p2", "p1")] {
        let printed = story::explain(&format!(
            "settings pool=pool
             node n1 cpu=2 labels=pool:x
             queue a minRuntime=60 request=all
             queue b fixed=cpu:1
             owner a/wanted replicas=3 cpu=1
             owner a/shrunk replicas=1 cpu=1
             pod a/keep-1 cpu=0 node=n1 started=1 owner=w priority=99
             pod a/keep-2 cpu=0 node=n1 started=1 owner=wanted priority=99
             pod a/keep-3 cpu=0 node=n1 started=1 owner=shrunk priority=99
             pod a/keep-4 cpu=0 node=n1 started=1 owner=g gang=g min=1 priority=99
             pod a/{first} cpu=1 {victim}
             pod a/{second} cpu=1 {other}"
        ));
        assert_eq!(printed.matches("evict").count(), 1, "{printed}");
        assert!(printed.contains(&format!("evict a/{first} for b")), "{victim} before {other}:\n{printed}");
    }
}

// ---- one key at a time ----------------------------------------------------------------------------------

#[test]
fn protection_comes_before_everything() {
    let protected = [
        "node=n1 started=10 owner=w do_not_disrupt",
        "node=n1 started=10",
        "node=n1 created=10 started=990 owner=w",
        "node=n1 started=10 owner=alone",
    ];
    for protected in protected {
        goes_first("node=n1 started=10 owner=w priority=50", protected);
    }
}

#[test]
fn pods_that_have_not_started_are_not_protected() {
    goes_first("node=n1 pending created=10 owner=w do_not_disrupt", "node=n1 started=10 owner=w");
    goes_first("node=n1 pending created=10", "node=n1 started=10 owner=w");
    goes_first("node=n1 pending created=990 owner=w", "node=n1 started=10 owner=w");
    goes_first("node=n1 pending created=10 owner=alone", "node=n1 started=10 owner=w");
}

#[test]
fn the_stage_comes_before_the_priority() {
    let (pending, surplus, committed) = (
        "node=n1 pending created=10 owner=w priority=9",
        "node=n1 started=10 owner=shrunk priority=9",
        "node=n1 started=10 owner=wanted",
    );
    goes_first(pending, surplus);
    goes_first(pending, committed);
    goes_first(surplus, committed);
    goes_first("node=n1 started=10 owner=g gang=g min=1 priority=9", committed);
}

#[test]
fn a_lower_priority_goes_before_a_newer_pod() {
    goes_first("node=n1 started=10 owner=w", "node=n1 started=90 owner=w priority=1");
    goes_first("node=n1 started=10 owner=w priority=-1", "node=n1 started=90 owner=w");
}

#[test]
fn the_most_recently_started_goes_before_the_most_recently_created() {
    goes_first("node=n1 created=10 started=90 owner=w", "node=n1 created=50 started=80 owner=w");
}

#[test]
fn the_most_recently_created_goes_first_among_those_started_together() {
    goes_first("node=n1 created=20 started=90 owner=w", "node=n1 created=10 started=90 owner=w");
}

#[test]
fn the_most_recently_created_goes_first_among_those_that_have_not_started() {
    goes_first("node=n1 pending created=20 owner=w", "node=n1 pending created=10 owner=w");
}

#[test]
fn the_higher_name_decides_at_last() {
    let printed = story::explain(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/w-10..9 cpu=1 node=n1 started=10 owner=w",
    );
    assert!(printed.contains("evict a/w-9 for b"), "{printed}");
}

// ---- the last replica -----------------------------------------------------------------------------------

#[test]
fn the_last_replica_of_every_owner_goes_after_all_others() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/new-1..2 cpu=1 node=n1 started=80+10 owner=new
         pod a/old-1..2 cpu=1 node=n1 started=10+10 owner=old priority=5",
        &expect![[r#"
            evict a/new-2 for b: Reclaimed
            evict a/old-2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn where_pools_are_told_apart_the_last_replica_of_each_pool_goes_last() {
    let scenario = |settings: &str| {
        format!(
            "settings {settings}
             node n1 cpu=2 labels=pool:x
             node n2 cpu=2 labels=pool:y
             queue a request=all
             queue b fixed=cpu:1
             pod a/x-1..2 cpu=1 node=n1 started=10+10 owner=w
             pod a/y-1 cpu=2 node=n2 started=90 owner=w priority=-5"
        )
    };
    assert!(story::explain(&scenario("")).contains("evict a/y-1 for b"));
    assert!(story::explain(&scenario("pool=pool")).contains("evict a/x-2 for b"));
}

#[test]
fn a_replica_on_its_way_out_is_nobodys_last() {
    explains(
        "node n1 cpu=3
         queue a request=all
         queue b
         owner b/train replicas=4 cpu=500m
         pod a/w-1 cpu=1 node=n1 started=10 owner=w
         pod a/w-2 cpu=1 node=n1 started=90 owner=w terminating
         pod a/single-1 cpu=1 node=n1 started=5 owner=x priority=9
         pod a/single-2 cpu=0 node=n1 started=1 owner=x priority=9",
        &expect!["evict a/single-1 for b: Reclaimed"],
    );
}

// ---- stability ------------------------------------------------------------------------------------------

#[test]
fn what_is_on_its_way_out_reduces_the_need_however_it_leaves() {
    let leaving = "hard priority=9 forced; soft priority=9 terminating; p1..2 started=80+10";
    reclaims("fixed=cpu:2", leaving, "nothing");
    reclaims("fixed=cpu:3", leaving, "p2");
}

/// The lowest priority moves on first: what is left of the node's victims must not make another node cheaper.
#[test]
fn a_victim_that_moves_on_does_not_change_the_choice() {
    let scenario = |first: &str, second: &str| {
        format!(
            "node n1..2 cpu=8 gpu=2
             queue a fixed=gpu:2
             queue b fixed=cpu:1,gpu:2
             pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
             pod a/low cpu=1 gpu=1 node=n1 started=20 owner=w priority=1 {first}
             pod a/high cpu=1 gpu=1 node=n1 started=10 owner=w priority=5 {second}
             pod a/mid-1..2 cpu=1 gpu=1 node=n2 started=10 owner=w priority=6
             owner b/train replicas=1 cpu=1 gpu=2"
        )
    };
    let evicted = |first: &str, second: &str| -> Vec<String> {
        let printed = story::explain(&scenario(first, second));
        printed.lines().filter_map(|line| line.trim().strip_prefix("evict ")).map(str::to_owned).collect()
    };
    assert_eq!(evicted("", ""), ["a/low for b: Reclaimed", "a/high for b: Reclaimed"]);
    assert_eq!(evicted("terminating", ""), ["a/high for b: Reclaimed"]);
    assert_eq!(evicted("", "terminating"), ["a/low for b: Reclaimed"]);
    assert_eq!(evicted("forced", "terminating"), [""; 0]);
}

/// Two asks of different sizes: what one of them freed for the other is not handed over on the way.
#[test]
fn asks_keep_the_rooms_that_were_freed_for_them() {
    let scenario = |victims: &str| {
        format!(
            "node n1 cpu=4
             node n2 cpu=5 labels=zone:a
             queue a weight=0 request=all
             queue b
             pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
             pod a/four cpu=4 node=n1 started=20 owner=w {victims}
             pod a/three cpu=3 node=n2 started=10 owner=w priority=5 {victims}
             pod a/two cpu=2 node=n2 started=10 owner=w priority=9
             owner b/any replicas=1 cpu=3 priority=3
             owner b/picky replicas=1 cpu=2 priority=2 selector=zone:a
             owner b/nowhere replicas=1 cpu=2 priority=1 selector=zone:moon"
        )
    };
    let first = story::explain(&scenario(""));
    assert!(first.contains("evict a/four for b") && !first.contains("evict a/two"), "{first}");
    let again = story::explain(&scenario("terminating"));
    assert!(!again.contains("evict"), "{first}{again}");
}

// ---- for which -------------------------------------------------------------------------------------------

#[test]
fn no_pod_goes_for_a_queue_that_is_to_wait_first() {
    plays(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1 after=60
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         then after=50
         then after=20",
        &expect![[r#"
            step 1: capacity 2c
              a: deserved 1c, allocated 1c, used 2c
              b: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
            then, 50 s later
            then, 20 s later
            step 3: capacity 2c
              b: deserved 1c, allocated 0c, used 0c, preempting 1c (WaitingForPreemption)
              evict a/p2 for b: Reclaimed
            step 4: capacity 2c
              a: deserved 1c, allocated 1c, used 1c
              b: deserved 1c, allocated 1c, used 0c
        "#]],
    );
}

/// What a queue's status says of it decides, to the second.
#[test]
fn the_wait_is_counted_from_when_the_queue_fell_short() {
    for (short_since, goes) in [(None, false), (Some(941), false), (Some(940), true), (Some(2000), false)] {
        let mut snapshot = story::parse(
            "node n1 cpu=2
             queue a request=all
             queue b fixed=cpu:1 after=60
             pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w",
        );
        let state = snapshot.namespaces.get_mut(&Namespace::from("b")).unwrap();
        Arc::make_mut(state).queues[0].remembered.short_since = short_since.map(Timestamp::from_seconds);
        let (_, plan) = settle(&snapshot);
        assert_eq!(plan.evictions.len(), usize::from(goes), "{short_since:?}");
    }
}

#[test]
fn what_goes_for_one_is_not_caught_by_another_that_is_to_wait() {
    explains(
        "node n1 cpu=8
         queue a
         queue b fixed=cpu:2
         queue late fixed=cpu:2 after=600
         pod a/p1..4 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            late: deserved 2c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 2c
            evict a/p4 for b: Reclaimed
        "#]],
    );
}

#[test]
fn what_goes_for_an_ask_is_not_caught_by_one_that_no_node_fits() {
    explains(
        "node n1 cpu=8
         queue a,b,lost
         pod a/p1..4 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2
         owner lost/web replicas=1 cpu=2 selector=zone:moon",
        &expect![[r#"
            1 pods of ReplicaSet web, 2c each: NoNodeFits
            evict a/p4 for b: Reclaimed
        "#]],
    );
}

#[test]
fn owners_whose_pods_would_request_nothing_ask_for_nothing() {
    plays(
        "node n1 cpu=2
         queue a request=all
         queue b
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         owner b/web replicas=2 cpu=0",
        &expect![[r#"
            step 1: capacity 2c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 0c, allocated 0c, used 0c
                2 pods of ReplicaSet web, 0c each: RoomAvailable
              started b/web-r1001-0..1
            step 2: capacity 2c
              b: deserved 0c, allocated 0c, used 0c
        "#]],
    );
}

#[test]
fn an_ask_behind_a_fence_takes_inside_and_says_so_if_that_is_not_enough() {
    explains(
        "node n1 cpu=6
         queue org children=All from=Subtree guaranteed=cpu:4 weight=0
         queue b parent=org request=cpu:3 guaranteed=cpu:3
         queue a parent=org
         queue outside
         pod a/p1..2 cpu=1 node=n1 started=10+10 owner=w
         pod outside/p1..2 cpu=2 node=n1 started=80+10 owner=o
         owner b/web replicas=3 cpu=1",
        &expect![[r#"
            b: deserved 3c, allocated 0c, used 0c, preempting 1c (Fenced), lacks 3c
            3 pods of ReplicaSet web, 1c each: Fenced
            org: deserved 4c, allocated 1c, used 2c, preempting 1c (Fenced), lacks 3c
            evict a/p2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn a_fence_does_not_keep_others_from_taking_inside() {
    explains(
        "node n1 cpu=4
         queue org children=All from=Subtree
         queue a parent=org
         queue b request=cpu:2
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

#[test]
fn the_queue_furthest_above_its_share_gives_first_where_no_ask_is_known() {
    explains(
        "node n1 cpu=9
         queue far,near
         queue b request=cpu:2 guaranteed=cpu:2
         queue late request=cpu:3 guaranteed=cpu:3 after=600
         pod far/p1..5 cpu=1 node=n1 started=10 owner=w priority=9
         pod near/p1..4 cpu=1 node=n1 started=90 owner=w",
        &expect![[r#"
            late: deserved 3c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 3c
            evict far/p5..4 for b: Reclaimed
        "#]],
    );
}

// ---- guarantees -----------------------------------------------------------------------------------------

/// The pod of two cpu may not go by itself, so it may not go after the pod of one cpu either.
#[test]
fn a_guarantee_counts_after_what_was_too_much_has_gone() {
    explains(
        "node n1 cpu=3 gpu=1
         queue a guaranteed=cpu:2
         queue b request=cpu:1,gpu:1 guaranteed=cpu:1,gpu:1
         pod a/p1 cpu=1 node=n1 started=90 owner=w
         pod a/p2 cpu=2 gpu=1 node=n1 started=10 owner=w",
        &expect![[r#"
            b: deserved 1c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 1c 0gpu (Guarantee), lacks 1c 1gpu
            evict a/p1 for b: Reclaimed
            spare a/p2: Guarantee
            later evict a/p2 for b: Reclaimed
        "#]],
    );
}
