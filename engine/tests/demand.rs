//! What queues ask for, as stories: owners that lack pods, standing claims, ineffective demand, windows.

use expect_test::expect;

use crate::story::{decides, explains, plays};

// ---- observed -------------------------------------------------------------------------------------------

/// A namespace with a Queue and without work costs no other queue a pod.
#[test]
fn a_queue_without_work_evicts_no_pod() {
    plays(
        "node n1 cpu=4 memory=4Gi
         queue a
         queue b weight=100 guaranteed=cpu:4,memory:4Gi
         pod a/web-1..2 cpu=2 memory=2Gi node=n1 owner=web
         owner a/web replicas=2 cpu=2 memory=2Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
              b: deserved 0c 0, allocated 0c 0, used 0c 0
        "#]],
    );
}

/// The standing claim is of the resource that it names: pods without GPUs stay.
#[test]
fn a_gpu_request_claims_no_cpu() {
    explains(
        "node n1 cpu=4 memory=4Gi gpu=2
         queue a
         queue b request=gpu:1
         pod a/web-1 cpu=2 memory=2Gi node=n1 owner=web started=30
         owner a/train replicas=2 cpu=1 memory=1Gi gpu=1 pods=gpu-1..2 node=n1 started=10+10
         owner a/web replicas=1 cpu=2 memory=2Gi",
        &expect!["evict a/gpu-2 for b: Reclaimed"],
    );
}

/// The API server creates no pod in a namespace that is being deleted, so nothing is evicted for its workloads, its QueueJobs and
/// the claim of its Queue. Its own pods may leave for hours.
#[test]
fn a_namespace_that_is_being_deleted_asks_for_nothing() {
    plays(
        "node n1 cpu=6 memory=6Gi
         queue a
         queue b request=cpu:2,memory:2Gi
         pod a/web-1..5 cpu=1 memory=1Gi node=n1 owner=web
         pod b/api-1 cpu=1 memory=1Gi node=n1 owner=api terminating
         owner a/web replicas=5 cpu=1 memory=1Gi
         owner b/api replicas=3 cpu=1 memory=1Gi
         queuejob b/train min=1 replicas=2 cpu=1 memory=1Gi
         namespace b terminating",
        &expect![[r#"
            step 1: capacity 6c 6Gi
              a: deserved 5c 5Gi, allocated 5c 5Gi, used 5c 5Gi
              b: deserved 0c 0, allocated 0c 0, used 1c 1Gi
              b/train: 0 slots, Waiting (NoQueue)
            step 2: capacity 6c 6Gi
              a: deserved 5c 5Gi, allocated 5750mc 5888Mi, used 5c 5Gi
              b: deserved 0c 0, allocated 750mc 768Mi, used 0c 0
        "#]],
    );
}

// ---- set aside ------------------------------------------------------------------------------------------

#[test]
fn what_no_node_takes_for_a_minute_does_not_count_with_what_its_owner_lacks() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b request=all
         owner a/big replicas=3 cpu=1 memory=1Gi selector=disk:none pods=big-1 pending created=900 stuck=955
         foreign-quota a memory=1Gi
         then after=20
         then after=31",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 1c 1Gi, allocated 1c 1Gi, used 1c 1Gi
                1 pods of ReplicaSet big, 1c 1Gi each: NoNodeFits
                2 pods of ReplicaSet big, 1c 1Gi each: OneAtATime
              b: deserved 7c 7Gi, allocated 7c 7Gi, used 0c 0
            then, 20 s later
            step 2: capacity 8c 8Gi
              a: deserved 0c 0, allocated 0c 0, used 1c 1Gi
                1 pods of ReplicaSet big, 1c 1Gi each: SetAside
                2 pods of ReplicaSet big, 1c 1Gi each: SetAside
              b: deserved 8c 8Gi, allocated 8c 8Gi, used 0c 0
            then, 31 s later
        "#]],
    );
}

