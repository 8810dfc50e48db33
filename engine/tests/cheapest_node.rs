//! Of several nodes the one that is freed: the one whose victims cost the least.

use expect_test::expect;

use crate::story::{self, explains};

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
    let printed = story::explain(
        "node n1 cpu=2
         node n2 cpu=1
         queue a fixed=cpu:2
         queue b fixed=cpu:1
         pod a/one cpu=1 node=n2 started=10 owner=w
         pod a/two cpu=2 node=n1 started=90 owner=w
         pod a/last cpu=0 node=n1 started=1 owner=w priority=99
         owner b/train replicas=1 cpu=1",
    );
    assert!(printed.contains("evict a/one for b") && !printed.contains("a/two"), "{printed}");
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
        let printed = story::explain(&format!(
            "node n1 cpu=2 labels=zone:z1
             node n2 cpu=2 labels=zone:z2
             queue a request=all
             queue b fixed=cpu:2
             pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
             pod a/p1 cpu=2 node=n1 started=10 owner=w
             pod a/p2 cpu=2 node=n2 started=90 owner=w
             owner b/train replicas=1 cpu=2 prefers=zone:{preferred}"
        ));
        assert!(printed.contains(&format!("evict a/{expected} for b")), "{printed}");
    }
}

#[test]
fn fewer_victims_before_the_node_that_the_ask_prefers() {
    explains(
        "node n1 cpu=2 labels=zone:z1
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1..2 cpu=1 node=n1 started=10 owner=w
         pod a/p3 cpu=2 node=n2 started=10 owner=w
         owner b/train replicas=1 cpu=2 prefers=zone:z1",
        &expect!["evict a/p3 for b: Reclaimed"],
    );
}

#[test]
fn one_device_comes_from_the_node_with_the_lowest_priority() {
    explains(
        "node n1..3 cpu=8 gpu=1
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1 cpu=1 gpu=1 node=n1 started=90 owner=w priority=3
         pod a/p2 cpu=1 gpu=1 node=n2 started=10 owner=w priority=1
         pod a/p3 cpu=1 gpu=1 node=n3 started=80 owner=w priority=2
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

#[test]
fn several_devices_come_from_one_node() {
    explains(
        "node n1..2 cpu=8 gpu=4
         queue a fixed=cpu:16,gpu:4
         queue b fixed=cpu:1,gpu:4
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/p1..2 cpu=1 gpu=1 node=n1 started=80+10 owner=w
         pod a/p3 cpu=1 gpu=1 node=n1 started=80 owner=w
         pod a/p4 cpu=1 gpu=1 node=n1 started=90 owner=w priority=3
         pod a/p5..8 cpu=1 gpu=1 node=n2 started=10 owner=w
         owner b/train replicas=1 cpu=1 gpu=4",
        &expect!["evict a/p8..5 for b: Reclaimed"],
    );
}

#[test]
fn pods_without_devices_stay_where_only_devices_are_short() {
    explains(
        "node n1 cpu=4 gpu=2
         queue a request=all
         queue b fixed=cpu:1,gpu:1
         pod a/keep cpu=0 node=n1 started=1 owner=w priority=99
         pod a/device-1..2 cpu=1 gpu=1 node=n1 started=10 owner=w priority=9
         pod a/plain cpu=1 node=n1 started=90 owner=w
         owner b/train replicas=1 cpu=1 gpu=1",
        &expect!["evict a/device-2 for b: Reclaimed"],
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
