//! Gangs that exist in part as stories: which one is completed, which one yields, and when.

use expect_test::expect;

use crate::story::{decides, plays};

/// Room for four pods, two gangs of three Jobs' pods with two pods each.
const HALVES: &str = "node n1 cpu=4 memory=4Gi
     queue a
     owner a/x kind=Job replicas=3 cpu=1 memory=1Gi gang=x min=3 created=10
     owner a/y kind=Job replicas=3 cpu=1 memory=1Gi gang=y min=3 created=20
     pod a/x1..2 cpu=1 memory=1Gi node=n1 started=990 created=980+1 owner=x gang=x min=3
     pod a/y1..2 cpu=1 memory=1Gi node=n1 started=990 created=982+1 owner=y gang=y min=3";

#[test]
fn after_a_minute_the_younger_gang_yields_and_later_comes_back_whole() {
    plays(
        &format!(
            "{HALVES}
             then after=60
             then
             delete owner a/x
             delete pod a/x1..2"
        ),
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 3c 3Gi, used 4c 4Gi, target 3c 3Gi
                1 pods of Job x, 1c 1Gi each: GangIncomplete
                1 pods of Job y, 1c 1Gi each: GangIncomplete
            then, 60 s later
            step 2: capacity 4c 4Gi
              scale a/y from 3 to 0 of 3 for Job x, without y1 y2: GangIncomplete
              started a/x-r1062-0
            step 3: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 3c 3Gi, target 3c 3Gi
                3 pods of Job y, 1c 1Gi each: GaveWay
            then
            step 4: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 1c 1Gi
                3 pods of Job y, 1c 1Gi each: GaveWay
              scale a/y from 0 to 3: Restored
              started a/y-r1064-0..2
            step 5: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 4c 4Gi
        "#]],
    );
}

#[test]
fn the_higher_priority_is_completed_first() {
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a
         owner a/x kind=Job replicas=3 cpu=1 memory=1Gi gang=x min=3 created=10 pods=x1..2 node=n1 created=100+1
         owner a/y kind=Job replicas=3 cpu=1 memory=1Gi gang=y min=3 created=20 priority=5 pods=y1..2 node=n1 created=102+1
         quota a cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 3c 3Gi, used 4c 4Gi, target 3c 3Gi
                1 pods of Job y, 1c 1Gi each: GangIncomplete
                1 pods of Job x, 1c 1Gi each: GangIncomplete
              scale a/x from 3 to 0 of 3 for Job y, without x1 x2: GangIncomplete
              lower a
        "#]],
    );
}

