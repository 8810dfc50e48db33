//! The laws of slots, over random gangs.

use std::time::Duration;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::slots::{CompetingPods, GangClaim, GangSlots, SlotRoom, TaskClaim, divide};
use quotient_engine::time::Timestamp;

use crate::effort;

const RESOURCES: [Resource; 2] = [Resource::Cpu, Resource::Memory];

fn amounts(cpu: u32, memory: u32) -> Amounts {
    [(Resource::Cpu, Amount::new(cpu.into())), (Resource::Memory, Amount::new(memory.into()))]
        .into_iter()
        .collect()
}

fn task() -> impl Strategy<Value = TaskClaim> {
    (0u32..4, 0u32..4, 0u32..7, prop_oneof![2 => Just(0u32), 1 => 0u32..4], 0u32..7).prop_map(
        |(cpu, memory, most, floor, running)| TaskClaim {
            requests: amounts(cpu, memory),
            most,
            floor,
            running,
            ..TaskClaim::default()
        },
    )
}

fn claims() -> impl Strategy<Value = Vec<GangClaim>> {
    let claim = (0u32..10, any::<bool>(), 0i32..3, 0i64..4, proptest::collection::vec(task(), 1..3));
    proptest::collection::vec(claim, 1..7).prop_map(|all| {
        let named = all.into_iter().enumerate();
        named
            .map(|(at, (floor, admitted, priority, created, tasks))| GangClaim {
                name: format!("job-{at}").into(),
                priority,
                created: Timestamp::from_seconds(created),
                floor,
                admitted,
                intact: true,
                tasks,
                ..GangClaim::default()
            })
            .collect()
    })
}

fn competing() -> impl Strategy<Value = Vec<CompetingPods>> {
    let competing_pods = (0u32..3, 1u32..4, 0u32..4, 0i32..3, 0i64..4);
    proptest::collection::vec(competing_pods, 0..3).prop_map(|all| {
        let named = all.into_iter().enumerate();
        named
            .map(|(at, (cpu, memory, pods, priority, created))| CompetingPods {
                name: format!("other-{at}").into(),
                priority,
                created: Timestamp::from_seconds(created),
                requests: amounts(cpu, memory),
                pods,
            })
            .collect()
    })
}

/// A room of which all stays.
fn lasting(room: Amounts) -> SlotRoom {
    SlotRoom { lasting: room.clone(), all: room }
}

fn divided(room: &Amounts, claims: &[GangClaim], competing: &[CompetingPods]) -> Vec<GangSlots> {
    divide(&lasting(room.clone()), claims, competing, &amounts(24, 24), &RESOURCES)
}

fn requested(claims: &[GangClaim], slots: &[GangSlots]) -> Amounts {
    let mut all = Amounts::new();
    for (claim, slots) in claims.iter().zip(slots) {
        for (task, count) in claim.tasks.iter().zip(&slots.tasks) {
            all.add_all(&task.requests.times(*count));
        }
    }
    all
}

