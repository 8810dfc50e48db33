//! How the deserved share of a queue comes about: every sibling's claim, the level at which weights divide what guarantees
//! leave, and which queue the next unit would go to.

use quotient_crds::ResourceMap;
use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::shares::{Claim, divide};

use super::context::Context;
use crate::output::{Cell, Style, indented, listing};
use crate::queues::{QueueView, amounts, resource_names};

/// The most siblings that are listed.
const MOST: usize = 20;

/// A table for each resource, and the sentences that follow from it.
pub(super) fn arithmetic(context: &Context<'_>, view: &QueueView) -> Vec<String> {
    let mut lines = Vec::new();
    for resource in resource_names(&context.views) {
        if let Some(division) = Division::of(context, view, &resource) {
            lines.extend(division.lines(context, view));
            lines.push(String::new());
        }
    }
    lines.pop();
    lines
}

/// One resource, divided among the siblings of a queue.
struct Division<'v> {
    resource: &'v Resource,
    siblings: Vec<Sibling<'v>>,
    /// The place of the queue that is explained.
    own: usize,
}

/// What one sibling claims, and what it deserves.
struct Sibling<'v> {
    view: &'v QueueView,
    claim: Claim,
    deserved: Amount,
}

impl Sibling<'_> {
    fn lacks(&self) -> bool {
        self.deserved < self.claim.demand
    }

    /// What it deserves above its guarantee, for one unit of weight.
    fn level(&self, resource: &Resource) -> Option<String> {
        let above = self.deserved.less(self.claim.guaranteed).units();
        let tenths = above.saturating_mul(10).checked_div(i128::from(self.claim.weight))?;
        let (whole, tenth) = (tenths.div_euclid(10), tenths.rem_euclid(10));
        Some(match resource {
            Resource::Extended(_) if tenth > 0 => format!("{whole}.{tenth}"),
            _ => {
                let beyond = whole.checked_rem(resource.quantum()).unwrap_or_default();
                resource.format(Amount::new(whole.saturating_sub(beyond)))
            }
        })
    }

    fn note(&self) -> &'static str {
        match (self.lacks(), self.claim.weight) {
            (false, _) => "has all it asks for",
            (true, 0) => "gets what no sibling needs",
            (true, _) if self.deserved < self.claim.guaranteed => "the guarantees exceed what there is",
            (true, _) => "at the level",
        }
    }
}

impl<'v> Division<'v> {
    fn of(context: &'v Context<'_>, view: &QueueView, resource: &'v Resource) -> Option<Self> {
        let is_sibling = |other: &&QueueView| other.parent() == view.parent() && other.stalled().is_none();
        let siblings: Vec<Sibling<'_>> = context
            .views
            .iter()
            .filter(is_sibling)
            .map(|other| Sibling {
                view: other,
                claim: claim(context, other, resource),
                deserved: amounts(other.status.deserved.as_ref()).get(resource),
            })
            .collect();
        let own = siblings.iter().position(|other| other.view.name == view.name)?;
        Some(Self { resource, siblings, own })
    }

    fn total(&self) -> Amount {
        self.siblings.iter().map(|other| other.deserved).sum()
    }

    /// The shares of `total`, as the engine divides it.
    fn divided(&self, total: Amount) -> Vec<Amount> {
        let claims: Vec<Claim> = self.siblings.iter().map(|other| other.claim).collect();
        divide(total, &claims, self.resource.quantum())
    }

    fn lines(&self, context: &Context<'_>, view: &QueueView) -> Vec<String> {
        let count = self.siblings.len();
        let mut lines = vec![format!("{}: {}", self.resource, self.heading())];
        lines.extend(self.table());
        let shown = count.min(MOST);
        if count > shown {
            lines.push(format!("  and {} more queues with smaller shares", count.saturating_sub(shown)));
        }
        let sentences = [self.formula(), self.margin(), self.whole_pods(context, view)];
        lines.extend(sentences.into_iter().flatten().map(|sentence| format!("  {sentence}")));
        lines
    }

    /// What there is to divide. Where all get what they ask for, that is no more than they ask for, whatever there is.
    fn heading(&self) -> String {
        let total = self.resource.format(self.total());
        let is_enough = !self.siblings.iter().any(Sibling::lacks);
        match (is_enough, self.siblings.len()) {
            (true, 1) => format!("the queue asks for {total}, and there is enough"),
            (true, count) => format!("{count} queues ask for {total} together, and there is enough"),
            (false, 1) => format!("{total} are divided"),
            (false, count) => format!("{total} are divided among {count} queues"),
        }
    }

