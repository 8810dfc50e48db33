//! Priority inside a queue as stories: which workload yields to which, by how many pods, and when it has its size back (S-MCM).

use expect_test::expect;

use crate::story::full::full;
use crate::story::{self, explains, plays};

/// Asserts what yields in the first step, of `a`, in which priority counts:
/// `web from 3 to 2 of 3 for ReplicaSet high, without web-3`.
///
/// The pods of these lines fill their nodes.
#[track_caller]
fn yields(lines: &str, expected: &[&str]) {
    let scenario = full(&format!("queue a preemption=LowerPriority request=all; {lines}"));
    let printed = story::explain(&scenario);
    let scaled = printed.lines().filter_map(|line| line.trim().strip_prefix("scale a/"));
    let scaled: Vec<&str> = scaled.map(|line| line.trim_end_matches(": Outranked")).collect();
    assert_eq!(scaled, expected, "{scenario}");
}

// ---- which pods yield -----------------------------------------------------------------------------------

#[test]
fn the_lowest_priority_yields_and_comes_back_when_there_is_room() {
    plays(
        "node n1 gpu=3
         queue a preemption=LowerPriority request=all
         owner a/low replicas=2 gpu=1 priority=1 created=1 pods=low-1..2 node=n1 started=10+10
         owner a/middle replicas=1 gpu=1 priority=5 created=2 pods=middle-1 node=n1 started=30
         owner a/high replicas=1 gpu=1 priority=9 created=3
         then after=60
         delete owner a/high
         delete pod a/high-r1001-0",
        &expect![[r#"
            step 1: capacity 3gpu
              a: deserved 3gpu, allocated 3gpu, used 3gpu
                1 pods of ReplicaSet high, 1gpu each: WaitingForPreemption
              scale a/low from 2 to 1 of 2 for ReplicaSet high, without low-2: Outranked
              started a/high-r1001-0
            step 2: capacity 3gpu
              a: deserved 3gpu, allocated 3gpu, used 3gpu
                1 pods of ReplicaSet low, 1gpu each: GaveWay
            then, 60 s later
            step 3: capacity 3gpu
              a: deserved 3gpu, allocated 3gpu, used 2gpu
                1 pods of ReplicaSet low, 1gpu each: GaveWay
              scale a/low from 1 to 2: Restored
              started a/low-r1063-0
            step 4: capacity 3gpu
              a: deserved 3gpu, allocated 3gpu, used 3gpu
        "#]],
    );
}

#[test]
fn no_workload_yields_to_an_equal_nor_without_the_policy() {
    let low = "owner a/low replicas=4 gpu=1 priority=5 pods=low-1..4 node=n1 started=10+10";
    let yielded = "low from 4 to 3 of 4 for ReplicaSet high, without low-4";
    yields(&format!("{low}; owner a/high gpu=1 priority=6"), &[yielded]);
    yields(&format!("{low}; owner a/high gpu=1 priority=5"), &[]);
    yields(&format!("queue a request=all; {low}; owner a/high gpu=1 priority=6"), &[]);
}

#[test]
fn the_last_replica_stays() {
    explains(
        "node n1 gpu=2
         queue a preemption=LowerPriority request=all
         owner a/low replicas=1 gpu=1 priority=1 pods=low-x node=n1 started=10
         owner a/set replicas=1 gpu=1 priority=1 kind=StatefulSet pods=set-0 node=n1 started=20
         owner a/high replicas=1 gpu=1 priority=9",
        &expect![[r#"
            1 pods of ReplicaSet high, 1gpu each: ShareInUse
            spare a/low-x: LastReplica
            spare a/set-0: LastReplica
        "#]],
    );
}

#[test]
fn a_jobs_last_pod_goes_when_nothing_else_is_left_unless_its_queue_keeps_it() {
    let owners = "owner a/job gpu=1 priority=1 kind=Job pods=job-x node=n1 started=10
                  owner a/low gpu=1 priority=2 pods=low-x node=n1 started=20; owner a/high gpu=1 priority=9";
    yields(owners, &["job from 1 to 0 of 1 for ReplicaSet high, without job-x"]);
    yields(&format!("queue a preemption=LowerPriority lastReplica=Never request=all; {owners}"), &[]);
}

#[test]
fn who_is_left_alone_is_told_and_others_go() {
    explains(
        "node n1 gpu=8
         queue a preemption=LowerPriority request=all
         owner a/scaled replicas=2 gpu=1 priority=1 leftAlone=Autoscaled pods=scaled-1..2 node=n1 started=10+10
         owner a/out replicas=2 gpu=1 priority=1 leftAlone=OptedOut pods=out-1..2 node=n1 started=30+10
         owner a/low replicas=2 gpu=1 priority=3 pods=low-1..2 node=n1 started=50+10
         pod a/bare gpu=1 node=n1 started=70 priority=0
         pod a/unknown gpu=1 node=n1 started=70 owner=ray priority=0
         owner a/high replicas=2 gpu=1 priority=9",
        &expect![[r#"
            scale a/low from 2 to 1 of 2 for ReplicaSet high, without low-2: Outranked
            spare a/low-1: LastReplica
            spare a/out-2..1: OptedOut
            spare a/scaled-2..1: Autoscaled
        "#]],
    );
}

// ---- the order of S-MCM ---------------------------------------------------------------------------------

/// Asserts that of two owners, of two pods each of which the first may go, this one yields one GPU.
#[track_caller]
fn goes(first: &str, second: &str, expected: &str) {
    let owner = expected.trim_end_matches("-a");
    yields(
        &format!(
            "node n1 labels=zone:a; node n2 labels=zone:b
             owner a/one replicas=2 gpu=1 priority=1; owner a/two replicas=2 gpu=1 priority=1
             pod a/one-a gpu=1 node=n1 owner=one priority=1 {first}
             pod a/one-z gpu=1 node=n1 owner=one priority=1 started=1 do_not_disrupt
             pod a/two-a gpu=1 node=n2 owner=two priority=1 {second}
             pod a/two-z gpu=1 node=n2 owner=two priority=1 started=1 do_not_disrupt
             owner a/high gpu=1 priority=9 prefers=zone:a"
        ),
        &[&format!("{owner} from 2 to 1 of 2 for ReplicaSet high, without {expected}")],
    );
}

#[test]
fn pods_that_differ_in_one_thing_go_in_the_order_of_the_seed() {
    // Not started before running.
    goes("started=50", "pending", "two-a");
    goes("pending", "started=50", "one-a");
    // Of equals first the one whose node the preemptor likes better.
    goes("started=40", "started=50", "one-a");
    // A pod that asks to be left alone goes after others.
    goes("started=50 do_not_disrupt", "started=50", "two-a");
}

#[test]
fn of_equals_the_most_recent_goes_then_the_higher_name() {
    for (started, gone) in [(50, "low-1"), (20, "low-3")] {
        yields(
            &format!(
                "owner a/low replicas=4 gpu=1 priority=5; owner a/high gpu=1 priority=9
                 pod a/low-1 gpu=1 node=n1 started={started} owner=low priority=5
                 pod a/low-2..3 gpu=1 node=n1 started=20 owner=low priority=5
                 pod a/low-4 gpu=1 node=n1 started=10 owner=low priority=5"
            ),
            &[&format!("low from 4 to 3 of 4 for ReplicaSet high, without {gone}")],
        );
    }
}

#[test]
fn a_pod_on_its_way_out_or_of_no_use_to_its_owner_is_waited_for() {
    let lines = |replicas: u32, word: &str| {
        format!(
            "owner a/low replicas={replicas} gpu=1 priority=5 pods=low-1..3 node=n1 started=10+10
             pod a/low-4 gpu=1 node=n1 started=40 owner=low priority=5 {word}; owner a/high gpu=1 priority=9"
        )
    };
    yields(&lines(4, ""), &["low from 4 to 3 of 4 for ReplicaSet high, without low-4"]);
    yields(&lines(3, ""), &[]);
    yields(&lines(4, "terminating"), &[]);
    yields(&lines(4, "forced"), &[]);
}

// ---- one and several GPUs --------------------------------------------------------------------------------

#[test]
fn for_one_gpu_the_node_with_the_lowest_victim_is_freed() {
    yields(
        "owner a/low replicas=2 gpu=1 priority=1 pods=low-1..2 node=n1 started=90
         owner a/lower replicas=2 gpu=1 priority=0 pods=lower-1..2 node=n2 started=10
         owner a/high gpu=1 priority=9",
        &["lower from 2 to 1 of 2 for ReplicaSet high, without lower-2"],
    );
}

#[test]
fn for_four_gpus_the_node_with_the_cheapest_victims_is_freed() {
    yields(
        "owner a/low replicas=5 gpu=1 priority=1 created=1 pods=low-1..2 node=n1 started=10
         owner a/middle replicas=3 gpu=1 priority=5 created=2 pods=middle-1..2 node=n1 started=10
         pod a/low-3..5 gpu=1 node=n2 started=10 owner=low priority=1
         pod a/middle-3 gpu=1 node=n2 started=10 owner=middle priority=5
         owner a/high gpu=4 priority=9 created=3",
        &[
            "low from 5 to 2 of 5 for ReplicaSet high, without low-5 low-4 low-3",
            "middle from 3 to 2 of 3 for ReplicaSet high, without middle-3",
        ],
    );
}

#[test]
fn a_pod_that_no_node_takes_finds_room() {
    explains(
        "node n1..2 gpu=2
         queue a preemption=LowerPriority request=all
         owner a/low replicas=3 gpu=1 priority=1 pods=low-1..2 node=n1+1 started=10+10
         pod a/big gpu=2 pending stuck=990 priority=9",
        &expect![[r#"
            pod big, 2gpu: Fragmented
            1 pods of ReplicaSet low, 1gpu each: ShareInUse
            scale a/low from 3 to 1 of 3 for pod big, without low-2: Outranked
            later scale a/low from 1 to 2 of 3: Restored
        "#]],
    );
}

#[test]
fn no_pod_goes_for_an_ask_that_is_not_met() {
    yields(
        "owner a/low replicas=4 gpu=1 priority=1 pods=low-1..2 node=n1 started=10
         owner a/peer replicas=4 gpu=1 priority=9 pods=peer-1..2 node=n1 started=10
         pod a/low-3..4 gpu=1 node=n2 started=10 owner=low priority=1
         pod a/peer-3..4 gpu=1 node=n2 started=10 owner=peer priority=9
         owner a/high gpu=3 priority=9",
        &[],
    );
}

#[test]
fn a_gang_is_met_as_a_whole_or_not_at_all() {
    let low = "owner a/low replicas=4 gpu=1 priority=1 pods=low-1..4 node=n1 started=10";
    let high = "owner a/high replicas=4 gpu=1 priority=9 kind=Job gang=g";
    yields(
        &format!("{low}; {high} min=3"),
        &["low from 4 to 1 of 4 for Job high, without low-4 low-3 low-2"],
    );
    yields(&format!("{low}; {high} min=4"), &[]);
}

#[test]
fn a_gang_that_yields_keeps_what_it_needs() {
    let lines = |min: u32| {
        let low = format!("owner a/low replicas=4 gpu=1 priority=1 kind=Job gang=g min={min}");
        format!("{low} pods=low-1..4 node=n1 started=10+10; owner a/high replicas=2 gpu=1 priority=9")
    };
    yields(&lines(2), &["low from 4 to 2 of 4 for ReplicaSet high, without low-4 low-3"]);
    yields(&lines(3), &["low from 4 to 3 of 4 for ReplicaSet high, without low-4"]);
    yields(&lines(4), &[]);
}

// ---- controllers choose ---------------------------------------------------------------------------------

#[test]
fn of_a_stateful_set_the_highest_ordinals_go_whatever_the_node() {
    yields(
        "owner a/set replicas=4 gpu=1 priority=1 kind=StatefulSet pods=set-0..1 node=n1 started=10+10
         pod a/set-2..3 gpu=1 node=n2 started=30+10 owner=set priority=1; owner a/high gpu=2 priority=9",
        &["set from 4 to 2 of 4 for ReplicaSet high, without set-3 set-2"],
    );
}

/// A rolling update starts the lowest ordinal last: it is the one that is chosen, and the highest is the one that goes.
#[test]
fn of_a_stateful_set_no_more_pods_go_than_are_needed() {
    for pods in [5, 9] {
        let last = pods - 1;
        let set = format!("owner a/set replicas={pods} gpu=1 priority=1 kind=StatefulSet");
        yields(
            &format!("{set} pods=set-0..{last} node=n1 started=99+-1; owner a/high gpu=1 priority=9"),
            &[&format!("set from {pods} to {last} of {pods} for ReplicaSet high, without set-{last}")],
        );
    }
}

#[test]
fn a_stateful_set_with_a_gap_is_left_alone() {
    yields(
        "node n1 gpu=3; owner a/set replicas=3 gpu=1 priority=1 kind=StatefulSet pods=set-0 node=n1 started=10
         pod a/set-2 gpu=1 node=n1 started=30 owner=set priority=1; owner a/high replicas=2 gpu=1 priority=9",
        &[],
    );
}

#[test]
fn pods_that_are_not_ready_go_before_the_one_that_is_chosen() {
    yields(
        "node n1 labels=zone:a; owner a/low replicas=4 gpu=1 priority=1 pods=low-1..2 node=n1 started=10+10
         pod a/low-3 gpu=1 node=n2 started=30 owner=low priority=1 stuck=900
         pod a/low-4 gpu=1 node=n2 started=40 owner=low priority=1
         owner a/high gpu=1 priority=9 selector=zone:a",
        &["low from 4 to 2 of 4 for ReplicaSet high, without low-3 low-2"],
    );
}

// ---- calm -----------------------------------------------------------------------------------------------

#[test]
fn who_gave_something_gets_nothing_and_competes_no_more() {
    explains(
        "node n1 gpu=3
         queue a preemption=LowerPriority request=all
         owner a/low replicas=5 gpu=1 priority=1 created=1 pods=low-1..3 node=n1 started=10+10
         owner a/high replicas=1 gpu=1 priority=9 created=2",
        &expect![[r#"
            2 pods of ReplicaSet low, 1gpu each: ShareInUse
            scale a/low from 5 to 2 of 5 for ReplicaSet high, without low-3: Outranked
        "#]],
    );
}

#[test]
fn what_others_give_back_is_waited_for_and_no_workload_yields() {
    explains(
        "node n1 gpu=6
         queue a preemption=LowerPriority request=all
         queue b request=all
         owner a/low replicas=2 gpu=1 priority=1 pods=low-1..2 node=n1 started=10
         pod b/x-1..4 gpu=1 node=n1 started=10+10 owner=x
         owner a/high replicas=1 gpu=1 priority=9",
        &expect!["evict b/x-4 for a: Reclaimed"],
    );
}

#[test]
fn what_is_held_back_counts_as_asked_for() {
    explains(
        "node n1 gpu=4
         queue a preemption=LowerPriority
         queue b
         owner a/low replicas=1 former=2 gpu=1 priority=1 pods=low-1 node=n1 started=10
         owner a/high replicas=1 gpu=1 priority=9 pods=high-1 node=n1 started=10
         pod b/x-1 gpu=1 node=n1 started=10 owner=x",
        &expect![[r#"
            1 pods of ReplicaSet low, 1gpu each: GaveWay
            scale a/low from 1 to 2: Restored
        "#]],
    );
}

/// The controller does not try to create what Quotient took from its size, so no bound stands in its way.
#[test]
fn what_yielded_within_a_limit_says_so_and_not_that_the_limit_is_reached() {
    explains(
        "node n1 gpu=4
         queue a preemption=LowerPriority limit=gpu:2 request=all
         owner a/low replicas=1 former=2 gpu=1 priority=1 pods=low-1 node=n1 started=10
         owner a/high replicas=1 gpu=1 priority=9 pods=high-1 node=n1 started=10",
        &expect!["1 pods of ReplicaSet low, 1gpu each: GaveWay"],
    );
}

// ---- beside QueueJobs -----------------------------------------------------------------------------------

#[test]
fn a_gang_and_owners_that_yield_come_to_rest_in_one_queue() {
    plays(
        "node n1 gpu=8
         queue a preemption=LowerPriority request=all
         queuejob a/train min=2 replicas=6 gpu=1 created=10 priority=5
         owner a/low replicas=4 gpu=1 priority=1 created=20 pods=low-1..4 node=n1 started=30+10
         then after=60
         owner a/high replicas=2 gpu=1 priority=9 created=30
         then after=60
         delete owner a/high
         delete pod a/high-r1064-0..1",
        &expect![[r#"
            step 1: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 4gpu
              a/train: 4 slots, Starting (Admitted)
              started a/train-r1001-0..3
            step 2: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 8gpu
                2 pods of QueueJob train, 1gpu each: ShareInUse
              a/train: 4 slots, Running (Admitted)
            then, 60 s later
            step 4: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 8gpu
                2 pods of ReplicaSet high, 1gpu each: WaitingForPreemption
                2 pods of QueueJob train, 1gpu each: ShareInUse
              a/train: 2 slots, Running (Admitted)
              started a/high-r1064-0..1
            step 5: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 8gpu
                4 pods of QueueJob train, 1gpu each: ShareInUse
            then, 60 s later
            step 6: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 6gpu
              a/train: 4 slots, Running (Admitted)
              started a/train-r1126-0..1
            step 7: capacity 8gpu
              a: deserved 8gpu, allocated 8gpu, used 8gpu
                2 pods of QueueJob train, 1gpu each: ShareInUse
        "#]],
    );
}

/// The lowest priority yields first, whatever kind of workload it is, and only as much as is needed.
#[test]
fn of_a_gang_and_a_deployment_the_lower_priority_yields() {
    let scenario = |gang: u32, low: u32| {
        format!(
            "node n1 gpu=5
             queue a preemption=LowerPriority request=all
             queuejob a/train min=2 replicas=2 gpu=1 created=10 priority={gang} parallelism=2 admitted=10
             owner a/low replicas=3 gpu=1 priority={low} created=20 pods=low-1..3 node=n1 started=30+10
             pod a/t1..2 gpu=1 node=n1 started=10 owner=train gang=queuejob/train min=2 priority={gang}
             owner a/high replicas=2 gpu=1 priority=9 created=30"
        )
    };
    explains(
        &scenario(5, 1),
        &expect![[r#"
            a/train: 2 slots, Running (Admitted)
            scale a/low from 3 to 1 of 3 for ReplicaSet high, without low-3 low-2: Outranked
        "#]],
    );
    explains(
        &scenario(1, 5),
        &expect![[r#"
            a/train: 2 slots, Running (Admitted)
            scale a/low from 3 to 1 of 3 for ReplicaSet high, without low-3 low-2: Outranked
            later scale a/low from 1 to 3: Restored
        "#]],
    );
}

/// What a gang has above its minimum is lent: it goes before a workload of a lower priority does.
#[test]
fn a_gang_gives_its_surplus_before_a_deployment_yields() {
    explains(
        "node n1 gpu=6
         queue a preemption=LowerPriority request=all
         queuejob a/train min=2 replicas=3 gpu=1 created=10 priority=5 parallelism=3 admitted=10
         owner a/low replicas=3 gpu=1 priority=1 created=20 pods=low-1..3 node=n1 started=30+10
         pod a/t1..2 gpu=1 node=n1 started=10 owner=train gang=queuejob/train min=2 priority=5
         pod a/t3 gpu=1 node=n1 started=20 owner=train gang=queuejob/train min=2 priority=5
         owner a/high replicas=2 gpu=1 priority=9 created=30",
        &expect![[r#"
            a/train: 2 slots, Running (Admitted)
            scale a/low from 3 to 2 of 3 for ReplicaSet high, without low-3: Outranked
        "#]],
    );
}

/// A gang asks as a whole, and Deployments of a lower priority yield to it.
#[test]
fn a_deployment_yields_to_the_minimum_of_a_gang() {
    explains(
        "node n1..2 gpu=2
         queue a preemption=LowerPriority request=all
         owner a/low replicas=4 gpu=1 priority=1 created=20
         pod a/low-1..2 gpu=1 node=n1 started=10+10 owner=low priority=1
         pod a/low-3..4 gpu=1 node=n2 started=30+10 owner=low priority=1
         queuejob a/train min=2 replicas=4 gpu=1 created=30 priority=5",
        &expect![[r#"
            a/train: 2 slots, 0 now, Waiting (WaitingForQuota)
            scale a/low from 4 to 2 of 4 for QueueJob train, without low-4 low-3: Outranked
        "#]],
    );
}

/// A workload that yielded is an ask like any other once its pods are gone (S-MCM §Selecting preemptors).
#[test]
fn a_preempted_workload_preempts_in_a_later_cycle() {
    explains(
        "node n1 gpu=2 labels=zone:a
         node n2 gpu=2 labels=zone:b
         queue a preemption=LowerPriority request=all
         owner a/low replicas=2 gpu=1 priority=1 created=1 pods=low-1..2 node=n2 started=30+10
         owner a/middle replicas=2 gpu=1 priority=5 created=2 pods=middle-1..2 node=n1 started=10+10
         owner a/high replicas=1 gpu=1 priority=9 selector=zone:a created=3",
        &expect![[r#"
            scale a/middle from 2 to 1 of 2 for ReplicaSet high, without middle-2: Outranked
            later scale a/low from 2 to 1 of 2 for ReplicaSet middle, without low-2: Outranked
            later scale a/middle from 1 to 2: Restored
        "#]],
    );
}

#[test]
fn a_lowered_workload_gets_its_size_back_although_no_workload_yields_any_more() {
    explains(
        "node n1 gpu=2
         queue a request=all
         owner a/low replicas=1 former=2 gpu=1 priority=1 pods=low-1 node=n1 started=10",
        &expect![[r#"
            1 pods of ReplicaSet low, 1gpu each: GaveWay
            scale a/low from 1 to 2: Restored
        "#]],
    );
}

/// For two GPUs on one node two pods have to go, of which one is removed before the other.
#[test]
fn a_pod_that_goes_with_another_one_counts_once() {
    yields(
        "owner a/low kind=StatefulSet replicas=3 gpu=1 priority=0 created=1 pods=low-0 node=n1 started=38
         owner a/high replicas=2 gpu=2 priority=1 pods=high-0 node=n0 started=24
         pod a/low-1..2 gpu=1 node=n0 started=39+-22 owner=low priority=0",
        &["low from 3 to 1 of 3 for ReplicaSet high, without low-2 low-1"],
    );
}

/// A ReplicaSet is marked in one cycle and scaled in the next one, when pods of a Job, which needs no marks, leave already.
#[test]
fn a_choice_that_is_half_carried_out_goes_on() {
    let lines = |cost: &str| {
        format!(
            "owner a/job kind=Job former=2 gpu=1 priority=1 pods=job-1 node=n1 started=10
             pod a/job-2 gpu=1 node=n1 started=20 owner=job priority=1 terminating
             owner a/set replicas=2 gpu=1 priority=1 pods=set-1 node=n1 started=10
             pod a/set-2 gpu=1 node=n1 started=20 owner=set priority=1 {cost}; owner a/high replicas=2 gpu=1 priority=9"
        )
    };
    yields(&lines("cost=-2147483648"), &["set from 2 to 1 of 2 for ReplicaSet high, without set-2"]);
    // What is chosen anew waits until these are gone.
    yields(&lines(""), &[]);
}

/// Two pods of `web` would go first, then `train` for more than is lacking, and `yielded` have the rest.
#[test]
fn what_a_larger_victim_leaves_keeps_others_before_an_equal_gets_it() {
    explains(
        "node n1 gpu=5
         node n2 gpu=5
         queue a preemption=LowerPriority
         owner a/web replicas=3 gpu=1 priority=2 created=1
         pod a/web-1 gpu=1 node=n1 started=10 owner=web priority=2
         pod a/web-2..3 gpu=1 node=n2 started=20 owner=web priority=2
         owner a/train kind=Job replicas=1 gpu=4 priority=0 created=2 pods=train-1 node=n1 started=30
         owner a/yielded kind=Job replicas=1 former=3 gpu=1 priority=2 created=3 pods=yielded-1 node=n2 started=40
         owner a/db kind=StatefulSet replicas=3 gpu=2 priority=3 created=4 pods=db-0 node=n2 started=50",
        &expect![[r#"
            2 pods of Job yielded, 1gpu each: GaveWay
            scale a/train from 1 to 0 of 1 for StatefulSet db, without train-1: Outranked
        "#]],
    );
}
