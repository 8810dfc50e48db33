//! How the deserved share of a queue comes about: every sibling's claim, and the level at which weights divide the rest.

use quotient_engine::amounts::{Amount, Resource};

use super::scene::Scene;
use crate::output::{Cell, Colour, Style, align};
use crate::queues::{QueueView, amounts, resource_names};

/// A table for each resource, and the sentence that follows from it.
pub(super) fn arithmetic(scene: &Scene<'_>, view: &QueueView) -> Vec<String> {
    let siblings: Vec<&QueueView> = scene
        .views
        .iter()
        .filter(|other| other.parent() == view.parent() && other.stalled().is_none())
        .collect();
    let mut lines = Vec::new();
    for resource in resource_names(&scene.views) {
        lines.extend(of_resource(view, &siblings, &resource));
        lines.push(String::new());
    }
    lines.pop();
    lines
}

fn of_resource(view: &QueueView, siblings: &[&QueueView], resource: &Resource) -> Vec<String> {
    let of = |map: &Option<quotient_crds::ResourceMap>| amounts(map.as_ref()).get(resource);
    let total =
        siblings.iter().map(|other| of(&other.status.deserved)).fold(Amount::ZERO, |sum, one| sum + one);
    let mut lines = vec![format!("{resource}: {} are divided", resource.format(total))];
    let titles = ["QUEUE", "WEIGHT", "GUARANTEED", "DEMAND", "DESERVED", "DESERVED/WEIGHT", ""];
    let mut rows = vec![titles.map(|title| Cell::new(title, Colour::Faint)).to_vec()];
    let level = level(siblings, resource);
    let listed = listed(view, siblings, resource);
    for other in &listed {
        let (demand, deserved) = (of(&other.status.demand), of(&other.status.deserved));
        let per_weight = per_weight(deserved, other.weight());
        let note = if deserved >= demand { "has all it asks for" } else { "at the level" };
        rows.push(vec![
            Cell::plain(&other.name.in_words()),
            Cell::plain(&other.weight().to_string()),
            Cell::plain(&resource.format(of(&other.queue.spec.guaranteed))),
            Cell::plain(&resource.format(demand)),
            Cell::plain(&resource.format(deserved)),
            Cell::plain(&per_weight.map_or_else(|| "-".to_owned(), |amount| resource.format(amount))),
            Cell::plain(note),
        ]);
    }
    lines.extend(align(&rows, Style::Plain));
    let more = siblings.len().saturating_sub(listed.len());
    if more > 0 {
        lines.push(format!("  and {more} more queues with smaller shares"));
    }
    let (demand, deserved) = (of(&view.status.demand), of(&view.status.deserved));
    lines.push(match level {
        _ if deserved >= demand => format!("  {} deserves all of its demand.", view.name.in_words()),
        Some(level) => format!(
            "  {} deserves {} because every queue that asks for more gets about {} for each unit of weight, whole pods and \
             guarantees first.",
            view.name.in_words(),
            resource.format(deserved),
            resource.format(level)
        ),
        None => format!("  {} has weight 0: it gets what no sibling needs.", view.name.in_words()),
    });
    lines
}

/// The most siblings that are listed.
const MOST: usize = 20;

/// The queue itself and the siblings with the largest shares, by name.
fn listed<'v>(view: &QueueView, siblings: &[&'v QueueView], resource: &Resource) -> Vec<&'v QueueView> {
    let mut listed = siblings.to_vec();
    listed.sort_by_key(|other| {
        let deserved = amounts(other.status.deserved.as_ref()).get(resource);
        (other.name != view.name, std::cmp::Reverse(deserved))
    });
    listed.truncate(MOST);
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    listed
}

/// What each unit of weight gets of those that ask for more than they get.
fn level(siblings: &[&QueueView], resource: &Resource) -> Option<Amount> {
    let of = |map: &Option<quotient_crds::ResourceMap>| amounts(map.as_ref()).get(resource);
    let lacking = siblings.iter().filter(|other| of(&other.status.deserved) < of(&other.status.demand));
    lacking.filter_map(|other| per_weight(of(&other.status.deserved), other.weight())).min()
}

fn per_weight(amount: Amount, weight: i32) -> Option<Amount> {
    amount.units().checked_div(i128::from(weight)).map(Amount::new)
}
