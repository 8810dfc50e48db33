//! A cluster in the words of the story tests, so that what fails here can be told there.

use std::fmt::Write as _;

use quotient_engine::amounts::{Amount, Bounds, Resource};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{
    Admission, EvictionPolicy, GangPolicy, LastReplica, Mode, Owner, Phase, Pod, Preemption, Queue,
    ReclaimFrom, Shape, Snapshot,
};

use super::Event;
use crate::story;

/// The scenario that describes `snapshot`.
pub(crate) fn describe(snapshot: &Snapshot) -> String {
    let mut printed = format!("now {}\n", seconds(snapshot.now));
    if snapshot.settings.mode != Mode::Full {
        line(&mut printed, &format!("settings mode={}", snapshot.settings.mode));
    }
    for (name, node) in &snapshot.nodes {
        let labels: Vec<String> = node.labels.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        let cordoned = if node.counts { "" } else { " cordoned" };
        line(
            &mut printed,
            &format!("node {name}{} labels={}{cordoned}", words(node.allocatable.iter()), labels.join(",")),
        );
    }
    for (namespace, state) in &snapshot.namespaces {
        for one in &state.queues {
            line(&mut printed, &format!("queue {namespace}{}", queue(one)));
        }
        if let Some(quota) = &state.quota {
            let enforced = if quota.enforced == quota.hard {
                String::new()
            } else {
                stated("enforced", &quota.enforced)
            };
            line(&mut printed, &format!("quota {namespace}{}{enforced}", words(quota.hard.iter())));
        }
        for owner in &state.owners {
            line(&mut printed, &format!("owner {namespace}/{}", self::owner(&owner.name, owner)));
        }
        for one in &state.pods {
            line(&mut printed, &format!("pod {namespace}/{}{}", one.name, pod(one)));
        }
        for budget in &state.budgets {
            line(&mut printed, &format!("budget {namespace}/{} allowed={}", budget.name, budget.allowed));
        }
    }
    printed
}

/// What was decided in one step, below the cluster that it was decided for.
pub(crate) fn describe_step(step: usize, before: &Snapshot, decided: &Plan) -> String {
    describe(before) + &story::print(step, decided, &[]) + &story::print_writes(decided)
}

/// An event in a line.
pub(super) fn describe_event(event: &Event) -> String {
    match event {
        Event::OwnerCreated(at, one) => format!("OwnerCreated({at}{})", owner("", one)),
        Event::QueueCreated(at, one) => format!("QueueCreated({at}{})", queue(one)),
        Event::SecondQueueCreated(at, one) => format!("SecondQueueCreated({at}{})", queue(one)),
        Event::BarePodCreated(at, one) => format!("BarePodCreated({at}{})", shape(one)),
        other => format!("{other:?}"),
    }
}

fn line(printed: &mut String, line: &str) {
    writeln!(printed, "{line}").unwrap();
}

fn seconds(instant: quotient_engine::time::Timestamp) -> i64 {
    instant.millis() / 1000
}

fn owner(name: &str, owner: &Owner) -> String {
    let gang = owner.gang.as_ref().map(|gang| format!(" gang={} min={}", gang.name, gang.min_available));
    format!(
        "{name} replicas={}{} kind={} priority={} created={}{}",
        owner.wanted,
        shape(&owner.shape),
        owner.kind.name(),
        owner.priority,
        seconds(owner.created),
        gang.unwrap_or_default()
    )
}

fn queue(queue: &Queue) -> String {
    let fence = match queue.reclaim.from {
        ReclaimFrom::Cluster => "",
        ReclaimFrom::Subtree => " from=Subtree",
        ReclaimFrom::Nothing => " from=None",
    };
    let kept = if queue.eviction.policy == Some(EvictionPolicy::Never) { " eviction=Never" } else { "" };
    let mut printed = format!(" name={} weight={}{fence}{kept}", queue.name, queue.weight);
    let bounds = [("guaranteed", &queue.guaranteed), ("limit", &queue.limit), ("request", &queue.request)];
    for (name, bounds) in bounds.into_iter().filter(|(_, bounds)| !bounds.is_empty()) {
        printed += &stated(name, bounds);
    }
    if let Some(parent) = &queue.parent {
        write!(printed, " parent={parent}").unwrap();
    }
    if queue.children.is_some() {
        printed += " children=All";
    }
    if queue.admission == Admission::Gate {
        printed += " admission=Gate";
    }
    if queue.reclaim.after_seconds > 0 {
        write!(printed, " after={}", queue.reclaim.after_seconds).unwrap();
    }
    printed + &restraints(queue)
}

