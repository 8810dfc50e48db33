//! What a guarantee keeps: the two functions of `guarantee`, and which queue may lose what.
//!
//! A number in the name of a test is a point of the preemption hardening document (S-HARDEN). The others of its thirty-eight
//! stand in `fences`, `victims`, `nodes` and `additional_victims`. In a story `b` asks, `a` and others hold.

use expect_test::expect;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::guarantee::{preemptable, remaining, remaining_on_path};
use quotient_engine::names::QueueName;
use quotient_engine::planner::plan;

use crate::story::full::reclaims;
use crate::story::{self, explains};

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

/// What the ask, the victims and a guarantee name apart from each other neither helps nor hinders.
#[test]
fn s01_resources_that_only_one_side_names_change_nothing() {
    explains(
        "node n1 cpu=6 memory=6Gi gpu=2
         queue a fixed=cpu:4,memory:6Gi,gpu:1 guaranteed=memory:1Gi
         queue b fixed=cpu:0,memory:0,gpu:1
         pod a/devices cpu=1 gpu=2 node=n1 started=10 owner=w
         pod a/plain-1 cpu=1 node=n1 started=30 owner=w
         pod a/plain-2 cpu=1 memory=1Gi node=n1 started=20 owner=w
         pod a/last cpu=1 node=n1 started=1 owner=w
         owner b/train replicas=1 gpu=1",
        &expect!["evict a/devices for b: Reclaimed"],
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
            "node n1 cpu=6
             queue a guaranteed=cpu:2 {limit} request=all
             queue b fixed=cpu:3
             pod a/p1..3 cpu=2 node=n1 started=10+10 owner=w
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
fn s05_s28_a_guarantee_may_be_reached_and_not_crossed() {
    let kept = "queue a weight=0 guaranteed=cpu:4 request=all; owner b/web cpu=2";
    reclaims("fixed=cpu:2", &format!("{kept}; p1..3 cpu=2"), "p3");
    reclaims(
        "fixed=cpu:2",
        &format!("{kept}; p1..2 cpu=3"),
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (Guarantee), lacks 2c; \
         1 pods of ReplicaSet web, 2c each: Guarantee; p1..2 kept: Guarantee",
    );
    reclaims(
        "request=all",
        "queue a weight=0 guaranteed=cpu:2 request=all; p1..6; owner b/web replicas=6 cpu=1",
        "p6..3",
    );
}

/// A parent that has no more than it is guaranteed gives nothing to the outside, whatever its children have.
#[test]
fn s05_no_more_than_a_parent_uses_above_its_own() {
    explains(
        "node n1 cpu=8
         queue org children=All guaranteed=cpu:6 weight=0
         queue a parent=org guaranteed=cpu:2 request=all
         queue idle parent=org fixed=cpu:0
         queue b request=all
         pod a/p1..4 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=4 cpu=1",
        &expect!["evict a/p4 for b: Reclaimed"],
    );
}

/// A resource without a guarantee may be taken wholly, beside one that has one.
#[test]
fn s06_a_resource_without_a_guarantee_is_preemptable_wholly() {
    assert_eq!(preemptable(&used([vcores(4), mem(600)]), &guaranteed([vcores(5)])), used([mem(600)]));
    explains(
        "node n1 cpu=4 memory=4Gi
         queue a weight=0 guaranteed=cpu:4 request=all
         queue b fixed=cpu:0,memory:4Gi
         pod a/p1..2 cpu=2 memory=2Gi node=n1 started=10+10 owner=w",
        &expect!["evict a/p2..1 for b: Reclaimed"],
    );
}

/// Used above guaranteed vcores 5, used without a guarantee, and used where nothing is guaranteed.
#[test]
fn s07_s08_s09_what_is_preemptable_of_each_resource() {
    let all = used([vcores(6), mem(600)]);
    assert_eq!(preemptable(&used([vcores(6)]), &guaranteed([vcores(5)])), used([vcores(1)]));
    assert_eq!(preemptable(&used([mem(600)]), &guaranteed([vcores(5)])), used([mem(600)]));
    assert_eq!(preemptable(&all, &guaranteed([])), all);
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

/// Of guaranteed vcores 5 with vcores 4 used one, with memory used all; where nothing is guaranteed nothing is said.
#[test]
fn s12_s13_s14_what_remains_of_each_resource() {
    assert_eq!(remaining(&used([vcores(4)]), &guaranteed([vcores(5)])), guaranteed([vcores(1)]));
    assert_eq!(remaining(&used([mem(600)]), &guaranteed([vcores(5)])), guaranteed([vcores(5)]));
    assert!(remaining(&used([vcores(6), mem(600)]), &guaranteed([])).is_empty());
}

/// An ask that fits in what its queue is guaranteed is worth victims.
#[test]
fn s15_an_ask_within_its_queues_guarantee_is_worth_victims() {
    explains(
        "node n1 cpu=6
         queue a weight=5 request=all
         queue b weight=0 guaranteed=cpu:2
         pod a/p1..3 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p3 for b: Reclaimed"],
    );
}

/// An ask that exceeds both what its queue is guaranteed and what it deserves takes no other's room.
#[test]
fn s16_an_ask_beyond_guarantee_and_share_evicts_no_pod() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b guaranteed=cpu:2
         pod a/p1..3 cpu=2 node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=5",
        &expect!["1 pods of ReplicaSet web, 5c each: UnitAboveShare"],
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
    explains(
        "node n1 cpu=12
         queue org children=All guaranteed=cpu:6 weight=0
         queue a parent=org request=all
         queue b parent=org fixed=cpu:3
         queue stranger request=all
         pod a/p1..2 cpu=3 node=n1 started=10+10 owner=w
         pod stranger/p1..2 cpu=3 node=n1 started=10+80 owner=s
         owner b/web replicas=1 cpu=3",
        &expect!["evict a/p2 for b: Reclaimed"],
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

/// The examples as a story; in the second one nothing is guaranteed to parent1.
fn example(parent1: &str) -> String {
    format!(
        "node n1 cpu=20
         queue top children=All limit=cpu:20
         queue parent1 children=All parent=top {parent1}
         queue child1,child2 parent=parent1 guaranteed=cpu:5 fixed=cpu:5
         queue parent2 parent=top request=all
         pod child1/p1..2 cpu=5 node=n1 started=10+10 owner=w
         pod parent2/p1..2 cpu=5 node=n1 started=90+5 owner=w
         owner child2/web replicas=1 cpu=5"
    )
}

/// The first example played: five of child1's ten go to child2, and parent2 is left alone.
#[test]
fn s19_the_first_example_played() {
    explains(
        &example("guaranteed=cpu:10"),
        &expect![[r#"
            1 pods of ReplicaSet web, 5c each: AboveLimit
            evict child1/p2 for child2: Reclaimed
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
    assert_eq!(story::play(&example("")), story::play(&example("guaranteed=cpu:10")));
}

/// A guarantee of a parent queue counts as one of its children.
#[test]
fn free_room_goes_first_to_a_queue_below_the_guarantee_of_its_parent() {
    let snapshot = story::parse(
        "node n cpu=30
         queue org name=upper children=All guaranteed=cpu:20
         queue y parent=org/upper from=None
         queue x from=None
         queue z
         quota y cpu=6
         quota x cpu=0
         quota z cpu=21
         owner y/o replicas=30 cpu=1 pods=p-1..6 node=n started=1
         owner x/o replicas=30 cpu=1
         owner z/o replicas=30 cpu=1 pods=p-1..21 node=n started=1",
    );
    let plan = plan(&snapshot);
    let allocated = |name: &str| plan.queues[&QueueName::new(name, name)].allocated.get(&Resource::Cpu);
    assert_eq!([allocated("y"), allocated("x")], [Amount::new(9_000), Amount::new(0)]);
}