/// The gangs once `slots` are what runs.
fn run(claims: &[GangClaim], slots: &[GangSlots]) -> Vec<GangClaim> {
    let mut claims = claims.to_vec();
    for (claim, slots) in claims.iter_mut().zip(slots) {
        claim.admitted = slots.fits;
        claim.tasks.iter_mut().zip(&slots.tasks).for_each(|(task, count)| task.running = *count);
    }
    claims
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn nothing_is_given_that_is_not_there(room in (0u32..24, 0u32..24), claims in claims(), competing in competing()) {
        let room = amounts(room.0, room.1);
        let slots = divided(&room, &claims, &competing);
        prop_assert!(requested(&claims, &slots).fits_in(&room));
    }

    #[test]
    fn a_gang_has_its_floor_or_nothing(room in (0u32..24, 0u32..24), claims in claims(), competing in competing()) {
        for (claim, slots) in claims.iter().zip(divided(&amounts(room.0, room.1), &claims, &competing)) {
            let most: u32 = claim.tasks.iter().map(|task| task.most).sum();
            for (task, count) in claim.tasks.iter().zip(&slots.tasks) {
                prop_assert!(*count <= task.most);
                prop_assert!(!slots.fits || *count >= task.floor.min(task.most));
            }
            let least = if slots.fits { claim.floor.min(most) } else { 0 };
            prop_assert!(slots.total() >= least);
            prop_assert!(slots.fits || slots.total() == 0);
        }
    }

    #[test]
    fn the_order_makes_no_difference(room in (0u32..24, 0u32..24), claims in claims(), competing in competing(), turn in 0usize..7) {
        let room = amounts(room.0, room.1);
        let slots = divided(&room, &claims, &competing);
        let mut turned = claims.clone();
        let turn = turn % claims.len();
        turned.rotate_left(turn);
        let backwards: Vec<CompetingPods> = competing.into_iter().rev().collect();
        let mut again = divided(&room, &turned, &backwards);
        again.rotate_right(turn);
        prop_assert_eq!(slots, again);
    }

    #[test]
    fn dividing_again_changes_nothing(room in (0u32..24, 0u32..24), claims in claims(), competing in competing()) {
        let room = amounts(room.0, room.1);
        let slots = divided(&room, &claims, &competing);
        let running = run(&claims, &slots);
        prop_assert_eq!(&divided(&room, &running, &competing), &slots);
    }

    #[test]
    fn nothing_is_left_that_a_job_could_use(room in (0u32..24, 0u32..24), claims in claims()) {
        let room = amounts(room.0, room.1);
        let slots = divided(&room, &claims, &[]);
        let mut left = room;
        left.subtract_all(&requested(&claims, &slots));
        for (claim, slots) in claims.iter().zip(&slots).filter(|(_, slots)| slots.fits) {
            for (task, count) in claim.tasks.iter().zip(&slots.tasks) {
                prop_assert!(*count == task.most || !task.requests.fits_in(&left), "{claim:?} has {count}, {left} is left");
            }
        }
    }

    /// With pods that are all alike: a gang that has two more than another one that wants more has them as its floor.
    #[test]
    fn what_is_above_floors_is_even(
        room in 0u32..24,
        gangs in proptest::collection::vec((1u32..9, 1u32..9, 0u32..9, any::<bool>()), 1..7),
    ) {
        let claims: Vec<GangClaim> = gangs.iter().enumerate().map(|(at, (most, floor, running, admitted))| GangClaim {
            name: format!("job-{at}").into(),
            floor: *floor,
            admitted: *admitted,
            tasks: vec![TaskClaim { requests: amounts(1, 0), most: *most, running: *running, ..TaskClaim::default() }],
            ..GangClaim::default()
        }).collect();
        let slots = divided(&amounts(room, 0), &claims, &[]);
        for (rich, has) in claims.iter().zip(&slots) {
            for (poor, lacks) in claims.iter().zip(&slots).filter(|(_, slots)| slots.fits) {
                let wants_more = lacks.total() < poor.tasks[0].most;
                let floor = rich.floor.min(rich.tasks[0].most);
                prop_assert!(!wants_more || has.total() <= floor.max(lacks.total() + 1));
            }
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "only optimized code has a speed: make speed")]
fn a_thousand_queue_jobs_are_divided_in_less_than_5_ms() {
    let claims: Vec<GangClaim> = (0..1000u32)
        .map(|at| GangClaim {
            name: format!("job-{at}").into(),
            created: Timestamp::from_seconds((at * 7 % 1000).into()),
            floor: 1 + at % 4,
            admitted: at % 3 == 0,
            intact: true,
            priority: i32::try_from(at % 5).unwrap(),
            tasks: vec![
                TaskClaim {
                    requests: amounts(1 + at % 3, 2),
                    most: 8,
                    running: at % 5,
                    ..TaskClaim::default()
                },
                TaskClaim {
                    requests: amounts(2, 1 + at % 5),
                    most: 2,
                    floor: 1,
                    running: at % 2,
                    ..TaskClaim::default()
                },
            ],
            ..GangClaim::default()
        })
        .collect();
    let room = lasting(amounts(9000, 9000));
    let one = || {
        let begun = std::time::Instant::now();
        let slots = divide(&room, &claims, &[], &amounts(20_000, 20_000), &RESOURCES);
        assert!(slots.iter().map(GangSlots::total).sum::<u32>() > 3000);
        begun.elapsed()
    };
    let best = (0..20).map(|_| one()).min().unwrap();
    assert!(best < Duration::from_millis(5), "{best:?}");
}
