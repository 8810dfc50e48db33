//! Slots of QueueJobs as stories: gangs first, then dominant shares (S-GANG §Use Case).

use quotient_engine::amounts::{Amounts, Quantity, Resource};
use quotient_engine::slots::{CompetingPods, GangClaim, GangSlots, SlotRoom, TaskClaim, divide};
use quotient_engine::time::Timestamp;

/// Checks how many slots each job of `story` gets. It tells of `room cpu=4`, `whole cpu=8 gpu=2` (the room, if left out), then
/// of jobs, their further tasks, and refused pods of others:
///
/// ```text
/// job a replicas=4 min=2 running=4 admitted priority=5 created=10 cpu=1
/// task replicas=2 min=1 cpu=2
/// others web pods=3 cpu=1
/// ```
#[track_caller]
fn divides(story: &str, expected: &str) {
    let (mut room, mut whole) = (Amounts::new(), None);
    let (mut claims, mut competing): (Vec<GangClaim>, Vec<CompetingPods>) = (Vec::new(), Vec::new());
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (kind, rest) = line.split_once(' ').unwrap();
        let words: Vec<(&str, &str)> =
            rest.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
        let value = |name: &str| words.iter().find(|(word, _)| *word == name).map(|(_, value)| *value);
        let number = |name: &str| value(name).map(|text| text.parse::<u32>().unwrap());
        let created = Timestamp::from_seconds(number("created").unwrap_or_default().into());
        let priority = value("priority").map_or(0, |text| text.parse().unwrap());
        let requests = requests(&words);
        let most = number("replicas").unwrap_or(1);
        let running = number("running").unwrap_or(0);
        let task = TaskClaim { requests: requests.clone(), most, running, ..TaskClaim::default() };
        match kind {
            "room" => room = requests,
            "whole" => whole = Some(requests),
            "job" => claims.push(GangClaim {
                name: words.first().unwrap().0.into(),
                priority,
                created,
                floor: number("min").unwrap_or(most),
                admitted: value("admitted").is_some(),
                intact: value("broken").is_none(),
                tasks: vec![task],
                ..GangClaim::default()
            }),
            "task" => {
                let tasks = &mut claims.last_mut().unwrap().tasks;
                tasks.push(TaskClaim { floor: number("min").unwrap_or(0), ..task });
            }
            "others" => competing.push(CompetingPods {
                name: words.first().unwrap().0.into(),
                priority,
                created,
                requests,
                pods: number("pods").unwrap_or(1),
            }),
            other => panic!("unknown kind {other} in: {line}"),
        }
    }
    let whole = whole.unwrap_or_else(|| room.clone());
    let resources: Vec<Resource> = whole.resources().cloned().collect();
    let room = SlotRoom { lasting: room.clone(), all: room };
    let slots = divide(&room, &claims, &competing, &whole, &resources);
    let printed: Vec<String> =
        claims.iter().zip(&slots).map(|(claim, slots)| describe(claim, slots)).collect();
    assert_eq!(printed.join(", "), expected, "{story}");
}

fn requests(words: &[(&str, &str)]) -> Amounts {
    let known = [
        ("cpu", Resource::Cpu),
        ("memory", Resource::Memory),
        ("gpu", Resource::from_name("nvidia.com/gpu")),
    ];
    known
        .into_iter()
        .filter_map(|(name, resource)| {
            let text = words.iter().find(|(word, _)| *word == name)?.1;
            let amount = resource.rounded_up(text.parse::<Quantity>().unwrap());
            Some((resource, amount))
        })
        .collect()
}

fn describe(claim: &GangClaim, slots: &GangSlots) -> String {
    let counts: Vec<String> = slots.tasks.iter().map(u32::to_string).collect();
    let waits = if slots.fits { "" } else { " (waits)" };
    format!("{}: {}{waits}", claim.name, counts.join("+"))
}

// ---- the seed's tables ----------------------------------------------------------------------------------

/// The first job runs with four pods when the second one comes.
#[test]
fn the_seeds_tables() {
    let table = |first: &str, second: &str, expected: &str| {
        let first = format!("job job-01 {first} cpu=1 running=4 admitted");
        divides(&format!("room cpu=4\n{first}\njob job-02 {second} cpu=1 created=10"), expected);
    };
    // Gang, then balance.
    table("replicas=4 min=2", "replicas=4 min=1", "job-01: 2, job-02: 2");
    // The balance takes nothing of a floor.
    table("replicas=4 min=3", "replicas=4 min=1", "job-01: 3, job-02: 1");
    // The gang decides alone.
    table("replicas=4 min=2", "replicas=4 min=2", "job-01: 2, job-02: 2");
    // Two of job-01's ten have succeeded: of its minAvailable of 3 one is left to run.
    table("replicas=8 min=1", "replicas=10 min=2", "job-01: 2, job-02: 2");
}

