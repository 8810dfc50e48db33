//! The owners of a namespace that want pods.

use std::sync::Arc;

use quotient_engine::snapshot::{Owner, OwnerKind, Unspecified};

use super::{NamespaceEntry, OwnerNote};
use crate::manual_selector::ManualSelector;
use crate::priority_classes::PriorityClasses;
use crate::resource_version::Age;

impl NamespaceEntry {
    /// Keeps `owner`. Says whether anything changed that a decision depends on.
    ///
    /// How many pods it wants, and what says so, is found out here.
    pub(crate) fn put_owner(&mut self, mut owner: Owner, note: OwnerNote) -> bool {
        let name = (owner.kind, Arc::clone(&owner.name));
        let at = match self.find_owner(owner.kind, &owner.name) {
            Ok(at) => at,
            Err(at) => {
                let concerned = self.sized.note(name, None, Some(&note));
                Arc::make_mut(&mut self.state).owners.insert(at, owner);
                self.owners.insert(at, note);
                self.size_owners(concerned);
                return self.has_queues();
            }
        };
        let Some((kept, kept_note)) = self.state.owners.get(at).zip(self.owners.get_mut(at)) else {
            return false;
        };
        let concerned = self.sized.note(name, Some(kept_note), Some(&note));
        *kept_note = note;
        (owner.wanted, owner.size) = (kept.wanted, kept.size.clone());
        let alike = *kept == owner;
        if !alike && let Some(kept) = Arc::make_mut(&mut self.state).owners.get_mut(at) {
            *kept = owner;
        }
        let sized = self.size_owners(concerned);
        sized || (!alike && self.has_queues())
    }

    /// The owner kept under this kind and name, and its age.
    pub(crate) fn owner(&self, kind: OwnerKind, name: &str) -> Option<(&Owner, Age)> {
        let at = self.find_owner(kind, name).ok()?;
        self.state.owners.get(at).zip(self.owners.get(at).map(|note| note.age))
    }

    /// What `manualSelector` of the Job of this name says; none if no such Job is kept.
    pub(crate) fn manual_selector(&self, name: &str) -> Option<ManualSelector> {
        let of_queue_job = || self.task_jobs.get(name).map(|job| job.manual_selector);
        let at = self.find_owner(OwnerKind::Job, name).ok();
        at.and_then(|at| self.owners.get(at)).map(|note| note.manual_selector).or_else(of_queue_job)
    }

    /// Forgets the owner of this kind and name. Says whether a decision depended on it.
    pub(crate) fn remove_owner(&mut self, kind: OwnerKind, name: &str) -> bool {
        let Ok(at) = self.find_owner(kind, name) else { return false };
        let note = self.owners.remove(at);
        let owner = Arc::make_mut(&mut self.state).owners.remove(at);
        // Of two ReplicaSets of a Deployment only one may be left.
        let concerned = self.sized.note((kind, owner.name), Some(&note), None);
        self.size_owners(concerned);
        self.has_queues()
    }

    /// The names of the owners of this kind, in order.
    pub(crate) fn owner_names(&self, kind: OwnerKind) -> impl Iterator<Item = &Arc<str>> {
        self.owner_names_with(kind, "")
    }

    /// Those of them that begin with `prefix`.
    pub(crate) fn owner_names_with<'e>(
        &'e self,
        kind: OwnerKind,
        prefix: &'e str,
    ) -> impl Iterator<Item = &'e Arc<str>> {
        let first = self.find_owner(kind, prefix).unwrap_or_else(|first| first);
        self.state.owners.iter().skip(first).map_while(move |owner| {
            let is_one = owner.kind == kind && owner.name.starts_with(prefix);
            is_one.then_some(&owner.name)
        })
    }

    /// Shows every owner what it names no request for beside the defaults of the namespace. Says whether a decision
    /// depends on the difference.
    pub(crate) fn show_unspecified(&mut self) -> bool {
        let owners = self.state.owners.iter().zip(&self.owners);
        let changed: Vec<(usize, Unspecified)> = owners
            .enumerate()
            .filter(|(_, (owner, note))| !(owner.unspecified.is_nothing() && note.unspecified.is_nothing()))
            .map(|(at, (owner, note))| (at, owner, self.without_default(note.unspecified)))
            .filter(|(_, owner, unspecified)| owner.unspecified != *unspecified)
            .map(|(at, _, unspecified)| (at, unspecified))
            .collect();
        if changed.is_empty() {
            return false;
        }
        let owners = &mut Arc::make_mut(&mut self.state).owners;
        for (at, unspecified) in changed {
            if let Some(owner) = owners.get_mut(at) {
                owner.unspecified = unspecified;
            }
        }
        self.has_queues()
    }

    /// Gives every owner the priority that the classes now say. Says whether a decision depends on the difference.
    pub(crate) fn set_owner_priorities(&mut self, classes: &PriorityClasses) -> bool {
        let owners = self.state.owners.iter().zip(&self.owners);
        let changed: Vec<(usize, i32)> = owners
            .enumerate()
            .map(|(at, (owner, note))| (at, owner.priority, classes.resolve(&note.asked)))
            .filter(|(_, former, priority)| former != priority)
            .map(|(at, _, priority)| (at, priority))
            .collect();
        if changed.is_empty() {
            return false;
        }
        let owners = &mut Arc::make_mut(&mut self.state).owners;
        for (at, priority) in changed {
            if let Some(owner) = owners.get_mut(at) {
                owner.priority = priority;
            }
        }
        self.has_queues()
    }

    pub(super) fn find_owner(&self, kind: OwnerKind, name: &str) -> Result<usize, usize> {
        self.state.owners.binary_search_by(|owner| (owner.kind, &*owner.name).cmp(&(kind, name)))
    }
}
