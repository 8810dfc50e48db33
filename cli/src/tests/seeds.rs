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

#[test]
fn a_third_queue_joins() {
    check_example(
        "newcomer",
        &expect![[r#"
        Step 1  capacity 9c 27Gi
          QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
          team-1/team-1  2       9c 27Gi  2c 6Gi    2c 6Gi     3c 2Gi  0
          team-2/team-2  4       9c 27Gi  4c 12Gi   4c 12Gi    5c 3Gi  0
          team-3/team-3  3       9c 27Gi  3c 9Gi    1c 9Gi     0       2c
          evict  team-1/pod-3  team-3/team-3 is short of 2c; team-1/team-1 uses 3c 2Gi and deserves 2c 6Gi
          evict  team-2/pod-3  team-3/team-3 is short of 2c; team-2/team-2 uses 5c 3Gi and deserves 4c 12Gi

        Step 2  capacity 9c 27Gi
          QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
          team-1/team-1  2       9c 27Gi  2c 6Gi    2c 6Gi     2c 1Gi  0
          team-2/team-2  4       9c 27Gi  4c 12Gi   4c 12Gi    4c 2Gi  0
          team-3/team-3  3       9c 27Gi  3c 9Gi    3c 9Gi     0       0

        Stable: nothing more would happen.
    "#]],
    );
}
