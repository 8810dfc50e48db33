//! The table of a status: a row a queue.

use quotient_crds::ResourceMap;
use quotient_engine::amounts::{Amount, Amounts};

use super::Status;
use crate::output::{Cell, Colour, Screen, bar, duration};
use crate::queues::{QueueView, Selected, Starvation, amounts, in_tree_order};

/// The column titles and a row of cells for each queue, in the order of their tree.
pub(super) fn cells(status: &Status, is_wide: bool, screen: Screen) -> Vec<Vec<Cell>> {
    let mut titles = vec!["QUEUE", "WEIGHT"];
    if is_wide {
        titles.extend(["DEMAND", "NOMINAL", "LIMIT", "PODS"]);
    }
    titles.extend(["GUARANTEED", "DESERVED", "ALLOCATED", "USED", "STATE"]);
    let title = |text: &&str| {
        let cell = Cell::new(*text, Colour::Faint);
        match *text {
            "QUEUE" | "STATE" => cell,
            "WEIGHT" => cell.right(),
            _ => aligned(cell, status),
        }
    };
    let mut table = vec![titles.iter().map(title).collect()];
    let most = status.selected.as_ref().map_or(Amount::ZERO, |selected| largest(&status.views, selected));
    let queues = status.views.iter().map(|view| (&view.name, view.parent(), view)).collect();
    let rows = in_tree_order(queues).into_iter();
    table.extend(rows.map(|(depth, view)| row(status, depth, view, is_wide, most, screen)));
    table
}

/// What has a bar of full width.
fn largest(views: &[QueueView], selected: &Selected) -> Amount {
    let leaves = views.iter().filter(|view| !view.is_parent());
    let sizes = leaves.flat_map(|view| {
        let status = &view.status;
        [&status.used, &status.deserved].map(|map| amounts(map.as_ref()).get(&selected.resource))
    });
    sizes.max().unwrap_or(Amount::ZERO)
}

fn row(
    status: &Status,
    depth: usize,
    view: &QueueView,
    is_wide: bool,
    most: Amount,
    screen: Screen,
) -> Vec<Cell> {
    let spec = &view.queue.spec;
    let amount = |map: Option<&ResourceMap>| amount_cell(&amounts(map), status);
    let bound = |map: Option<&ResourceMap>| match map {
        Some(map) if !map.is_empty() => amount(Some(map)),
        _ => aligned("-".into(), status),
    };
    let mut cells = vec![
        Cell::from(format!("{}{}", "  ".repeat(depth), view.name.in_words())),
        Cell::from(view.weight().to_string()).right(),
    ];
    if is_wide {
        let pods = view.status.summary.as_ref().and_then(|summary| summary.pods.as_deref());
        cells.extend([
            amount(view.status.demand.as_ref()),
            amount(view.status.nominal.as_ref()),
            bound(spec.limit.as_ref()),
            Cell::from(pods.unwrap_or("-")),
        ]);
    }
    let (used, deserved) = (view.used(), view.deserved());
    let used_cell = amount_cell(&used, status);
    cells.extend([
        bound(spec.guaranteed.as_ref()),
        amount(view.status.deserved.as_ref()),
        amount(view.status.allocated.as_ref()),
        if used.fits_in(&deserved) { used_cell } else { used_cell.coloured(Colour::Alarm) },
    ]);
    cells.extend(state(status, view, most, screen));
    cells
}

fn amount_cell(amounts: &Amounts, status: &Status) -> Cell {
    let selected = status.selected.as_ref();
    let text = selected.map_or_else(|| amounts.compact(), |selected| selected.text(amounts));
    aligned(text.into(), status)
}

/// Amounts of one resource are numbers, which stand at the right.
fn aligned(cell: Cell, status: &Status) -> Cell {
    if status.selected.is_some() { cell.right() } else { cell }
}

/// The state in words; with one resource a bar before it.
fn state(status: &Status, view: &QueueView, most: Amount, screen: Screen) -> Vec<Cell> {
    if let Some((reason, _)) = view.stalled() {
        return vec![Cell::new(format!("Stalled: {reason}"), Colour::Alarm)];
    }
    let starvation = view.starved(status.cluster.snapshot.now);
    let Some(selected) = &status.selected else {
        let since = starvation.as_ref().and_then(|starved| starved.seconds);
        let since = since.map(|seconds| format!(" for {}", duration(seconds))).unwrap_or_default();
        let colour = if starvation.is_some() { Colour::Notice } else { Colour::Plain };
        return vec![Cell::new(format!("{}{since}", view.state()), colour)];
    };
    if view.is_parent() {
        return Vec::new();
    }
    let [used, deserved] = [view.used(), view.deserved()].map(|of| of.get(&selected.resource).units());
    let drawn = bar(used, deserved, most.units(), screen.glyphs);
    let note = note(status, view, selected, starvation.as_ref());
    vec![drawn.into(), Cell::new(note, Colour::Notice)]
}

/// `3 over, returning`, `3 below for 40 s, reclaiming`; empty if nothing of the resource is unusual.
fn note(status: &Status, view: &QueueView, selected: &Selected, starved: Option<&Starvation<'_>>) -> String {
    let of = |map: &Option<ResourceMap>| amounts(map.as_ref()).get(&selected.resource);
    let (used, deserved) = (of(&view.status.used), of(&view.status.deserved));
    let preempting = of(&view.status.preempting);
    let over = used.less(deserved);
    if over.is_positive() {
        let is_awaited =
            |other: &&QueueView| of(&other.status.preempting).is_positive() && !other.is_parent();
        let returns = if status.views.iter().any(|other| is_awaited(&other)) { ", returning" } else { "" };
        return format!("{} over{returns}", selected.one(over));
    }
    match starved {
        Some(starved) if preempting.is_positive() => {
            let since =
                starved.seconds.map(|seconds| format!(" for {}", duration(seconds))).unwrap_or_default();
            let what = match starved.reason {
                "WaitingForPreemption" => "reclaiming",
                reason => reason,
            };
            format!("{} below{since}, {what}", selected.one(preempting))
        }
        _ => String::new(),
    }
}
