//! The steps for people.

use std::cmp::Ordering;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{PodId, QueueJobPlan, QueuePlan, Unmet};
use quotient_engine::reason::Reason;

use super::sentence::{how_scaled, why, why_again, why_it_waits, why_kept, why_nobody, why_withheld};
use super::steps::{Simulation, Step};
use super::{pod_name, tree, unmet};
use crate::output::{Cell, Colour, Style, align, titles};

/// The simulation as text, steps separated by an empty line; with the pods that rules kept if `explain`.
pub(super) fn table(simulation: &Simulation, explain: bool, style: Style) -> String {
    let mut lines = before(simulation, style);
    let mut clock = 0_i64;
    for (step, number) in simulation.steps.iter().zip(1_usize..) {
        let title = format!("Step {number}");
        // A step takes a second; what goes on meanwhile may take a few, and more is worth mentioning.
        let passed = step.elapsed_seconds.saturating_sub(clock);
        clock = step.elapsed_seconds;
        let waited = if passed >= 10 { format!("  {passed} s later") } else { String::new() };
        lines.push(format!(
            "{}{waited}  capacity {}",
            style.paint(&title, Colour::Strong),
            step.plan.capacity.compact()
        ));
        lines.extend(queues(step, style));
        lines.extend(queue_jobs(step, style));
        let sections = [
            evictions(step),
            withheld(step),
            evicted_again(step),
            scaled(step),
            if explain { kept(step) } else { Vec::new() },
            short(step),
            started(&step.started),
            waits(step),
            unmet_asks(step),
            stalled(step),
        ];
        lines.extend(sections.iter().flat_map(|section| align(section, style)));
        lines.push(String::new());
    }
    lines.push(ending(simulation));
    lines.push(String::new());
    lines.join("\n")
}

/// What owners have started before the first step.
fn before(simulation: &Simulation, style: Style) -> Vec<String> {
    if simulation.before.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{}  as far as quotas admit", style.paint("Before", Colour::Strong))];
    lines.extend(align(&started(&simulation.before), style));
    lines.push(String::new());
    lines
}

fn queues(step: &Step, style: Style) -> Vec<String> {
    if step.plan.queues.is_empty() {
        return vec!["  no Queue has a share".to_owned()];
    }
    let mut rows =
        vec![titles(&["QUEUE", "WEIGHT", "DEMAND", "DESERVED", "ALLOCATED", "USED", "PREEMPTING"])];
    let queues = tree::in_order(&step.plan);
    rows.extend(queues.into_iter().map(|(depth, name, queue)| queue_row(step, depth, name, queue)));
    align(&rows, style)
}

/// Children stand indented below their parent.
fn queue_row(step: &Step, depth: usize, name: &QueueName, queue: &QueuePlan) -> Vec<Cell> {
    let weight = step.weights.get(name).map(ToString::to_string).unwrap_or_default();
    let used = if queue.used.fits_in(&queue.deserved) { Colour::Plain } else { Colour::Alarm };
    let preempting = if queue.preempting.is_empty() { Colour::Plain } else { Colour::Notice };
    vec![
        format!("{}{name}", "  ".repeat(depth)).into(),
        weight.into(),
        queue.demand.compact().into(),
        queue.deserved.compact().into(),
        queue.allocated.compact().into(),
        Cell::new(queue.used.compact(), used),
        Cell::new(queue.preempting.compact(), preempting),
    ]
}

/// A line for each QueueJob.
fn queue_jobs(step: &Step, style: Style) -> Vec<String> {
    if step.plan.queue_jobs.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![titles(&[
        "QUEUEJOB",
        "STATE",
        "MIN",
        "SLOTS",
        "RUNNING",
        "SUCCEEDED",
        "DESERVED",
        "ALLOCATED",
        "REASON",
    ])];
    rows.extend(step.plan.queue_jobs.iter().map(|(name, job)| {
        vec![
            name.to_string().into(),
            format!("{:?}", job.standing).into(),
            job.min_available.to_string().into(),
            slots(job),
            job.pods.running.to_string().into(),
            job.succeeded.to_string().into(),
            job.deserved.compact().into(),
            job.allocated.compact().into(),
            job.reason.name().into(),
        ]
    }));
    align(&rows, style)
}

/// `4`, or `4 -> 2` where they change.
fn slots(job: &QueueJobPlan) -> Cell {
    let (had, has) = (job.had, job.total());
    match has.cmp(&had) {
        Ordering::Equal => has.to_string().into(),
        Ordering::Less => Cell::new(format!("{had} -> {has}"), Colour::Alarm),
        Ordering::Greater => Cell::new(format!("{had} -> {has}"), Colour::Good),
    }
}

