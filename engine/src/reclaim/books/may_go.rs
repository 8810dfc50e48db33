//! Whether pods on one node may go together, for room that somebody asks for.

use std::collections::BTreeMap;

use super::{Books, Spare, fits_in_spare};
use crate::amounts::{Amount, Amounts, Resource};
use crate::reason::Reason;
use crate::reclaim::candidate::Candidate;
use crate::reclaim::nodes::Resident;
use crate::snapshot::Pod;
use crate::tree::Index;

impl<'a> Books<'a> {
    /// Which of `victims`, in this order, may go together for an ask of `requests`: they are not chosen yet, their
    /// queues still hold too much of something that is asked for (or, `within_share`, more than they are guaranteed),
    /// no guarantee is touched and budgets allow it.
    pub(in crate::reclaim) fn may_go(
        &mut self,
        victims: &[Resident<'a>],
        requests: &Amounts,
        within_share: bool,
        forbids: &dyn Fn(Index, &Pod) -> Option<Reason>,
    ) -> Vec<bool> {
        if let [one] = victims {
            return vec![self.may_go_alone(one, requests, within_share, forbids)];
        }
        let mut taken: BTreeMap<Index, (Amounts, Vec<Candidate<'a>>)> = BTreeMap::new();
        let mut verdicts = Vec::new();
        for resident in victims {
            let at = resident.leaf;
            let pods = resident.candidate.pods();
            let (already, beside) = taken.entry(at).or_default();
            let mut with = already.clone();
            for pod in resident.candidate.everything().filter(|pod| !self.chosen.contains(&pod.uid)) {
                with.add_all(pod.requests());
            }
            let free = pods.iter().all(|pod| !self.chosen.contains(&pod.uid) && forbids(at, pod).is_none());
            let spare = self.spare(at);
            // Something that is asked for must still be too much before this victim goes.
            let too_much = requests.resources().any(|resource| {
                let here = pods.iter().any(|pod| pod.requests().get(resource).is_positive());
                here && self.too_much(at, resource, within_share.then_some(&spare)) > already.get(resource)
            });
            let mut together = beside.clone();
            together.push(resident.candidate.clone());
            let may = free
                && too_much
                && fits_in_spare(&with, &spare)
                && self.allow(at, &together).last().copied().unwrap_or_default();
            if may {
                taken.insert(at, (with, together));
            }
            verdicts.push(may);
        }
        verdicts
    }

    /// [`may_go`](Self::may_go) for a single victim, which is what is asked most often.
    fn may_go_alone(
        &mut self,
        victim: &Resident<'a>,
        requests: &Amounts,
        within_share: bool,
        forbids: &dyn Fn(Index, &Pod) -> Option<Reason>,
    ) -> bool {
        let (at, candidate) = (victim.leaf, &victim.candidate);
        // Asked first: most of those that are looked at are of queues that have nothing left to give.
        let gives = |resource: &Resource| self.too_much(at, resource, None).is_positive();
        if !within_share && !requests.resources().any(gives) {
            return false;
        }
        if candidate.pods().iter().any(|pod| self.chosen.contains(&pod.uid)) {
            return false;
        }
        if let Some(rule) = candidate.pods().iter().find_map(|pod| forbids(at, pod)) {
            if rule == Reason::PriorityAboveAsk {
                self.keep(at, candidate, rule);
            }
            return false;
        }
        let spare = self.spare(at);
        let mut takes = Amounts::new();
        for pod in candidate.everything().filter(|pod| !self.chosen.contains(&pod.uid)) {
            takes.add_all(pod.requests());
        }
        let guarded = !fits_in_spare(&takes, &spare);
        let too_much = requests.resources().any(|resource| {
            takes.get(resource).is_positive()
                && self.too_much(at, resource, within_share.then_some(&spare)).is_positive()
        });
        if !too_much {
            return false;
        }
        let one = std::slice::from_ref(candidate);
        let budget = self.allow(at, one).iter().all(|may| *may);
        if guarded || !budget {
            self.keep(at, candidate, if guarded { Reason::Guarantee } else { Reason::Budget });
        }
        !guarded && budget
    }

    /// What pods on nodes hold too much of: above the share, where what pods without a node hold goes first; or, given
    /// what guarantees `spare`, above these.
    fn too_much(&self, at: Index, resource: &Resource, spare: Option<&Spare>) -> Amount {
        if let Some(spare) = spare {
            return spare.iter().find(|(one, _)| one == resource).map_or(Amount::MAX, |(_, spare)| *spare);
        }
        let of = |list: &[Amounts]| list.get(at).map(|amounts| amounts.get(resource)).unwrap_or_default();
        of(&self.balance.overuse).less(of(&self.unbound))
    }
}
