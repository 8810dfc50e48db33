//! Gangs and owners: which pods are surplus, and which go together or not at all (S-GANG, S-MCM).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::candidate::{Bond, Candidate, Together};
use super::minimums::GangMinimums;
use super::order::{class, rank, turn};
use crate::names::{GangName, OwnerUid};
use crate::plan::Stage;
use crate::snapshot::{Owner, Pod, QueueTask};
use crate::total::total;

/// Puts every candidate into the stage in which its gang, or its owner, leaves it.
///
/// Running members above what the gang needs are surplus, those that would go first; the members of a gang that
/// has too few to be of use count as not yet running; so do pods above the replicas that their owner wants count
/// as surplus. Returns, in the order of their names, what each gang in use cannot do without, and its other members.
pub(super) fn sort_into_stages<'a>(
    candidates: &mut [Candidate<'a>],
    owners: &[Owner],
    minimums: &GangMinimums<'_>,
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut gangs: BTreeMap<&'a GangName, (usize, Vec<usize>)> = BTreeMap::new();
    let mut owned: BTreeMap<&'a OwnerUid, Vec<usize>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let pod: &'a Pod = candidate.pod;
        if let Some(gang) = pod.gang() {
            let (needed, members) = gangs.entry(&gang.name).or_default();
            *needed = (*needed).max(usize::try_from(minimums.left(gang)).unwrap_or(usize::MAX));
            members.push(at);
        } else if let Some(owner) = pod.owner()
            && !owners.is_empty()
        {
            owned.entry(owner).or_default().push(at);
        }
    }
    let mut floors = Vec::new();
    for (name, (needed, members)) in gangs {
        let job = minimums.queue_jobs.get(name);
        let runs = |at: &usize| candidates.get(*at).is_some_and(|member| member.stage == Stage::Committed);
        let mut running: Vec<usize> = members.iter().copied().filter(runs).collect();
        by_rank(candidates, &mut running);
        let tasks = job.map(|job| job.tasks.as_slice()).unwrap_or_default();
        let Some((floor, surplus)) = floor_and_surplus(candidates, &running, needed, tasks) else {
            set_stage(candidates, &members, Stage::NotRunning);
            continue;
        };
        set_stage(candidates, &surplus, Stage::Surplus);
        if !floor.is_empty() {
            let in_floor: BTreeSet<usize> = floor.iter().copied().collect();
            let others = members.into_iter().filter(|at| !in_floor.contains(at)).collect();
            floors.push((floor, others));
        }
    }
    for owner in owners {
        let Some(members) = owned.get_mut(&owner.uid) else { continue };
        let wanted = usize::try_from(owner.wanted).unwrap_or(usize::MAX);
        if members.len() > wanted {
            by_rank(candidates, members);
            members.truncate(members.len().saturating_sub(wanted));
            members.retain(|at| candidates.get(*at).is_some_and(|pod| pod.stage == Stage::Committed));
            set_stage(candidates, members, Stage::Surplus);
        }
    }
    floors
}

/// What a gang cannot do without of its `running` members, and the others, each first to go first; none if it has too few to
/// be of use. Of every task stay as many as that task needs, then of all of them those that go last.
fn floor_and_surplus(
    candidates: &[Candidate<'_>],
    running: &[usize],
    needed: usize,
    tasks: &[QueueTask],
) -> Option<(Vec<usize>, Vec<usize>)> {
    let owner = |at: usize| candidates.get(at).and_then(|member| member.pod.owner());
    let mut stays = BTreeSet::new();
    for task in tasks {
        let its = running.iter().rev().copied().filter(|at| owner(*at) == Some(&task.owner));
        let needed = usize::try_from(task.floor()).unwrap_or(usize::MAX);
        let kept: Vec<usize> = its.take(needed).collect();
        (kept.len() == needed).then_some(())?;
        stays.extend(kept);
    }
    let others = running.iter().rev().copied().filter(|at| !stays.contains(at));
    let filled: Vec<usize> = others.take(needed.saturating_sub(stays.len())).collect();
    stays.extend(filled);
    (stays.len() >= needed).then_some(())?;
    Some(running.iter().copied().partition(|at| stays.contains(at)))
}

fn set_stage(candidates: &mut [Candidate<'_>], members: &[usize], stage: Stage) {
    for at in members {
        if let Some(member) = candidates.get_mut(*at) {
            member.stage = stage;
        }
    }
}

fn by_rank(candidates: &[Candidate<'_>], members: &mut [usize]) {
    members.sort_by_key(|at| candidates.get(*at).map(|member| (class(member), turn(member.pod))));
}

/// The candidate that takes the members `floor` at once, and the `others` of their gang with them.
///
/// It is protected if one of them is, and of the highest priority among them.
pub(super) fn as_a_whole<'a>(
    candidates: &[Candidate<'a>],
    floor: &[usize],
    others: &[usize],
) -> Option<Candidate<'a>> {
    let all_at = |places: &[usize]| -> Vec<&Candidate<'a>> {
        places.iter().filter_map(|at| candidates.get(*at)).collect()
    };
    let members = all_at(floor);
    let last = *members.last()?;
    let highest = members.iter().map(|member| member.pod.priority).max()?;
    let head = members.iter().rev().find(|member| member.pod.priority == highest).copied().unwrap_or(last);
    let mut surplus = all_at(others);
    surplus.sort_by(|a, b| rank(a, b));
    let together = Together {
        bond: Bond::Gang,
        pods: members.iter().map(|member| member.pod).collect(),
        followers: (surplus.iter().map(|candidate| candidate.pod).collect(), surplus.len()),
        requests: total(members.iter().map(|member| member.pod.requests())),
    };
    Some(Candidate {
        protected: members.iter().any(|member| member.protected),
        stage: Stage::Committed,
        together: Some(Rc::new(together)),
        ..head.clone()
    })
}
