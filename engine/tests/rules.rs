//! Every rule of capacity, shares, grants and governance as a story: a cluster in, what happens out.

use expect_test::expect;

use crate::story::{decides, plays, shares};

// ---- capacity -------------------------------------------------------------------------------------------

#[test]
fn a_cordoned_node_keeps_contributing_what_its_pods_hold() {
    shares(
        "node n1 cpu=4 memory=8Gi
         node n2 cpu=4 memory=8Gi cordoned
         queue a request=all
         pod a/p1 cpu=3 memory=2Gi node=n2",
        &expect!["a 7c 10Gi"],
    );
}

#[test]
fn a_lost_nodes_capacity_leaves_with_its_pods_and_not_before() {
    shares(
        "node n1 cpu=4 memory=8Gi
         queue a request=all
         pod a/p1 cpu=3 memory=2Gi node=gone",
        &expect!["a 7c 10Gi"],
    );
}

#[test]
fn bound_pods_without_a_queue_take_from_the_capacity_and_pending_ones_do_not() {
    shares(
        "node n1 cpu=8 memory=8Gi
         queue a request=all
         pod free/bound cpu=3 memory=2Gi node=n1
         pod free/absurd cpu=1000 memory=1000Gi pending",
        &expect!["a 5c 6Gi"],
    );
}

#[test]
fn a_namespace_that_lost_its_queue_holds_what_its_quota_lets_in_until_it_is_collected() {
    shares(
        "node n1 cpu=8 memory=8Gi
         queue a request=all
         quota lost cpu=3 memory=2Gi
         pod lost/p1 cpu=1 memory=1Gi node=n1",
        &expect!["a 5c 6Gi"],
    );
}

#[test]
fn without_any_capacity_nothing_shrinks_and_no_pod_is_evicted() {
    decides(
        "queue a,b request=all
         quota a cpu=8 memory=8Gi
         pod a/p1 cpu=8 memory=8Gi pending",
        &expect![[r#"
            step 1: capacity 0c 0
              a: deserved 0c 0, allocated 8c 8Gi, used 8c 8Gi
                pod p1, 8c 8Gi: SetAside
              b: deserved 0c 0, allocated 0c 0, used 0c 0
              lower b
        "#]],
    );
}

// ---- guarantees ---------------------------------------------------------------------------------------------

#[test]
fn guaranteed_comes_first_as_far_as_it_is_asked_for() {
    decides(
        "node n1 cpu=10 memory=10Gi
         queue a weight=1 guaranteed=cpu:6 request=all
         queue b weight=4 request=all
         queue c weight=1 guaranteed=cpu:8 fixed=cpu:1,memory:1Gi",
        &expect![[r#"
            step 1: capacity 10c 10Gi
              a: deserved 6800mc 2Gi, allocated 6800mc 2Gi, used 0c 0
              b: deserved 3200mc 8Gi, allocated 3200mc 8Gi, used 0c 0
              c/c has no share: GuaranteedAboveLimit: spec.guaranteed asks for cpu 8 but spec.limit allows 1: lower the one or raise the other
              lower a, b
        "#]],
    );
}

// ---- grants ---------------------------------------------------------------------------------------------

#[test]
fn the_first_queue_on_a_full_namespace_evicts_no_pod() {
    plays(
        "node n1 cpu=9 memory=9Gi
         queue a request=all
         pod a/p1 cpu=5 memory=1Gi node=n1
         pod a/p2 cpu=4 memory=1Gi node=n1",
        &expect![[r#"
            step 1: capacity 9c 9Gi
              a: deserved 9c 9Gi, allocated 9c 9Gi, used 9c 2Gi
        "#]],
    );
}

#[test]
fn a_queue_above_its_limit_gives_back_even_if_no_queue_is_short() {
    plays(
        "node n1 cpu=9 memory=9Gi
         queue a limit=cpu:3 request=all
         pod a/p1 cpu=3 memory=1Gi node=n1 started=10
         pod a/p2 cpu=2 memory=1Gi node=n1 started=20",
        &expect![[r#"
            step 1: capacity 9c 9Gi
              a: deserved 3c 9Gi, allocated 3c 9Gi, used 5c 2Gi
              evict a/p2 for no queue in particular: Overcommitted
            step 2: capacity 9c 9Gi
              a: deserved 3c 9Gi, allocated 3c 9Gi, used 3c 1Gi
        "#]],
    );
}

// ---- governance -----------------------------------------------------------------------------------------

#[test]
fn the_oldest_queue_governs_a_namespace() {
    decides(
        "node n1 cpu=9 memory=9Gi
         queue a name=late created=20 request=all
         queue a name=early created=10 request=all
         queue b request=all",
        &expect![[r#"
            step 1: capacity 9c 9Gi
              a: deserved 4500mc 4608Mi, allocated 4500mc 4608Mi, used 0c 0
              b: deserved 4500mc 4608Mi, allocated 4500mc 4608Mi, used 0c 0
              a/late has no share: NamespaceTaken: this namespace is governed by the older Queue early: delete one of the two, one namespace has one Queue
              lower a, b
        "#]],
    );
}

#[test]
fn an_invalid_queue_keeps_what_it_has_and_disturbs_no_other() {
    decides(
        "node n1 cpu=9 memory=9Gi
         queue a invalid=typing-error request=all
         queue b request=all
         quota a cpu=2 memory=2Gi
         pod a/p1 cpu=1 memory=1Gi node=n1",
        &expect![[r#"
            step 1: capacity 7c 7Gi
              b: deserved 7c 7Gi, allocated 7c 7Gi, used 0c 0
              a/a has no share: InvalidSpec: typing-error
              lower b
        "#]],
    );
}

// ---- pods that hang in Terminating ----------------------------------------------------------------------

#[test]
fn a_pod_long_past_its_deadline_is_forced_where_its_queue_says_so() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a forceAfter=60 request=all
         queue b request=all
         pod a/hangs cpu=1 memory=1Gi node=n1 terminating=940
         pod a/in-time cpu=1 memory=1Gi node=n1 terminating=941
         pod a/asked-already cpu=1 memory=1Gi node=n1 forced terminating=900
         pod b/of-nobodys-concern cpu=1 memory=1Gi node=n1 terminating=900",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 3c 3Gi
              b: deserved 2c 2Gi, allocated 1c 1Gi, used 1c 1Gi, preempting 1c 1Gi (WaitingForPreemption)
              delete a/hangs without grace
              lower a, b
        "#]],
    );
}

// ---- quotas that cannot follow --------------------------------------------------------------------------

#[test]
fn what_its_own_pods_hold_is_missing_in_its_quota_alone() {
    decides(
        "node n1 cpu=2 memory=9Gi
         queue a request=all
         quota a cpu=1 memory=9Gi
         pod a/one cpu=1 memory=1Gi node=n1
         pod a/two cpu=1 memory=1Gi node=n1
         pod a/three cpu=1 memory=1Gi node=n1",
        &expect![[r#"
            step 1: capacity 3c 9Gi
              a: deserved 3c 9Gi, allocated 2c 9Gi, used 3c 3Gi
              raise a
        "#]],
    );
}
