//! A difference for people.

use std::collections::BTreeMap;

use quotient_engine::amounts::Amounts;

use super::Diff;
use super::comparison::{Comparison, QueueDiff, workload_of};
use crate::commands::simulate::pod_name;
use crate::output::{Cell, Color, Screen, align, counted, hanging, joined, list, listing, time_text, wrap};

/// Of more queues only those that change are listed.
const FEW: usize = 20;

/// The most pods that cannot start and are listed.
const MOST_UNMET: usize = 5;

pub(super) fn table(diff: &Diff, is_wide: bool, screen: Screen) -> String {
    let comparison = &diff.comparison;
    let mut lines = title(diff, screen);
    let is_listed =
        |queue: &&QueueDiff| is_wide || comparison.queues.len() <= FEW || changes(queue, comparison);
    let listed: Vec<&QueueDiff> = comparison.queues.iter().filter(is_listed).collect();
    let rows = listed.iter().map(|queue| row(queue, comparison, screen));
    lines.extend(listing(&["QUEUE", "DESERVED", "USED", "EVICTED"], rows, screen.style));
    let others = comparison.queues.len().saturating_sub(listed.len());
    if others > 0 {
        lines.push(counted(others, "more queue does not change", "more queues do not change"));
    }
    if is_wide {
        lines.extend(evicted(comparison, screen));
    }
    let mark = screen.style.paint("!", Color::Notice);
    let remarks = remarks(comparison, MOST_UNMET).into_iter();
    lines.extend(remarks.flat_map(|text| hanging(&format!("{mark} "), 2, &text, screen.width)));
    lines.push(summary(comparison));
    for verdict in &diff.verdicts {
        let (glyph, color) = if verdict.is_passed {
            (screen.glyphs.good, Color::Good)
        } else {
            (screen.glyphs.bad, Color::Alarm)
        };
        lines.push(format!("{} {}: {}", screen.style.paint(glyph, color), verdict.gate, verdict.message));
    }
    joined(lines)
}

/// `prod-eu as of 14:02:11Z, read only, plus: create Queue team-x`.
fn title(diff: &Diff, screen: Screen) -> Vec<String> {
    let time = if diff.base.is_observed {
        format!(" as of {}, read only", time_text(diff.base.snapshot.now))
    } else {
        String::new()
    };
    wrap(&format!("{}{time}, plus: {}", diff.base.source, diff.changes_text()), screen.width)
}

fn changes(queue: &QueueDiff, comparison: &Comparison) -> bool {
    queue.deserved.0 != queue.deserved.1
        || queue.used.0 != queue.used.1
        || comparison.evicted.iter().any(|evicted| evicted.queue == queue.name)
}

fn row(queue: &QueueDiff, comparison: &Comparison, screen: Screen) -> Vec<Cell> {
    let evicted = of_workloads(queue, comparison);
    let (text, color) =
        if evicted.is_empty() { (started(queue, comparison), Color::Plain) } else { (evicted, Color::Alarm) };
    vec![
        Cell::from(queue.name.in_words()),
        Cell::from(&deserved(queue, screen.glyphs.arrow)),
        Cell::from(&used(queue, screen.glyphs.arrow)),
        Cell::new(&text, color),
    ]
}

/// `44gpu → 36gpu`. A queue that does not exist, or is stalled, deserves nothing.
pub(super) fn deserved(queue: &QueueDiff, arrow: &str) -> String {
    moved(&queue.deserved, "0", arrow)
}

/// `32gpu → 30gpu`. A queue that does not exist has no pods, but its namespace may have some, and so has a stalled one.
pub(super) fn used(queue: &QueueDiff, arrow: &str) -> String {
    moved(&queue.used, "-", arrow)
}

/// One amount where nothing changes.
fn moved((before, after): &(Option<Amounts>, Option<Amounts>), absent: &str, arrow: &str) -> String {
    let text =
        |amounts: &Option<Amounts>| amounts.as_ref().map_or_else(|| absent.to_owned(), Amounts::compact);
    let (before, after) = (text(before), text(after));
    if before == after { before } else { format!("{before} {arrow} {after}") }
}

