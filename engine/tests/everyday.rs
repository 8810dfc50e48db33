//! Everyday situations as stories: what users meet, with the outcome that a platform engineer expects.

use expect_test::expect;

use crate::story::{self, explains, plays};

/// The evictions of `scenario`, step by step to its end.
fn evicted(scenario: &str) -> Vec<String> {
    let printed = story::play(scenario);
    assert!(!printed.contains("does not come to rest"), "{printed}");
    printed.lines().map(str::trim).filter(|line| line.starts_with("evict")).map(str::to_owned).collect()
}

// ---- an idle cluster ------------------------------------------------------------------------------------

/// No queue needs the devices, so a notebook with all of one node starts although its queue showed no demand before.
#[test]
fn an_idle_cluster_starts_a_notebook_with_eight_gpus_at_once() {
    plays(
        "node n1..2 cpu=64 memory=512Gi gpu=8
         queue a,b,c",
        &expect![[r#"
            step 1: capacity 128c 1Ti 16gpu
              a: deserved 0c 0 0gpu, allocated 2c 8Gi 8gpu, used 0c 0 0gpu
              b: deserved 0c 0 0gpu, allocated 2c 8Gi 8gpu, used 0c 0 0gpu
              c: deserved 0c 0 0gpu, allocated 2c 8Gi 8gpu, used 0c 0 0gpu
        "#]],
    );
}

/// The head of a Ray cluster is a pod of an unknown controller; its workers follow while the window doubles.
#[test]
fn an_idle_cluster_starts_bare_pods_and_those_of_unknown_controllers_at_once() {
    plays(
        "node n1 cpu=64 memory=256Gi
         queue a
         quota a cpu=2 memory=8Gi
         pod a/ray-1..2 cpu=1 memory=1Gi node=n1 started=10+10 owner=ray",
        &expect![[r#"
            step 1: capacity 64c 256Gi
              a: deserved 2c 2Gi, allocated 4c 8Gi, used 2c 2Gi
        "#]],
    );
}

// ---- equals and levels ----------------------------------------------------------------------------------

#[test]
fn three_queues_that_hold_equally_too_much_lose_equally() {
    explains(
        "node n1 cpu=12
         queue a,b,c,d
         owner a,b,c/w replicas=4 cpu=1 pods=w-1..4 node=n1 started=10+10
         owner d/w replicas=3 cpu=1",
        &expect![[r#"
            evict c/w-4 for d: Reclaimed
            evict b/w-4 for d: Reclaimed
            evict a/w-4 for d: Reclaimed
        "#]],
    );
}

/// `c` needs two of the four that are above targets; `d` may not evict yet.
#[test]
fn the_queue_farthest_above_its_target_gives_first() {
    explains(
        "node n1 cpu=12
         queue a,b,c
         queue d after=3600
         owner a/w replicas=7 cpu=1 pods=w-1..7 node=n1 started=10+10
         owner b/w replicas=5 cpu=1 pods=w-1..5 node=n1 started=10+10
         owner c,d/w replicas=2 cpu=1",
        &expect![[r#"
            d: deserved 2c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 2c
            2 pods of ReplicaSet w, 1c each: Delayed
            evict a/w-7..6 for c: Reclaimed
        "#]],
    );
}

/// Both are one above their targets, and `c` needs one: the pod that does not run yet goes, of whichever queue it is.
#[test]
fn a_pod_that_does_not_run_yet_goes_before_running_ones_of_any_giver() {
    let scenario = |pending: &str| {
        let pods_of = |queue: &str| {
            let last = if queue == pending { "pending created=5" } else { "node=n1 started=5" };
            format!(
                "pod {queue}/w-1..3 cpu=1 node=n1 started=10+10 owner=w
                 pod {queue}/w-4 cpu=1 owner=w {last}\n"
            )
        };
        format!(
            "node n1 cpu=8
             queue a,b,c
             queue d after=3600
             quota a,b cpu=4
             owner a,b/w replicas=4 cpu=1
             owner c,d/w replicas=1 cpu=1
             {}{}",
            pods_of("a"),
            pods_of("b"),
        )
    };
    for pending in ["a", "b"] {
        let first = evicted(&scenario(pending)).into_iter().next().unwrap();
        assert_eq!(first, format!("evict {pending}/w-4 for c: Reclaimed"));
    }
}

#[test]
fn the_weight_of_an_only_child_changes_nothing() {
    let scenario = |weight: u32| {
        format!(
            "node n1 cpu=12
             queue p children=All
             queue a parent=p weight={weight}
             queue b,c
             quota a,b cpu=6
             owner a,b/w replicas=6 cpu=1 pods=w-1..6 node=n1 started=10+10
             owner c/w replicas=4 cpu=1"
        )
    };
    let printed = story::play(&scenario(1));
    assert_eq!(printed, story::play(&scenario(7)));
    assert_eq!(printed, story::play(&scenario(1000)));
    assert_eq!(evicted(&scenario(1)).len(), 4);
}

// ---- guarantees -----------------------------------------------------------------------------------------

#[test]
fn borrowed_devices_come_back_although_their_queues_memory_is_guaranteed() {
    explains(
        "node n1 cpu=8 memory=8Gi gpu=4
         queue a guaranteed=memory:8Gi
         queue b guaranteed=gpu:2
         owner a/w replicas=4 cpu=1 memory=2Gi gpu=1 pods=w-1..4 node=n1 started=10+10
         owner b/w replicas=2 cpu=1 memory=0 gpu=1",
        &expect!["evict a/w-4..3 for b: Reclaimed"],
    );
}

/// All cpu is in use by `a`; `b` is guaranteed devices and no cpu.
#[test]
fn a_guarantee_of_devices_is_met_without_one_of_cpu() {
    explains(
        "node n1 cpu=8 memory=32Gi gpu=2
         queue a weight=3
         queue b weight=1 guaranteed=gpu:2
         owner a/w replicas=8 cpu=1 memory=1Gi pods=w-1..8 node=n1 started=10+10
         owner b/w replicas=2 cpu=1 memory=1Gi gpu=1",
        &expect!["evict a/w-8..7 for b: Reclaimed"],
    );
}

/// Four are free, and both lack four. The one below its guarantee gets them, also behind a fence and while it may not evict.
#[test]
fn free_room_serves_an_unmet_guarantee_first_whatever_bounds_its_reclaim() {
    let scenario = |words: &str| {
        format!(
            "node n1 cpu=12
             queue p children=All
             queue a,c weight=5
             queue b parent=p guaranteed=cpu:4 {words}
             quota a,b cpu=0
             quota c cpu=8
             owner a,b/w replicas=4 cpu=1
             owner c/w replicas=8 cpu=1 pods=w-1..8 node=n1 started=10+10"
        )
    };
    for words in ["", "from=Subtree", "after=3600"] {
        let printed = story::decide(&scenario(words));
        assert!(printed.contains("b: deserved 4c, allocated 4c"), "{words}: {printed}");
    }
}

/// What `a` and `b` ask for: four by a claim each, or four pods each. Words of their queues, and lines.
const FOUR_EACH: [(&str, &str); 2] =
    [("fixed=cpu:4", ""), ("", "owner a/w replicas=4 cpu=1\nowner b/w replicas=4 cpu=1")];

/// Four are free. The guarantee of the inner parent, or of the leaf, is met before that of the parent around it.
#[test]
fn free_room_serves_an_inner_guarantee_before_the_outer_one() {
    for (inner, leaf) in [("guaranteed=cpu:4", ""), ("", "guaranteed=cpu:4")] {
        for (words, lines) in FOUR_EACH {
            let printed = story::decide(&format!(
                "node n1 cpu=12
                 queue outer children=All guaranteed=cpu:8
                 queue inner children=All parent=outer {inner}
                 queue a parent=inner {leaf} {words}
                 queue b parent=outer {words}
                 queue c request=all
                 quota a cpu=0
                 quota b cpu=0
                 quota c cpu=8
                 owner c/w replicas=8 cpu=1
                 pod c/w-1..8 cpu=1 node=n1 started=10+10 owner=w
                 {lines}"
            ));
            assert!(printed.contains("a: deserved 4c, allocated 4c"), "{inner}{leaf} {words}: {printed}");
        }
    }
}

/// Four are free. A guarantee is worth as much beside one of a leaf, of a parent, and of a parent whose inner one asks nothing.
#[test]
fn free_room_serves_guarantees_of_different_trees_alike() {
    for around in ["queue a guaranteed=cpu:4", "queue p children=All guaranteed=cpu:4\nqueue a parent=p"] {
        for (words, lines) in FOUR_EACH {
            let printed = story::decide(&format!(
                "node n1 cpu=12
                 {around} {words}
                 queue outer children=All guaranteed=cpu:4
                 queue inner children=All parent=outer guaranteed=cpu:1
                 queue idle parent=inner
                 queue b parent=outer {words}
                 queue c request=all
                 quota a,b,idle cpu=0
                 quota c cpu=8
                 owner c/w replicas=8 cpu=1 pods=w-1..8 node=n1 started=10+10
                 {lines}"
            ));
            for name in ["a", "b"] {
                let half = format!("{name}: deserved 4c, allocated 2c");
                assert!(printed.contains(&half), "{around} {words}: {printed}");
            }
        }
    }
}

/// Six are free. Both claim as much, so each gets half, at whatever depth of the tree.
#[test]
fn free_room_is_divided_among_claims_alike_at_every_depth() {
    let printed = story::decide(
        "node n1 cpu=20
         queue p children=All
         queue x fixed=cpu:10
         queue y parent=p fixed=cpu:10
         queue z request=all
         quota x,y cpu=0
         quota z cpu=14
         owner z/w replicas=14 cpu=1 pods=w-1..14 node=n1 started=10+10",
    );
    assert!(printed.contains("x: deserved 6667mc, allocated 3c"), "{printed}");
    assert!(printed.contains("y: deserved 6667mc, allocated 3c"), "{printed}");
}

// ---- nothing is evicted ---------------------------------------------------------------------------------

#[test]
fn nothing_is_evicted_for_a_pod_above_the_limit_of_its_queue() {
    explains(
        "node n1 cpu=8
         queue a
         queue b limit=cpu:2
         owner a/w replicas=8 cpu=1 pods=w-1..8 node=n1 started=10+10
         owner b/big replicas=1 cpu=3",
        &expect!["1 pods of ReplicaSet big, 3c each: AboveLimit"],
    );
}

/// `b` may have one more device, which is free, and cpu that `a` uses for pods that need no device.
#[test]
fn no_cpu_is_reclaimed_for_pods_that_get_no_device() {
    explains(
        "node n1 cpu=8 gpu=2
         queue a,b
         owner a/w replicas=6 cpu=1 pods=w-1..6 node=n1 started=10+10
         owner b/w replicas=4 cpu=1 gpu=1 pods=w-1..2 node=n1 started=10+10",
        &expect!["2 pods of ReplicaSet w, 1c 1gpu each: ShareInUse"],
    );
}

/// Guarantees add up to more than there is; `b` is guaranteed four and its share of all guarantees is two.
#[test]
fn nothing_is_evicted_for_a_guaranteed_pod_above_what_the_guarantees_leave() {
    explains(
        "node n1 cpu=8
         queue a,b guaranteed=cpu:8
         owner a/w replicas=4 cpu=1 pods=w-1..4 node=n1 started=10+10
         owner b/w replicas=5 cpu=1 pods=w-1..4 node=n1 started=10+10",
        &expect![[r#"
            b: deserved 4c, allocated 4c, used 4c, unmeetable 1c
            1 pods of ReplicaSet w, 1c each: ShareInUse
        "#]],
    );
}

/// A part of a unit is left of the share of a queue behind a fence: it is of no use there, and nothing goes for it.
#[test]
fn nothing_is_evicted_for_the_stranded_end_of_a_share_outside_a_fence() {
    explains(
        "node n1 cpu=9
         queue p children=All from=Subtree
         queue a parent=p
         queue b
         owner a/w replicas=5 cpu=2 pods=w-1..2 node=n1 started=10+10
         owner b/w replicas=9 cpu=1 pods=w-1..5 node=n1 started=10+10",
        &expect![[r#"
              3 pods of ReplicaSet w, 2c each: ShareInUse
              4 pods of ReplicaSet w, 1c each: ShareInUse
        "#]],
    );
}

/// Two nodes of three cpu: a pod of three above the limit of its queue, and a gang of two pods of two with one place.
#[test]
fn no_workload_is_evicted_again_and_again() {
    let printed = evicted(
        "node n1..2 cpu=3
         queue a,c
         queue b limit=cpu:2
         owner a/w replicas=4 cpu=1
         owner b/large replicas=1 cpu=3
         owner c/g replicas=2 cpu=2 kind=Job gang=g min=2
         then after=60
         then after=120
         then after=600
         then after=1800",
    );
    assert_eq!(printed, [""; 0]);
}

// ---- as few as possible ---------------------------------------------------------------------------------

/// Of two resources three pods suffice: those that have both go, not three for each.
#[test]
fn of_two_resources_three_pods_go_where_three_suffice() {
    let printed = evicted(
        "node n1 cpu=21 memory=21Gi
         queue a
         queue b guaranteed=cpu:9,memory:9Gi
         quota a cpu=21 memory=21Gi
         owner a/cpu replicas=3 cpu=3 memory=0 pods=cpu-1..3 node=n1 started=10+10
         owner a/memory replicas=3 cpu=0 memory=3Gi pods=memory-1..3 node=n1 started=10+10
         owner a/both replicas=4 cpu=3 memory=3Gi pods=both-1..4 node=n1 started=10+10
         owner b/w replicas=3 cpu=3 memory=3Gi",
    );
    assert_eq!(printed.len(), 3, "{printed:#?}");
}

/// The pod of `a` with the device is within its guarantee and stays; `a` loses no other pod instead of it.
#[test]
fn a_pod_that_stays_for_a_guarantee_costs_its_queue_no_other_pod() {
    explains(
        "node n1 cpu=4 gpu=1
         queue a guaranteed=gpu:1
         queue b
         owner a/device replicas=1 cpu=1 gpu=1 pods=device-1 node=n1 started=10
         owner a/w replicas=1 cpu=1 pods=w-1 node=n1 started=10
         owner b/w replicas=1 cpu=1 gpu=1",
        &expect!["1 pods of ReplicaSet w, 1c 1gpu each: UnitAboveShare"],
    );
}

// ---- placement ------------------------------------------------------------------------------------------

/// A stuck guaranteed pod needs the room of two pods, which have one place elsewhere: neither moves.
#[test]
fn of_two_pods_with_one_place_elsewhere_neither_moves() {
    explains(
        "node n1..2 cpu=4
         queue a guaranteed=cpu:3
         queue b
         owner a/large replicas=1 cpu=3 priority=5 pods=large-1 pending created=900 stuck=980
         owner b/w replicas=2 cpu=1500m pods=w-1..2 node=n1 started=10+10
         owner b/x replicas=1 cpu=2 pods=x-1 node=n2 started=30",
        &expect!["1 pods of ReplicaSet large, 3c each: Fragmented"],
    );
}
