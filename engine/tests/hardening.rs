//! The thirty-eight points of the preemption hardening document (S-HARDEN), one test or more each, in its order.
//!
//! Points about arithmetic call the two functions of `guarantee`; points about behaviour are stories: `b` asks, `a`
//! and others hold. Most stories govern cpu alone, so that only one number matters.

use expect_test::{Expect, expect};
use quotient_advance::settle;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::guarantee::{preemptable, remaining, remaining_on_path};

use crate::story;

fn plays(scenario: &str, expected: &Expect) {
    expected.assert_eq(&numbers(&story::play(scenario)));
}

/// Only the first step.
fn decides(scenario: &str, expected: &Expect) {
    expected.assert_eq(&numbers(&story::explain(scenario)));
}

/// Without the lines about pods that wait: `nodes.rs` tests these.
fn numbers(told: &str) -> String {
    told.split_inclusive('\n').filter(|line| !line.starts_with("    ")).collect()
}

fn vcores(amount: i128) -> (Resource, Amount) {
    (Resource::Cpu, Amount::new(amount * 1000))
}

fn mem(amount: i128) -> (Resource, Amount) {
    (Resource::Memory, Amount::new(amount))
}

fn used<const N: usize>(amounts: [(Resource, Amount); N]) -> Amounts {
    amounts.into_iter().collect()
}

fn guaranteed<const N: usize>(amounts: [(Resource, Amount); N]) -> Bounds {
    amounts.into_iter().collect()
}

// ---- the two methods ------------------------------------------------------------------------------------