    fn table(&self) -> Vec<String> {
        let rows = self.listed().into_iter().map(|other| {
            let text = |amount: Amount| Cell::from(self.resource.format(amount));
            vec![
                Cell::from(other.view.name.in_words()),
                Cell::from(other.claim.weight.to_string()),
                text(other.claim.guaranteed),
                text(other.claim.demand),
                text(other.deserved),
                Cell::from(other.level(self.resource).as_deref().unwrap_or("-")),
                Cell::from(other.note()),
            ]
        });
        let names = ["QUEUE", "WEIGHT", "GUARANTEED", "DEMAND", "DESERVED", "LEVEL"];
        indented(listing(&names, rows, Style::Plain))
    }

    /// The queue itself and the siblings with the largest shares, by name.
    fn listed(&self) -> Vec<&Sibling<'v>> {
        let mut places: Vec<(usize, &Sibling<'_>)> = self.siblings.iter().enumerate().collect();
        places.sort_by_key(|(at, other)| (*at != self.own, std::cmp::Reverse(other.deserved)));
        places.truncate(MOST);
        places.sort_by_key(|(at, _)| *at);
        places.into_iter().map(|(_, other)| other).collect()
    }

    /// `ml-train deserves 44 = 16 guaranteed + weight 3 * level 9.3.`, of a queue at the level.
    fn formula(&self) -> Option<String> {
        let own = self.siblings.get(self.own).filter(|own| own.lacks())?;
        let Claim { guaranteed, weight, .. } = own.claim;
        let level = own.level(self.resource).filter(|_| own.deserved >= guaranteed)?;
        let [deserved, guaranteed] = [own.deserved, guaranteed].map(|amount| self.resource.format(amount));
        let name = own.view.name.in_words();
        Some(format!(
            "{name} deserves {deserved} = {guaranteed} guaranteed + weight {weight} * level {level}."
        ))
    }

    /// Which queues the next unit would go to, and the last one would come from.
    fn margin(&self) -> Option<String> {
        if !self.siblings.iter().any(Sibling::lacks) {
            return None;
        }
        let total = self.total();
        let now = self.divided(total);
        if !now.iter().eq(self.siblings.iter().map(|other| &other.deserved)) {
            return Some(
                "These numbers alone give other shares: eviction.policy Never, statuses of different times, or queues that you \
                 may not see."
                    .to_owned(),
            );
        }
        let unit = Amount::new(self.resource.quantum());
        let changed = |other: &[Amount]| {
            let place = now.iter().zip(other).position(|(now, other)| now != other)?;
            Some(self.siblings.get(place)?.view.name.in_words())
        };
        let (gains, loses) =
            (changed(&self.divided(total + unit))?, changed(&self.divided(total.less(unit)))?);
        let unit = self.resource.format(unit);
        Some(format!("{unit} more would go to {gains}, and {unit} less would come from {loses}."))
    }

    /// The target, where everything that it depends on was read.
    fn whole_pods(&self, context: &Context<'_>, view: &QueueView) -> Option<String> {
        let plan = context.cluster.plan()?.queues.get(&view.name).filter(|plan| !plan.is_parent)?;
        let own = self.siblings.get(self.own)?;
        let target = plan.target.get(self.resource);
        let text = self.resource.format(target);
        Some(match target.cmp(&own.deserved) {
            std::cmp::Ordering::Equal => {
                format!("Its target is the same {text}: whole pods need no rounding.")
            }
            std::cmp::Ordering::Less => {
                format!("Rounded to whole pods, its target is {text}: no further pod fits.")
            }
            std::cmp::Ordering::Greater => {
                format!("Rounded to whole pods, its target is {text}: it gains the last pod that fits.")
            }
        })
    }
}

/// What a queue claims: a parent at least what its children are guaranteed.
fn claim(context: &Context<'_>, view: &QueueView, resource: &Resource) -> Claim {
    Claim {
        demand: amounts(view.status.demand.as_ref()).get(resource),
        guaranteed: guaranteed(context, view, resource, MOST_LEVELS),
        held: Amount::ZERO,
        weight: u32::try_from(view.weight()).unwrap_or_default(),
    }
}

/// Deeper trees are none: parents in a circle have no share.
const MOST_LEVELS: usize = 16;

fn guaranteed(context: &Context<'_>, view: &QueueView, resource: &Resource, levels: usize) -> Amount {
    let of = |map: &Option<ResourceMap>| amounts(map.as_ref()).get(resource);
    let own = of(&view.queue.spec.guaranteed).min(of(&view.status.demand));
    if !view.is_parent() || levels == 0 {
        return own;
    }
    let children = context.views.iter().filter(|child| child.parent().as_ref() == Some(&view.name));
    let below: Amount =
        children.map(|child| guaranteed(context, child, resource, levels.saturating_sub(1))).sum();
    let limit = &view.queue.spec.limit;
    let is_limited = limit.iter().flat_map(ResourceMap::iter).any(|(name, _)| name == resource.name());
    own.max(below).min(if is_limited { of(limit) } else { Amount::MAX })
}
