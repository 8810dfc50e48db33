//! Follows writes and keeps the list of broken promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::amounts::{Amounts, Resource};

use crate::cluster_state::{ClusterState, LedgerFacts, Place};
use crate::rules;
use crate::rules::{Changes, Progress, UnderWay};
use crate::violation::{Invariant, Violation};
use crate::write::Write;

/// What the operator is not blamed for.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// For how long it may not know what others have done, in milliseconds: watches, a cycle, and a slow call.
    pub lag: i64,
    /// Whether it may ask for an eviction again: an answer was lost, or the process that asked is gone.
    pub repeats: bool,
    /// Whether a pod may be evicted although its queue holds no more than its quota allows: to make way for one within
    /// its guarantee.
    pub moves: bool,
    /// For how long an eviction may be under way while the quota is raised by an operator: by another one that believes that
    /// it leads, or by a later decision, where a request hangs. In milliseconds; 0 where there is one and none hangs.
    pub under_way: i64,
    /// Whether what waits has to come about within bounds. Not where watches or lists are disturbed: nothing says when that is
    /// over.
    pub progress: bool,
    /// What an autoscaler may still add.
    pub expandable: Amounts,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            lag: 2_000,
            repeats: false,
            moves: false,
            under_way: 0,
            progress: false,
            expandable: Amounts::new(),
        }
    }
}

/// Watches over promises.
#[derive(Clone, Debug, Default)]
pub struct InvariantChecker {
    pub(crate) tolerance: Tolerance,
    /// The time since 1970 at which its writes begin to count theirs, in milliseconds.
    beginning: i64,
    pub(crate) cluster: ClusterState,
    /// What others did a moment ago.
    pub(crate) changes: Changes,
    /// When an operator wrote the quota of a namespace last, where evictions may be under way meanwhile.
    pub(crate) opened: BTreeMap<String, i64>,
    /// What removals of gates may be under way with.
    pub(crate) under_way: UnderWay,
    /// When the ledger owed each resource last.
    pub(crate) owed: BTreeMap<Resource, i64>,
    progress: Progress,
    evicted: BTreeSet<String>,
    /// Pods that came into being where no quota kept them out.
    strays: BTreeSet<String>,
    violations: Vec<Violation>,
}

impl InvariantChecker {
    /// The checker of an API server that holds nothing yet.
    pub fn new(tolerance: Tolerance) -> Self {
        let cluster = ClusterState { expandable: tolerance.expandable.clone(), ..ClusterState::default() };
        Self { tolerance, cluster, ..Self::default() }
    }

    /// The same where the times of writes count from `beginning`, in milliseconds since 1970.
    #[must_use]
    pub fn since(self, beginning: i64) -> Self {
        Self { beginning, ..self }
    }

    /// A time of a write as milliseconds since 1970.
    pub(crate) fn time(&self, at: i64) -> i64 {
        self.beginning.saturating_add(at)
    }

    /// What the API server holds now.
    pub fn cluster(&self) -> &ClusterState {
        &self.cluster
    }

    /// The broken promises so far.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The uids of the pods that the operator has evicted.
    pub fn evicted(&self) -> &BTreeSet<String> {
        &self.evicted
    }

    /// How many of them had been let in: no quota could reject those that came while none was enforced.
    pub fn evicted_of_admitted(&self) -> usize {
        self.evicted.difference(&self.strays).count()
    }

    /// A fault, or a change that the operator has to deal with first.
    pub fn disturb(&mut self, at: i64) {
        self.progress.disturb(at);
    }

    /// Another process leads than the one that wrote the ledger.
    pub fn hand_over(&mut self, at: i64) {
        self.progress.hand_over(at);
    }

    /// A write was carried out.
    pub fn see(&mut self, write: &Write<'_>) {
        self.changes.forget_before(write.at.saturating_sub(self.tolerance.lag));
        self.under_way.forget_before(write.at.saturating_sub(self.tolerance.under_way));
        let place = self.cluster.places.get(write.namespace);
        // The mode may have changed since the operator decided.
        let may_be_gated = place.is_some_and(Place::is_in_gate_mode)
            || self.changes.of_queues_above(&self.cluster, write.namespace);
        let mut found = rules::own::broken(write, may_be_gated);
        if write.by_operator && write.resource == "pods" && write.subresource == "eviction" {
            found.extend(rules::eviction::broken(self, write));
            self.evicted.extend(self.cluster.pod(write.namespace, write.name).map(|pod| pod.uid.clone()));
        }
        if matches!(write.resource, "configmaps" | "nodes" | "pods" | "queues" | "resourcequotas") {
            found.extend(self.follow(write));
        }
        if self.tolerance.progress {
            let date = self.time(write.at);
            found.extend(self.progress.check(&self.cluster, write.at, date));
        }
        self.report(Some(write.index), write.at, found);
    }

    /// A pod was bound to a node by a write that does not show the pod.
    pub fn bind(&mut self, write: &Write<'_>, node: Option<&str>) {
        let capacity = self.cluster.capacity();
        let held = self.cluster.all_occupied();
        let live = self.cluster.places.get(write.namespace).map(Place::live).unwrap_or_default();
        self.cluster.bind(write.namespace, write.name, node);
        self.changes.note(write, &self.cluster, (&capacity, &held), &live);
    }

    /// A namespace has ended, with all that was in it.
    pub fn forget_namespace(&mut self, name: &str) {
        self.cluster.places.remove(name);
    }

    /// Everything rests since long: what has to be true then?
    pub fn rests(&mut self, at: i64) {
        let mut found = rules::rest::broken(&self.cluster, self.time(at));
        found.extend(rules::gated::broken(&self.cluster, self.time(at)));
        self.report(None, at, found);
    }

