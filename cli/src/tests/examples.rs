//! The examples that tell more than one document of the seeds, as they stand in `examples/`.

use expect_test::expect;

use super::check_example;

#[test]
fn a_whole_node_is_freed_for_a_pod_that_needs_one() {
    check_example(
        "gpu-node",
        &expect![[r#"
            Step 1  capacity 16c 64Gi 8gpu
              QUEUE          WEIGHT  DEMAND       DESERVED     ALLOCATED    USED         PREEMPTING
              team-1/team-1  1       6c 6Gi 6gpu  6c 6Gi 4gpu  4c 4Gi 4gpu  6c 6Gi 6gpu  0
              team-2/team-2  1       1c 1Gi 4gpu  1c 1Gi 4gpu  3c 9Gi       0            4gpu
              evict  team-1/pod-4  team-2/team-2 is short of 1c 1Gi 4gpu; team-1/team-1 uses 6c 6Gi 6gpu and deserves 6c 6Gi 4gpu
              evict  team-1/pod-2  team-2/team-2 is short of 1c 1Gi 4gpu; team-1/team-1 uses 6c 6Gi 6gpu and deserves 6c 6Gi 4gpu
              unmet  team-2/train  1 pod of 1c 1Gi 4gpu cannot start: WaitingForPreemption (terminating pods use the room)

            Step 2  capacity 16c 64Gi 8gpu
              QUEUE          WEIGHT  DEMAND       DESERVED     ALLOCATED     USED         PREEMPTING
              team-1/team-1  1       6c 6Gi 6gpu  6c 6Gi 4gpu  6c 12Gi 4gpu  4c 4Gi 4gpu  0
              team-2/team-2  1       1c 1Gi 4gpu  1c 1Gi 4gpu  3c 9Gi 4gpu   0            0
              start  team-2/train-r2-0

            Step 3  capacity 16c 64Gi 8gpu
              QUEUE          WEIGHT  DEMAND       DESERVED     ALLOCATED     USED         PREEMPTING
              team-1/team-1  1       6c 6Gi 6gpu  6c 6Gi 4gpu  6c 12Gi 4gpu  4c 4Gi 4gpu  0
              team-2/team-2  1       1c 1Gi 4gpu  1c 1Gi 4gpu  3c 9Gi 4gpu   1c 1Gi 4gpu  0

            Step 4  29 s later  capacity 16c 64Gi 8gpu
              QUEUE          WEIGHT  DEMAND       DESERVED     ALLOCATED     USED         PREEMPTING
              team-1/team-1  1       4c 4Gi 4gpu  4c 4Gi 4gpu  6c 12Gi 4gpu  4c 4Gi 4gpu  0
              team-2/team-2  1       1c 1Gi 4gpu  1c 1Gi 4gpu  3c 9Gi 4gpu   1c 1Gi 4gpu  0

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn what_was_lent_comes_back_to_who_needs_it() {
    check_example(
        "reclaim",
        &expect![[r#"
            Before  as far as quotas admit
              start  team-1/batch-r1-0
              start  team-1/batch-r1-1
              start  team-1/batch-r1-2
              start  team-1/batch-r1-3
              start  team-1/batch-r1-4
              start  team-1/batch-r1-5
              start  team-1/batch-r1-6
              start  team-2/web-r1-0

            Step 1  capacity 8c 8Gi
              QUEUE          WEIGHT  DEMAND  DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  1       7c 7Gi  4c 4Gi    4c 4Gi     7c 7Gi  0
              team-2/team-2  1       5c 5Gi  4c 4Gi    1c 1Gi     1c 1Gi  3c 3Gi
              evict  team-1/batch-r1-6  team-2/team-2 is short of 3c 3Gi; team-1/team-1 uses 7c 7Gi and deserves 4c 4Gi
              evict  team-1/batch-r1-5  team-2/team-2 is short of 3c 3Gi; team-1/team-1 uses 7c 7Gi and deserves 4c 4Gi
              evict  team-1/batch-r1-4  team-2/team-2 is short of 3c 3Gi; team-1/team-1 uses 7c 7Gi and deserves 4c 4Gi
              unmet  team-2/web  4 pods of 1c 1Gi cannot start: WaitingForPreemption (terminating pods use the room)

            Step 2  capacity 8c 8Gi
              QUEUE          WEIGHT  DEMAND  DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  1       7c 7Gi  4c 4Gi    4c 4Gi     4c 4Gi  0
              team-2/team-2  1       5c 5Gi  4c 4Gi    4c 4Gi     1c 1Gi  0
              start  team-2/web-r3-0
              start  team-2/web-r3-1
              start  team-2/web-r3-2
              unmet  team-1/batch  3 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Step 3  capacity 8c 8Gi
              QUEUE          WEIGHT  DEMAND  DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  1       7c 7Gi  4c 4Gi    4c 4Gi     4c 4Gi  0
              team-2/team-2  1       5c 5Gi  4c 4Gi    4c 4Gi     4c 4Gi  0
              unmet  team-1/batch  3 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-2/web    1 pod of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn a_guarantee_comes_back_from_the_whole_tree() {
    check_example(
        "guaranteed-comeback",
        &expect![[r#"
            Before  as far as quotas admit
              start  batch-1/batch-r1-0
              start  batch-1/batch-r1-1
              start  batch-1/batch-r1-2
              start  batch-1/batch-r1-3
              start  batch-1/batch-r1-4
              start  batch-1/batch-r1-5
              start  team-2/train-r1-0
              start  team-2/train-r1-1
              start  team-2/train-r1-2
              start  team-2/train-r1-3
              start  team-2/train-r1-4
              start  team-2/train-r1-5

            Step 1  capacity 12c 12Gi
              QUEUE              WEIGHT  DEMAND    DESERVED  ALLOCATED  USED    PREEMPTING
              org/batch          1       8c 8Gi    4c 4Gi    4c 4Gi     6c 6Gi  0
                batch-1/batch-1  1       8c 8Gi    4c 4Gi    4c 4Gi     6c 6Gi  0
              org/research       1       12c 12Gi  8c 8Gi    4c 4Gi     6c 6Gi  4c 4Gi
                team-1/team-1    1       4c 4Gi    4c 4Gi    0          0       4c 4Gi
                team-2/team-2    1       8c 8Gi    4c 4Gi    4c 4Gi     6c 6Gi  0
              evict  team-2/train-r1-5   team-1/team-1 is short of 4c 4Gi; team-2/team-2 uses 6c 6Gi and deserves 4c 4Gi
              evict  team-2/train-r1-4   team-1/team-1 is short of 4c 4Gi; team-2/team-2 uses 6c 6Gi and deserves 4c 4Gi
              evict  batch-1/batch-r1-5  team-1/team-1 is short of 4c 4Gi; batch-1/batch-1 uses 6c 6Gi and deserves 4c 4Gi
              evict  batch-1/batch-r1-4  team-1/team-1 is short of 4c 4Gi; batch-1/batch-1 uses 6c 6Gi and deserves 4c 4Gi
              unmet  batch-1/batch  2 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-1/serve   4 pods of 1c 1Gi cannot start: WaitingForPreemption (terminating pods use the room)
              unmet  team-2/train   2 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Step 2  capacity 12c 12Gi
              QUEUE              WEIGHT  DEMAND    DESERVED  ALLOCATED  USED    PREEMPTING
              org/batch          1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
                batch-1/batch-1  1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
              org/research       1       12c 12Gi  8c 8Gi    8c 8Gi     4c 4Gi  0
                team-1/team-1    1       4c 4Gi    4c 4Gi    4c 4Gi     0       0
                team-2/team-2    1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
              start  team-1/serve-r3-0
              start  team-1/serve-r3-1
              start  team-1/serve-r3-2
              start  team-1/serve-r3-3
              unmet  batch-1/batch  4 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-2/train   4 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Step 3  capacity 12c 12Gi
              QUEUE              WEIGHT  DEMAND    DESERVED  ALLOCATED  USED    PREEMPTING
              org/batch          1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
                batch-1/batch-1  1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
              org/research       1       12c 12Gi  8c 8Gi    8c 8Gi     8c 8Gi  0
                team-1/team-1    1       4c 4Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
                team-2/team-2    1       8c 8Gi    4c 4Gi    4c 4Gi     4c 4Gi  0
              unmet  batch-1/batch  4 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-2/train   4 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn what_a_budget_protects_stays_and_others_go() {
    check_example(
        "budget",
        &expect![[r#"
        Step 1  capacity 6c 12Gi
          QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
          team-1/team-1  1       6c 12Gi  3c 6Gi    3c 6Gi     5c 5Gi  0
          team-2/team-2  1       6c 12Gi  3c 6Gi    1c 6Gi     0       2c
          evict  team-1/batch-2  team-2/team-2 is short of 2c; team-1/team-1 uses 5c 5Gi and deserves 3c 6Gi
          evict  team-1/batch-1  team-2/team-2 is short of 2c; team-1/team-1 uses 5c 5Gi and deserves 3c 6Gi

        Step 2  capacity 6c 12Gi
          QUEUE          WEIGHT  DEMAND   DESERVED  ALLOCATED  USED    PREEMPTING
          team-1/team-1  1       6c 12Gi  3c 6Gi    3c 6Gi     3c 3Gi  0
          team-2/team-2  1       6c 12Gi  3c 6Gi    3c 6Gi     0       0

        Stable: nothing more would happen.
    "#]],
    );
}

#[test]
fn gangs_run_wholly_or_wait_and_the_rest_is_shared_evenly() {
    check_example(
        "queue-jobs",
        &expect![[r#"
            Step 1  capacity 8c 32Gi
              QUEUE          WEIGHT  DEMAND    DESERVED  ALLOCATED  USED  PREEMPTING
              team-1/team-1  1       21c 21Gi  8c 21Gi   8c 16Gi    0     0
              QUEUEJOB      STATE     MIN  SLOTS   RUNNING  SUCCEEDED  DESERVED  ALLOCATED  REASON
              team-1/sweep  Starting  1    0 -> 3  0        0          3c 3Gi    3c 3Gi     Admitted
              team-1/train  Starting  5    0 -> 5  0        0          5c 5Gi    5c 5Gi     Admitted
              team-1/wide   Waiting   4    0       0        0          0         0          WaitingForRoom
              start  team-1/sweep-trial-r1-0
              start  team-1/sweep-trial-r1-1
              start  team-1/sweep-trial-r1-2
              start  team-1/train-launcher-r1-3
              start  team-1/train-worker-r1-4
              start  team-1/train-worker-r1-5
              start  team-1/train-worker-r1-6
              start  team-1/train-worker-r1-7
              waits  team-1/wide  The gang needs room for 4 pods at once, and other pods of queue team-1/team-1 use too much. It starts when they end.

            Step 2  capacity 8c 32Gi
              QUEUE          WEIGHT  DEMAND    DESERVED  ALLOCATED  USED    PREEMPTING
              team-1/team-1  1       21c 21Gi  8c 21Gi   8c 16Gi    8c 8Gi  0
              QUEUEJOB      STATE    MIN  SLOTS  RUNNING  SUCCEEDED  DESERVED  ALLOCATED  REASON
              team-1/sweep  Running  1    3      3        0          3c 3Gi    3c 3Gi     Admitted
              team-1/train  Running  5    5      5        0          5c 5Gi    5c 5Gi     Admitted
              team-1/wide   Waiting  4    0      0        0          0         0          WaitingForRoom
              waits  team-1/wide  The gang needs room for 4 pods at once, and other pods of queue team-1/team-1 use too much. It starts when they end.
              unmet  team-1/train/worker  2 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-1/sweep/trial   7 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)
              unmet  team-1/wide/rank     4 pods of 1c 1Gi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}
