//! The examples of the documents that Quotient implements, as they stand in `examples/`.

use expect_test::expect;

use super::check_example;

#[test]
fn two_queues_share_by_weight() {
    check_example(
        "two-queues",
        &expect![[r#"
            Step 1  capacity 9c 27Gi
              QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED  PREEMPTING
              team-1/team-1  2       5c 10Gi  3c 9Gi    3c 9Gi     0     0
              team-2/team-2  4       9c 20Gi  6c 18Gi   6c 18Gi    0     0

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn an_overused_queue_is_brought_back() {
    check_example(
        "overcommitted",
        &expect![[r#"
            Step 1  capacity 9c 27Gi
              QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  2       9c 27Gi  3c 9Gi    3c 9Gi     5c 3Gi  0
              team-2/team-2  4       9c 27Gi  6c 18Gi   6c 18Gi    5c 3Gi  0
              evict  team-1/pod-1  team-2/team-2 needs its room on this node; team-1/team-1 uses 5c 3Gi and deserves 3c 9Gi

            Step 2  capacity 9c 27Gi
              QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  2       9c 27Gi  3c 9Gi    3c 9Gi     3c 2Gi  0
              team-2/team-2  4       9c 27Gi  6c 18Gi   6c 18Gi    5c 3Gi  0

            Stable: nothing more would happen.
        "#]],
    );
}
