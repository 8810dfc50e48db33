//! Choosing among the pods of one leaf: the fewest that cover what is asked, of those that rules allow together.

use rustc_hash::FxHashSet;

use super::{Books, fits_in_spare};
use crate::amounts::Amounts;
use crate::names::PodUid;
use crate::reason::Reason;
use crate::reclaim::candidate::Candidate;
use crate::reclaim::select::{drop_unneeded, select};
use crate::snapshot::Pod;
use crate::tree::Index;

impl<'a> Books<'a> {
    /// The victims among the pods of the leaf at `at` that cover `ask`, or as much of it as may be taken.
    ///
    /// `wholly`: also pods whose room nobody else can use, because their queue is above its limit. `priority`: the highest
    /// that victims may have, if it is compared.
    pub(in crate::reclaim) fn choose(
        &mut self,
        at: Index,
        ask: &Amounts,
        wholly: bool,
        priority: Option<i32>,
    ) -> Vec<Candidate<'a>> {
        let (census, chosen) = (self.census, std::mem::take(&mut self.chosen));
        let Some(source) = self.source(at) else {
            self.chosen = chosen;
            return Vec::new();
        };
        let mut kept: Vec<(&'a Pod, Reason)> = source.candidates.never.clone();
        let mut able: Vec<Candidate<'a>> = Vec::new();
        for candidate in &source.candidates.may_go {
            if !candidate.requests().overlaps(ask)
                || candidate.pods().iter().any(|pod| chosen.contains(&pod.uid))
            {
                continue;
            }
            if !wholly && !candidate.pods().iter().all(|pod| census.frees_room(pod)) {
                kept.extend(candidate.pods().iter().map(|pod| (*pod, Reason::NodeNotCounted)));
                continue;
            }
            if priority.is_some_and(|highest| candidate.pods().iter().any(|pod| pod.priority > highest)) {
                kept.extend(candidate.pods().iter().map(|pod| (*pod, Reason::PriorityAboveAsk)));
                continue;
            }
            able.push(candidate.clone());
        }
        self.chosen = chosen;
        loop {
            let mut victims = select(able.clone(), ask, self.scale);
            let Some((reason, barred)) = self.first_objection(at, &victims) else {
                with_all_surplus(&mut victims, ask, &self.chosen);
                kept.retain(|(pod, _)| pod.requests().overlaps(ask));
                self.kept.entry(at).or_default().append(&mut kept);
                return victims;
            };
            let held_back = self.alike(at, &able, &victims, &barred, reason);
            let out: FxHashSet<(&PodUid, bool)> =
                held_back.iter().map(|one| (&one.pod.uid, one.gang.is_some())).collect();
            able.retain(|one| !out.contains(&(&one.pod.uid, one.gang.is_some())));
            kept.extend(held_back.iter().flat_map(Candidate::pods).map(|pod| (*pod, reason)));
        }
    }

    /// The first victim, in order, that may not go beside those before it, and why.
    fn first_objection(&mut self, at: Index, victims: &[Candidate<'a>]) -> Option<(Reason, Candidate<'a>)> {
        let budgets = self.allow(at, victims);
        let spare = self.spare(at);
        let mut taken = Amounts::new();
        // What follows a gang may have been chosen by itself already.
        let any_gang = victims.iter().any(|victim| victim.gang.is_some());
        let mut counted: FxHashSet<&PodUid> = FxHashSet::default();
        for (victim, allowed) in victims.iter().zip(budgets) {
            if !allowed {
                return Some((Reason::Budget, victim.clone()));
            }
            for pod in victim.everything() {
                if !any_gang || counted.insert(&pod.uid) {
                    taken.add_all(pod.requests());
                }
            }
            if !fits_in_spare(&taken, &spare) {
                return Some((Reason::Guarantee, victim.clone()));
            }
        }
        None
    }

    /// Of `able` everything that the objection to `barred` keeps, but for those that were accepted before it.
    fn alike(
        &mut self,
        at: Index,
        able: &[Candidate<'a>],
        victims: &[Candidate<'a>],
        barred: &Candidate<'a>,
        reason: Reason,
    ) -> Vec<Candidate<'a>> {
        let accepted: FxHashSet<&PodUid> = victims
            .iter()
            .take_while(|victim| victim.pod.uid != barred.pod.uid)
            .map(|victim| &victim.pod.uid)
            .collect();
        let guarded = self.spare(at).into_iter();
        let part: Amounts =
            guarded.map(|(resource, _)| (resource.clone(), barred.requests().get(&resource))).collect();
        let before: Vec<Candidate<'a>> =
            victims.iter().filter(|victim| accepted.contains(&victim.pod.uid)).cloned().collect();
        let mut is_alike = |one: &&Candidate<'a>| {
            if accepted.contains(&one.pod.uid) {
                return false;
            }
            one.pod.uid == barred.pod.uid && one.gang.is_some() == barred.gang.is_some()
                || match reason {
                    Reason::Budget => {
                        self.source(at).is_some_and(|source| source.budgets.same(one, barred)) && {
                            let mut with = before.clone();
                            with.push((*one).clone());
                            !self.allow(at, &with).last().copied().unwrap_or_default()
                        }
                    }
                    _ => part.fits_in(one.requests()),
                }
        };
        able.iter().filter(|one| is_alike(one)).cloned().collect()
    }
}

/// A gang that goes takes its surplus with it; then some of the others may not be needed.
fn with_all_surplus(victims: &mut Vec<Candidate<'_>>, ask: &Amounts, chosen: &FxHashSet<PodUid>) {
    if victims.iter().all(|victim| victim.gang.is_none()) {
        return;
    }
    let (gangs, mut singles): (Vec<_>, Vec<_>) = victims.drain(..).partition(|one| one.gang.is_some());
    let mut besides = Amounts::new();
    let mut follow: FxHashSet<PodUid> = FxHashSet::default();
    for whole in gangs.iter().filter_map(|one| one.gang.as_ref()) {
        besides.add_all(&whole.requests);
        for pod in whole.surplus.iter().filter(|pod| !chosen.contains(&pod.uid)) {
            besides.add_all(pod.requests());
            follow.insert(pod.uid.clone());
        }
    }
    singles.retain(|one| !follow.contains(&one.pod.uid));
    singles.reverse();
    drop_unneeded(&mut singles, &besides, ask);
    singles.reverse();
    for gang in gangs {
        let surplus = gang.gang.iter().flat_map(|whole| &whole.surplus);
        let surplus = surplus.filter(|pod| !chosen.contains(&pod.uid));
        singles.extend(surplus.map(|pod| Candidate::surplus(pod)));
        singles.push(gang);
    }
    *victims = singles;
}
