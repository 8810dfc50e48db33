//! Serving: asks find room that is there, or victims that leave it.

use super::give_up::ServedAsk;
use super::{Errand, Placing};
use crate::amounts::Amounts;
use crate::reason::Reason;
use crate::reclaim::asks::{Ask, governed, whole};
use crate::reclaim::books::Books;
use crate::reclaim::scope::Scope;
use crate::reclaim::sources::sources;
use crate::reclaim::take::{Case, Shortage};
use crate::snapshot::{Pod, VictimPriority};
use crate::tree::Index;

/// What one scope has to give, while its asks are served.
struct Round<'r> {
    scope: Scope,
    /// What pods have to go for.
    need: &'r mut Amounts,
    /// What turned out not to be needed: no room can be made for it.
    waived: Amounts,
}

impl<'a> Placing<'a> {
    /// Finds room for the asks of the leaves that are short and take from `scope`, with victims where `need` says that
    /// pods have to go anyway. What no room can be made for is taken off `need`, and returned; with it the highest
    /// priority among the asks, if priorities are compared and everybody who is short asks for pods.
    pub(in crate::reclaim) fn serve(
        &mut self,
        case: &Case<'a>,
        scope: Scope,
        shortages: &mut [Shortage],
        need: &mut Amounts,
        books: &mut Books<'a>,
    ) -> (Amounts, Option<i32>) {
        let short_of = need.clone();
        let mut round = Round { scope, need, waived: Amounts::new() };
        let compared = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let mut highest = compared.then_some(i32::MIN);
        self.served.clear();
        for shortage in shortages {
            let Some(mut waiting) = self.waiting.remove(&shortage.at) else {
                highest = None;
                continue;
            };
            for (number, (ask, failed)) in waiting.asks.iter_mut().enumerate() {
                highest = highest.map(|highest| highest.max(ask.priority));
                // What nobody has to go for needs no room kept.
                let is_short = governed(&ask.shape.requests, &case.resources).overlaps(&short_of);
                if failed.is_none() && is_short {
                    let (before, freed) = (ask.pods, self.freed_nodes);
                    *failed = self.serve_one(case, &mut round, ask, &mut waiting.entitled, shortage, books);
                    self.served.push(ServedAsk {
                        at: shortage.at,
                        number,
                        pods: before.saturating_sub(ask.pods),
                        freed: self.freed_nodes.saturating_sub(freed),
                        each: governed(&ask.shape.requests, &case.resources),
                    });
                }
            }
            self.waiting.insert(shortage.at, waiting);
        }
        (round.waived, highest)
    }

    /// Finds room for the pods of one ask, one after the other; says what stands in the way of the rest.
    fn serve_one(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &mut Ask<'a>,
        entitled: &mut Amounts,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Option<Reason> {
        let each = governed(&ask.shape.requests, &case.resources);
        while ask.pods > 0 && self.pods_left > 0 {
            let together = ask.together.clamp(1, ask.pods);
            let all = each.times(together);
            if !all.fits_in(entitled) {
                return Some(Reason::UnitAboveShare);
            }
            match self.make_room_together(case, round, ask, together, shortage, books) {
                Ok(()) => {
                    ask.pods = ask.pods.saturating_sub(together);
                    ask.together = 1;
                    *entitled = entitled.less(&all);
                }
                Err(reason) => {
                    // As much as they are entitled to is not needed; it would free room for nobody.
                    let rest = whole(&each, ask.pods, entitled);
                    *entitled = entitled.less(&rest);
                    let given_up = rest.min(&shortage.promised);
                    shortage.promised = shortage.promised.less(&given_up);
                    shortage.missing = shortage.missing.less(&given_up);
                    *round.need = round.need.less(&given_up);
                    self.given_up.entry(shortage.at).or_default().add_all(&given_up);
                    round.waived.add_all(&given_up);
                    if reason == Reason::NoNodeFits {
                        return Some(reason);
                    }
                    for at in sources(case.parties, &books.balance, &case.resources, case.capacity) {
                        if round.scope.contains(case.tree, at) {
                            books.keep_never_taken(at, &each);
                        }
                    }
                    return Some(case.what_keeps(round.scope, books).unwrap_or(reason));
                }
            }
        }
        None
    }

    /// Room for as many pods of `ask` as are of use only together, or nothing.
    fn make_room_together(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &Ask<'a>,
        together: u32,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Result<(), Reason> {
        self.pods_left = self.pods_left.saturating_sub(together);
        if together == 1 {
            return self.make_room(case, round, ask, shortage, books);
        }
        self.gangs_left = self.gangs_left.checked_sub(1).ok_or(Reason::NothingToEvict)?;
        let before = (
            self.rooms.clone(),
            self.search.clone(),
            books.clone(),
            round.need.clone(),
            shortage.missing.clone(),
        );
        for _ in 0..together {
            if let Err(reason) = self.make_room(case, round, ask, shortage, books) {
                let kept = std::mem::take(&mut books.kept);
                (self.rooms, self.search, *books, *round.need, shortage.missing) = before;
                books.kept = kept;
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Room for one pod of `ask`: what is there, or what the cheapest victims leave.
    fn make_room(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &Ask<'a>,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Result<(), Reason> {
        let scope = round.scope;
        if let Some(at) = self.rooms.reserve(ask.shape) {
            self.rooms.promise(at, ask.shape);
            return Ok(());
        }
        // Who goes for what is missing has been found: nobody goes for the room alone.
        if !governed(&ask.shape.requests, &case.resources).overlaps(round.need) {
            return Err(Reason::Fragmented);
        }
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let asker = shortage.at;
        let forbids = |at: Index, pod: &Pod| {
            if at == asker || !scope.contains(case.tree, at) {
                Some(Reason::Fenced)
            } else if !case.census.frees_room(pod) {
                Some(Reason::NodeNotCounted)
            } else {
                (limited && pod.priority > ask.priority).then_some(Reason::PriorityAboveAsk)
            }
        };
        let errand = Errand {
            asker,
            priority: ask.priority,
            reason: Reason::Reclaimed,
            givers: scope.top().unwrap_or(usize::MAX),
            within_share: false,
            forbids: &forbids,
        };
        let freed = self.free_a_node(case, ask.shape, &errand, books)?;
        *round.need = round.need.less(&freed);
        shortage.missing = shortage.missing.less(&freed);
        Ok(())
    }
}
