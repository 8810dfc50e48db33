//! The steps for people.

use std::cmp::Ordering;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{PodId, QueueJobPlan, QueuePlan, Unmet};
use quotient_engine::reasons::ShortReason;

use super::pod_name;
use super::sentence::{
    all_unmet, how_scaled, why, why_again, why_it_waits, why_none, why_not_started, why_withheld,
};
use super::steps::{Simulation, Step};
use crate::output::{Cell, Color, Style, align, indented, joined, listing};
use crate::queues::in_tree_order;

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
            style.paint(&title, Color::Strong),
            step.plan.capacity.compact()
        ));
        lines.extend(queues(step, style));
        lines.extend(queue_jobs(step, style));
        lines.extend(sections(step, explain).iter().flat_map(|section| align(section, style)));
        lines.push(String::new());
    }
    lines.push(ending(simulation));
    joined(lines)
}

/// What owners have started before the first step.
fn before(simulation: &Simulation, style: Style) -> Vec<String> {
    if simulation.before.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{}  as far as quotas admit", style.paint("Before", Color::Strong))];
    lines.extend(align(&started(&simulation.before), style));
    lines.push(String::new());
    lines
}

fn queues(step: &Step, style: Style) -> Vec<String> {
    if step.plan.queues.is_empty() {
        return vec!["  no Queue has a share".to_owned()];
    }
    let queues = step.plan.queues.iter().map(|(name, queue)| (name, queue.parent.clone(), (name, queue)));
    let queues = in_tree_order(queues.collect()).into_iter();
    let rows = queues.map(|(depth, (name, queue))| queue_row(step, depth, name, queue));
    let names = ["QUEUE", "WEIGHT", "DEMAND", "DESERVED", "ALLOCATED", "USED", "PREEMPTING"];
    indented(listing(&names, rows, style))
}

/// Children stand indented below their parent.
fn queue_row(step: &Step, depth: usize, name: &QueueName, queue: &QueuePlan) -> Vec<Cell> {
    let weight = step.weights.get(name).map(ToString::to_string).unwrap_or_default();
    let used = if queue.used.fits_in(&queue.deserved) { Color::Plain } else { Color::Alarm };
    let preempting = if queue.preempting.is_empty() { Color::Plain } else { Color::Notice };
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
    let names =
        ["QUEUEJOB", "STATE", "MIN", "SLOTS", "RUNNING", "SUCCEEDED", "DESERVED", "ALLOCATED", "REASON"];
    let rows = step.plan.queue_jobs.iter().map(|(name, job)| {
        vec![
            name.to_string().into(),
            format!("{:?}", job.phase).into(),
            job.min_available.to_string().into(),
            slots(job),
            job.pods.running.to_string().into(),
            job.succeeded.to_string().into(),
            job.amounts.deserved.compact().into(),
            job.amounts.allocated.compact().into(),
            job.reason.name().into(),
        ]
    });
    indented(listing(&names, rows, style))
}

/// `4`, or `4 -> 2` where they change.
fn slots(job: &QueueJobPlan) -> Cell {
    let (had, has) = (job.had, job.total());
    match has.cmp(&had) {
        Ordering::Equal => has.to_string().into(),
        Ordering::Less => Cell::new(format!("{had} -> {has}"), Color::Alarm),
        Ordering::Greater => Cell::new(format!("{had} -> {has}"), Color::Good),
    }
}

/// A line about one object.
fn line(verb: &str, color: Color, name: impl Into<String>, text: impl Into<String>) -> Vec<Cell> {
    vec![Cell::new(verb, color), Cell::from(name), Cell::from(text)]
}

/// What happens in the step, a section for each kind of thing.
fn sections(step: &Step, explain: bool) -> [Vec<Vec<Cell>>; 10] {
    use Color::{Alarm, Good, Notice};
    let plan = &step.plan;
    let evictions = plan.evictions.iter();
    // The pods that a mode or a pause keeps.
    let withheld = plan.withheld.iter();
    // Terminating pods that get less grace.
    let again = plan.shortened.iter();
    // The owners that yield inside their queue, and those that have their size back.
    let scaled = plan.scalings.iter().map(|scaling| {
        let color = if scaling.lowers() { Alarm } else { Good };
        line(
            "scale",
            color,
            format!("{}/{}", scaling.queue.namespace, scaling.scale_target.name),
            how_scaled(scaling),
        )
    });
    // The pods that a rule kept where something was taken.
    let kept = plan.passed_over.iter().filter(|_| explain);
    // The leaves that are short and for which no pod is evicted; their parents are short only through them.
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    let short = leaves.filter_map(|(name, queue)| {
        Some(line("short", Notice, name.to_string(), why_none(name, queue, plan)?))
    });
    // What keeps the QueueJobs that wait from running.
    let jobs = plan.queue_jobs.iter();
    let waits =
        jobs.filter_map(|(name, job)| Some(line("waits", Notice, name.to_string(), why_it_waits(job)?)));
    let stalled = plan.stalled.iter().map(|(name, stall)| {
        line("stalled", Notice, name.to_string(), format!("{}: {}", stall.reason, stall.message))
    });
    [
        evictions.map(|one| line("evict", Alarm, pod_name(&one.pod), why(one, plan))).collect(),
        withheld
            .map(|one| line("would evict", Notice, pod_name(&one.pod), why_withheld(one, plan)))
            .collect(),
        again.map(|one| line("again", Alarm, pod_name(&one.pod), why_again(one))).collect(),
        scaled.collect(),
        kept.map(|one| {
            let text = format!("{}: {}", one.reason, one.reason.because());
            line("keep", Good, pod_name(&one.pod), text)
        })
        .collect(),
        short.collect(),
        started(&step.started),
        waits.collect(),
        unmet_asks(step),
        stalled.collect(),
    ]
}

fn started(started: &[PodId]) -> Vec<Vec<Cell>> {
    started.iter().map(|pod| vec![Cell::new("start", Color::Good), pod_name(pod).into()]).collect()
}

/// The pods that cannot start, and what stands in the way.
///
/// Those that only have to take the room are not mentioned where some do, at the end of the step.
fn unmet_asks(step: &Step) -> Vec<Vec<Cell>> {
    let starts = |queue: &QueueName| step.started.iter().any(|pod| pod.namespace == queue.namespace);
    let waits =
        |queue: &QueueName, unmet: &Unmet| unmet.reason != ShortReason::RoomAvailable || !starts(queue);
    let unmet = all_unmet(&step.plan).filter(|(queue, _, unmet)| waits(queue, unmet));
    let lines = unmet.map(|(queue, numbers, unmet)| {
        let name = format!("{}/{}", queue.namespace, unmet.preemptor.kind_and_name().1);
        line("unmet", Color::Notice, name, why_not_started(queue, numbers, unmet))
    });
    lines.collect()
}

fn ending(simulation: &Simulation) -> String {
    match (simulation.stable, simulation.steps.len()) {
        (true, _) => "Stable: nothing more would happen.".to_owned(),
        (false, 1) => "Not stable: more would happen; --until-stable shows it.".to_owned(),
        (false, steps) => format!("Not stable after {steps} steps."),
    }
}