#[test]
fn new_pods_in_place_of_the_old_ones_do_not_bring_it_back_but_a_changed_owner_does() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a limit=cpu:2
         queue b request=all
         owner a/big replicas=1 cpu=1 memory=1Gi selector=disk:none pods=big-1 pending created=900 stuck=910
         then after=40
         delete pod a/big-1
         then
         pod a/big-2 cpu=1 memory=1Gi pending owner=big created=1041 selector=disk:none
         then
         owner a/big replicas=2 cpu=1 memory=1Gi",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 0c 0, allocated 0c 0, used 1c 1Gi
                1 pods of ReplicaSet big, 1c 1Gi each: SetAside
              b: deserved 8c 8Gi, allocated 8c 8Gi, used 0c 0
            then, 40 s later
            step 2: capacity 8c 8Gi
              a: deserved 0c 0, allocated 0c 0, used 0c 0
                1 pods of ReplicaSet big, 1c 1Gi each: SetAside
            then
            step 3: capacity 8c 8Gi
              a: deserved 0c 0, allocated 0c 0, used 1c 1Gi
            then
            step 4: capacity 8c 8Gi
              a: deserved 1c 1Gi, allocated 1c 1Gi, used 1c 1Gi
                1 pods of ReplicaSet big, 1c 1Gi each: NoNodeFits
                1 pods of ReplicaSet big, 1c 1Gi each: OneAtATime
              b: deserved 7c 7Gi, allocated 7c 7Gi, used 0c 0
        "#]],
    );
}

#[test]
fn what_runs_counts_however_long_it_is_not_ready() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b request=all
         owner a/web replicas=2 cpu=1 memory=1Gi pods=web-1..2 node=n1 started=600 stuck=690+20
         then after=10
         then after=31
         then
         pod a/web-1..2 cpu=1 memory=1Gi node=n1 started=600 owner=web",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
            then, 10 s later
            then, 31 s later
            then
        "#]],
    );
}

#[test]
fn a_pod_without_an_owner_is_its_own() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a roomSince=910
         queue b request=all
         pod a/lost cpu=3 memory=1Gi pending created=900 stuck=910
         pod a/fine cpu=1 memory=1Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 1c 1Gi, allocated 1c 1Gi, used 4c 2Gi
                pod lost, 3c 1Gi: SetAside
              b: deserved 7c 7Gi, allocated 4c 6Gi, used 0c 0, preempting 3c 1Gi (WaitingForQuota)
              lower a, b
              evict a/lost once its quota is in force
        "#]],
    );
}

#[test]
fn a_declared_claim_stands_whatever_becomes_of_the_pods() {
    decides(
        "node n1 cpu=8 memory=8Gi
         queue a fixed=cpu:4,memory:4Gi roomSince=910
         pod a/lost cpu=3 memory=1Gi pending created=900 stuck=910",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 3c 1Gi
                pod lost, 3c 1Gi: SetAside
              lower a
        "#]],
    );
}

// ---- the window -----------------------------------------------------------------------------------------

#[test]
fn demand_rises_at_once_and_falls_after_half_a_minute() {
    plays(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b request=all
         pod a/p1 cpu=3 memory=3Gi node=n1 started=10
         then
         delete pod a/p1
         then after=20
         pod a/p2 cpu=2 memory=2Gi node=n1 started=1021
         then after=10
         queue b request=all",
        &expect![[r#"
            step 1: capacity 8c 8Gi
              a: deserved 3c 3Gi, allocated 3c 3Gi, used 3c 3Gi
              b: deserved 5c 5Gi, allocated 5c 5Gi, used 0c 0
            then
            step 2: capacity 8c 8Gi
              a: deserved 3c 3Gi, allocated 3c 3Gi, used 0c 0
            then, 20 s later
            step 3: capacity 8c 8Gi
              a: deserved 3c 3Gi, allocated 3c 3Gi, used 2c 2Gi
            then, 10 s later
            step 4: capacity 8c 8Gi
              a: deserved 2c 2Gi, allocated 2c 2Gi, used 2c 2Gi
              b: deserved 6c 6Gi, allocated 6c 6Gi, used 0c 0
        "#]],
    );
}
