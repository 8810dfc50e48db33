//! Taking: scope after scope, the pods that make room for known asks, then source after source those that cover what
//! is still missing.

use super::Party;
use super::asks;
use super::books::Books;
use super::outcome::Taken;
use super::placing::Placing;
use super::release::{Served, release};
use super::scope::{Scope, missing};
use super::sources::sources;
use super::victim::Victim;
use crate::amounts::{Amounts, Resource};
use crate::census::Census;
use crate::demand::first_patience;
use crate::reason::Reason;
use crate::snapshot::Snapshot;
use crate::tree::{Index, Tree};

/// How often the asks of a scope are tried anew with some of them given up, before all are that lack something.
const MOST_ATTEMPTS: usize = 8;

/// Everything that stays the same while victims are chosen.
pub(super) struct Case<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) census: &'a Census<'a>,
    pub(super) tree: &'a Tree<'a>,
    pub(super) parties: &'a [Option<Party<'a>>],
    /// The governed resources of which there is any.
    pub(super) resources: Vec<&'a Resource>,
    pub(super) capacity: &'a Amounts,
}

/// A leaf that is short, or whose pods have no node, and of what.
#[derive(Clone)]
pub(super) struct Shortage {
    pub(super) at: Index,
    /// What it was short of at first, but for what was given up since.
    pub(super) promised: Amounts,
    /// What of that nobody goes for yet.
    pub(super) missing: Amounts,
}

