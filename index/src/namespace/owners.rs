//! The owners of a namespace that want pods.

use std::sync::Arc;

use quotient_snapshot::{Owner, OwnerKind};
use serde_json::Value;

use super::{NamespaceEntry, OwnerNote, keep};
use crate::meta::Age;
use crate::priority_classes::PriorityClasses;

impl NamespaceEntry {
    /// Keeps `owner`. Says whether anything changed that a decision depends on.
    ///
    /// How many pods it wants, and what says so, is found out here.
    pub(crate) fn put_owner(&mut self, mut owner: Owner, note: OwnerNote) -> bool {
        let name = (owner.kind, Arc::clone(&owner.name));
        let place = self.find_owner(owner.kind, &owner.name);
        let kept = place.ok().and_then(|at| self.state.owners.get(at).zip(self.owners.get(at)));
        let concerned = self.sized.note(name, kept, Some((&owner, &note)));
        let mut requests_as_before = false;
        if let Some((kept, known)) = kept {
            (owner.wanted, owner.size) = (kept.wanted, kept.size.clone());
            requests_as_before = kept.uid == owner.uid && known.requests_as(&note);
            if requests_as_before {
                (owner.shape, owner.unspecified) = (Arc::clone(&kept.shape), kept.unspecified);
            }
        }
        self.incomplete |= !requests_as_before;
        let alike = requests_as_before && kept.is_some_and(|(kept, _)| *kept == owner);
        keep(&mut self.owners, place, note);
        if !alike {
            keep(&mut Arc::make_mut(&mut self.state).owners, place, owner);
        }
        let sized = self.size_owners(concerned);
        sized || (!alike && self.has_queues())
    }

    /// The owner kept under this kind and name, and its age.
    pub(crate) fn owner(&self, kind: OwnerKind, name: &str) -> Option<(&Owner, Age)> {
        let at = self.find_owner(kind, name).ok()?;
        self.state.owners.get(at).zip(self.owners.get(at).map(|note| note.age))
    }

    /// Whether this life of `owner` was ever seen with a Ready pod.
    pub(crate) fn was_ready(&self, owner: &Owner) -> bool {
        let place = self.find_owner(owner.kind, &owner.name).ok();
        let kept = place.and_then(|at| self.state.owners.get(at).zip(self.owners.get(at)));
        kept.is_some_and(|(kept, note)| kept.uid == owner.uid && note.was_ready)
    }

    /// What `manualSelector` of a Job has to change to so that the change means nothing; none if the author of the Job wrote
    /// the selector, or no such Job is kept. Absent and false mean the same: the API server makes the selector.
    pub(crate) fn other_manual_selector(&self, name: &str) -> Option<Value> {
        let owner = self.find_owner(OwnerKind::Job, name).ok().and_then(|at| self.owners.get(at));
        let of_queue_job = || self.task_jobs.get(name).map(|job| job.manual_selector);
        match owner.map(|note| note.manual_selector).or_else(of_queue_job)? {
            Some(true) => None,
            Some(false) => Some(Value::Null),
            None => Some(false.into()),
        }
    }

    /// Forgets the owner of this kind and name. Says whether a decision depended on it.
    pub(crate) fn remove_owner(&mut self, kind: OwnerKind, name: &str) -> bool {
        let Ok(at) = self.find_owner(kind, name) else { return false };
        let note = self.owners.remove(at);
        let owner = Arc::make_mut(&mut self.state).owners.remove(at);
        // Of two ReplicaSets of a Deployment only one may be left.
        let name = Arc::clone(&owner.name);
        let concerned = self.sized.note((kind, name), Some((&owner, &note)), None);
        self.size_owners(concerned);
        self.has_queues()
    }

    /// The names of the owners of this kind, in order.
    pub(crate) fn owner_names(&self, kind: OwnerKind) -> impl Iterator<Item = Arc<str>> {
        self.owner_names_with(kind, "")
    }

    /// Those of them that begin with `prefix`.
    pub(crate) fn owner_names_with<'e>(
        &'e self,
        kind: OwnerKind,
        prefix: &'e str,
    ) -> impl Iterator<Item = Arc<str>> {
        let first = self.find_owner(kind, prefix).unwrap_or_else(|first| first);
        self.state.owners.iter().skip(first).map_while(move |owner| {
            let is_one = owner.kind == kind && owner.name.starts_with(prefix);
            is_one.then(|| owner.name.clone())
        })
    }

    /// Gives every owner the priority that the classes now say. Says whether a decision depends on the difference.
    pub(crate) fn set_owner_priorities(&mut self, classes: &PriorityClasses) -> bool {
        let other = |_: &Self, owner: &Owner, note: &OwnerNote| {
            Some(classes.resolve(&note.asked)).filter(|now| *now != owner.priority)
        };
        self.change_owners(other, |owner, now| owner.priority = now)
    }

    /// Sets what is `other` than before of an owner; nothing is copied if nothing is. Says whether a decision depends on the
    /// difference.
    pub(super) fn change_owners<V>(
        &mut self,
        other: impl FnMut(&Self, &Owner, &OwnerNote) -> Option<V>,
        set: impl FnMut(&mut Owner, V),
    ) -> bool {
        let changes = self.changes_of_owners(other);
        self.apply_to_owners(changes, set)
    }

    /// What is `other` than before of each owner, by its place.
    pub(super) fn changes_of_owners<V>(
        &self,
        mut other: impl FnMut(&Self, &Owner, &OwnerNote) -> Option<V>,
    ) -> Vec<(usize, V)> {
        let owners = self.state.owners.iter().zip(&self.owners).enumerate();
        owners.filter_map(|(at, (owner, note))| Some((at, other(self, owner, note)?))).collect()
    }

    /// Sets what has changed. Says whether a decision depends on it.
    pub(super) fn apply_to_owners<V>(
        &mut self,
        changed: Vec<(usize, V)>,
        mut set: impl FnMut(&mut Owner, V),
    ) -> bool {
        if changed.is_empty() {
            return false;
        }
        let owners = &mut Arc::make_mut(&mut self.state).owners;
        for (at, value) in changed {
            if let Some(owner) = owners.get_mut(at) {
                set(owner, value);
            }
        }
        self.has_queues()
    }

    pub(super) fn find_owner(&self, kind: OwnerKind, name: &str) -> Result<usize, usize> {
        self.state.owners.binary_search_by(|owner| (owner.kind, &*owner.name).cmp(&(kind, name)))
    }
}
