//! Giving up: what was begun for an ask that cannot be served is undone, and others are served instead.

use std::collections::BTreeMap;

use super::{Placing, promised};
use crate::amounts::Amounts;
use crate::reason::Reason;
use crate::reclaim::Party;
use crate::reclaim::asks::{governed, whole};
use crate::reclaim::take::Case;
use crate::tree::Index;

/// What came of one ask in one scope.
#[derive(Clone)]
pub(super) struct ServedAsk {
    pub(super) at: Index,
    /// Which of the leaf's asks.
    pub(super) number: usize,
    /// For how many of its pods there is room.
    pub(super) pods: u32,
    /// For how many of these a node was freed.
    pub(super) freed: u32,
    /// What each of them requests.
    pub(super) each: Amounts,
}

impl<'a> Placing<'a> {
    /// Gives up asks that no node could run even if it were empty, before room is handed to anybody.
    pub(super) fn give_up_the_impossible(&mut self, case: &Case<'a>) {
        for (at, waiting) in &mut self.waiting {
            let Some(party) = case.party(*at) else { continue };
            for (ask, failed) in &mut waiting.asks {
                if self.rooms.could_run(ask.shape) {
                    continue;
                }
                *failed = Some(Reason::NoNodeFits);
                let given_up = self.given_up.entry(*at).or_default();
                let promised = promised(case, party).less(given_up);
                let each = governed(&ask.shape.requests, &case.resources);
                let rest = whole(&each, ask.pods, &waiting.entitled);
                waiting.entitled = waiting.entitled.less(&rest);
                given_up.add_all(&rest.min(&promised));
            }
        }
    }

    /// What asks that were served in this scope still lack, when `need` could not be had: claims that nobody uses go
    /// without before they do. What their quotas have room for already is theirs.
    pub(in crate::reclaim) fn uncovered(
        &self,
        case: &Case<'a>,
        promised: &Amounts,
        waived: &Amounts,
        need: &Amounts,
    ) -> Amounts {
        let mut by_leaf: BTreeMap<Index, Amounts> = BTreeMap::new();
        for served in &self.served {
            by_leaf.entry(served.at).or_default().add_all(&served.each.times(served.pods));
        }
        let mut asked = Amounts::new();
        for (at, served) in by_leaf {
            let room = case.party(at).map(Party::room).unwrap_or_default();
            asked.add_all(&served.less(&room));
        }
        need.less(&promised.less(waived).less(&asked)).min(&asked)
    }

    /// Gives up, of the asks that `tried` served last, as many pods as cover `lacking`; all that were served if there is
    /// no telling. Those that nodes were freed for go first: the others cost nobody a node. Says whether any was given up.
    pub(in crate::reclaim) fn give_up_last(
        &mut self,
        case: &Case<'a>,
        tried: &Self,
        lacking: Option<&Amounts>,
        reason: Reason,
    ) -> bool {
        let mut left = lacking.cloned().unwrap_or_default();
        let mut any = false;
        let with_nodes = |served: &&ServedAsk| served.freed > 0 && served.each.overlaps(&left);
        let nodes_first = lacking.is_some() && tried.served.iter().any(|served| with_nodes(&served));
        for ServedAsk { at, number, pods, freed, each } in tried.served.iter().rev() {
            let pods = if nodes_first { freed } else { pods };
            if *pods == 0 || (lacking.is_some() && !each.overlaps(&left)) {
                continue;
            }
            let Some(waiting) = self.waiting.get_mut(at) else { continue };
            let Some((ask, failed)) = waiting.asks.get_mut(*number) else { continue };
            // As many as it takes; what is asked for together is given up together.
            let mut given_up = 0u32;
            let most = if ask.together > 1 { ask.pods } else { *pods };
            while given_up < most && (lacking.is_none() || ask.together > 1 || each.overlaps(&left)) {
                given_up = given_up.saturating_add(1);
                left = left.less(each);
            }
            let rest = each.times(given_up);
            waiting.entitled = waiting.entitled.less(&rest);
            if let Some(party) = case.party(*at) {
                let known = self.given_up.entry(*at).or_default();
                let promised = promised(case, party).less(known);
                known.add_all(&rest.min(&promised));
            }
            if given_up > 0 {
                self.kept_from.entry(*at).or_insert(reason);
            }
            if given_up >= ask.pods {
                *failed = Some(reason);
            } else {
                // The first ones are tried again; the last are told as unmet with the rest.
                ask.pods = ask.pods.saturating_sub(given_up);
            }
            any |= given_up > 0;
        }
        any
    }
}
