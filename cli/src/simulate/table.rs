//! The steps for people.

use quotient_engine::names::QueueName;
use quotient_engine::plan::QueuePlan;

use super::report::pod_name;
use super::sentence::{why, why_nobody};
use super::steps::{Simulation, Step};
use super::tree;
use crate::output::{Cell, Colour, Style, align};

/// The simulation as text, steps separated by an empty line.
pub(super) fn table(simulation: &Simulation, style: Style) -> String {
    let mut lines = Vec::new();
    for (step, number) in simulation.steps.iter().zip(1_usize..) {
        let title = format!("Step {number}");
        lines.push(format!(
            "{}  capacity {}",
            style.paint(&title, Colour::Strong),
            step.plan.capacity.compact()
        ));
        lines.extend(queues(step, style));
        lines.extend(evictions(step, style));
        lines.extend(short(step, style));
        lines.extend(started(step, style));
        lines.extend(stalled(step, style));
        lines.push(String::new());
    }
    lines.push(ending(simulation));
    lines.push(String::new());
    lines.join("\n")
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

/// The leaves that are short and for whom nobody goes; their parents are short only through them.
fn short(step: &Step, style: Style) -> Vec<String> {
    let leaves = step.plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    let rows = leaves.filter_map(|(name, queue)| {
        Some(vec![
            Cell::new("short", Colour::Notice),
            Cell::plain(&name.to_string()),
            Cell::plain(&why_nobody(queue)?),
        ])
    });
    align(&rows.collect::<Vec<_>>(), style)
}

fn started(step: &Step, style: Style) -> Vec<String> {
    let rows =
        step.started.iter().map(|pod| vec![Cell::new("start", Colour::Good), Cell::plain(&pod_name(pod))]);
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
