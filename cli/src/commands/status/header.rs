//! The first lines of a status: the operator and the cluster as a whole.

use quotient_engine::amounts::Amounts;
use quotient_engine::snapshot::Pod;

use super::Status;
use crate::output::{Screen, sum, time_text};
use crate::queues::{QueueView, resource_names};

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
    let text = |amounts: &Amounts| match &status.selected {
        Some(selected) => selected.text(amounts),
        None => amounts.compact(),
    };
    // Its unit is named once.
    let unit = status.selected.as_ref().map(|selected| format!(" {}", selected.short_name()));
    let unit = unit.unwrap_or_default();
    let leaves = status.views.iter().filter(|view| !view.is_parent());
    let used = sum(leaves.clone().map(QueueView::used));
    let mut parts = match &status.plan {
        Some(plan) => vec![
            format!("{}{unit}, {} used", text(&plan.capacity), text(&used)),
            format!("unmanaged namespaces use {}", text(&unmanaged(status))),
        ],
        None if !status.cluster.snapshot.nodes.is_empty() => {
            let capacity = status.cluster.offered().of(&resource_names(&status.all));
            vec![format!("{}{unit} on nodes, {} used by queues", text(&capacity), text(&used))]
        }
        None => vec![format!("queues use {}{unit}", text(&used))],
    };
    let now = status.cluster.snapshot.now;
    let starved = leaves.clone().filter(|view| view.starved(now).is_some()).count();
    let stalled = status.views.iter().filter(|view| view.stalled().is_some()).count();
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    parts.push(format!("{starved} of {} queues {} starved", leaves.count(), are(starved)));
    if stalled > 0 {
        parts.push(format!("{stalled} {} stalled", are(stalled)));
    }
    parts
}

/// What pods on nodes request in namespaces without a Queue.
pub(super) fn unmanaged(status: &Status) -> Amounts {
    let namespaces = status.cluster.snapshot.namespaces.values();
    let pods = namespaces.filter(|state| state.governing().is_none()).flat_map(|state| &state.pods);
    sum(pods.filter(|pod| pod.is_charged() && pod.node.is_some()).map(Pod::requests))
}