/// `8 pods of Job trainer, 1 bare pod`.
pub(super) fn of_workloads(queue: &QueueDiff, comparison: &Comparison) -> String {
    let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for evicted in comparison.evicted.iter().filter(|evicted| evicted.queue == queue.name) {
        let count = counts.entry(workload_of(evicted)).or_default();
        *count = count.saturating_add(1);
    }
    let lost = list(counts.into_iter().rev().map(|(workload, count)| match workload {
        Some(workload) => format!("{} of {workload}", counted(count, "pod", "pods")),
        None => counted(count, "bare pod", "bare pods"),
    }));
    if queue.kept.is_empty() { lost } else { format!("{lost} ({} kept)", queue.kept.join(" and ")) }
}

/// Between the end of the last evicted pod and the start of new ones, in seconds.
const OVERHEAD: u32 = 5;

/// `8 pods start, within ~35 s (longest grace 30 s)`, or a dash.
pub(super) fn started(queue: &QueueDiff, comparison: &Comparison) -> String {
    if queue.started == 0 {
        return "-".to_owned();
    }
    let is_waiting =
        comparison.evicted.iter().any(|evicted| evicted.beneficiary.as_ref() == Some(&queue.name));
    let wait = match comparison.longest_grace().filter(|_| is_waiting) {
        Some(grace) => format!(", within ~{} s (longest grace {grace} s)", grace.saturating_add(OVERHEAD)),
        None => String::new(),
    };
    format!("{}{wait}", counted(queue.started, "pod starts", "pods start"))
}

fn evicted(comparison: &Comparison, screen: Screen) -> Vec<String> {
    let rows = comparison.evicted.iter().map(|evicted| {
        let beneficiary = evicted.beneficiary.as_ref().map(|queue| format!("for {}", queue.in_words()));
        vec![
            Cell::new("evict", Color::Alarm),
            Cell::from(pod_name(&evicted.pod)),
            Cell::from(evicted.requests.compact()),
            Cell::from(evicted.reason.name()),
            Cell::from(&beneficiary.unwrap_or_default()),
        ]
    });
    align(&rows.collect::<Vec<_>>(), screen.style)
}

/// What else to know of the end: Queues without a share, guarantees that cannot be met, and workloads that cannot start, at most
/// `most_unmet` of these.
pub(super) fn remarks(comparison: &Comparison, most_unmet: usize) -> Vec<String> {
    let stalled = comparison.stalled.iter().map(|queue| format!("Queue without a share: {queue}"));
    let unmeetable = comparison.unmeetable.iter().map(|(queue, lacking)| {
        let lacking = lacking.compact();
        format!(
            "Queue {queue}: {lacking} of its guarantee cannot be met, even if no other queue had anything"
        )
    });
    let unmet = comparison.unmet.iter().take(most_unmet).cloned();
    let more = comparison.unmet.len().saturating_sub(most_unmet);
    let more = (more > 0)
        .then(|| counted(more, "more workload cannot", "more workloads cannot") + " start all of their pods");
    stalled.chain(unmeetable).chain(unmet).chain(more).collect()
}

/// `8 evictions, 0 blocked by budgets, 0 guarantees broken, stable after 2 steps`.
pub(super) fn summary(comparison: &Comparison) -> String {
    let evictions = counted(comparison.evicted.len(), "eviction", "evictions");
    let stable = match comparison.steps {
        Some(steps) => format!("stable after {}", counted(steps, "step", "steps")),
        None => "not stable after 1000 steps".to_owned(),
    };
    let anyway = match comparison.evicted_anyway {
        0 => String::new(),
        count => format!("; {count} more without the change, too"),
    };
    let broken = counted(comparison.unmeetable.len(), "guarantee broken", "guarantees broken");
    format!("{evictions}, {} blocked by budgets, {broken}, {stable}{anyway}", comparison.blocked)
}