/// The pods to evict, of those that stay.
///
/// Per resource, pods leave as far as somebody is short or the cluster exceeded: what is promised plus what everybody
/// holds once things have settled, minus the capacity (S-PREEMPT §Preprocess stage). What a queue holds above its limit
/// leaves wholly. None while nothing may be taken.
pub(super) fn choose(
    snapshot: &Snapshot,
    census: &Census<'_>,
    tree: &Tree<'_>,
    parties: &[Option<Party<'_>>],
    capacity: &Amounts,
    resources: &[Resource],
) -> Taken {
    if snapshot.destruction.held().is_some() {
        return Taken::default();
    }
    let resources: Vec<&Resource> = resources.iter().filter(|resource| capacity.offers(resource)).collect();
    let mut books = Books::new(snapshot, census, tree, parties, capacity, &resources);
    let case = Case { snapshot, census, tree, parties, resources, capacity };

    let mut taken = Taken::default();
    let mut placing = Placing::new(&case);
    taken.is_complete = placing.is_none();
    // While pods wait for nodes that may be added, what there is too little of evicts nobody.
    let waits_for_nodes = first_patience(snapshot, census).is_some();
    let mut served = Vec::new();
    let unfenced = sum(&case.shortages(Scope::Cluster, placing.as_ref(), &mut taken));
    for scope in Scope::all(tree) {
        for attempt in 0..=MOST_ATTEMPTS {
            let mut shortages = case.shortages(scope, placing.as_ref(), &mut taken);
            let promised = sum(&shortages);
            let mut need =
                missing(scope, tree, &books.balance, &promised, &unfenced, capacity, &case.resources);
            if waits_for_nodes && !need.is_empty() {
                for shortage in shortages.iter().filter(|shortage| shortage.missing.overlaps(&need)) {
                    taken.obstacles.insert(shortage.at, Reason::WaitingForNodes);
                }
                need = need.less(&only_of(&need, &snapshot.settings.expandable));
            }
            // Asks are met wholly or cost nobody a pod, so what they begin may have to be undone.
            let asks = |placing: &&Placing<'_>| !need.is_empty() && placing.asks_among(&shortages);
            let before = placing.as_ref().filter(asks).map(|placing| (placing.clone(), books.clone()));
            let mut waived = Amounts::new();
            let mut priority = None;
            if let Some(placing) = &mut placing {
                (waived, priority) = placing.serve(&case, scope, &mut shortages, &mut need, &mut books);
            }
            for at in sources(parties, &books.balance, &case.resources, capacity) {
                if scope.contains(tree, at) {
                    case.take_from(at, scope, priority, &mut need, &mut books, &mut shortages);
                }
            }
            if let (Some((mut undone, former)), Some(tried)) = (before, &placing) {
                let uncovered = tried.uncovered(&case, &promised, &waived, &need);
                let reason = case.what_keeps(scope, &books).unwrap_or(Reason::NothingToEvict);
                let last = attempt >= MOST_ATTEMPTS.saturating_sub(1);
                let lacking = (!last).then_some(&uncovered);
                if !uncovered.is_empty() && undone.give_up_last(&case, tried, lacking, reason) {
                    let kept = std::mem::take(&mut books.kept);
                    books = former;
                    books.kept = kept;
                    placing = Some(undone);
                    continue;
                }
            }
            if !need.is_empty() {
                taken.is_complete = false;
                case.note_obstacles(scope, &shortages, &need, &books, &mut taken);
            }
            served.push(Served { scope, promised, unfenced: unfenced.clone(), waived });
            break;
        }
    }
    if let Some(placing) = &mut placing {
        placing.make_way_for_stuck(&case, &mut books, &mut taken);
        placing.tell_unmet(&mut taken);
    }
    release(&case, &mut books, &served, placing.as_mut().map(|placing| &mut placing.rooms));
    let ranks = books.ranks();
    taken.evict(parties, &books.victims, &ranks);
    taken.pass_over(parties, books.kept);
    taken
}

/// What there is in `amounts` of the resources of which `others` has something.
fn only_of(amounts: &Amounts, others: &Amounts) -> Amounts {
    others.resources().map(|resource| (resource.clone(), amounts.get(resource))).collect()
}

fn sum(shortages: &[Shortage]) -> Amounts {
    let mut sum = Amounts::new();
    for shortage in shortages {
        sum.add_all(&shortage.missing);
    }
    sum
}

impl<'a> Case<'a> {
    pub(super) fn party(&self, at: Index) -> Option<&'a Party<'a>> {
        self.parties.get(at).and_then(Option::as_ref)
    }

    /// The leaves that take from `scope`, and what each lacks.
    fn shortages(&self, scope: Scope, placing: Option<&Placing<'a>>, taken: &mut Taken) -> Vec<Shortage> {
        let mut all = Vec::new();
        for (at, party) in self.parties.iter().enumerate() {
            let Some(party) = party else { continue };
            if !scope.serves(self.tree, at) {
                continue;
            }
            let promised: Amounts = self
                .resources
                .iter()
                .map(|resource| ((*resource).clone(), party.promised(resource)))
                .collect();
            if promised.is_empty() {
                continue;
            }
            match self.due(party, &promised) {
                Ok(due) => {
                    let given_up = placing.map(|placing| placing.given_up(at)).unwrap_or_default();
                    let missing = due.less(&given_up);
                    if !missing.is_empty() {
                        all.push(Shortage { at, promised: missing.clone(), missing });
                    }
                }
                Err(reason) => {
                    taken.obstacles.insert(at, reason);
                }
            }
        }
        all
    }

    /// What of `promised` pods are evicted for now.
    ///
    /// Pods are whole: if none of the queue's pending pods fits into what the queue deserves beside its other pods, an
    /// eviction would free room that stays empty. A standing claim holds without pods.
    fn due(&self, party: &Party<'_>, promised: &Amounts) -> Result<Amounts, Reason> {
        let queue = party.queue;
        if queue.is_delayed(self.snapshot.now) {
            return Err(Reason::Delayed);
        }
        let asks = asks::refused(party);
        if asks.is_empty() {
            return Ok(promised.clone());
        }
        let entitled = party.deserved.less(&party.headcount.all_staying());
        let fits = |ask: &asks::Ask<'_>| {
            !asks::whole(&asks::governed(&ask.shape.requests, &self.resources), 1, &entitled).is_empty()
        };
        if asks.iter().any(fits) {
            return Ok(promised.clone());
        }
        let claimed = |(resource, _): (&Resource, _)| (resource.clone(), promised.get(resource));
        let claimed: Amounts = queue.request.iter().map(claimed).collect();
        if claimed.is_empty() { Err(Reason::UnitAboveShare) } else { Ok(claimed) }
    }

    /// Takes from the leaf at `at` what covers `need`.
    fn take_from(
        &self,
        at: Index,
        scope: Scope,
        priority: Option<i32>,
        need: &mut Amounts,
        books: &mut Books<'a>,
        shortages: &mut [Shortage],
    ) {
        // What one round leaves may be had by pods that a guarantee kept while more was asked for.
        while let Some((ask, wholly)) = self.ask_of(at, scope, need, books) {
            let Some(party) = self.party(at) else { return };
            let in_force = party.is_fenced(ask.resources());
            let victims = books.choose(at, &ask, wholly, priority);
            if victims.is_empty() {
                return;
            }
            for victim in victims {
                let freed = books.take(at, &victim);
                *need = need.less(&freed);
                let beneficiary =
                    attribute(shortages, at, &freed).or_else(|| attribute(&mut books.pending, at, &freed));
                let reason = if beneficiary.is_some() { Reason::Reclaimed } else { Reason::Overcommitted };
                books.victims.push(Victim {
                    at,
                    candidate: victim,
                    beneficiary,
                    reason,
                    in_force,
                    makes_room: None,
                });
            }
        }
    }

    /// What is to be taken from the leaf at `at`, and whether also where it is of use to nobody; none if nothing is.
    fn ask_of(&self, at: Index, scope: Scope, need: &Amounts, books: &Books<'a>) -> Option<(Amounts, bool)> {
        let party = self.party(at)?;
        let overuse = books.balance.overuse.get(at)?;
        let mut above_limit = Amounts::new();
        let mut ask = Amounts::new();
        for resource in &self.resources {
            let part = overuse.get(resource).min(need.get(resource));
            // A queue's own limit is nobody's scope: it is settled once, with the cluster's.
            if scope == Scope::Cluster {
                let already = party.overuse(resource) - overuse.get(resource);
                above_limit.set(resource, party.above_limit(resource).less(already));
            }
            ask.set(resource, part.max(above_limit.get(resource)));
        }
        (!ask.is_empty()).then_some((ask, !above_limit.is_empty()))
    }

    /// What keeps pods of a scope that would have helped, if it is more than that there are none.
    pub(super) fn what_keeps(&self, scope: Scope, books: &Books<'_>) -> Option<Reason> {
        let kept_by = |rules: &[Reason]| {
            let inside = books.kept.iter().filter(|(at, _)| scope.contains(self.tree, **at));
            inside.flat_map(|(_, kept)| kept).any(|(_, reason)| rules.contains(reason))
        };
        if kept_by(&[Reason::Budget, Reason::EvictionRefused]) {
            Some(Reason::Blocked)
        } else if kept_by(&[Reason::Guarantee]) {
            Some(Reason::Guarantee)
        } else {
            // What could not be had inside a fence stays short, and is not taken outside.
            matches!(scope, Scope::Fence(_)).then_some(Reason::Fenced)
        }
    }

    /// Says what stands in the way of the leaves that still lack `need`.
    fn note_obstacles(
        &self,
        scope: Scope,
        shortages: &[Shortage],
        need: &Amounts,
        books: &Books<'_>,
        taken: &mut Taken,
    ) {
        let Some(reason) = self.what_keeps(scope, books) else { return };
        for shortage in shortages.iter().filter(|shortage| shortage.missing.overlaps(need)) {
            taken.obstacles.insert(shortage.at, reason);
        }
    }
}

/// The first queue, other than the giver, that is short of something that was freed; its shortage shrinks by it.
fn attribute(shortages: &mut [Shortage], giver: Index, freed: &Amounts) -> Option<Index> {
    let is_short = |shortage: &&mut Shortage| shortage.at != giver && shortage.missing.overlaps(freed);
    let shortage = shortages.iter_mut().find(is_short)?;
    shortage.missing = shortage.missing.less(freed);
    Some(shortage.at)
}