#[test]
fn the_fewest_gangs_yield_and_the_last_ones_first() {
    decides(
        "node n1 cpu=7 memory=7Gi
         queue a
         owner a/v kind=Job replicas=4 cpu=1 memory=1Gi gang=v min=4 created=10 pods=v1..2 node=n1 created=100+1
         owner a/x kind=Job replicas=3 cpu=1 memory=1Gi gang=x min=3 created=20 pods=x1..2 node=n1 created=102
         owner a/y kind=Job replicas=3 cpu=1 memory=1Gi gang=y min=3 created=30 pods=y1 node=n1 created=103
         owner a/z kind=Job replicas=3 cpu=1 memory=1Gi gang=z min=3 created=40 pods=z1..2 node=n1 created=104+1
         quota a cpu=7 memory=7Gi",
        &expect![[r#"
            step 1: capacity 7c 7Gi
              a: deserved 7c 7Gi, allocated 7c 7Gi, used 7c 7Gi
                2 pods of Job v, 1c 1Gi each: GangIncomplete
                1 pods of Job x, 1c 1Gi each: GangIncomplete
                2 pods of Job y, 1c 1Gi each: GangIncomplete
                1 pods of Job z, 1c 1Gi each: GangIncomplete
              scale a/z from 3 to 0 of 3 for Job v, without z1 z2: GangIncomplete
        "#]],
    );
}

#[test]
fn what_cannot_be_held_is_told_and_left_alone() {
    for (line, why) in
        [("owner a/y kind=ReplicaSet", "no Job"), ("owner a/y kind=Job leftAlone=OptedOut", "opted out")]
    {
        let scenario = HALVES
            .replace("owner a/x kind=Job", "owner a/x kind=ReplicaSet")
            .replace("owner a/y kind=Job", line)
            .replace("created=9", "created=1");
        let printed = crate::story::decide(&scenario);
        assert!(
            printed.contains("x, 1c 1Gi each: GangIncomplete")
                && printed.contains("y, 1c 1Gi each: GangIncomplete"),
            "{why}: {printed}"
        );
        assert!(!printed.contains("scale"), "{why}: {printed}");
    }
    for queue in ["queue a mode=Quota", "queue a eviction=Never", "queue a paused=99999"] {
        let printed =
            crate::story::decide(&HALVES.replace("queue a", queue).replace("created=9", "created=1"));
        assert!(printed.contains("GangIncomplete") && !printed.contains("scale"), "{queue}: {printed}");
    }
}

#[test]
fn a_gang_behind_others_that_run_is_not_incomplete_because_of_one() {
    // One gang that is complete, or single pods, end some time. A gang that has not begun uses no room.
    for beside in [
        "owner a/y kind=Job replicas=2 cpu=1 memory=1Gi gang=y min=2 created=20",
        "owner a/y kind=Job replicas=3 cpu=1 memory=1Gi created=20",
        "owner a/y kind=Job replicas=2 cpu=1 memory=1Gi created=20\n owner a/z kind=Job replicas=3 cpu=1 memory=1Gi gang=z min=3 created=20",
    ] {
        let lines: Vec<&str> = HALVES.lines().filter(|line| !line.contains("owner a/y")).collect();
        let mut scenario = lines.join("\n").replace("created=9", "created=1");
        scenario = if beside.contains("gang=y") {
            scenario.replace("gang=y min=3", "gang=y min=2")
        } else {
            scenario.replace("owner=y gang=y min=3", "owner=y")
        };
        let printed = crate::story::decide(&format!("{scenario}\n{beside}\nquota a cpu=4 memory=4Gi"));
        assert!(!printed.contains("GangIncomplete") && !printed.contains("scale"), "{beside}: {printed}");
    }
}

#[test]
fn of_a_gang_no_more_is_restored_than_has_room() {
    // Two of the three that it lacks to its minimum were refused, so one of the two that are held back completes it.
    decides(
        "node n1 cpu=4 memory=4Gi
         queue a
         owner a/x kind=Job replicas=3 former=5 cpu=1 memory=1Gi gang=x min=4 created=10 pods=x1 node=n1 started=100 created=100
         quota a cpu=4 memory=4Gi",
        &expect![[r#"
            step 1: capacity 4c 4Gi
              a: deserved 4c 4Gi, allocated 4c 4Gi, used 1c 1Gi
                4 pods of Job x, 1c 1Gi each: RoomAvailable
              scale a/x from 3 to 4 of 5: Restored
        "#]],
    );
}

/// The pods of `y` count in no target, as the gang does not fit beside `x`. The Job `x` goes on nevertheless when its pods end.
#[test]
fn a_gang_in_part_keeps_no_free_room_from_a_job_that_goes_on() {
    plays(
        "node n1 cpu=10 memory=10Gi
         queue a
         owner a/x kind=Job replicas=4 cpu=1 memory=1Gi gang=x min=4 created=10
         owner a/y kind=Job replicas=8 cpu=1 memory=1Gi gang=y min=8 created=20
         pod a/x1..4 cpu=1 memory=1Gi node=n1 started=990 created=982 owner=x gang=x min=4
         pod a/y1..6 cpu=1 memory=1Gi node=n1 started=990 created=982 owner=y gang=y min=8
         then
         delete pod a/x1..4
         then after=600",
        &expect![[r#"
            step 1: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 4c 4Gi, used 10c 10Gi, target 4c 4Gi
                2 pods of Job y, 1c 1Gi each: ShareInUse
            then
            step 2: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 8c 8704Mi, used 6c 6Gi, target 4c 4Gi
                4 pods of Job x, 1c 1Gi each: ShareInUse
                2 pods of Job y, 1c 1Gi each: RoomAvailable
              started a/x-r1002-0..1
            step 3: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 10c 9472Mi, used 8c 8Gi, target 4c 4Gi
                2 pods of Job x, 1c 1Gi each: GangIncomplete
                2 pods of Job y, 1c 1Gi each: GangIncomplete
              started a/x-r1003-0
            step 4: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 10c 9856Mi, used 9c 9Gi, target 4c 4Gi
                1 pods of Job x, 1c 1Gi each: GangIncomplete
                2 pods of Job y, 1c 1Gi each: GangIncomplete
            then, 600 s later
            step 5: capacity 10c 10Gi
              scale a/y from 8 to 0 of 8 for Job x, without y1 y2 y3 y4 y5 y6: GangIncomplete
              started a/x-r1605-0
            step 6: capacity 10c 10Gi
              a: deserved 10c 10Gi, allocated 6c 9Gi, used 4c 4Gi, target 4c 4Gi
                8 pods of Job y, 1c 1Gi each: GaveWay
        "#]],
    );
}