/// What the ask, the victims and a guarantee name apart from each other neither helps nor hinders.
#[test]
fn s01_resources_that_only_one_side_names_change_nothing() {
    plays(
        "settings resources=cpu,memory,gpu
         node n1 cpu=6 memory=6Gi gpu=2
         queue a fixed=cpu:4,memory:6Gi,gpu:1 guaranteed=memory:1Gi
         queue b fixed=cpu:0,memory:0,gpu:1
         pod a/devices cpu=1 gpu=2 node=n1 started=10 owner=w
         pod a/plain-1 cpu=1 node=n1 started=30 owner=w
         pod a/plain-2 cpu=1 memory=1Gi node=n1 started=20 owner=w
         pod a/last cpu=1 node=n1 started=1 owner=w
         owner b/train replicas=1 gpu=1",
        &expect![[r#"
            step 1: capacity 6c 6Gi 2gpu
              a: deserved 4c 6Gi 1gpu, allocated 4c 6Gi 1gpu, used 4c 1Gi 2gpu
              b: deserved 0c 0 1gpu, allocated 0c 0 0gpu, used 0c 0 0gpu, preempting 0c 0 1gpu (WaitingForPreemption)
              evict a/devices for b: Reclaimed
            step 2: capacity 6c 6Gi 2gpu
              a: deserved 4c 6Gi 1gpu, allocated 4c 6Gi 1gpu, used 3c 1Gi 0gpu
              b: deserved 0c 0 1gpu, allocated 0c 0 1gpu, used 0c 0 0gpu
              started b/train-r1002-0
            step 3: capacity 6c 6Gi 2gpu
              b: deserved 0c 0 1gpu, allocated 0c 0 1gpu, used 0c 0 1gpu
        "#]],
    );
}

/// A path that is at its limit gets nothing from elsewhere: the room would break the limit.
#[test]
fn s02_no_victims_elsewhere_when_the_asks_own_path_is_full() {
    plays(
        "settings resources=cpu
         node n1 cpu=12
         queue org children=All limit=cpu:4
         queue b parent=org fixed=cpu:2
         queue sibling parent=org request=all
         queue a
         queue late request=cpu:4 after=600
         pod sibling/p1 cpu=2 node=n1 started=10 owner=s
         pod sibling/p2 cpu=2 node=n1 started=20 owner=s
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         pod a/p4 cpu=2 node=n1 started=40 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 12c
              a: deserved 4c, allocated 4c, used 8c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              late: deserved 4c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 4c
              org: deserved 4c, allocated 2c, used 4c, preempting 2c (WaitingForPreemption)
              sibling: deserved 2c, allocated 2c, used 4c
              evict sibling/p2 for b: Reclaimed
            step 2: capacity 12c
              b: deserved 2c, allocated 2c, used 0c
              org: deserved 4c, allocated 4c, used 2c
              sibling: deserved 2c, allocated 2c, used 2c
              started b/web-r1002-0
            step 3: capacity 12c
              b: deserved 2c, allocated 2c, used 2c
              org: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}

/// Both methods say how much, and not only whether.
#[test]
fn s03_the_methods_return_amounts() {
    let (used, guaranteed) = (used([vcores(7), mem(300)]), guaranteed([vcores(5), mem(400)]));
    assert_eq!(preemptable(&used, &guaranteed), self::used([vcores(2)]));
    assert_eq!(remaining(&used, &guaranteed), self::guaranteed([vcores(-2), mem(100)]));
}

/// A limit says nothing about what may be taken from a queue.
#[test]
fn s04_limits_play_no_role_in_the_guarantee_check() {
    let scenario = |limit: &str| {
        format!(
            "settings resources=cpu
             node n1 cpu=6
             queue a guaranteed=cpu:2 {limit} request=all
             queue b fixed=cpu:3
             pod a/p1 cpu=2 node=n1 started=10 owner=w
             pod a/p2 cpu=2 node=n1 started=20 owner=w
             pod a/p3 cpu=2 node=n1 started=30 owner=w
             owner b/web replicas=3 cpu=1"
        )
    };
    let without = story::play(&scenario(""));
    assert_eq!(without, story::play(&scenario("limit=cpu:6")));
    assert_eq!(without, story::play(&scenario("limit=cpu:100")));
    assert!(without.contains("evict a/p3 for b"), "{without}");
}

/// What is used above the guarantee may be taken, and no more than that.
#[test]
fn s05_usage_above_the_guarantee_is_preemptable() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a weight=0 guaranteed=cpu:2 request=all
         queue b request=all
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=1 node=n1 started=30 owner=w
         pod a/p4 cpu=1 node=n1 started=40 owner=w
         pod a/p5 cpu=1 node=n1 started=50 owner=w
         pod a/p6 cpu=1 node=n1 started=60 owner=w
         owner b/web replicas=6 cpu=1",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 2c, allocated 2c, used 6c
              b: deserved 4c, allocated 0c, used 0c, preempting 4c (WaitingForPreemption)
              evict a/p6 for b: Reclaimed
              evict a/p5 for b: Reclaimed
              evict a/p4 for b: Reclaimed
              evict a/p3 for b: Reclaimed
            step 2: capacity 6c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 4c, allocated 4c, used 0c
              started b/web-r1002-0
              started b/web-r1002-1
              started b/web-r1002-2
              started b/web-r1002-3
            step 3: capacity 6c
              b: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}

/// A parent that has no more than it is guaranteed gives nothing to the outside, whatever its children have.
#[test]
fn s05_no_more_than_a_parent_uses_above_its_own() {
    plays(
        "settings resources=cpu
         node n1 cpu=8
         queue org children=All guaranteed=cpu:6 weight=0
         queue a parent=org guaranteed=cpu:2 request=all
         queue idle parent=org fixed=cpu:0
         queue b request=all
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         pod a/p4 cpu=2 node=n1 started=40 owner=w
         owner b/web replicas=4 cpu=1",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 6c, allocated 6c, used 8c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              idle: deserved 0c, allocated 0c, used 0c
              org: deserved 6c, allocated 6c, used 8c
              evict a/p4 for b: Reclaimed
            step 2: capacity 8c
              a: deserved 6c, allocated 6c, used 6c
              b: deserved 2c, allocated 2c, used 0c
              org: deserved 6c, allocated 6c, used 6c
              started b/web-r1002-0
              started b/web-r1002-1
            step 3: capacity 8c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A resource without a guarantee may be taken wholly, beside one that has one.
#[test]
fn s06_a_resource_without_a_guarantee_is_preemptable_wholly() {
    assert_eq!(preemptable(&used([vcores(4), mem(600)]), &guaranteed([vcores(5)])), used([mem(600)]));
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:0,memory:4Gi
         pod a/p1 cpu=2 memory=2Gi node=n1 started=10 owner=w
         pod a/p2 cpu=2 memory=2Gi node=n1 started=20 owner=w",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 0, allocated 4c 0, used 4c 4Gi
              b: deserved 0c 4Gi, allocated 0c 0, used 0c 0, preempting 0c 4Gi (WaitingForPreemption)
              evict a/p2 for b: Reclaimed
              evict a/p1 for b: Reclaimed
            step 2: capacity 4c 4Gi
              a: deserved 4c 0, allocated 4c 0, used 0c 0
              b: deserved 0c 4Gi, allocated 0c 4Gi, used 0c 0
        "#]],
    );
}

/// Guaranteed vcores 5, used vcores 6: one is preemptable.
#[test]
fn s07_one_above_the_guarantee() {
    assert_eq!(preemptable(&used([vcores(6)]), &guaranteed([vcores(5)])), used([vcores(1)]));
}

/// Guaranteed vcores 5, used memory 600: the memory is preemptable.
#[test]
fn s08_only_what_has_no_guarantee() {
    assert_eq!(preemptable(&used([mem(600)]), &guaranteed([vcores(5)])), used([mem(600)]));
}

/// Nothing guaranteed, used vcores 6 and memory 600: all of it is preemptable.
#[test]
fn s09_everything_without_guarantees() {
    let used = used([vcores(6), mem(600)]);
    assert_eq!(preemptable(&used, &guaranteed([])), used);
}

/// What remains is told for guaranteed resources alone, those of the queues above included.
#[test]
fn s10_remaining_exists_only_for_what_is_guaranteed() {
    let (child_used, child) = (used([vcores(4), mem(600)]), guaranteed([vcores(5)]));
    assert_eq!(remaining(&child_used, &child), guaranteed([vcores(1)]));
    let (parent_used, parent) = (used([vcores(9), mem(800)]), guaranteed([mem(1000)]));
    let path = [(&child_used, &child), (&parent_used, &parent)];
    assert_eq!(remaining_on_path(path), guaranteed([vcores(1), mem(200)]));
}

/// Of a resource that no queue on the path guarantees nothing is said: not even zero.
#[test]
fn s11_nothing_is_said_of_other_resources() {
    let (used, guaranteed) = (used([vcores(4), mem(600)]), guaranteed([vcores(5)]));
    assert_eq!(remaining(&used, &guaranteed).get(&Resource::Memory), None);
    assert_eq!(remaining_on_path([(&used, &guaranteed)]).get(&Resource::Memory), None);
}

/// Guaranteed vcores 5, used vcores 4: one remains.
#[test]
fn s12_one_remains() {
    assert_eq!(remaining(&used([vcores(4)]), &guaranteed([vcores(5)])), guaranteed([vcores(1)]));
}

/// Guaranteed vcores 5, used memory 600: all five remain.
#[test]
fn s13_all_remains_where_only_other_resources_are_used() {
    assert_eq!(remaining(&used([mem(600)]), &guaranteed([vcores(5)])), guaranteed([vcores(5)]));
}

/// Nothing guaranteed: nothing remains, and nothing is said.
#[test]
fn s14_nothing_remains_without_guarantees() {
    let none = remaining(&used([vcores(6), mem(600)]), &guaranteed([]));
    assert_eq!(none, Bounds::new());
    assert!(none.is_empty());
}

// ---- the guarantee check --------------------------------------------------------------------------------

/// An ask that fits in what its queue is guaranteed is worth victims.
#[test]
fn s15_an_ask_within_its_queues_guarantee_is_worth_victims() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a weight=5 request=all
         queue b weight=0 guaranteed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p3 for b: Reclaimed
            step 2: capacity 6c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 6c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// An ask that exceeds both what its queue is guaranteed and what it deserves takes no other's room.
#[test]
fn s16_an_ask_beyond_guarantee_and_share_evicts_no_pod() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a request=all
         queue b guaranteed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         owner b/web replicas=1 cpu=5",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 2c, allocated 4c, used 6c, target 4c
              b: deserved 4c, allocated 0c, used 0c, target 2c
        "#]],
    );
}

/// Where an ancestor of both has a guarantee, what one child gives up is what the other may have.
#[test]
fn s17_a_common_ancestors_guarantee_shifts_room() {
    let (child, parent) = (guaranteed([]), guaranteed([vcores(10)]));
    let nothing = used([]);
    let remains = |parent_used: &Amounts| remaining_on_path([(&nothing, &child), (parent_used, &parent)]);
    assert_eq!(remains(&used([vcores(10)])), guaranteed([vcores(0)]));
    assert_eq!(remains(&used([vcores(7)])), guaranteed([vcores(3)]));
}

/// The same as a story: the guarantee of the parent moves from one child to the other, and a stranger keeps his.
#[test]
fn s17_room_moves_inside_a_guaranteed_parent() {
    plays(
        "settings resources=cpu
         node n1 cpu=12
         queue org children=All guaranteed=cpu:6 weight=0
         queue a parent=org request=all
         queue b parent=org fixed=cpu:3
         queue stranger request=all
         pod a/p1 cpu=3 node=n1 started=10 owner=w
         pod a/p2 cpu=3 node=n1 started=20 owner=w
         pod stranger/p1 cpu=3 node=n1 started=10 owner=s
         pod stranger/p2 cpu=3 node=n1 started=90 owner=s
         owner b/web replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 12c
              a: deserved 3c, allocated 3c, used 6c
              b: deserved 3c, allocated 0c, used 0c, preempting 3c (WaitingForPreemption)
              org: deserved 6c, allocated 3c, used 6c, preempting 3c (WaitingForPreemption)
              stranger: deserved 6c, allocated 6c, used 6c
              evict a/p2 for b: Reclaimed
            step 2: capacity 12c
              a: deserved 3c, allocated 3c, used 3c
              b: deserved 3c, allocated 3c, used 0c
              org: deserved 6c, allocated 6c, used 3c
              started b/web-r1002-0
            step 3: capacity 12c
              b: deserved 3c, allocated 3c, used 3c
              org: deserved 6c, allocated 6c, used 6c
        "#]],
    );
}

/// Without a guarantee above both, removing a victim changes nothing on the side of the ask.
#[test]
fn s18_without_an_ancestors_guarantee_nothing_shifts() {
    let (child, parent) = (guaranteed([vcores(5)]), guaranteed([]));
    let nothing = used([]);
    let remains = |parent_used: &Amounts| remaining_on_path([(&nothing, &child), (parent_used, &parent)]);
    assert_eq!(remains(&used([vcores(10)])), guaranteed([vcores(5)]));
    assert_eq!(remains(&used([vcores(10)])), remains(&used([vcores(5)])));
}

/// The first example: child1 -5, parent1 0, child2 0; after five are removed 0, 5, 5.
#[test]
fn s19_the_first_example_in_numbers() {
    let parent = guaranteed([vcores(10)]);
    let child = guaranteed([vcores(5)]);
    let nothing = used([]);
    let check = |held: i128, expected: [i128; 3]| {
        let held = used([vcores(held)]);
        let child1 = remaining_on_path([(&held, &child), (&held, &parent)]);
        let parent1 = remaining(&held, &parent);
        let child2 = remaining_on_path([(&nothing, &child), (&held, &parent)]);
        assert_eq!([child1, parent1, child2], expected.map(|amount| guaranteed([vcores(amount)])));
    };
    check(10, [-5, 0, 0]);
    check(5, [0, 5, 5]);
}

/// The first example played: five of child1's ten go to child2, and parent2 is left alone.
#[test]
fn s19_the_first_example_played() {
    plays(
        "settings resources=cpu
         node n1 cpu=20
         queue top children=All limit=cpu:20
         queue parent1 children=All parent=top guaranteed=cpu:10
         queue child1 parent=parent1 guaranteed=cpu:5 fixed=cpu:5
         queue child2 parent=parent1 guaranteed=cpu:5 fixed=cpu:5
         queue parent2 parent=top request=all
         pod child1/p1 cpu=5 node=n1 started=10 owner=w
         pod child1/p2 cpu=5 node=n1 started=20 owner=w
         pod parent2/p1 cpu=5 node=n1 started=90 owner=w
         pod parent2/p2 cpu=5 node=n1 started=95 owner=w
         owner child2/web replicas=1 cpu=5",
        &expect![[r#"
            step 1: capacity 20c
              child1: deserved 5c, allocated 5c, used 10c
              child2: deserved 5c, allocated 0c, used 0c, preempting 5c (WaitingForPreemption)
              parent1: deserved 10c, allocated 5c, used 10c, preempting 5c (WaitingForPreemption)
              parent2: deserved 10c, allocated 10c, used 10c
              top: deserved 20c, allocated 15c, used 20c, preempting 5c (WaitingForPreemption)
              evict child1/p2 for child2: Reclaimed
            step 2: capacity 20c
              child1: deserved 5c, allocated 5c, used 5c
              child2: deserved 5c, allocated 5c, used 0c
              parent1: deserved 10c, allocated 10c, used 5c
              top: deserved 20c, allocated 20c, used 15c
              started child2/web-r1002-0
            step 3: capacity 20c
              child2: deserved 5c, allocated 5c, used 5c
              parent1: deserved 10c, allocated 10c, used 10c
              top: deserved 20c, allocated 20c, used 20c
        "#]],
    );
}

/// The second example: child1 -5, child2 5, whatever is removed.
#[test]
fn s20_the_second_example_in_numbers() {
    let none = guaranteed([]);
    let child = guaranteed([vcores(5)]);
    let nothing = used([]);
    for held in [10, 5] {
        let held = used([vcores(held)]);
        let child2 = remaining_on_path([(&nothing, &child), (&held, &none)]);
        assert_eq!(child2, guaranteed([vcores(5)]));
    }
    let held = used([vcores(10)]);
    assert_eq!(remaining_on_path([(&held, &child), (&held, &none)]), guaranteed([vcores(-5)]));
}

/// The second example played: child2's ask is always let in, and the queue with too much pays for it.
#[test]
fn s20_the_second_example_played() {
    plays(
        "settings resources=cpu
         node n1 cpu=20
         queue top children=All limit=cpu:20
         queue parent1 children=All parent=top
         queue child1 parent=parent1 guaranteed=cpu:5 fixed=cpu:5
         queue child2 parent=parent1 guaranteed=cpu:5 fixed=cpu:5
         queue parent2 parent=top request=all
         pod child1/p1 cpu=5 node=n1 started=10 owner=w
         pod child1/p2 cpu=5 node=n1 started=20 owner=w
         pod parent2/p1 cpu=5 node=n1 started=90 owner=w
         pod parent2/p2 cpu=5 node=n1 started=95 owner=w
         owner child2/web replicas=1 cpu=5",
        &expect![[r#"
            step 1: capacity 20c
              child1: deserved 5c, allocated 5c, used 10c
              child2: deserved 5c, allocated 0c, used 0c, preempting 5c (WaitingForPreemption)
              parent1: deserved 10c, allocated 5c, used 10c, preempting 5c (WaitingForPreemption)
              parent2: deserved 10c, allocated 10c, used 10c
              top: deserved 20c, allocated 15c, used 20c, preempting 5c (WaitingForPreemption)
              evict child1/p2 for child2: Reclaimed
            step 2: capacity 20c
              child1: deserved 5c, allocated 5c, used 5c
              child2: deserved 5c, allocated 5c, used 0c
              parent1: deserved 10c, allocated 10c, used 5c
              top: deserved 20c, allocated 20c, used 15c
              started child2/web-r1002-0
            step 3: capacity 20c
              child2: deserved 5c, allocated 5c, used 5c
              parent1: deserved 10c, allocated 10c, used 10c
              top: deserved 20c, allocated 20c, used 20c
        "#]],
    );
}

// ---- fences ---------------------------------------------------------------------------------------------

/// The fence is the lowest queue above the ask whose policy says so.
#[test]
fn s21_a_policy_is_a_fence() {
    plays(
        "settings resources=cpu
         node n1 cpu=12
         queue org children=All from=Subtree guaranteed=cpu:6 weight=0
         queue team children=All parent=org
         queue b parent=team fixed=cpu:2
         queue a parent=org
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         pod outside/p1 cpu=3 node=n1 started=80 owner=o
         pod outside/p2 cpu=3 node=n1 started=90 owner=o
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 12c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              late: deserved 3c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 3c
              org: deserved 6c, allocated 4c, used 6c, preempting 2c (WaitingForPreemption)
              outside: deserved 3c, allocated 3c, used 6c
              team: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p3 for b: Reclaimed
            step 2: capacity 12c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 2c, allocated 2c, used 0c
              org: deserved 6c, allocated 6c, used 4c
              team: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 12c
              b: deserved 2c, allocated 2c, used 2c
              org: deserved 6c, allocated 6c, used 6c
              team: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A queue on the way up that is full, by its own limit and its own usage, is a fence.
#[test]
fn s22_a_full_queue_on_the_way_up_is_a_fence() {
    plays(
        "settings resources=cpu
         node n1 cpu=12
         queue org children=All limit=cpu:6 guaranteed=cpu:6
         queue b parent=org fixed=cpu:3
         queue a parent=org request=all
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1 cpu=3 node=n1 started=10 owner=w
         pod a/p2 cpu=3 node=n1 started=20 owner=w
         pod outside/p1 cpu=2 node=n1 started=70 owner=o
         pod outside/p2 cpu=2 node=n1 started=80 owner=o
         pod outside/p3 cpu=2 node=n1 started=90 owner=o
         owner b/web replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 12c
              a: deserved 3c, allocated 3c, used 6c
              b: deserved 3c, allocated 0c, used 0c, preempting 3c (WaitingForPreemption)
              late: deserved 3c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 3c
              org: deserved 6c, allocated 3c, used 6c, preempting 3c (WaitingForPreemption)
              outside: deserved 3c, allocated 2c, used 6c, target 2c
              evict a/p2 for b: Reclaimed
            step 2: capacity 12c
              a: deserved 3c, allocated 3c, used 3c
              b: deserved 3c, allocated 3c, used 0c
              org: deserved 6c, allocated 6c, used 3c
              started b/web-r1002-0
            step 3: capacity 12c
              b: deserved 3c, allocated 3c, used 3c
              org: deserved 6c, allocated 6c, used 6c
        "#]],
    );
}

/// One that is nearly full is a fence too, for what does not fit under its limit any more.
#[test]
fn s22_a_nearly_full_queue_is_a_fence_for_what_exceeds_it() {
    plays(
        "settings resources=cpu
         node n1 cpu=12
         queue org children=All limit=cpu:6 guaranteed=cpu:6
         queue b parent=org fixed=cpu:2
         queue a parent=org request=all
         queue late request=cpu:4 after=600
         queue outside
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         pod outside/p1 cpu=2 node=n1 started=70 owner=o
         pod outside/p2 cpu=2 node=n1 started=80 owner=o
         pod outside/p3 cpu=2 node=n1 started=90 owner=o
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 12c
              a: deserved 4c, allocated 4c, used 5c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              late: deserved 3c, allocated 1c, used 0c, preempting 1c (Delayed), lacks 2c
              org: deserved 6c, allocated 4c, used 5c, preempting 2c (WaitingForPreemption)
              outside: deserved 3c, allocated 2c, used 6c, target 2c
              evict outside/p3 for b: Reclaimed
              evict a/p3 for b: Reclaimed
            step 2: capacity 12c
              a: deserved 4c, allocated 4c, used 3c
              b: deserved 2c, allocated 2c, used 0c
              late: deserved 3c, allocated 2c, used 0c, preempting 0c (Delayed), lacks 1c
              org: deserved 6c, allocated 6c, used 3c
              outside: deserved 3c, allocated 2c, used 4c, target 2c
              started b/web-r1002-0
            step 3: capacity 12c
              b: deserved 2c, allocated 2c, used 2c
              org: deserved 6c, allocated 6c, used 5c
        "#]],
    );
}

/// The cheapest victims are of no use if they are outside.
#[test]
fn s23_victims_come_only_from_inside_the_fence() {
    plays(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=4
         queue org children=All from=Subtree guaranteed=cpu:4 weight=0
         queue b parent=org fixed=cpu:2
         queue a parent=org
         queue late request=cpu:2 after=600
         queue outside
         pod a/p1 cpu=2 node=n1 started=10 owner=w priority=9
         pod a/p2 cpu=2 node=n1 started=20 owner=w priority=9
         pod outside/p1 cpu=2 node=n2 started=80 owner=o priority=-9
         pod outside/p2 cpu=2 node=n2 started=90 owner=o priority=-9
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              late: deserved 2c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 2c
              org: deserved 4c, allocated 2c, used 4c, preempting 2c (WaitingForPreemption)
              outside: deserved 2c, allocated 2c, used 4c
              evict a/p2 for b: Reclaimed
            step 2: capacity 8c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 2c, used 0c
              org: deserved 4c, allocated 4c, used 2c
              started b/web-r1002-0
            step 3: capacity 8c
              b: deserved 2c, allocated 2c, used 2c
              org: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}

// ---- who may be a victim --------------------------------------------------------------------------------

/// A queue that has part of its guarantee left, or has it exactly, gives nothing.
#[test]
fn s24_queues_within_their_guarantee_are_skipped() {
    plays(
        "settings resources=cpu
         node n1 cpu=9
         queue below request=cpu:2 guaranteed=cpu:4
         queue at request=cpu:2 guaranteed=cpu:2
         queue a
         queue b fixed=cpu:2
         pod below/p1 cpu=2 node=n1 started=90 owner=w
         pod at/p1 cpu=2 node=n1 started=95 owner=w
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=1 node=n1 started=5 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 9c
              a: deserved 3c, allocated 3c, used 5c
              at: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              below: deserved 2c, allocated 2c, used 2c
              evict a/p2 for b: Reclaimed
            step 2: capacity 9c
              a: deserved 3c, allocated 3c, used 3c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 9c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// One that has exactly what it is guaranteed of something that the ask needs gives nothing of anything.
#[test]
fn s24_a_queue_at_its_guarantee_of_what_is_asked_for_is_skipped() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue kept weight=0 guaranteed=memory:4Gi request=all
         queue a fixed=cpu:2,memory:2Gi
         queue b fixed=cpu:2,memory:2Gi
         pod kept/p1 cpu=2 memory=2Gi node=n1 started=80 owner=w priority=-9
         pod kept/p2 cpu=2 memory=2Gi node=n1 started=90 owner=w priority=-9
         pod a/p1 cpu=2 memory=2Gi node=n1 started=10 owner=w
         pod a/p2 cpu=2 memory=2Gi node=n1 started=20 owner=w
         owner b/web replicas=1 cpu=2 memory=2Gi",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 4c 4Gi
              b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 2c 2Gi (WaitingForPreemption)
              kept: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
              evict a/p2 for b: Reclaimed
            step 2: capacity 8c 8Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 0c 0
              started b/web-r1002-0
            step 3: capacity 8c 8Gi
              b: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
        "#]],
    );
}

/// With `victimPriority=NotAboveAsk` pods of the ask's own priority may go, and those above it stay.
#[test]
fn s24_equal_priority_goes_and_higher_stays() {
    let scenario = |priority: u32| {
        format!(
            "settings resources=cpu victimPriority=NotAboveAsk
             node n1 cpu=4
             queue a request=all
             queue b fixed=cpu:2
             pod a/p1 cpu=2 node=n1 started=10 owner=w priority=5
             pod a/p2 cpu=2 node=n1 started=20 owner=w priority=5
             owner b/web replicas=1 cpu=2 priority={priority}"
        )
    };
    assert!(story::play(&scenario(5)).contains("evict a/p2 for b"));
    assert!(story::play(&scenario(6)).contains("evict a/p2 for b"));
    assert!(!story::play(&scenario(4)).contains("evict"));
}

/// Every victim is known by its id, its queue and the numbers of that queue.
#[test]
fn s25_a_victim_is_told_with_its_queue_and_numbers() {
    let snapshot = story::parse(
        "settings resources=cpu
         node n1 cpu=4
         queue a maxGrace=7 request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w priority=3
         pod a/p2 cpu=2 node=n1 started=20 owner=w priority=3
         owner b/web replicas=1 cpu=2",
    );
    let (_, plan) = settle(&snapshot);
    let [eviction] = plan.evictions.as_slice() else { panic!("{:?}", plan.evictions) };
    assert_eq!((eviction.pod.namespace.as_str(), eviction.pod.name.as_str()), ("a", "p2"));
    assert_eq!(eviction.pod.uid.as_str(), "a/p2");
    assert_eq!(eviction.queue.to_string(), "a/a");
    assert_eq!(eviction.beneficiary.as_ref().unwrap().to_string(), "b/b");
    assert_eq!((eviction.priority, eviction.grace_seconds), (3, Some(7)));
    assert_eq!(eviction.requests, used([vcores(2)]));
    assert_eq!((&*eviction.used, &*eviction.deserved), (&used([vcores(4)]), &used([vcores(2)])));
}

// ---- nodes ----------------------------------------------------------------------------------------------

/// Victims are chosen with their node: room in two halves is none.
#[test]
fn s26_a_node_is_chosen_together_with_its_victims() {
    plays(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n2 started=90 owner=w
         pod a/p3 cpu=3 node=n2 started=20 owner=w
         pod a/p4 cpu=1 node=n1 started=80 owner=w
         pod a/p5 cpu=1 node=n1 started=5 owner=w
         pod a/p6 cpu=1 node=n1 started=4 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 6c, allocated 5c, used 8c, target 5c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p3 for b: Reclaimed
            step 2: capacity 8c
              a: deserved 6c, allocated 6c, used 5c, target 5c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 8c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A node with room needs no victims; only the queue is short, of what pods without a node hold.
#[test]
fn s27_a_node_with_room_needs_no_victims_of_its_own() {
    plays(
        "settings resources=cpu
         node n1 cpu=4
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/waits cpu=2 pending owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/waits for b: Reclaimed
            step 2: capacity 6c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 6c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A victim may take its queue down to its guarantee.
#[test]
fn s28_a_guarantee_may_be_reached() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n1 started=30 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p3 for b: Reclaimed
            step 2: capacity 6c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 6c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// A victim may not take its queue below its guarantee.
#[test]
fn s28_a_guarantee_may_not_be_crossed() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=3 node=n1 started=10 owner=w
         pod a/p2 cpu=3 node=n1 started=20 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 0c (Guarantee), lacks 2c
        "#]],
    );
}

/// What a victim leaves may not take the asking queue beyond its share: three of five pods are let in.
#[test]
fn s29_the_asking_queue_stays_within_its_share() {
    let told = story::play(
        "settings resources=cpu
         node n1 cpu=6
         queue a request=all
         queue b
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=1 node=n1 started=30 owner=w
         pod a/p4 cpu=1 node=n1 started=40 owner=w
         pod a/p5 cpu=1 node=n1 started=50 owner=w
         pod a/p6 cpu=1 node=n1 started=60 owner=w
         owner b/web replicas=5 cpu=1",
    );
    assert_eq!((told.matches("evict a/").count(), told.matches("started b/").count()), (3, 3), "{told}");
}

/// A victim that does not help the node with what it lacks is skipped, and the search goes on.
#[test]
fn s30_victims_that_do_not_help_the_node_are_skipped() {
    plays(
        "settings resources=cpu,gpu
         node n1 cpu=8 gpu=2
         queue a request=all
         queue b fixed=cpu:2,gpu:1
         pod a/device-1 cpu=1 gpu=1 node=n1 started=10 owner=w
         pod a/device-2 cpu=1 gpu=1 node=n1 started=20 owner=w
         pod a/plain-1 cpu=1 node=n1 started=80 owner=w priority=-1
         pod a/plain-2 cpu=1 node=n1 started=90 owner=w priority=-1
         owner b/train replicas=1 cpu=2 gpu=1",
        &expect![[r#"
            step 1: capacity 8c 2gpu
              a: deserved 6c 1gpu, allocated 6c 1gpu, used 4c 2gpu
              b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 2c 1gpu (WaitingForPreemption)
              evict a/device-2 for b: Reclaimed
            step 2: capacity 8c 2gpu
              a: deserved 6c 1gpu, allocated 6c 1gpu, used 3c 1gpu
              b: deserved 2c 1gpu, allocated 2c 1gpu, used 0c 0gpu
              started b/train-r1002-0
            step 3: capacity 8c 2gpu
              b: deserved 2c 1gpu, allocated 2c 1gpu, used 2c 1gpu
        "#]],
    );
}

/// Two victims of a node that may go one by one and not together do not free it: the next node is taken.
#[test]
fn s31_the_second_pass_keeps_the_victims_guarantee() {
    plays(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue kept guaranteed=cpu:1
         queue a
         queue b request=cpu:2 guaranteed=cpu:2
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         pod kept/p1 cpu=1 node=n1 started=80 owner=w priority=-5
         pod kept/p2 cpu=1 node=n1 started=90 owner=w priority=-5
         pod a/p1 cpu=1 node=n2 started=10 owner=w
         pod a/p2 cpu=1 node=n2 started=20 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 0c, allocated 0c, used 2c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              kept: deserved 1c, allocated 1c, used 2c
              late: deserved 1c, allocated 0c, used 0c, preempting 0c (Delayed), lacks 1c
              evict a/p2 for b: Reclaimed
              evict a/p1 for b: Reclaimed
            step 2: capacity 4c
              a: deserved 0c, allocated 0c, used 0c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 4c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// Room on a node that the ask may not run on is no room.
#[test]
fn s32_predicates_decide_which_nodes_count() {
    plays(
        "settings resources=cpu
         node free cpu=2 labels=zone:b
         node full cpu=4 labels=zone:a
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=2 node=full started=10 owner=w
         pod a/p2 cpu=2 node=full started=20 owner=w
         pod a/p3 cpu=2 node=free started=30 owner=w
         owner b/web replicas=1 cpu=2 selector=zone:a",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 4c, allocated 4c, used 6c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p2 for b: Reclaimed
            step 2: capacity 6c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 6c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// If no node can be freed, nothing is evicted.
#[test]
fn s33_without_a_node_nothing_goes() {
    let told = story::play(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a request=all
         queue b weight=3
         pod a/p1 cpu=2 node=n1 started=10 owner=w
         pod a/p2 cpu=2 node=n2 started=20 owner=w
         owner b/web replicas=1 cpu=3",
    );
    assert!(told.contains("1 pods of ReplicaSet web, 3c each: NoNodeFits"), "{told}");
    assert!(!told.contains("evict"), "{told}");
}

/// Where the node is freed and the queue still short, more victims come from elsewhere.
#[test]
fn s34_additional_victims_come_from_elsewhere() {
    plays(
        "settings resources=cpu
         node n1 cpu=4 labels=zone:a
         node n2 cpu=4
         queue a request=all
         queue b fixed=cpu:4
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=2 node=n2 started=30 owner=w
         pod a/p4 cpu=2 node=n2 started=40 owner=w
         pod a/waits cpu=2 pending owner=w
         owner b/web replicas=1 cpu=4 selector=zone:a",
        &expect![[r#"
            step 1: capacity 8c
              a: deserved 4c, allocated 4c, used 8c
              b: deserved 4c, allocated 0c, used 0c, preempting 4c (WaitingForPreemption)
              evict a/p2 for b: Reclaimed
              evict a/p1 for b: Reclaimed
              evict a/waits for b: Reclaimed
            step 2: capacity 8c
              a: deserved 4c, allocated 4c, used 4c
              b: deserved 4c, allocated 4c, used 0c
              started b/web-r1002-0
            step 3: capacity 8c
              b: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}

/// An additional victim has to hold what the queue is short of.
#[test]
fn s35_additional_victims_lower_the_queues_shortfall() {
    decides(
        "settings resources=cpu,gpu
         node n1 cpu=8 gpu=2
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/device cpu=1 gpu=1 node=n1 started=10 owner=w
         pod a/waits-1 cpu=1 gpu=1 pending owner=w created=20 priority=5
         pod a/waits-2 cpu=3 pending owner=w created=90 priority=-5
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect![[r#"
            step 1: capacity 8c 2gpu
              a: deserved 7c 1gpu, allocated 7c 1gpu, used 5c 2gpu
              b: deserved 1c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 1c 1gpu (WaitingForPreemption)
              evict a/waits-1 for b: Reclaimed
        "#]],
    );
}

/// Where the node's victims are enough for the queue as well, no others go.
#[test]
fn s36_no_additional_victims_where_none_are_needed() {
    plays(
        "settings resources=cpu
         node n1 cpu=2
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/p1 cpu=1 node=n1 started=10 owner=w
         pod a/p2 cpu=1 node=n1 started=20 owner=w
         pod a/p3 cpu=1 node=n2 started=30 owner=w priority=1
         pod a/p4 cpu=1 node=n2 started=40 owner=w
         owner b/web replicas=1 cpu=2",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              evict a/p2 for b: Reclaimed
              evict a/p1 for b: Reclaimed
            step 2: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 2c, used 0c
              started b/web-r1002-0
            step 3: capacity 4c
              b: deserved 2c, allocated 2c, used 2c
        "#]],
    );
}

/// If all victims together leave the ask short of anything, none of them goes.
#[test]
fn s37_all_or_nothing_for_every_resource() {
    let told = story::play(
        "settings resources=cpu,gpu
         node n1 cpu=4 gpu=2
         queue a guaranteed=gpu:1 request=all
         queue b fixed=cpu:2,gpu:1 weight=5
         pod a/device cpu=1 gpu=2 node=n1 started=10 owner=w
         pod a/plain-1 cpu=1 node=n1 started=20 owner=w
         pod a/plain-2 cpu=1 node=n1 started=30 owner=w
         pod a/plain-3 cpu=1 node=n1 started=40 owner=w
         owner b/train replicas=1 cpu=2 gpu=1",
    );
    assert!(
        told.contains(
            "b: deserved 2c 1gpu, allocated 0c 0gpu, used 0c 0gpu, preempting 0c 0gpu (Guarantee), lacks 2c 1gpu"
        ),
        "{told}"
    );
    assert!(!told.contains("evict"), "{told}");
}

/// Of the victims that could go only those that are required do.
#[test]
fn s38_only_required_victims_are_released() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a request=all
         queue b fixed=cpu:3
         pod a/one cpu=1 node=n1 started=90 owner=w
         pod a/two cpu=2 node=n1 started=80 owner=w
         pod a/three cpu=3 node=n1 started=10 owner=w
         owner b/web replicas=1 cpu=3",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 3c, allocated 3c, used 6c
              b: deserved 3c, allocated 0c, used 0c, preempting 3c (WaitingForPreemption)
              evict a/one for b: Reclaimed
              evict a/two for b: Reclaimed
            step 2: capacity 6c
              a: deserved 3c, allocated 3c, used 3c
              b: deserved 3c, allocated 3c, used 0c
              started b/web-r1002-0
            step 3: capacity 6c
              b: deserved 3c, allocated 3c, used 3c
        "#]],
    );
}

/// What the victims of a later ask free for an earlier one makes that one's own victims unneeded.
#[test]
fn s38_victims_that_a_later_one_replaces_are_not_released() {
    plays(
        "settings resources=cpu
         node n1 cpu=6
         queue a request=all
         queue b weight=2 fixed=cpu:4
         pod a/one-1 cpu=1 node=n1 started=80 owner=w
         pod a/one-2 cpu=1 node=n1 started=90 owner=w
         pod a/four cpu=4 node=n1 started=10 owner=w priority=5
         pod a/last cpu=0 node=n1 started=1 owner=w priority=9
         owner b/web replicas=2 cpu=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 2c, allocated 2c, used 6c
              b: deserved 4c, allocated 0c, used 0c, preempting 4c (WaitingForPreemption)
              evict a/four for b: Reclaimed
            step 2: capacity 6c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 4c, allocated 4c, used 0c
              started b/web-r1002-0
              started b/web-r1002-1
            step 3: capacity 6c
              b: deserved 4c, allocated 4c, used 4c
        "#]],
    );
}
