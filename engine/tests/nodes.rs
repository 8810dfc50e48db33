//! Room on nodes as stories: which node is freed for an ask, of which pods, and when no pod is evicted.

use expect_test::expect;

use crate::story::{self, explains, plays};

/// No pod is evicted in the first step, and what is told contains `reason`.
fn no_pod_goes(scenario: &str, reason: &str) {
    let told = story::explain(scenario);
    assert!(!told.contains("evict"), "{told}");
    assert!(told.contains(reason), "{told}");
}

// ---- where an ask may run -------------------------------------------------------------------------------

#[test]
fn only_selected_nodes_are_freed() {
    plays(
        "settings resources=cpu
         node n1 cpu=2 labels=zone:b
         node n2 cpu=2 labels=zone:a
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2 selector=zone:a",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/dear for b: Reclaimed
            step 2: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 2c, used 0c
                1 pods of ReplicaSet train, 2c each: RoomAvailable
              started b/train-r1002-0
            step 3: capacity 4c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

#[test]
fn required_affinity_is_obeyed() {
    explains(
        "settings resources=cpu
         node n1 cpu=2 labels=zone:a
         node n2 cpu=2 labels=zone:b
         node n3 cpu=2 labels=zone:c
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=7
         pod a/dearer cpu=2 node=n3 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2 affinity=zone:b|c",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/dear for b: Reclaimed
        "#]],
    );
}

#[test]
fn taints_keep_asks_away_that_do_not_tolerate_them() {
    let scenario = |taint: &str, tolerates: &str| {
        format!(
            "settings resources=cpu
             node n1 cpu=2 taint=special:{taint}
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
        "settings resources=cpu
         node n1 cpu=2 cordoned
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/cheap cpu=2 node=n1 started=90 owner=w priority=-9
         pod a/dear cpu=2 node=n2 started=10 owner=w priority=8
         pod a/last cpu=0 node=n2 started=1 owner=w priority=9
         owner b/train replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/dear for b: Reclaimed
        "#]],
    );
}

// ---- free room ------------------------------------------------------------------------------------------

#[test]
fn free_room_is_used_before_any_eviction() {
    plays(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=3
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n2 started=20 owner=w
         pod a/p3 cpu=1 node=n2 started=30 owner=w
         pod a/p4 cpu=1 node=n2 started=40 owner=w
         owner b/train replicas=2 cpu=1",
        &expect![[r#"
            step 1: capacity 5c
              a: deserved 3c, allocated 3c, used 4c
              b: deserved 2c, allocated 1c, used 0c, preempting 1c (WaitingForPreemption)
                2 pods of ReplicaSet train, 1c each: RoomAvailable
              evict a/p4 for b: Reclaimed
              started b/train-r1001-0
            step 2: capacity 5c
              a: deserved 3c, allocated 3c, used 3c
              b: deserved 2c, allocated 2c, used 1c
                1 pods of ReplicaSet train, 1c each: RoomAvailable
              started b/train-r1002-0
            step 3: capacity 5c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

#[test]
fn part_of_the_room_may_be_free_already() {
    plays(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=4
         queue a request=all
         queue b fixed=cpu:3
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n2 started=80 owner=w
         pod a/p4 cpu=2 node=n2 started=90 owner=w
         owner b/train replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 6c
              b: deserved 3c, allocated 0c, used 0c, preempting 3c (WaitingForPreemption)
                1 pods of ReplicaSet train, 3c each: WaitingForPreemption
              evict a/p2 for b: Reclaimed
            step 2: capacity 8c
              a: deserved 5c, allocated 5c, used 5c
              b: deserved 3c, allocated 3c, used 0c
                1 pods of ReplicaSet train, 3c each: RoomAvailable
              started b/train-r1002-0
            step 3: capacity 8c
              b: deserved 3c, allocated 3c, used 3c
        "#]],
    );
}

#[test]
fn room_that_is_about_to_be_free_is_used_before_any_eviction() {
    no_pod_goes(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/leaving cpu=2 node=n1 started=10 owner=w terminating
         pod a/p2 cpu=1 node=n2 started=20 owner=w
         pod a/p3 cpu=1 node=n2 started=30 owner=w
         owner b/train replicas=1 cpu=2",
        "b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)",
    );
}

#[test]
fn unbound_pods_of_a_queue_above_its_share_go_first_and_keep_no_room() {
    plays(
        "settings resources=cpu
         node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=1 pending created=30 owner=w
         pod a/p4 cpu=1 pending created=40 owner=w
         owner b/train replicas=2 cpu=1",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                2 pods of ReplicaSet train, 1c each: WaitingForPreemption
              evict a/p4 for b: Reclaimed
              evict a/p3 for b: Reclaimed
            step 2: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 2c, used 0c
                2 pods of ReplicaSet train, 1c each: RoomAvailable
              started b/train-r1002-0
              started b/train-r1002-1
            step 3: capacity 4c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

// ---- which node is the cheapest -------------------------------------------------------------------------

#[test]
fn of_the_queue_that_gives_first_the_youngest_pod_goes_although_others_give_on_its_node() {
    explains(
        "settings resources=cpu
         node n1 cpu=3
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
            step 1: capacity 7c
              a: deserved 3c, allocated 3c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                2 pods of ReplicaSet train, 1c each: WaitingForPreemption
              c: deserved 2c, allocated 2c, used 3c
              evict a/youngest for b: Reclaimed
              evict c/youngest for b: Reclaimed
        "#]],
    );
}

/// Of two full nodes that are told apart only by their pods, the first is freed, whichever is called `n1`.
///
/// Pods say `cpu`, and whatever else they are; every owner keeps a replica that is never the question.
fn freed_first(cheap: &[&str], dear: &[&str]) {
    for (first, second) in [("n1", "n2"), ("n2", "n1")] {
        let pods = |node: &str, name: &str, pods: &[&str]| -> String {
            let numbered = pods.iter().enumerate();
            let lines = numbered.map(|(at, pod)| format!("pod a/{name}-{at} node={node} {pod}\n"));
            lines.collect::<Vec<String>>().concat()
        };
        let scenario = format!(
            "settings resources=cpu
             node n1 cpu=2
             node n2 cpu=2
             queue a request=all
             queue b fixed=cpu:2
             pod a/keep-1 cpu=0 node=n1 started=1 owner=w priority=99
             pod a/keep-2 cpu=0 node=n1 started=1 owner=g priority=99
             {}
             {}
             owner b/train replicas=1 cpu=2",
            pods(first, "first", cheap),
            pods(second, "second", dear),
        );
        let told = story::explain(&scenario);
        assert!(told.contains("evict a/first"), "{told}");
        assert!(!told.contains("evict a/second"), "{told}");
    }
}

#[test]
fn the_node_with_fewer_protected_pods() {
    freed_first(
        &["cpu=1 started=10 owner=w priority=50", "cpu=1 started=10 owner=w priority=50"],
        &["cpu=1 started=90 owner=w", "cpu=1 started=90 owner=w do_not_disrupt"],
    );
    freed_first(
        &["cpu=1 started=10 owner=w do_not_disrupt", "cpu=1 started=10 owner=w"],
        &["cpu=1 started=90 owner=w do_not_disrupt", "cpu=1 started=90 owner=w do_not_disrupt"],
    );
}

#[test]
fn the_node_with_less_damage_to_gangs() {
    freed_first(
        &["cpu=1 started=10 owner=w priority=50", "cpu=1 started=10 owner=w priority=50"],
        &["cpu=1 started=90 owner=g gang=g min=2", "cpu=1 started=90 owner=g gang=g min=2"],
    );
}

#[test]
fn the_node_whose_victims_are_less_far_in_their_life() {
    freed_first(
        &["cpu=1 created=10 pending owner=w priority=9", "cpu=1 created=10 pending owner=w priority=9"],
        &["cpu=2 started=90 owner=w"],
    );
    freed_first(
        &[
            "cpu=1 started=10 owner=g gang=g min=1 priority=9",
            "cpu=1 started=10 owner=g gang=g min=1 priority=9",
            "cpu=0 started=1 owner=g gang=g min=1 priority=90",
        ],
        &["cpu=2 started=90 owner=w"],
    );
}

#[test]
fn the_node_whose_highest_victim_is_of_lower_priority() {
    freed_first(
        &["cpu=1 started=10 owner=w priority=4", "cpu=1 started=10 owner=w priority=4"],
        &["cpu=1 started=90 owner=w priority=1", "cpu=1 started=90 owner=w priority=5"],
    );
}

#[test]
fn the_node_with_fewer_victims() {
    freed_first(&["cpu=2 started=10 owner=w"], &["cpu=1 started=90 owner=w", "cpu=1 started=90 owner=w"]);
}

/// A need of one takes the pod of one, and not the newer one of two, on whichever node they are.
#[test]
fn the_node_with_less_excess() {
    let told = story::explain(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=1
         queue a fixed=cpu:2
         queue b fixed=cpu:1
         pod a/one cpu=1 node=n2 started=10 owner=w
         pod a/two cpu=2 node=n1 started=90 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=1",
    );
    assert!(told.contains("evict a/one for b") && !told.contains("a/two"), "{told}");
}

#[test]
fn the_node_whose_victims_are_newer() {
    freed_first(&["cpu=2 started=20 owner=w"], &["cpu=2 started=10 owner=w"]);
    freed_first(&["cpu=2 created=20 started=30 owner=w"], &["cpu=2 created=10 started=30 owner=w"]);
    freed_first(
        &["cpu=1 started=20 owner=w", "cpu=1 started=20 owner=w"],
        &["cpu=1 started=10 owner=w", "cpu=1 started=90 owner=w"],
    );
}

#[test]
fn the_node_that_the_ask_prefers_before_the_one_with_newer_victims() {
    for (preferred, expected) in [("z1", "p1"), ("z2", "p2")] {
        let told = story::explain(&format!(
            "settings resources=cpu
             node n1 cpu=2 labels=zone:z1
             node n2 cpu=2 labels=zone:z2
             queue a request=all
             queue b fixed=cpu:2
             pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
             pod a/p1 cpu=2 node=n1 started=10 owner=w
             pod a/p2 cpu=2 node=n2 started=90 owner=w
             owner b/train replicas=1 cpu=2 prefers=zone:{preferred}"
        ));
        assert!(told.contains(&format!("evict a/{expected} for b")), "{told}");
    }
}

#[test]
fn fewer_victims_before_the_node_that_the_ask_prefers() {
    explains(
        "settings resources=cpu
         node n1 cpu=2 labels=zone:z1
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=10 owner=w
         pod a/p3 cpu=2 node=n2 started=10 owner=w
         owner b/train replicas=1 cpu=2 prefers=zone:z1",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/p3 for b: Reclaimed
        "#]],
    );
}

// ---- devices --------------------------------------------------------------------------------------------

#[test]
fn one_device_comes_from_the_node_with_the_lowest_priority() {
    explains(
        "settings resources=cpu,gpu
         node n1 cpu=8 gpu=1
         node n2 cpu=8 gpu=1
         node n3 cpu=8 gpu=1
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1 cpu=1 gpu=1 node=n1 started=90 owner=w priority=3
         pod a/p2 cpu=1 gpu=1 node=n2 started=10 owner=w priority=1
         pod a/p3 cpu=1 gpu=1 node=n3 started=80 owner=w priority=2
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect![[r#"
            step 1: capacity 24c 3gpu
              a: deserved 23c 2gpu, allocated 23c 2gpu, used 3c 3gpu
              b: deserved 1c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 1c 1gpu (WaitingForPreemption)
                1 pods of ReplicaSet train, 1c 1gpu each: WaitingForPreemption
              evict a/p2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn several_devices_come_from_one_node() {
    plays(
        "settings resources=cpu,gpu
         node n1 cpu=8 gpu=4
         node n2 cpu=8 gpu=4
         queue a fixed=cpu:16,gpu:4
         queue b fixed=cpu:1,gpu:4
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1 cpu=1 gpu=1 node=n1 started=80 owner=w
         pod a/p2 cpu=1 gpu=1 node=n1 started=90 owner=w
         pod a/p3 cpu=1 gpu=1 node=n1 started=80 owner=w
         pod a/p4 cpu=1 gpu=1 node=n1 started=90 owner=w priority=3
         pod a/p5 cpu=1 gpu=1 node=n2 started=10 owner=w
         pod a/p6 cpu=1 gpu=1 node=n2 started=10 owner=w
         pod a/p7 cpu=1 gpu=1 node=n2 started=10 owner=w
         pod a/p8 cpu=1 gpu=1 node=n2 started=10 owner=w
         owner b/train replicas=1 cpu=1 gpu=4",
        &expect![[r#"
            step 1: capacity 16c 8gpu
              a: deserved 15c 4gpu, allocated 15c 4gpu, used 8c 8gpu
              b: deserved 1c 4gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 1c 4gpu (WaitingForPreemption)
                1 pods of ReplicaSet train, 1c 4gpu each: WaitingForPreemption
              evict a/p8 for b: Reclaimed
              evict a/p7 for b: Reclaimed
              evict a/p6 for b: Reclaimed
              evict a/p5 for b: Reclaimed
            step 2: capacity 16c 8gpu
              a: deserved 15c 4gpu, allocated 15c 4gpu, used 4c 4gpu
              b: deserved 1c 4gpu, allocated 1c 4gpu, used 0c 0gpu
                1 pods of ReplicaSet train, 1c 4gpu each: RoomAvailable
              started b/train-r1002-0
            step 3: capacity 16c 8gpu
              b: deserved 1c 4gpu, allocated 1c 4gpu, used 1c 4gpu
        "#]],
    );
}

#[test]
fn pods_without_devices_stay_where_only_devices_are_short() {
    explains(
        "settings resources=cpu,gpu
         node n1 cpu=4 gpu=2
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/device-1 cpu=1 gpu=1 node=n1 started=10 owner=w priority=9
         pod a/device-2 cpu=1 gpu=1 node=n1 started=10 owner=w priority=9
         pod a/plain cpu=1 node=n1 started=90 owner=w
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect![[r#"
            step 1: capacity 4c 2gpu
              a: deserved 3c 1gpu, allocated 3c 1gpu, used 3c 2gpu
              b: deserved 1c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 1c 1gpu (WaitingForPreemption)
                1 pods of ReplicaSet train, 1c 1gpu each: WaitingForPreemption
              evict a/device-2 for b: Reclaimed
        "#]],
    );
}

// ---- several pods, several asks -------------------------------------------------------------------------

#[test]
fn every_pod_of_an_ask_gets_its_room() {
    plays(
        "settings resources=cpu
         node n1 cpu=3
         node n2 cpu=3
         node n3 cpu=3
         queue a request=all
         queue b fixed=cpu:4
         pod a/p1 cpu=3 node=n1 started=10 owner=w
         pod a/p2 cpu=3 node=n2 started=20 owner=w
         pod a/p3 cpu=3 node=n3 started=30 owner=w
         owner b/train replicas=2 cpu=2",
        &expect![[r#"
            step 1: capacity 9c
              a: deserved 5c, allocated 3c, used 9c, target 3c
              b: deserved 4c, allocated 0c, used 0c, preempting 4c (WaitingForPreemption)
                2 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/p3 for b: Reclaimed
              evict a/p2 for b: Reclaimed
            step 2: capacity 9c
              a: deserved 5c, allocated 5c, used 3c, target 3c
              b: deserved 4c, allocated 4c, used 0c
                2 pods of ReplicaSet train, 2c each: RoomAvailable
              started b/train-r1002-0
              started b/train-r1002-1
            step 3: capacity 9c
              b: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}

#[test]
fn the_most_important_ask_is_served_first() {
    let told = story::play(
        "settings resources=cpu
         node n1 cpu=2 labels=zone:a
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=90 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w priority=5
         owner b/older replicas=1 cpu=2 created=10
         owner b/urgent replicas=1 cpu=2 created=20 priority=5 selector=zone:a",
    );
    assert_eq!(told.matches("evict").count(), 1, "{told}");
    assert!(told.contains("evict a/p1 for b"), "{told}");
}

#[test]
fn an_ask_that_cannot_be_met_does_not_stop_the_others() {
    explains(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w
         owner b/lost replicas=1 cpu=2 priority=5 selector=zone:moon
         owner b/train replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 0c, allocated 0c, used 4c
              b: deserved 4c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet lost, 2c each: NoNodeFits
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/p2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn what_cannot_run_is_told_with_its_number() {
    explains(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w
         owner b/lost replicas=3 cpu=1 selector=zone:moon",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 1c, allocated 0c, used 4c, target 0c
              b: deserved 3c, allocated 0c, used 0c
                3 pods of ReplicaSet lost, 1c each: NoNodeFits
        "#]],
    );
}

#[test]
fn no_pod_goes_if_the_pods_of_the_node_leave_the_quota_short() {
    no_pod_goes(
        "settings resources=cpu
         node n0 cpu=3
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
        "settings resources=cpu
         node n0 cpu=3
         node n1 cpu=2
         queue a guaranteed=cpu:1
         queue b request=cpu:3 guaranteed=cpu:3
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod a/p1 cpu=3 node=n0 started=10 owner=w
         pod a/p2 cpu=2 pending node=n1 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 5c
              a: deserved 1c, allocated 1c, used 5c
              b: deserved 3c, allocated 0c, used 0c, preempting 3c (WaitingForPreemption)
                1 pods of ReplicaSet train, 3c each: WaitingForPreemption
              late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
              evict a/p1 for b: Reclaimed
        "#]],
    );
}

#[test]
fn pods_that_go_for_the_quota_may_make_the_pods_of_the_node_unneeded() {
    explains(
        "settings resources=cpu
         node n0 cpu=2
         node n1 cpu=4
         queue a
         queue c weight=0
         queue b request=cpu:2 guaranteed=cpu:2
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod a/p0 cpu=2 node=n1 started=10 owner=w priority=5
         pod a/p1 cpu=2 node=n0 started=20 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         pod c/p0 cpu=2 node=n1 started=10 owner=w priority=5
         pod c/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 3c, allocated 2c, used 4c, target 2c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              c: deserved 0c, allocated 0c, used 2c
              late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
              evict c/p0 for b: Reclaimed
        "#]],
    );
}

// ---- no eviction in vain --------------------------------------------------------------------------------

#[test]
fn no_pod_goes_for_a_pod_larger_than_every_node() {
    explains(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a weight=0 request=all
         queue b
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w
         owner b/train replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 1c, allocated 0c, used 4c, target 0c
              b: deserved 3c, allocated 0c, used 0c
                1 pods of ReplicaSet train, 3c each: NoNodeFits
        "#]],
    );
}

#[test]
fn no_pod_goes_for_a_pod_that_no_node_is_selected_by() {
    no_pod_goes(
        "settings resources=cpu
         node n1 cpu=4
         queue a request=all
         queue b
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         owner b/train replicas=1 cpu=2 selector=zone:moon",
        "1 pods of ReplicaSet train, 2c each: NoNodeFits",
    );
}

#[test]
fn no_pod_goes_inside_or_outside_a_limit_for_a_pod_that_no_node_is_selected_by() {
    no_pod_goes(
        "settings resources=cpu
         node n1 cpu=8
         queue org children=All limit=cpu:4
         queue b parent=org
         queue a parent=org
         queue outside
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod outside/p1 cpu=2 node=n1 started=10 owner=o
         pod outside/p2 cpu=2 node=n1 started=20 owner=o
         owner b/train replicas=1 cpu=2 selector=zone:moon",
        "1 pods of ReplicaSet train, 2c each: NoNodeFits",
    );
}

#[test]
fn no_pod_goes_where_the_nodes_pods_belong_to_queues_within_their_share() {
    no_pod_goes(
        "settings resources=cpu
         node n1 cpu=2 labels=zone:a
         node n2 cpu=4
         queue kept fixed=cpu:2
         queue a
         queue b fixed=cpu:2
         pod kept/p1 cpu=2 node=n1 started=90 owner=k
         pod a/p1 cpu=2 node=n2 started=10 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w
         owner b/train replicas=1 cpu=2 selector=zone:a",
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 2c",
    );
}

#[test]
fn no_pod_goes_for_an_ask_while_a_rule_keeps_what_one_resource_needs() {
    no_pod_goes(
        "settings resources=cpu,gpu
         node n1 cpu=4 gpu=1
         queue a
         queue b request=cpu:2,gpu:1 guaranteed=cpu:2,gpu:1
         pod a/device cpu=1 gpu=1 node=n1 started=10 owner=w refused
         pod a/p1 cpu=1 node=n1 started=20 owner=w
         pod a/p2 cpu=1 node=n1 started=30 owner=w
         pod a/p3 cpu=1 node=n1 started=40 owner=w
         owner b/train replicas=1 cpu=2 gpu=1",
        "b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 0c 0gpu (Fragmented), lacks 2c 1gpu",
    );
}

// ---- priorities -----------------------------------------------------------------------------------------

#[test]
fn where_priorities_are_compared_nodes_of_higher_ones_are_not_freed() {
    let told = story::explain(
        "settings resources=cpu victimPriority=NotAboveAsk
         node n1 cpu=2
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/high cpu=2 node=n1 started=90 owner=w priority=6
         pod a/low cpu=2 node=n2 started=10 owner=w priority=5 do_not_disrupt
         owner b/train replicas=1 cpu=2 priority=5",
    );
    assert_eq!(told.matches("evict").count(), 1, "{told}");
    assert!(told.contains("evict a/low for b"), "{told}");
}

#[test]
fn where_priorities_are_compared_dearer_nodes_of_lower_ones_are_freed() {
    explains(
        "settings resources=cpu victimPriority=NotAboveAsk
         node n1 cpu=2
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/high cpu=2 node=n1 started=90 owner=w priority=6
         pod a/low-1 cpu=1 node=n2 started=10 owner=w priority=5 do_not_disrupt
         pod a/low-2 cpu=1 node=n2 started=10 owner=w priority=5 do_not_disrupt
         owner b/train replicas=1 cpu=2 priority=5",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/low-2 for b: Reclaimed
              evict a/low-1 for b: Reclaimed
              spare a/high: PriorityAboveAsk
        "#]],
    );
}

#[test]
fn where_priorities_are_compared_additional_victims_are_not_above_the_ask_either() {
    no_pod_goes(
        "settings resources=cpu victimPriority=NotAboveAsk
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
        "settings resources=cpu
         node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w priority=900
         pod a/p2 cpu=2 node=n1 started=20 owner=w priority=900
         owner b/train replicas=1 cpu=2 priority=-5",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
                1 pods of ReplicaSet train, 2c each: WaitingForPreemption
              evict a/p2 for b: Reclaimed
        "#]],
    );
}

// ---- pods that exist and find no node -------------------------------------------------------------------

const STUCK: &str = "settings resources=cpu
    node n1 cpu=4
    node n2 cpu=4
    queue a request=all
    queue b fixed=cpu:3 guaranteed=cpu:3
    owner a/web replicas=2 cpu=2
    pod a/p1 cpu=2 node=n1 started=10 owner=web
    pod a/p2 cpu=2 node=n2 started=20 owner=web
    pod b/big cpu=3 pending owner=train stuck=990";

#[test]
fn a_stuck_pod_within_its_queues_guarantee_moves_others_aside() {
    plays(
        STUCK,
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 4c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: WaitingForPreemption
              evict a/p2 for b: MovedAside
              started a/web-r1001-0
              started b/big
            step 2: capacity 8c
              b: deserved 3c, allocated 3c, used 3c
        "#]],
    );
}

#[test]
fn a_stuck_pod_that_is_not_within_a_guarantee_is_fragmented() {
    explains(
        &STUCK.replace("guaranteed=cpu:3", "guaranteed=cpu:2"),
        &expect![[r#"
        step 1: capacity 8c
          a: deserved 5c, allocated 5c, used 4c
          b: deserved 3c, allocated 3c, used 3c
            pod big, 3c: Fragmented
    "#]],
    );
}

#[test]
fn no_pod_is_moved_aside_that_would_be_scheduled_before_the_stuck_pod() {
    explains(
        &STUCK.replace("node=n2", "node=n2 priority=1").replace("node=n1", "node=n1 priority=1"),
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 4c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: Fragmented
              spare a/p1: PriorityAboveAsk
              spare a/p2: PriorityAboveAsk
        "#]],
    );
}

#[test]
fn no_pod_is_moved_aside_out_of_its_own_guarantee() {
    explains(
        &STUCK.replace("queue a", "queue a guaranteed=cpu:4"),
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 4c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: Fragmented
              spare a/p1: Guarantee
              spare a/p2: Guarantee
        "#]],
    );
    explains(
        &STUCK.replace("queue a", "queue a guaranteed=cpu:2"),
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 4c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: WaitingForPreemption
              evict a/p2 for b: MovedAside
        "#]],
    );
}

#[test]
fn no_pod_is_moved_aside_that_fits_nowhere_else() {
    explains(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=4
         queue a request=all
         queue b fixed=cpu:3 guaranteed=cpu:3
         owner a/web replicas=1 cpu=2
         pod a/p1 cpu=3 node=n1 started=10 owner=other
         pod a/p2 cpu=2 node=n2 started=20 owner=web
         pod b/big cpu=3 pending owner=train stuck=990",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 5c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: Fragmented
        "#]],
    );
}

#[test]
fn pods_above_their_queues_share_go_for_a_stuck_one_before_others_are_moved() {
    explains(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=4
         queue a
         queue c weight=0
         queue b request=cpu:3
         queue late request=cpu:3 guaranteed=cpu:3 after=600
         pod a/p1 cpu=2 node=n1 started=90 owner=web priority=-5
         pod c/p1 cpu=2 node=n2 started=10 owner=w priority=5
         pod b/big cpu=3 pending owner=train stuck=990",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: WaitingForPreemption
              c: deserved 0c, allocated 0c, used 2c
              late: deserved 3c, allocated 1c, used 0c, preempting 2c (WaitingForPreemption)
              evict c/p1 for b: Reclaimed
        "#]],
    );
}

#[test]
fn no_pod_goes_for_a_pod_that_has_been_stuck_for_a_minute() {
    explains(
        &STUCK
            .replace("stuck=990", "stuck=940")
            .replace("guaranteed=cpu:3", "guaranteed=cpu:3 roomSince=940"),
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 5c, allocated 5c, used 4c
              b: deserved 3c, allocated 3c, used 3c
                pod big, 3c: SetAside
        "#]],
    );
}

#[test]
fn no_pod_goes_for_a_pod_of_which_the_scheduler_has_said_nothing() {
    explains(
        &STUCK.replace("stuck=990", ""),
        &expect![[r#"
        step 1: capacity 8c
          a: deserved 5c, allocated 5c, used 4c
          b: deserved 3c, allocated 3c, used 3c
    "#]],
    );
}

#[test]
fn a_stuck_pod_that_no_node_could_run_is_told() {
    explains(
        &STUCK.replace("owner=train", "owner=train selector=zone:moon"),
        &expect![[r#"
        step 1: capacity 8c
          a: deserved 5c, allocated 5c, used 4c
          b: deserved 3c, allocated 3c, used 3c
            pod big, 3c: NoNodeFits
    "#]],
    );
}

#[test]
fn where_nodes_may_be_added_a_stuck_pod_waits_for_them() {
    let expandable = STUCK.replace("resources=cpu", "resources=cpu expandable=cpu:4");
    for stuck in ["stuck=990", "stuck=600", "stuck=401"] {
        no_pod_goes(&expandable.replace("stuck=990", stuck), "pod big, 3c: WaitingForNodes");
    }
    no_pod_goes(&expandable.replace("stuck=990", "stuck=400"), "pod big, 3c: SetAside");
}

#[test]
fn while_pods_wait_for_nodes_overuse_of_the_existing_ones_evicts_no_pod() {
    let scenario = |stuck: &str| {
        format!(
            "settings resources=cpu expandable=cpu:2
             node n1 cpu=4
             queue a
             queue b fixed=cpu:4
             pod a/p1 cpu=2 node=n1 started=10 owner=w
             pod a/p2 cpu=2 node=n1 started=20 owner=w
             pod b/p1 cpu=2 pending owner=train stuck={stuck}
             owner b/train replicas=2 cpu=2"
        )
    };
    let told = story::explain(&scenario("900"));
    assert!(!told.contains("evict"), "{told}");
}

#[test]
fn nothing_is_made_room_for_where_there_is_nothing_to_share() {
    // What a queue whose parent does not exist was granted leaves no capacity.
    let scenario = "settings resources=cpu
         node n1 cpu=4
         queue a request=all
         queue b request=all
         queue c parent=org/none
         quota a cpu=0
         quota b cpu=0
         quota c cpu=6
         owner a/web replicas=2 cpu=1
         pod a/web-1 cpu=1 node=n1 started=1 owner=web
         pod c/own cpu=1 node=n1 started=1
         pod b/moved cpu=3 pending created=1 stuck=1";
    explains(
        scenario,
        &expect![[r#"
            step 1: capacity 0c
              a: deserved 0c, allocated 0c, used 1c
                1 pods of ReplicaSet web, 1c each: UnitAboveShare
              b: deserved 0c, allocated 0c, used 3c
                pod moved, 3c: ShareInUse
              c/c has no share: ParentNotFound: spec.parentRef names org/none, which does not exist: create that Queue or correct the reference
        "#]],
    );
}
