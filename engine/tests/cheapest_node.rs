//! Of several nodes the one that is freed: the one whose victims cost the least.

use crate::story;
use crate::story::full::reclaims;

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
            "node n1..2 cpu=2
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
        let printed = story::explain(&scenario);
        assert!(printed.contains("evict a/first"), "{printed}");
        assert!(!printed.contains("evict a/second"), "{printed}");
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
    reclaims("fixed=cpu:1", "one node=n2; two cpu=2 started=90; owner b/train cpu=1", "one");
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
    let zones = "node n1 labels=zone:z1; node n2 labels=zone:z2; p1 cpu=2; p2 cpu=2 node=n2 started=90";
    for (preferred, expected) in [("z1", "p1"), ("z2", "p2")] {
        reclaims("fixed=cpu:2", &format!("{zones}; owner b/train cpu=2 prefers=zone:{preferred}"), expected);
    }
}

#[test]
fn fewer_victims_before_the_node_that_the_ask_prefers() {
    reclaims(
        "fixed=cpu:2",
        "node n1 labels=zone:z1; p1..2; p3 cpu=2 node=n2; owner b/train cpu=2 prefers=zone:z1",
        "p3",
    );
}

#[test]
fn one_device_comes_from_the_node_with_the_lowest_priority() {
    reclaims(
        "fixed=cpu:1,gpu:1",
        "p1 gpu=1 started=90 priority=3; p2 gpu=1 node=n2 priority=1; p3 gpu=1 node=n3 started=80 priority=2
         owner b/train cpu=1 gpu=1",
        "p2",
    );
}

#[test]
fn several_devices_come_from_one_node() {
    reclaims(
        "fixed=cpu:1,gpu:4",
        "node n1 cpu=8 gpu=4; p1..3 gpu=1 started=80; p4 gpu=1 started=90 priority=3
         node n2 cpu=8 gpu=4; p5..8 gpu=1 node=n2; owner b/train cpu=1 gpu=4",
        "p8..5",
    );
}

#[test]
fn pods_without_devices_stay_where_only_devices_are_short() {
    reclaims(
        "fixed=cpu:1,gpu:1",
        "node n1 cpu=4 gpu=2; device-1..2 gpu=1 priority=9; plain started=90; owner b/train cpu=1 gpu=1",
        "device-2",
    );
}

/// A device of `n1` failed, so two pods would have to go there for one to start.
#[test]
fn a_node_with_more_than_it_offers_is_no_cheaper() {
    let printed = story::explain(
        "node n1 gpu=7
         node n2 gpu=8
         queue a,b
         quota a gpu=16
         quota b gpu=0
         owner a/o replicas=16 gpu=1
         owner b/o replicas=1 gpu=1
         pod a/late-0..7 gpu=1 node=n1 started=100+1 owner=o
         pod a/early-0..7 gpu=1 node=n2 started=10+1 owner=o",
    );
    assert!(printed.contains("evict a/early-7 for b") && !printed.contains("evict a/late"), "{printed}");
}
