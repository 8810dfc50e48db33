//! Shares that move by next to nothing, as stories.

use expect_test::expect;

use crate::story::decides;

#[test]
fn next_to_nothing_moves_no_quota() {
    decides(
        "node n1 cpu=1000 memory=1000Gi
         queue a,b request=all
         quota a cpu=499 memory=498Gi
         quota b cpu=500 memory=501Gi
         pod a,b/p1 cpu=4 memory=4Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 1kc 1000Gi
              a: deserved 500c 500Gi, allocated 500c 500Gi, used 4c 4Gi, target 499c 498Gi
              b: deserved 500c 500Gi, allocated 501c 501Gi, used 4c 4Gi
              raise a, b
        "#]],
    );
}

#[test]
fn a_unit_or_one_part_in_a_hundred_is_not_next_to_nothing() {
    decides(
        "node n1 cpu=1000 memory=1000Gi
         queue a,b request=all
         quota a cpu=499 memory=494Gi
         quota b cpu=500 memory=500Gi
         pod a/p1 cpu=1 memory=10Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 1kc 1000Gi
              a: deserved 500c 500Gi, allocated 500c 500Gi, used 1c 10Gi, target 499c 500Gi
              b: deserved 500c 500Gi, allocated 501c 500Gi, used 0c 0
              raise a, b
        "#]],
    );
}

#[test]
fn limits_guarantees_and_what_pods_wait_for_are_exact() {
    decides(
        "node n1 cpu=1000 memory=1000Gi
         queue a limit=cpu:250 request=all
         queue b guaranteed=cpu:250 fixed=cpu:250,memory:250Gi
         queue c,d fixed=cpu:250,memory:250Gi
         quota a cpu=251 memory=250Gi
         quota b,c cpu=249 memory=249Gi
         quota d cpu=249 memory=250Gi
         owner c/web replicas=50 cpu=5 memory=1Gi",
        &expect![[r#"
            step 1: capacity 1kc 1000Gi
              a: deserved 250c 250Gi, allocated 251c 251Gi, used 0c 0
              b: deserved 250c 250Gi, allocated 250c 250Gi, used 0c 0, target 250c 249Gi
              c: deserved 250c 250Gi, allocated 250c 250Gi, used 0c 0
                50 pods of ReplicaSet web, 5c 1Gi each: WaitingForQuota
              d: deserved 250c 250Gi, allocated 250c 250Gi, used 0c 0, target 249c 250Gi
              raise a, b, c, d
        "#]],
    );
}

#[test]
fn it_is_given_back_most_unused_first_when_a_queue_is_short() {
    decides(
        "node n1 cpu=1000 memory=1000Gi
         queue a,b fixed=cpu:300,memory:300Gi
         queue c fixed=cpu:400,memory:400Gi
         quota a cpu=301 memory=300Gi
         quota b cpu=302 memory=300Gi
         quota c cpu=390 memory=400Gi
         pod a/p1 cpu=100 memory=1Gi node=n1 started=10
         pod b/p1 cpu=250 memory=1Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 1kc 1000Gi
              a: deserved 300c 300Gi, allocated 301c 300Gi, used 100c 1Gi
              b: deserved 300c 300Gi, allocated 302c 300Gi, used 250c 1Gi
              c: deserved 400c 400Gi, allocated 400c 400Gi, used 0c 0
              raise c
        "#]],
    );
}
