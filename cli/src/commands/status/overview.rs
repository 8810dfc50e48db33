//! A status for people: a line about the operator, one about the cluster, and a row for each queue.

use quotient_crds::ResourceMap;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::snapshot::Pod;

use super::Status;
use crate::output::{Cell, Color, Screen, bar, number, short, short_name, sum, time_text};
use crate::queues::{QueueView, Starvation, amounts, in_tree_order, resource_names};

/// One line about the operator, one about the cluster.
pub(super) fn header(status: &Status, screen: Screen) -> Vec<String> {
    let dot = format!(" {} ", screen.glyphs.dot);
    vec![operator(status).join(&dot), cluster(status).join(&dot)]
}

fn operator(status: &Status) -> Vec<String> {
    let cluster = &status.cluster;
    if !cluster.is_observed {
        return vec![format!("Computed from {}", cluster.source)];
    }
    let Some(operator) = &cluster.operator else {
        return vec![format!("Quotient in {}", cluster.source), "its Deployment is not visible".to_owned()];
    };
    let version = operator.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let mut parts = vec![format!("Quotient{version}")];
    match &operator.settings {
        Ok(settings) => parts.push(format!("mode {}", settings.mode())),
        Err(error) => parts.push(format!("its flags cannot be read: {error}")),
    }
    let replicas = format!("{} of {} replicas ready", operator.ready, operator.replicas);
    match &operator.leader {
        Some((holder, renewed)) => {
            parts.push(format!("leader {holder} ({replicas})"));
            parts.extend(renewed.map(|time| {
                let seconds = cluster.snapshot.now.millis_since(time).div_euclid(1000).max(0);
                format!("lease renewed {seconds} s ago")
            }));
        }
        None => parts.push(format!("no leader is visible ({replicas})")),
    }
    if cluster.source.contains("snapshot") {
        parts.push(format!("as of {}", time_text(cluster.snapshot.now)));
    }
    parts
}

fn cluster(status: &Status) -> Vec<String> {
    let text = |amounts: &Amounts| short(amounts, status.selected.as_ref());
    // Its unit is named once.
    let unit = status.selected.as_ref().map(|selected| format!(" {}", short_name(selected)));
    let unit = unit.unwrap_or_default();
    let used_by = |views: &[QueueView]| text(&sum(leaves(views).map(QueueView::used)));
    let mut parts = match status.cluster.plan() {
        Some(plan) => vec![
            format!("{}{unit}, {} used", text(&plan.capacity), used_by(&status.all)),
            format!("unmanaged namespaces use {}", text(&unmanaged(status))),
        ],
        None if !status.cluster.snapshot.nodes.is_empty() => {
            let capacity = text(&status.cluster.offered().of(&resource_names(&status.all)));
            vec![format!("{capacity}{unit} on nodes, {} used by queues", used_by(&status.all))]
        }
        None => vec![format!("queues use {}{unit}", used_by(&status.views))],
    };
    let now = status.cluster.snapshot.now;
    let starved = leaves(&status.views).filter(|view| view.starved(now).is_some()).count();
    let stalled = status.views.iter().filter(|view| view.stalled().is_some()).count();
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let shown = leaves(&status.views).count();
    parts.push(format!("{starved} of {shown} queues {} starved", are(starved)));
    if stalled > 0 {
        parts.push(format!("{stalled} {} stalled", are(stalled)));
    }
    parts
}

fn leaves(views: &[QueueView]) -> impl Iterator<Item = &QueueView> {
    views.iter().filter(|view| !view.is_parent())
}

/// What pods on nodes request in namespaces without a Queue.
pub(super) fn unmanaged(status: &Status) -> Amounts {
    let namespaces = status.cluster.snapshot.namespaces.values();
    let pods = namespaces.filter(|state| state.governing().is_none()).flat_map(|state| &state.pods);
    sum(pods.filter(|pod| pod.is_charged() && pod.node.is_some()).map(Pod::requests))
}

/// The column titles and a row of cells for each queue, in the order of their tree.
pub(super) fn cells(status: &Status, is_wide: bool, screen: Screen) -> Vec<Vec<Cell>> {
    let most = status.selected.as_ref().map_or(Amount::ZERO, |selected| largest(&status.views, selected));
    let queues = status.views.iter().map(|view| (&view.name, view.parent(), view)).collect();
    let mut table = Vec::new();
    for (depth, view) in in_tree_order(queues) {
        let columns = columns(status, depth, view, is_wide);
        if table.is_empty() {
            let titles = columns.iter().map(|(title, cell)| cell.titled(title));
            table.push(titles.chain([Cell::new("STATE", Color::Faint)]).collect());
        }
        let cells = columns.into_iter().map(|(_, cell)| cell);
        table.push(cells.chain(state(status, view, most, screen)).collect());
    }
    table
}