/// How far Quotient goes in `queue`, and which of its pods it spares.
fn restraints(queue: &Queue) -> String {
    let rules = &queue.eviction;
    let words = [
        (queue.mode != Mode::Full).then(|| format!(" mode={}", queue.mode)),
        queue.paused_until.map(|until| format!(" paused={}", seconds(until))),
        queue.leaving.then(|| " leaving".to_owned()),
        (queue.preemption == Preemption::LowerPriority).then(|| " preemption=LowerPriority".to_owned()),
        rules.min_runtime_seconds.map(|seconds| format!(" minRuntime={seconds}")),
        (rules.last_replica == Some(LastReplica::Never)).then(|| " lastReplica=Never".to_owned()),
        (rules.gangs == Some(GangPolicy::Never)).then(|| " gangs=Never".to_owned()),
        rules.max_grace_seconds.map(|seconds| format!(" maxGrace={seconds}")),
        rules.force_after_seconds.map(|seconds| format!(" forceAfter={seconds}")),
    ];
    words.into_iter().flatten().collect()
}

fn pod(pod: &Pod) -> String {
    let mut printed = shape(&pod.shape);
    if let Some(node) = &pod.node {
        write!(printed, " node={node}").unwrap();
    }
    write!(printed, " created={}", seconds(pod.created)).unwrap();
    match (pod.phase, pod.started) {
        (Phase::Pending, _) => printed += if pod.gate.is_some() { " gated" } else { " pending" },
        (Phase::Finished, _) => printed += " finished",
        (Phase::Running, started) => write!(printed, " started={}", started.map_or(0, seconds)).unwrap(),
    }
    if pod.priority != 0 {
        write!(printed, " priority={}", pod.priority).unwrap();
    }
    if let Some(deadline) = pod.deletion {
        write!(printed, " terminating={}", seconds(deadline)).unwrap();
    }
    if pod.evicted {
        printed += " evicted";
    }
    if let Some(since) = pod.stuck {
        write!(printed, " stuck={}", seconds(since)).unwrap();
    }
    if let Some(owner) = pod.owner() {
        // The stories' owners are called by their names alone.
        write!(printed, " owner={}", owner.as_str().rsplit('/').next().unwrap()).unwrap();
    }
    if let Some(gang) = pod.gang() {
        write!(printed, " gang={} min={}", gang.name, gang.min_available).unwrap();
    }
    printed
}

fn shape(shape: &Shape) -> String {
    let selected = shape.placement.node_selector.iter().map(|(key, value)| format!("{key}:{value}"));
    let selected: Vec<String> = selected.collect();
    let selector =
        if selected.is_empty() { String::new() } else { format!(" selector={}", selected.join(",")) };
    words(shape.requests.iter()) + &selector
}

fn words<'a>(amounts: impl Iterator<Item = (&'a Resource, Amount)>) -> String {
    let words: Vec<String> = amounts
        .map(|(resource, amount)| format!(" {}={}", name(resource), resource.format(amount)))
        .collect();
    words.concat()
}

fn stated(word: &str, bounds: &Bounds) -> String {
    format!(" {word}={}", pairs(bounds.iter()))
}

fn pairs<'a>(amounts: impl Iterator<Item = (&'a Resource, Amount)>) -> String {
    let pairs: Vec<String> =
        amounts.map(|(resource, amount)| format!("{}:{}", name(resource), resource.format(amount))).collect();
    pairs.join(",")
}

fn name(resource: &Resource) -> &str {
    match resource {
        Resource::Extended(_) => "gpu",
        other => other.name(),
    }
}