// ---- floors ---------------------------------------------------------------------------------------------

#[test]
fn a_gang_of_eight_with_room_for_seven_holds_nothing() {
    divides(
        "room cpu=7
         job gang replicas=8 cpu=1
         job other replicas=9 min=1 cpu=1 created=10",
        "gang: 0 (waits), other: 7",
    );
}

#[test]
fn two_gangs_of_two_thirds_run_one_after_the_other() {
    divides(
        "room cpu=6
         job one replicas=4 cpu=1
         job two replicas=4 cpu=1 created=10",
        "one: 4, two: 0 (waits)",
    );
}

#[test]
fn priority_lets_in_first_and_never_displaces_a_floor() {
    for (low, expected) in
        [("running=3 admitted", "low: 3, high: 0 (waits)"), ("", "low: 0 (waits), high: 3")]
    {
        let story = format!(
            "room cpu=4
             job low replicas=3 cpu=1 {low}
             job high replicas=3 cpu=1 priority=9 created=10"
        );
        divides(&story, expected);
    }
}

#[test]
fn a_room_that_has_shrunk_below_all_floors_keeps_the_more_important() {
    divides(
        "room cpu=3
         job old replicas=2 cpu=1 running=2 admitted
         job important replicas=3 cpu=1 running=3 admitted priority=9 created=10",
        "old: 0 (waits), important: 3",
    );
}

/// The launcher is in the floor by its own minAvailable, and the rest of it is filled up in the order of the tasks.
#[test]
fn every_task_has_what_the_gang_cannot_do_without() {
    for (room, expected) in [(6, "train: 4+1"), (4, "train: 2+1"), (3, "train: 0+0 (waits)")] {
        let story = format!(
            "room cpu={room}
             job train replicas=4 min=3 cpu=1
             task replicas=1 min=1 cpu=2"
        );
        divides(&story, expected);
    }
}

// ---- dominant shares ------------------------------------------------------------------------------------

/// The textbook's example: 9 cpu and 18Gi; one asks for 1 cpu and 4Gi a pod, the other for 3 cpu and 1Gi.
#[test]
fn what_is_left_goes_to_the_lowest_dominant_share() {
    divides(
        "room cpu=9 memory=18Gi
         job a replicas=9 min=1 cpu=1 memory=4Gi
         job b replicas=9 min=1 cpu=3 memory=1Gi created=10",
        "a: 3, b: 2",
    );
}

#[test]
fn ties_stay_with_who_runs() {
    for (first, second) in [(3, 2), (2, 3)] {
        let story = format!(
            "room cpu=5
             job a replicas=5 min=1 cpu=1 running={first} admitted
             job b replicas=5 min=1 cpu=1 created=10 running={second} admitted"
        );
        divides(&story, &format!("a: {first}, b: {second}"));
    }
}

#[test]
fn a_job_without_a_pod_that_fits_blocks_no_other() {
    divides(
        "room cpu=5
         whole cpu=10
         job large replicas=4 min=1 cpu=3
         job small replicas=4 min=1 cpu=1 created=10",
        "large: 1, small: 2",
    );
}

#[test]
fn what_is_not_governed_does_not_count() {
    divides(
        "room cpu=2 gpu=1
         whole gpu=1
         job a replicas=2 min=1 gpu=1 cpu=8
         job free replicas=3 min=1 cpu=8 created=10",
        "a: 1, free: 3",
    );
}

// ---- others in the queue --------------------------------------------------------------------------------

/// Of a gang that waits they are the older ones, so that the two cpu which are free are theirs, and the two above the floor. An
/// older gang gets its floor, of what runs above a floor if need be, and what is then left is theirs.
#[test]
fn refused_pods_of_others_come_in_their_turn_and_take_nothing_of_a_floor() {
    for (created, expected) in [(20, "runs: 2, waits: 0 (waits)"), (5, "runs: 2, waits: 3")] {
        let story = format!(
            "room cpu=6
             job runs replicas=6 min=2 cpu=1 running=4 admitted
             job waits replicas=3 cpu=1 created={created}
             others web pods=5 cpu=1 created=10"
        );
        divides(&story, expected);
    }
}

/// Its whole floor has succeeded: with others that need more than there is, it still comes to its end, pod by pod.
#[test]
fn a_gang_that_needs_nothing_more_has_its_turn_for_one_pod() {
    for (created, expected) in [(5, "late: 1, waits: 2"), (20, "late: 0, waits: 2")] {
        let story = format!(
            "room cpu=3
             job late replicas=5 min=0 cpu=1 running=3 admitted created={created}
             job waits replicas=2 cpu=1 created=10
             others web pods=1 cpu=1 created=15"
        );
        divides(&story, expected);
    }
}