/// What has a bar of full width.
fn largest(views: &[QueueView], selected: &Resource) -> Amount {
    let sizes = leaves(views).flat_map(|view| {
        let status = &view.status;
        [&status.used, &status.deserved].map(|map| amounts(map.as_ref()).get(selected))
    });
    sizes.max().unwrap_or(Amount::ZERO)
}

/// What stands before the state of a queue, each under its title.
fn columns(status: &Status, depth: usize, view: &QueueView, is_wide: bool) -> Vec<(&'static str, Cell)> {
    let (spec, decided) = (&view.queue.spec, &view.status);
    // A map that is absent is not known.
    let amount = |map: Option<&ResourceMap>| match map {
        Some(_) => aligned(short(&amounts(map), status.selected.as_ref()).into(), status),
        None => aligned("-".into(), status),
    };
    let bound = |map: &Option<ResourceMap>| amount(map.as_ref().filter(|map| !map.is_empty()));
    let mut columns = vec![
        ("QUEUE", Cell::from(format!("{}{}", "  ".repeat(depth), view.name.in_words()))),
        ("WEIGHT", Cell::from(view.weight().to_string()).right()),
    ];
    if is_wide {
        let pods = decided.summary.as_ref().and_then(|summary| summary.pods.as_deref());
        columns.extend([
            ("DEMAND", amount(decided.demand.as_ref())),
            ("NOMINAL", amount(decided.nominal.as_ref())),
            ("LIMIT", bound(&spec.limit)),
            ("PODS", Cell::from(pods.unwrap_or("-"))),
        ]);
    }
    let used = amount(decided.used.as_ref());
    let is_over = !view.used().fits_in(&view.deserved());
    columns.extend([
        ("GUARANTEED", bound(&spec.guaranteed)),
        ("DESERVED", amount(decided.deserved.as_ref())),
        ("ALLOCATED", amount(decided.allocated.as_ref())),
        ("USED", if is_over { used.colored(Color::Alarm) } else { used }),
    ]);
    columns
}

/// Amounts of one resource are numbers, which stand at the right.
fn aligned(cell: Cell, status: &Status) -> Cell {
    if status.selected.is_some() { cell.right() } else { cell }
}

/// The state in words; with one resource a bar before it.
fn state(status: &Status, view: &QueueView, most: Amount, screen: Screen) -> Vec<Cell> {
    if let Some((reason, _)) = view.stalled() {
        return vec![Cell::new(format!("Stalled: {reason}"), Color::Alarm)];
    }
    let starvation = view.starved(status.cluster.snapshot.now);
    let Some(selected) = &status.selected else {
        let since = starvation.as_ref().map(Starvation::since).unwrap_or_default();
        let color = if starvation.is_some() { Color::Notice } else { Color::Plain };
        return vec![Cell::new(format!("{}{since}", view.state()), color)];
    };
    if view.is_parent() {
        return Vec::new();
    }
    let [used, deserved] = [view.used(), view.deserved()].map(|of| of.get(selected).units());
    let drawn = bar(used, deserved, most.units(), screen.glyphs);
    let note = note(status, view, selected, starvation.as_ref());
    vec![drawn.into(), Cell::new(note, Color::Notice)]
}

/// `3 over, returning`, `3 below for 40 s, reclaiming`; empty if nothing of the resource is unusual.
fn note(status: &Status, view: &QueueView, selected: &Resource, starved: Option<&Starvation<'_>>) -> String {
    let of = |map: &Option<ResourceMap>| amounts(map.as_ref()).get(selected);
    let deserved = of(&view.status.deserved);
    let over = of(&view.status.used).less(deserved);
    if over.is_positive() {
        let is_awaited =
            |other: &&QueueView| of(&other.status.preempting).is_positive() && !other.is_parent();
        let returns = if status.all.iter().any(|other| is_awaited(&other)) { ", returning" } else { "" };
        return format!("{} over{returns}", number(selected, over));
    }
    let Some(starved) = starved else { return String::new() };
    let (below, what) = match starved.reason {
        "WaitingForPreemption" => (of(&view.status.preempting), "reclaiming"),
        reason => (deserved.less(of(&view.status.allocated)), reason),
    };
    if below.is_positive() {
        format!("{} below{}, {what}", number(selected, below), starved.since())
    } else {
        String::new()
    }
}
