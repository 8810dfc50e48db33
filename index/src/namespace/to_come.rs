//! What the pods will request that owners lack.
//!
//! A template does not say all that a quota is charged with. Admission fills in what a LimitRange gives, and may add more: the
//! sidecar of a service mesh, the overhead of a runtime class. What it adds shows in the pods that are there, and where a pod was
//! refused in the words of the refusal. A quota that is raised by less lets no pod in.

use std::collections::HashMap;
use std::sync::Arc;

use quotient_snapshot::amounts::{Amounts, Resource};
use quotient_snapshot::names::OwnerUid;
use quotient_snapshot::{Owner, OwnerKind, Pod, Shape, Unspecified};

use super::{NamespaceEntry, OwnerNote};
use crate::interned::Interned;

/// The newest pod of each owner.
type NewestPods<'p> = HashMap<&'p OwnerUid, &'p Pod>;

impl NamespaceEntry {
    /// Shows every owner what its pods will request, if pods or owners have changed since that was done last.
    pub(crate) fn complete_owners(&mut self, defaults_known: bool, shapes: &mut Interned<Shape>) {
        if self.incomplete {
            self.show_to_come(defaults_known, shapes);
        }
    }

    /// Shows every owner what its pods will request. Says whether a decision depends on the difference.
    pub(crate) fn show_to_come(&mut self, defaults_known: bool, shapes: &mut Interned<Shape>) -> bool {
        self.incomplete = false;
        if self.state.owners.is_empty() {
            return false;
        }
        let newest = newest_pods(&self.state.pods);
        let other = |entry: &Self, owner: &Owner, note: &OwnerNote| {
            let (requests, unspecified) = entry.to_come(owner, note, newest.get(&owner.uid), defaults_known);
            let is_other = owner.shape.requests != requests || owner.unspecified != unspecified;
            is_other.then(|| (shaped(&note.template, requests, shapes), unspecified))
        };
        let changes = self.changes_of_owners(other);
        self.apply_to_owners(changes, |owner, now| (owner.shape, owner.unspecified) = now)
    }

    /// What a pod that an owner lacks will request, and what a container of it will name no request for.
    fn to_come(
        &self,
        owner: &Owner,
        note: &OwnerNote,
        newest: Option<&&Pod>,
        defaults_known: bool,
    ) -> (Amounts, Unspecified) {
        let (mut stated, mut unspecified) = (note.template.requests.clone(), Unspecified::default());
        if defaults_known {
            unspecified = self.without_default(note.unspecified);
            if let Some(defaultable) = note.open.as_ref().and_then(|open| open.defaultable.as_deref()) {
                stated = self.filled(&stated, defaultable);
            }
        }
        let mut requests = stated.clone();
        // The newest alone, because an older pod may be of an earlier template. If it requests less, it was resized.
        if let Some(pod) = newest.filter(|_| is_of_one_template(owner.kind)) {
            requests = requests.max(pod.requests());
        }
        if let Some(open) = &note.open {
            requests = requests.max(&open.refused);
        }
        let is_added = |one: &Resource| requests.get(one) > stated.get(one);
        unspecified.cpu &= !is_added(&Resource::Cpu);
        unspecified.memory &= !is_added(&Resource::Memory);
        (requests, unspecified)
    }
}

/// Whether the newest pod of an owner of this kind is of its template. One of a configured kind may be of another template of its
/// object; and of a QueueJob the slots are counted by its template.
const fn is_of_one_template(kind: OwnerKind) -> bool {
    !matches!(kind, OwnerKind::Configured(_) | OwnerKind::QueueJob)
}

fn newest_pods(pods: &[Pod]) -> NewestPods<'_> {
    let mut newest = NewestPods::new();
    // Pods of one owner mostly stand together and share their metadata.
    for alike in pods.chunk_by(|one, next| Arc::ptr_eq(&one.metadata, &next.metadata)) {
        let Some(pod) = alike.iter().max_by_key(|pod| (pod.created, &pod.name)) else { continue };
        let Some(owner) = pod.owner() else { continue };
        let known = newest.entry(owner).or_insert(pod);
        if (pod.created, &pod.name) > (known.created, &known.name) {
            *known = pod;
        }
    }
    newest
}

/// The shape of a `template` whose pods request this.
pub(crate) fn shaped(template: &Arc<Shape>, requests: Amounts, shapes: &mut Interned<Shape>) -> Arc<Shape> {
    if template.requests == requests {
        return Arc::clone(template);
    }
    shapes.get(Shape { requests, ..(**template).clone() })
}
