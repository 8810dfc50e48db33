//! What of the gated pods is of use together, and in which order gates are removed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::revisions::newest_first;
use crate::amounts::{Amounts, Resource};
use crate::demand::members;
use crate::keyed::KeyedMap;
use crate::leaf::{GangPart, Leaf};
use crate::names::GangName;
use crate::snapshot::Pod;
use crate::total::total;

/// A pod, or the pods that complete the minimum of their gang.
pub(super) struct GatedUnit<'a> {
    /// Its pods, by priority and age.
    pub(super) pods: Vec<&'a Pod>,
    /// What they request together, of the governed resources.
    pub(super) requests: Amounts,
    /// Whether some node could run each of them if it were empty, and the minimum of their gang.
    pub(super) fits_node: bool,
    /// What it is to a gang; none for a pod that is in none.
    pub(super) part: Option<GangPart>,
}

impl<'a> GatedUnit<'a> {
    /// The units of `pods`, the first to be let in first: what some node could run before what none could, then by
    /// priority, then age; of one Deployment the newest revision first.
    ///
    /// A gang that lacks pods to its minimum that are not created yet is left out: in parts it is of no use. Pods beyond the
    /// minimum are units of their own.
    pub(super) fn all(
        pods: impl Iterator<Item = &'a Pod>,
        leaf: &Leaf<'_>,
        resources: &[Resource],
    ) -> Vec<Self> {
        let mut units = Vec::new();
        let mut gangs: BTreeMap<&'a GangName, Vec<&'a Pod>> = BTreeMap::new();
        for pod in pods {
            match pod.gang() {
                Some(gang) => gangs.entry(&gang.name).or_default().push(pod),
                None => units.push(Self::new(vec![pod], None, leaf, resources)),
            }
        }
        let admitted = if gangs.is_empty() { KeyedMap::default() } else { members(leaf.state) };
        for (name, mut members) in gangs {
            members.sort_by(|a, b| Pod::by_importance(a, b));
            let minimum = leaf.minimums.of_gang(members.iter().filter_map(|pod| pod.gang()));
            let lacks = minimum.saturating_sub(admitted.get(name).copied().unwrap_or_default());
            let lacks = usize::try_from(lacks).unwrap_or(usize::MAX);
            if lacks > members.len() {
                continue;
            }
            let surplus = members.split_off(lacks);
            let part = Some(GangPart::Minimum(name.clone()));
            let minimum = (!members.is_empty()).then(|| Self::new(members, part, leaf, resources));
            let runs = minimum.as_ref().is_none_or(|minimum| minimum.fits_node);
            units.extend(minimum);
            units.extend(surplus.into_iter().map(|pod| {
                let surplus = Self::new(vec![pod], Some(GangPart::Surplus(name.clone())), leaf, resources);
                Self { fits_node: runs && surplus.fits_node, ..surplus }
            }));
        }
        let importance = |pod: &&'a Pod| (Reverse(pod.priority), pod.created, &pod.name, &pod.uid);
        units.sort_by_key(|unit| (!unit.fits_node, unit.pods.first().map(importance)));
        newest_first(units, leaf)
    }

    fn new(pods: Vec<&'a Pod>, part: Option<GangPart>, leaf: &Leaf<'_>, resources: &[Resource]) -> Self {
        let requests = total(pods.iter().map(|pod| pod.requests())).of(resources);
        let fits_node = pods.iter().all(|pod| leaf.could_run(pod));
        Self { pods, requests, fits_node, part }
    }
}