    fn follow(&mut self, write: &Write<'_>) -> Vec<(Invariant, String)> {
        if write.resource == "configmaps" {
            return self.follow_ledger(write);
        }
        let (capacity, held) = (self.cluster.capacity(), self.cluster.all_occupied());
        let place = self.cluster.places.get(write.namespace);
        let standing = place.and_then(|place| place.quota.clone());
        let could_hold = place.map(Place::hold).unwrap_or_default();
        let live = place.map(Place::live).unwrap_or_default();
        let was_gated = self.is_gated(write);
        self.cluster.follow(write);
        if write.by_operator && was_gated && !self.is_gated(write) {
            let found = rules::gate::broken(self, write);
            let pod = self.cluster.pod(write.namespace, write.name);
            if let Some(pod) = pod.filter(|_| self.tolerance.under_way > 0) {
                self.under_way.let_in(write, pod);
            }
            return found;
        }
        if write.by_operator && write.resource == "resourcequotas" {
            if self.tolerance.under_way > 0 {
                self.opened.insert(write.namespace.to_owned(), write.at);
            }
            return rules::grant::broken(self, write, (&capacity, &held), &could_hold, standing.as_ref());
        }
        if write.resource == "pods" && write.before.is_none() {
            self.note_stray(write);
        }
        if !(write.by_operator && write.resource == "pods") {
            self.changes.note(write, &self.cluster, (&capacity, &held), &live);
        }
        Vec::new()
    }

    /// Whether the pod that a write is about is gated.
    fn is_gated(&self, write: &Write<'_>) -> bool {
        let pod = self.cluster.pod(write.namespace, write.name);
        write.resource == "pods" && pod.is_some_and(|pod| pod.is_gated)
    }

    fn follow_ledger(&mut self, write: &Write<'_>) -> Vec<(Invariant, String)> {
        let standing = self.cluster.ledger.clone();
        if self.tolerance.under_way > 0 {
            self.under_way.grants(&self.cluster, write.at);
        }
        self.cluster.follow(write);
        let owed = standing.iter().chain(&self.cluster.ledger).map(LedgerFacts::owed);
        for (resource, _) in owed.collect::<Vec<_>>().iter().flat_map(Amounts::iter) {
            self.owed.insert(resource.clone(), write.at);
        }
        if !write.by_operator {
            return Vec::new();
        }
        self.note_raised_grants(standing.as_ref(), write.at);
        rules::ledger::broken(self, standing.as_ref(), &self.cluster.capacity())
    }

    /// In Gate mode a pod may come back as soon as the ledger grants more, while an eviction is under way.
    fn note_raised_grants(&mut self, standing: Option<&LedgerFacts>, at: i64) {
        if self.tolerance.under_way == 0 {
            return;
        }
        for (namespace, entry) in self.cluster.ledger.iter().flat_map(|ledger| &ledger.entries) {
            let before = standing.and_then(|ledger| ledger.entries.get(namespace));
            let is_raised = before.is_none_or(|before| !entry.granted.less(&before.granted).is_empty());
            let is_gated = self.cluster.places.get(namespace).is_some_and(Place::is_in_gate_mode);
            if is_raised && is_gated {
                self.opened.insert(namespace.clone(), at);
            }
        }
    }

    /// Whether the ledger owes some of one of the `resources`, or did a moment ago; or queues occupy more of it than there is, or
    /// did until others left a moment ago, so that what is granted already has no room.
    pub(crate) fn owes(&self, resources: &Amounts, at: i64) -> bool {
        let Some(ledger) = &self.cluster.ledger else { return true };
        let occupied: Amounts = [self.cluster.all_occupied(), self.changes.all_given_up()].into_iter().sum();
        let capacity = self.cluster.capacity();
        if resources.iter().any(|(resource, _)| occupied.get(resource) > capacity.get(resource)) {
            return true;
        }
        let owed = ledger.owed();
        resources.iter().any(|(resource, _)| {
            let did =
                self.owed.get(resource).is_some_and(|last| at.saturating_sub(*last) < self.tolerance.lag);
            owed.get(resource).is_positive() || did
        })
    }

    /// Whether live pods hold more of one of the `resources` than a limit above them allows, or did until others left a moment
    /// ago: a queue is brought down to its limit for no other queue.
    pub(crate) fn exceeds_a_limit(&self, namespace: &str, resources: &Amounts) -> bool {
        let Some(place) = self.cluster.places.get(namespace) else { return false };
        let mut limited = self.cluster.path_up(place).into_iter().filter(|queue| !queue.limit.is_empty());
        limited.any(|queue| {
            let is_below = |place: &Place| {
                self.cluster.path_up(place).into_iter().any(|above| std::ptr::eq(above, queue))
            };
            let below = self.cluster.places.iter().filter(|(_, place)| is_below(place));
            let live: Amounts =
                below.flat_map(|(name, place)| [place.live(), self.changes.given_up(name)]).sum();
            resources.iter().any(|(resource, _)| {
                queue.limit.get(resource).is_some_and(|limit| live.get(resource) > *limit)
            })
        })
    }

    fn note_stray(&mut self, write: &Write<'_>) {
        let Some(place) = self.cluster.places.get(write.namespace) else { return };
        let is_open = place.quota.as_ref().is_none_or(|quota| quota.enforced.is_empty());
        if let Some(pod) = place.pods.get(write.name).filter(|_| is_open) {
            self.strays.insert(pod.uid.clone());
        }
    }

    fn report(&mut self, index: Option<u64>, at: i64, found: Vec<(Invariant, String)>) {
        let violations =
            found.into_iter().map(|(invariant, message)| Violation { invariant, index, at, message });
        self.violations.extend(violations);
    }
}
