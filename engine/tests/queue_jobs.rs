//! QueueJobs as stories of whole clusters: slots out of a queue's share, and nothing moves twice.

use expect_test::expect;

use quotient_engine::plan::SlotReason;
use quotient_engine::planner::plan;

use crate::story::{self, explains, plays};

/// Another queue reclaims two of four: the surplus goes by eviction, parallelism follows, and the floor stays.
#[test]
fn what_a_neighbor_reclaims_is_taken_once() {
    plays(
        "node n1 cpu=4
         queue a request=all
         queuejob a/train min=2 replicas=4 cpu=1 created=10
         then
         queue b fixed=cpu:2",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/train: 4 slots, Starting (Admitted)
              started a/train-r1001-0..3
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
              a/train: 4 slots, Running (Admitted)
            then
            step 4: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 2c (WaitingForPreemption)
              a/train: 2 slots, 4 now, Running (Admitted)
              evict a/train-r1001-3..2 for b: Reclaimed
            step 5: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
                2 pods of QueueJob train, 1c each: ShareInUse
              b: deserved 2c, allocated 2c, used 0c
              a/train: 2 slots, Running (Admitted)
        "#]],
    );
}

/// What has succeeded counts for victims, too: one that runs is all that is left of the gang, and it is in use.
#[test]
fn the_floor_that_is_left_is_no_victim() {
    explains(
        "node n1 cpu=4
         queue a gangs=Never request=all
         queue b fixed=cpu:3
         queuejob a/train min=3 replicas=6 cpu=1 created=10 succeeded=2 parallelism=4
         pod a/train-1..4 cpu=1 node=n1 started=20+10 owner=train gang=queuejob/train min=3",
        &expect![[r#"
            a/train: 2 slots, 4 now, Running (Admitted)
            evict a/train-4..3 for b: Reclaimed
            spare a/train-1: GangFloor
        "#]],
    );
}

#[test]
fn a_gang_that_does_not_start_gives_its_slots_back_and_tries_again() {
    plays(
        "node n1..2 cpu=3
         queue a request=all
         queuejob a/wide replicas=2 cpu=2 created=10 timeout=60
         pod a/filler cpu=2 node=n1 started=10
         queuejob a/late replicas=2 cpu=2 created=20
         then after=100",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 6c, allocated 6c, used 2c
                2 pods of QueueJob wide, 2c each: Fragmented
              a/late: 0 slots, Waiting (WaitingForRoom)
              a/wide: 2 slots, Starting (Admitted)
              started a/wide-r1001-0
            step 2: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
                1 pods of QueueJob wide, 2c each: Fragmented
                2 pods of QueueJob late, 2c each: ShareInUse
            then, 100 s later
            step 4: capacity 6c
              a/late: 2 slots, 0 now, Waiting (WaitingForQuota)
              a/wide: 0 slots, Waiting (StartTimeout)
            step 5: capacity 6c
              a: deserved 6c, allocated 6c, used 2c
                2 pods of QueueJob wide, 2c each: SetAside
                2 pods of QueueJob late, 2c each: Fragmented
              a/late: 2 slots, Starting (Admitted)
              started a/late-r1105-0
            step 6: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
                1 pods of QueueJob late, 2c each: Fragmented
                2 pods of QueueJob wide, 2c each: SetAside
        "#]],
    );
}

#[test]
fn without_a_queue_nothing_starts() {
    plays(
        "node n1 cpu=4
         queuejob a/train replicas=2 cpu=1
         queue b request=all",
        &expect![[r#"
            step 1: capacity 4c
              b: deserved 4c, allocated 4c, used 0c
              a/train: 0 slots, Waiting (NoQueue)
        "#]],
    );
}

/// Refused pods of a Deployment catch what a gang gives up for another one, and no pod is admitted twice for that: it comes
/// to rest with every floor, and the surplus is the Deployment's.
#[test]
fn deployments_and_gangs_share_a_namespace() {
    plays(
        "node n1 cpu=6
         queue a request=all
         queuejob a/first min=2 replicas=6 cpu=1 created=10
         then after=5
         owner a/web replicas=2 cpu=1 created=20
         queuejob a/second min=2 replicas=2 cpu=1 created=30
         then after=5
         queuejob a/first min=2 replicas=6 cpu=1 created=10 succeeded=2",
        &expect![[r#"
            step 1: capacity 6c
              a: deserved 6c, allocated 6c, used 0c
              a/first: 6 slots, Starting (Admitted)
              started a/first-r1001-0..5
            step 2: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
              a/first: 6 slots, Running (Admitted)
            then, 5 s later
            step 4: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
                2 pods of ReplicaSet web, 1c each: ShareInUse
                2 pods of QueueJob second, 1c each: ShareInUse
              a/first: 2 slots, Running (Admitted)
              a/second: 2 slots, 0 now, Waiting (WaitingForQuota)
              started a/web-r1009-0..1
            step 5: capacity 6c
              a: deserved 6c, allocated 6c, used 4c
              a/second: 2 slots, Starting (Admitted)
              started a/second-r1010-0..1
            step 6: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
                4 pods of QueueJob first, 1c each: ShareInUse
              a/second: 2 slots, Running (Admitted)
            then, 5 s later
            step 8: capacity 6c
              a: deserved 6c, allocated 6c, used 6c
                2 pods of QueueJob first, 1c each: ShareInUse
        "#]],
    );
}

#[test]
fn a_suspended_job_gives_its_slots_up() {
    plays(
        "node n1 cpu=4
         queue a
         queuejob a/train replicas=4 cpu=1
         then
         queuejob a/train replicas=4 cpu=1 suspended",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/train: 4 slots, Starting (Admitted)
              started a/train-r1001-0..3
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
              a/train: 4 slots, Running (Admitted)
            then
            step 4: capacity 4c
              a/train: 0 slots, Suspended (Suspended)
            step 5: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
        "#]],
    );
}

/// The launcher runs the shortest and would go first; but no worker is of use without it.
#[test]
fn what_a_task_cannot_do_without_is_no_victim() {
    explains(
        "node n1 cpu=4
         queue a gangs=Never request=all
         queue b fixed=cpu:2
         queuejob a/train min=2 replicas=3 cpu=1 created=10 parallelism=3
         task a/train-launcher of=train replicas=1 min=1 cpu=1 parallelism=1
         pod a/train-1..3 cpu=1 node=n1 started=20+10 owner=train gang=queuejob/train min=2
         pod a/launcher cpu=1 node=n1 started=50 owner=train-launcher gang=queuejob/train min=2",
        &expect![[r#"
            a/train: 2 slots, 4 now, Running (Admitted)
            evict a/train-3..2 for b: Reclaimed
            spare a/launcher: GangFloor
            spare a/train-1: GangFloor
        "#]],
    );
}

/// Admission counts pods that are not there any more, and now and then one too few of those that are. Where that lets in
/// more than a limit, the slot that is given back is enough: no pod is evicted for it as well.
#[test]
fn a_slot_that_is_given_back_spares_a_pod_above_the_limit() {
    let scenario = |parallelism: u32| {
        format!(
            "node n1 cpu=16
             queue a limit=cpu:6 request=all
             queuejob a/train min=2 replicas=8 cpu=1 created=10 admitted=10 parallelism={parallelism}
             owner a/web replicas=1 cpu=1 created=20 pods=w node=n1 created=900
             pod a/t1..6 cpu=1 owner=train gang=queuejob/train node=n1 created=1+1 started=1+1"
        )
    };
    plays(
        &scenario(5),
        &expect![[r#"
        step 1: capacity 16c
          a: deserved 6c, allocated 6c, used 7c
            2 pods of QueueJob train, 1c each: AboveLimit
          a/train: 6 slots, 5 now, Running (Admitted)
        step 2: capacity 16c
          a: deserved 6c, allocated 6c, used 6c
            3 pods of QueueJob train, 1c each: AboveLimit
          a/train: 5 slots, Running (Admitted)
    "#]],
    );
    plays(
        &scenario(6),
        &expect![[r#"
            step 1: capacity 16c
              a: deserved 6c, allocated 6c, used 7c
                2 pods of QueueJob train, 1c each: AboveLimit
              a/train: 5 slots, 6 now, Running (Admitted)
              evict a/t6 for no queue in particular: Overcommitted
            step 2: capacity 16c
              a: deserved 6c, allocated 6c, used 6c
                3 pods of QueueJob train, 1c each: AboveLimit
              a/train: 5 slots, Running (Admitted)
        "#]],
    );
}

/// The lowest priority yields as a whole, and a pod of a Deployment comes in its turn.
#[test]
fn of_two_floors_the_lower_priority_yields() {
    plays(
        "node n1 cpu=7
         queue a preemption=LowerPriority request=all
         queuejob a/low min=3 replicas=3 cpu=1 created=10
         queuejob a/middle min=3 replicas=3 cpu=1 created=11 priority=5
         then
         queuejob a/equal min=3 replicas=3 cpu=1 created=12 priority=5
         owner a/web replicas=1 cpu=1 created=13 priority=5
         queuejob a/high min=3 replicas=3 cpu=1 created=20 priority=9",
        &expect![[r#"
            step 1: capacity 7c
              a: deserved 7c, allocated 7c, used 0c
              a/low: 3 slots, Starting (Admitted)
              a/middle: 3 slots, Starting (Admitted)
              started a/low-r1001-3..5
              started a/middle-r1001-0..2
            step 2: capacity 7c
              a: deserved 7c, allocated 7c, used 6c
              a/low: 3 slots, Running (Admitted)
              a/middle: 3 slots, Running (Admitted)
            then
            step 4: capacity 7c
              a: deserved 7c, allocated 7c, used 6c
                3 pods of QueueJob high, 1c each: WaitingForPreemption
                3 pods of QueueJob equal, 1c each: ShareInUse
                1 pods of ReplicaSet web, 1c each: RoomAvailable
              a/equal: 0 slots, Waiting (WaitingForRoom)
              a/high: 3 slots, 0 now, Waiting (WaitingForQuota)
              a/low: 0 slots, Waiting (WaitingForRoom)
              started a/web-r1004-0
            step 5: capacity 7c
              a: deserved 7c, allocated 7c, used 4c
              a/high: 3 slots, Starting (Admitted)
              started a/high-r1005-0..2
            step 6: capacity 7c
              a: deserved 7c, allocated 7c, used 7c
                3 pods of QueueJob equal, 1c each: ShareInUse
                3 pods of QueueJob low, 1c each: ShareInUse
              a/high: 3 slots, Running (Admitted)
        "#]],
    );
}

/// What is left of a QueueJob to run keeps its slot beside a gang of a lower priority: slots are lent beside others only.
#[test]
fn the_last_pod_of_a_gang_yields_to_no_lower_priority() {
    plays(
        "node n1 cpu=4
         queue a preemption=LowerPriority request=all
         queuejob a/last min=1 replicas=2 cpu=1 created=10 priority=2 succeeded=1
         queuejob a/first min=1 replicas=1 cpu=1 created=10
         then
         queuejob a/gang min=3 replicas=3 cpu=1 created=20",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/first: 1 slots, Starting (Admitted)
              a/last: 1 slots, Running (Admitted)
              started a/first-r1001-1
              started a/last-r1001-0
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 2c
              a/first: 1 slots, Running (Admitted)
            then
            step 4: capacity 4c
              a: deserved 4c, allocated 4c, used 2c, target 2c
                3 pods of QueueJob gang, 1c each: ShareInUse
              a/gang: 0 slots, Waiting (WaitingForRoom)
        "#]],
    );
}

/// The target has room for the single pod and for no gang, so the gang of three runs in a loan, and what is lent beside it goes
/// with it. A gang of four that took its place would not start, the three would be let in again, and so on.
#[test]
fn no_gang_yields_for_room_that_goes_with_it() {
    plays(
        "node n1 cpu=4
         queue a preemption=LowerPriority request=all
         queue b request=all
         queuejob b/whole min=4 replicas=4 cpu=1 created=9
         queuejob a/three min=3 replicas=3 cpu=1 created=10
         then
         queuejob a/one min=1 replicas=1 cpu=1 created=11
         queuejob a/four min=4 replicas=5 cpu=1 created=12 priority=1",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 4c, used 0c, target 4c
              b: deserved 2c, allocated 0c, used 0c, target 0c
                4 pods of QueueJob whole, 1c each: UnitAboveShare
              a/three: 3 slots, Starting (Admitted)
              b/whole: 0 slots, Waiting (GangAboveShare)
              started a/three-r1001-0..2
            step 2: capacity 4c
              a: deserved 2c, allocated 4c, used 3c, target 4c
              a/three: 3 slots, Running (Admitted)
            then
            step 4: capacity 4c
              a: deserved 2c, allocated 4c, used 3c
                5 pods of QueueJob four, 1c each: UnitAboveShare
              b: deserved 2c, allocated 1c, used 0c, target 0c
                4 pods of QueueJob whole, 1c each: UnitAboveShare
              a/four: 0 slots, Waiting (GangAboveShare)
              a/one: 1 slots, Starting (Admitted)
              started a/one-r1004-0
            step 5: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
                5 pods of QueueJob four, 1c each: UnitAboveShare
              b: deserved 2c, allocated 0c, used 0c, target 0c
                4 pods of QueueJob whole, 1c each: UnitAboveShare
              a/one: 1 slots, Running (Admitted)
        "#]],
    );
}

/// The last pod of a gang has its part of what is free before the floor of a gang of a lower priority. No pod on loan goes for
/// that floor, because there would still be no room for it.
#[test]
fn the_last_pod_of_a_gang_waits_like_its_floor() {
    plays(
        "node n1 cpu=4
         queue a preemption=LowerPriority request=all
         queuejob a/lent min=1 replicas=3 cpu=1 created=10 priority=1 succeeded=1
         queuejob a/other min=1 replicas=2 cpu=1 created=11
         then
         queuejob a/other min=1 replicas=2 cpu=1 created=11 succeeded=1
         queuejob a/last min=2 replicas=3 cpu=1 created=12 priority=1 succeeded=2
         queuejob a/pair min=2 replicas=2 cpu=1 created=13",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 4c, allocated 4c, used 0c
              a/lent: 2 slots, Running (Admitted)
              a/other: 2 slots, Starting (Admitted)
              started a/lent-r1001-0..1
              started a/other-r1001-2..3
            step 2: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
              a/other: 2 slots, Running (Admitted)
            then
            step 4: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
                1 pods of QueueJob last, 1c each: WaitingForPreemption
                2 pods of QueueJob pair, 1c each: ShareInUse
              a/last: 1 slots, 0 now, Waiting (WaitingForQuota)
              a/other: 1 slots, Running (Admitted)
              a/pair: 0 slots, Waiting (WaitingForRoom)
            step 5: capacity 4c
              a: deserved 4c, allocated 4c, used 3c
                2 pods of QueueJob pair, 1c each: ShareInUse
              a/last: 1 slots, Running (Admitted)
              started a/last-r1005-0
            step 6: capacity 4c
              a: deserved 4c, allocated 4c, used 4c
                2 pods of QueueJob pair, 1c each: ShareInUse
        "#]],
    );
}

/// A leader whose clock was wrong wrote it.
#[test]
fn a_rest_that_is_longer_than_any_is_none() {
    let reason = |retry: i64| {
        let scenario = format!(
            "node n1 cpu=2
             queue a request=all
             queuejob a/train replicas=1 cpu=1 created=10 failures=6 retry={retry}"
        );
        plan(&story::parse(&scenario)).queue_jobs.values().map(|job| job.reason).collect::<Vec<_>>()
    };
    assert_eq!(reason(1000 + 3600), [SlotReason::StartTimeout]);
    assert_eq!(reason(1000 + 3601), [SlotReason::WaitingForQuota]);
}