/// A line about one object.
fn line(verb: &str, colour: Colour, name: impl Into<String>, told: impl Into<String>) -> Vec<Cell> {
    vec![Cell::new(verb, colour), Cell::from(name), Cell::from(told)]
}

fn evictions(step: &Step) -> Vec<Vec<Cell>> {
    let evictions = step.plan.evictions.iter();
    evictions.map(|one| line("evict", Colour::Alarm, pod_name(&one.pod), why(one, &step.plan))).collect()
}

/// The pods that a mode or a pause keeps.
fn withheld(step: &Step) -> Vec<Vec<Cell>> {
    let withheld = step.plan.withheld.iter();
    withheld
        .map(|one| line("would evict", Colour::Notice, pod_name(&one.pod), why_withheld(one, &step.plan)))
        .collect()
}

/// Terminating pods that get less grace.
fn evicted_again(step: &Step) -> Vec<Vec<Cell>> {
    let again = step.plan.shortened.iter();
    again.map(|one| line("again", Colour::Alarm, pod_name(&one.pod), why_again(one))).collect()
}

/// The owners that yield inside their queue, and those that have their size back.
fn scaled(step: &Step) -> Vec<Vec<Cell>> {
    let scalings = step.plan.scalings.iter();
    scalings
        .map(|scaling| {
            let colour = if scaling.lowers() { Colour::Alarm } else { Colour::Good };
            let name = format!("{}/{}", scaling.namespace, scaling.setter.name);
            line("scale", colour, name, how_scaled(scaling))
        })
        .collect()
}

/// The pods that a rule kept where something was taken.
fn kept(step: &Step) -> Vec<Vec<Cell>> {
    let kept = step.plan.passed_over.iter();
    kept.map(|one| {
        let told = format!("{}: {}", one.reason, why_kept(one.reason));
        line("keep", Colour::Good, pod_name(&one.pod), told)
    })
    .collect()
}

/// The leaves that are short and for which no pod is evicted; their parents are short only through them.
fn short(step: &Step) -> Vec<Vec<Cell>> {
    let leaves = step.plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    let told = |name: &QueueName, queue: &QueuePlan| {
        Some(line("short", Colour::Notice, name.to_string(), why_nobody(name, queue, &step.plan)?))
    };
    leaves.filter_map(|(name, queue)| told(name, queue)).collect()
}

fn started(started: &[PodId]) -> Vec<Vec<Cell>> {
    started.iter().map(|pod| vec![Cell::new("start", Colour::Good), pod_name(pod).into()]).collect()
}

/// What keeps the QueueJobs that wait from running.
fn waits(step: &Step) -> Vec<Vec<Cell>> {
    let jobs = step.plan.queue_jobs.iter();
    jobs.filter_map(|(name, job)| Some(line("waits", Colour::Notice, name.to_string(), why_it_waits(job)?)))
        .collect()
}

/// The pods that cannot start, and what stands in the way.
///
/// Those that only have to take the room are not mentioned where some do, at the end of the step.
fn unmet_asks(step: &Step) -> Vec<Vec<Cell>> {
    let starts = |queue: &QueueName| step.started.iter().any(|pod| pod.namespace == queue.namespace);
    let waits = |queue: &QueueName, unmet: &Unmet| unmet.reason != Reason::RoomAvailable || !starts(queue);
    let unmet = unmet::all(&step.plan).filter(|(queue, _, unmet)| waits(queue, unmet));
    unmet
        .map(|(queue, numbers, unmet)| {
            let name = format!("{}/{}", queue.namespace, unmet::name(unmet));
            line("unmet", Colour::Notice, name, unmet::sentence(numbers, unmet))
        })
        .collect()
}

fn stalled(step: &Step) -> Vec<Vec<Cell>> {
    let stalled = step.plan.stalled.iter();
    stalled
        .map(|(name, stall)| {
            let told = format!("{}: {}", stall.reason, stall.message);
            line("stalled", Colour::Notice, name.to_string(), told)
        })
        .collect()
}

fn ending(simulation: &Simulation) -> String {
    match (simulation.stable, simulation.steps.len()) {
        (true, _) => "Stable: nothing more would happen.".to_owned(),
        (false, 1) => "Not stable: more would happen; --until-stable shows it.".to_owned(),
        (false, steps) => format!("Not stable after {steps} steps."),
    }
}
