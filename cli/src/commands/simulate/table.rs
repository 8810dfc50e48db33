//! The steps for people.

use quotient_engine::names::QueueName;
use quotient_engine::plan::{PodId, QueuePlan, Unmet};
use quotient_engine::reason::Reason;

use super::report::pod_name;
use super::sentence::{how_scaled, why, why_again, why_kept, why_nobody, why_withheld};
use super::steps::{Simulation, Step};
use super::{jobs, tree, unmet};
use crate::output::{Cell, Colour, Style, align};

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
        lines.extend(jobs::rows(step, style));
        lines.extend(evictions(step, style));
        lines.extend(withheld(step, style));
        lines.extend(evicted_again(step, style));
        lines.extend(scaled(step, style));
        if explain {
            lines.extend(kept(step, style));
        }
        lines.extend(short(step, style));
        lines.extend(started(&step.started, style));
        lines.extend(jobs::waits(step, style));
        lines.extend(unmet_asks(step, style));
        lines.extend(stalled(step, style));
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
    lines.extend(started(&simulation.before, style));
    lines.push(String::new());
    lines
}

fn queues(step: &Step, style: Style) -> Vec<String> {
    if step.plan.queues.is_empty() {
        return vec!["  no Queue has a share".to_owned()];
    }
    let titles = ["QUEUE", "WEIGHT", "DEMAND", "DESERVED", "ALLOCATED", "USED", "PREEMPTING"];
    let mut rows = vec![titles.map(|title| Cell::new(title, Colour::Faint)).to_vec()];
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
        Cell::plain(&format!("{}{name}", "  ".repeat(depth))),
        Cell::plain(&weight),
        Cell::plain(&queue.demand.compact()),
        Cell::plain(&queue.deserved.compact()),
        Cell::plain(&queue.allocated.compact()),
        Cell::new(&queue.used.compact(), used),
        Cell::new(&queue.preempting.compact(), preempting),
    ]
}

fn evictions(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.evictions.iter().map(|eviction| {
        vec![
            Cell::new("evict", Colour::Alarm),
            Cell::plain(&pod_name(&eviction.pod)),
            Cell::plain(&why(eviction, &step.plan)),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// The pods that a mode or a pause keeps.
fn withheld(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.withheld.iter().map(|eviction| {
        vec![
            Cell::new("would evict", Colour::Notice),
            Cell::plain(&pod_name(&eviction.pod)),
            Cell::plain(&why_withheld(eviction, &step.plan)),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// The leaves that are short and for whom nobody goes; their parents are short only through them.
fn short(step: &Step, style: Style) -> Vec<String> {
    let leaves = step.plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    let rows = leaves.filter_map(|(name, queue)| {
        Some(vec![
            Cell::new("short", Colour::Notice),
            Cell::plain(&name.to_string()),
            Cell::plain(&why_nobody(name, queue, &step.plan)?),
        ])
    });
    align(&rows.collect::<Vec<_>>(), style)
}

fn started(started: &[PodId], style: Style) -> Vec<String> {
    let rows = started.iter().map(|pod| vec![Cell::new("start", Colour::Good), Cell::plain(&pod_name(pod))]);
    align(&rows.collect::<Vec<_>>(), style)
}

/// Terminating pods that get less grace.
fn evicted_again(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.shortened.iter().map(|again| {
        vec![
            Cell::new("again", Colour::Alarm),
            Cell::plain(&pod_name(&again.pod)),
            Cell::plain(&why_again(again)),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// The owners that yield inside their queue, and those that have their size back.
fn scaled(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.scalings.iter().map(|scaling| {
        let colour = if scaling.lowers() { Colour::Alarm } else { Colour::Good };
        let name = format!("{}/{}", scaling.namespace, scaling.setter.name);
        vec![Cell::new("scale", colour), Cell::plain(&name), Cell::plain(&how_scaled(scaling))]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// The pods that a rule kept where something was taken.
fn kept(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.passed_over.iter().map(|passed| {
        vec![
            Cell::new("keep", Colour::Good),
            Cell::plain(&pod_name(&passed.pod)),
            Cell::plain(&format!("{}: {}", passed.reason, why_kept(passed.reason))),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// The pods that cannot start, and what stands in the way.
///
/// Those that only have to take the room are not mentioned where some do, at the end of the step.
fn unmet_asks(step: &Step, style: Style) -> Vec<String> {
    let starts = |queue: &QueueName| step.started.iter().any(|pod| pod.namespace == queue.namespace);
    let waits = |queue: &QueueName, unmet: &Unmet| unmet.reason != Reason::RoomAvailable || !starts(queue);
    let unmet = unmet::all(&step.plan).filter(|(queue, _, unmet)| waits(queue, unmet));
    let rows = unmet.map(|(queue, numbers, unmet)| {
        vec![
            Cell::new("unmet", Colour::Notice),
            Cell::plain(&format!("{}/{}", queue.namespace, unmet::name(unmet))),
            Cell::plain(&unmet::sentence(numbers, unmet)),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

fn stalled(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.stalled.iter().map(|(name, stall)| {
        vec![
            Cell::new("stalled", Colour::Notice),
            Cell::plain(&name.to_string()),
            Cell::plain(&format!("{}: {}", stall.reason, stall.message)),
        ]
    });
    align(&rows.collect::<Vec<_>>(), style)
}

fn ending(simulation: &Simulation) -> String {
    match (simulation.stable, simulation.steps.len()) {
        (true, _) => "Stable: nothing more would happen.".to_owned(),
        (false, 1) => "Not stable: more would happen; --until-stable shows it.".to_owned(),
        (false, steps) => format!("Not stable after {steps} steps."),
    }
}
