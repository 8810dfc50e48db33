//! The units of a queue, in the order in which it keeps them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::Leaf;
use super::gang_part::GangPart;
use crate::amounts::{Amounts, Resource};
use crate::names::GangName;
use crate::plan::Stage;
use crate::snapshot::{Pod, Snapshot};

/// Alike units of one queue that stand together in its order: pods, or gangs as far as their minimum goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// What one of them requests, of the governed resources.
    pub(crate) requests: Amounts,
    /// How many.
    pub(crate) count: u32,
    /// Whether they run: they would have to be evicted.
    pub(crate) runs: bool,
    /// What they are to a gang; none for pods that are in none, or that exist beyond its minimum.
    pub(crate) part: Option<GangPart>,
}

impl<'a> Leaf<'a> {
    /// Its units, first to be kept first, when it is to hold no more than `share`: pods that are there, then what its
    /// owners lack.
    ///
    /// A gang below its minimum is one unit with what it lacks. Of 2, 2 and 1 cpu it is the 1 that goes where 1 has to,
    /// whichever is the newest.
    pub(crate) fn units(
        &self,
        share: &Amounts,
        snapshot: &'a Snapshot,
        capacity: &Amounts,
        resources: &[Resource],
    ) -> Vec<Unit> {
        let counts = |pod: &Pod| self.demand.trust.counts(pod);
        let all = self.candidates(snapshot);
        let beyond = self.staying.less(share);
        let offered = beyond.only(|one, _| capacity.offers(one));
        let going = all.fewest(&offered, capacity);
        let goes: FxHashSet<u32> = going.iter().map(|candidate| candidate.rank).collect();
        let kept = all.may_go.iter().filter(|candidate| !goes.contains(&candidate.rank)).rev();
        let mut never: Vec<&Pod> = all.never.iter().map(|(pod, _)| *pod).collect();
        never.sort_by(|a, b| Pod::by_age(a, b));

        let mut units = Vec::new();
        let mut add = |requests: &Amounts, count: u32, runs: bool, part: Option<GangPart>| {
            push(&mut units, Unit { requests: requests.of(resources), count, runs, part });
        };
        for pod in never.into_iter().filter(|pod| counts(pod)) {
            add(pod.requests(), 1, pod.node.is_some(), None);
        }
        let mut incomplete = self.incomplete_gangs();
        let mut met: BTreeSet<&GangName> = BTreeSet::new();
        for candidate in kept.chain(going.iter().rev()) {
            let gang = candidate.pod.gang().filter(|_| candidate.stage == Stage::NotRunning);
            match gang.and_then(|gang| incomplete.get_mut(&gang.name).map(|whole| (&gang.name, whole))) {
                Some((name, whole)) if met.insert(name) => {
                    let part = GangPart::Minimum(name.clone());
                    add(whole, 1, candidate.pod.node.is_some(), Some(part));
                }
                None if candidate.pods().iter().all(|pod| counts(pod)) => {
                    let runs = candidate.pods().iter().all(|pod| pod.node.is_some());
                    add(candidate.requests(), 1, runs, None);
                }
                _ => {}
            }
        }
        for pending in &self.pending {
            let stands_with_its_gang = pending.completes().is_some_and(|gang| met.contains(gang));
            if !stands_with_its_gang {
                add(&pending.requests, pending.units, false, pending.part.clone());
            }
        }
        units
    }

    /// What every gang that has members and lacks some comes to at its minimum.
    fn incomplete_gangs(&self) -> BTreeMap<&GangName, Amounts> {
        let lacking =
            self.pending.iter().filter_map(|pending| Some((pending.completes()?, &pending.requests)));
        let mut gangs: BTreeMap<&GangName, Amounts> =
            lacking.map(|(gang, all)| (gang, all.clone())).collect();
        if !gangs.is_empty() {
            for pod in self.state.pods.iter().filter(|pod| pod.is_live()) {
                if let Some(whole) = pod.gang().and_then(|gang| gangs.get_mut(&gang.name)) {
                    whole.add_all(pod.requests());
                }
            }
        }
        gangs
    }
}

/// Adds `unit`, to the last one if the two are alike.
fn push(units: &mut Vec<Unit>, unit: Unit) {
    let is_alike =
        |last: &&mut Unit| (last.runs, &last.requests, &last.part) == (unit.runs, &unit.requests, &unit.part);
    match units.last_mut().filter(is_alike) {
        Some(last) => last.count = last.count.saturating_add(unit.count),
        None if unit.requests.is_empty() => {}
        None => units.push(unit),
    }
}
