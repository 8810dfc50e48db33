//! Parents, fences and the acceptance of queues, as stories.

use std::fmt::Write as _;

use expect_test::expect;

use quotient_advance::settle;

use crate::story::{self, decides, explains, plays, shares};

// ---- shares ---------------------------------------------------------------------------------------------

#[test]
fn a_guarantee_above_a_parents_limit_cannot_be_met() {
    shares(
        "node n1 cpu=12 memory=12Gi
         queue org children=All limit=cpu:4
         queue a parent=org guaranteed=cpu:6 request=all
         queue c request=all",
        &expect!["a 4c 6Gi (2c 0 unmeetable), c 8c 6Gi, org 4c 6Gi"],
    );
}

// ---- accepted queues ------------------------------------------------------------------------------------

#[test]
fn both_sides_have_to_agree() {
    decides(
        "node n1 cpu=12 memory=12Gi
         namespace b tier=gold
         queue same children=Same
         queue gold children=tier:gold
         queue leaf request=all
         queue a parent=same request=all
         queue b,c parent=gold request=all
         queue d parent=leaf request=all
         queue e parent=nowhere request=all",
        &expect![[r#"
            step 1: capacity 12c 12Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
              gold: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
              leaf: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
              same: deserved 0c 0, allocated 0c 0, used 0c 0
              a/a has no share: ParentNotAccepting: same/same does not accept Queues of this namespace: its spec.children.namespaces has to allow it
              c/c has no share: ParentNotAccepting: gold/gold does not accept Queues of this namespace: its spec.children.namespaces has to allow it
              d/d has no share: ParentNotAccepting: leaf/leaf is no parent queue: give it spec.children, or refer to another one
              e/e has no share: ParentNotFound: spec.parentRef names nowhere/nowhere, which does not exist: create that Queue or correct the reference
              lower b, leaf
        "#]],
    );
}

#[test]
fn a_circle_and_what_hangs_on_it_have_no_share() {
    decides(
        "node n1 cpu=12 memory=12Gi
         queue x children=All parent=y
         queue y children=All parent=z
         queue z children=All parent=x
         queue self children=All parent=self
         queue below parent=x request=all
         queue fine request=all",
        &expect![[r#"
            step 1: capacity 12c 12Gi
              fine: deserved 12c 12Gi, allocated 12c 12Gi, used 0c 0
              below/below has no share: ParentStalled: x/x, which it takes its share from, has none itself: see the conditions of that Queue
              self/self has no share: ParentCycle: following spec.parentRef from self/self leads back to it: break the circle at one of its queues
              x/x has no share: ParentCycle: following spec.parentRef from y/y leads back to it: break the circle at one of its queues
              y/y has no share: ParentCycle: following spec.parentRef from z/z leads back to it: break the circle at one of its queues
              z/z has no share: ParentCycle: following spec.parentRef from x/x leads back to it: break the circle at one of its queues
              lower fine
        "#]],
    );
}

#[test]
fn depth_is_no_problem() {
    let mut scenario = String::from("node n1 cpu=12 memory=12Gi\nqueue p0 children=All\n");
    for depth in 1..100 {
        writeln!(scenario, "queue p{depth} children=All parent=p{}", depth - 1).unwrap();
    }
    scenario += "queue deep parent=p99 request=all\nqueue flat request=all";
    let printed = story::decide(&scenario);
    assert!(printed.contains("deep: deserved 6c 6Gi"), "{printed}");
    assert!(!printed.contains("no share"), "{printed}");
}

// ---- which queues lose pods -----------------------------------------------------------------------------

#[test]
fn a_guarantee_comes_back_from_the_cousins() {
    explains(
        "node n1 cpu=8 memory=8Gi
         queue org children=All guaranteed=cpu:4
         queue a parent=org request=all
         queue b parent=org fixed=cpu:0,memory:0
         queue c request=all
         pod c/p1..4 cpu=2 memory=1Gi node=n1 started=1+1",
        &expect!["evict c/p4..2 for a: Reclaimed"],
    );
}

#[test]
fn where_pods_are_never_taken_their_room_is_not_promised() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a eviction=Never request=all
         queue b request=all
         pod a/p1..2 cpu=3 memory=1Gi node=n1",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 6c 4Gi, allocated 6c 4Gi, used 6c 2Gi
              b: deserved 2c 4Gi, allocated 2c 4Gi, used 0c 0
        "#]],
    );
}

// ---- the last victims -----------------------------------------------------------------------------------

#[test]
fn the_last_replica_never_goes_where_the_queue_says_so() {
    explains(
        "node n1 cpu=2 memory=2Gi
         queue a lastReplica=Never weight=0 request=all
         queue b request=all
         pod a/w1..2 cpu=1 memory=1Gi node=n1 started=10+10 owner=web",
        &expect![[r#"
            b: deserved 2c 2Gi, allocated 0c 0, used 0c 0, preempting 1c 1Gi (NothingToEvict), lacks 2c 2Gi
            evict a/w2 for b: Reclaimed
            spare a/w1: LastReplica
        "#]],
    );
}

#[test]
fn eviction_rules_that_a_queue_leaves_out_come_from_its_parent() {
    explains(
        "node n1 cpu=6
         queue org children=All eviction=Never
         queue kept parent=org
         queue open parent=org eviction=Allowed
         queue new fixed=cpu:2
         pod kept,open/p1..3 cpu=1 node=n1 started=10+10 owner=w
         owner new/web replicas=2 cpu=1",
        &expect!["evict open/p3..2 for new: Reclaimed"],
    );
}

#[test]
fn no_pod_is_evicted_for_queues_below_one_that_takes_nothing() {
    explains(
        "node n1 cpu=4
         queue org children=All from=None
         queue modest parent=org fixed=cpu:2
         queue busy
         pod busy/p1..4 cpu=1 node=n1 started=10+10 owner=w
         owner modest/web replicas=2 cpu=1",
        &expect![[r#"
            modest: deserved 2c, allocated 0c, used 0c, preempting 0c (Fenced), lacks 2c
            2 pods of ReplicaSet web, 1c each: Fenced
            org: deserved 2c, allocated 0c, used 0c, preempting 0c (Fenced), lacks 2c
        "#]],
    );
}

#[test]
fn a_grace_period_is_capped_by_the_queue_or_its_parent() {
    let grace = |rules: &str, own: &str| {
        let snapshot = story::parse(&format!(
            "node n1 cpu=2
             queue org children=All maxGrace=60
             queue a fixed=cpu:1 {rules}
             queue b fixed=cpu:1
             pod a/p1 cpu=1 node=n1 started=10 owner=w
             pod a/p2 cpu=1 node=n1 started=20 owner=w {own}"
        ));
        let (_, plan) = settle(&snapshot);
        plan.evictions.first().unwrap().grace_seconds
    };
    assert_eq!(grace("", ""), None, "30 s are less than ten minutes");
    assert_eq!(grace("", "grace=3600"), Some(600));
    assert_eq!(grace("maxGrace=7200", "grace=3600"), None);
    assert_eq!(grace("parent=org", "grace=3600"), Some(60));
    assert_eq!(grace("parent=org maxGrace=0", ""), Some(0));
}
