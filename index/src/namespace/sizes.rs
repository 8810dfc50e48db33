//! How the owners of a namespace get their size.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::names::OwnerUid;
use quotient_engine::reason::Reason;
use quotient_engine::snapshot::{Owner, OwnerKind, Setter, SetterKind, Size};

use super::{NamespaceEntry, OwnerNote};
use crate::sizes::{Autoscaler, Controller, DeploymentSize, Said};

/// The kinds of controllers that leave the size of what they create to others once it is there.
const LEAVE_SIZES_ALONE: [&str; 1] = ["CronJob"];

impl NamespaceEntry {
    /// Keeps what a Deployment says. Says whether anything changed that a decision depends on.
    pub(crate) fn put_deployment(&mut self, name: Arc<str>, size: DeploymentSize) -> bool {
        self.deployments.insert(name, size);
        self.size_owners()
    }

    /// What the Deployment of this name says.
    pub(crate) fn deployment(&self, name: &str) -> Option<&DeploymentSize> {
        self.deployments.get(name)
    }

    /// Forgets the Deployment of this name. Says whether a decision depended on it.
    pub(crate) fn remove_deployment(&mut self, name: &str) -> bool {
        self.deployments.remove(name).is_some() && self.size_owners()
    }

    /// The names of the Deployments, in order.
    pub(crate) fn deployment_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.deployments.keys()
    }

    /// Keeps whom an autoscaler scales. Says whether anything changed that a decision depends on.
    pub(crate) fn put_autoscaler(&mut self, name: Arc<str>, autoscaler: Autoscaler) -> bool {
        self.autoscalers.insert(name, autoscaler);
        self.size_owners()
    }

    /// The autoscaler of this name.
    pub(crate) fn autoscaler(&self, name: &str) -> Option<&Autoscaler> {
        self.autoscalers.get(name)
    }

    /// Forgets the autoscaler of this name. Says whether a decision depended on it.
    pub(crate) fn remove_autoscaler(&mut self, name: &str) -> bool {
        self.autoscalers.remove(name).is_some() && self.size_owners()
    }

    /// The names of the autoscalers, in order.
    pub(crate) fn autoscaler_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.autoscalers.keys()
    }

    /// Reads the sizes of all owners anew. Says whether a decision depends on what changed.
    pub(super) fn size_owners(&mut self) -> bool {
        let mut in_rollout: BTreeMap<&Arc<str>, u32> = BTreeMap::new();
        for controller in self.owners.iter().filter(|note| note.wanted > 0).filter_map(deployment_of) {
            let sets = in_rollout.entry(&controller.uid).or_default();
            *sets = sets.saturating_add(1);
        }
        let sizes: Vec<(u32, Size)> = (self.state.owners.iter().zip(&self.owners))
            .map(|(owner, note)| {
                let siblings = deployment_of(note).and_then(|controller| in_rollout.get(&controller.uid));
                self.size(owner, note, siblings.is_some_and(|sets| *sets > 1))
            })
            .collect();
        let same =
            |(owner, (wanted, size)): (&Owner, &(u32, Size))| owner.wanted == *wanted && owner.size == *size;
        if self.state.owners.iter().zip(&sizes).all(same) {
            return false;
        }
        for (owner, (wanted, size)) in Arc::make_mut(&mut self.state).owners.iter_mut().zip(sizes) {
            (owner.wanted, owner.size) = (wanted, size);
        }
        self.has_queues()
    }

    /// How many pods an owner wants, and what says so.
    fn size(&self, owner: &Owner, note: &OwnerNote, rolls_out: bool) -> (u32, Size) {
        let Some((setter, said)) = self.setter(owner, note) else { return (note.wanted, Size::default()) };
        let autoscaled = self.autoscalers.values().any(|autoscaler| {
            let (kind, name) = &autoscaler.target;
            **kind == *setter.kind.name() && *name == setter.name
        });
        let left_alone = (autoscaled.then_some(Reason::Autoscaled))
            .or(said.left_alone)
            .or(rolls_out.then_some(Reason::RollingOut));
        let is_of_deployment = setter.kind == SetterKind::Deployment;
        // What its Deployment says reaches a ReplicaSet a moment later; until then nobody else is to have that room.
        let wanted = if is_of_deployment && !rolls_out { said.written } else { note.wanted };
        let held_back = match said.former {
            Some(former) if !is_of_deployment => note.rightful.max(wanted).saturating_sub(wanted).min(former),
            Some(former) => former.saturating_sub(said.written),
            None => 0,
        };
        let size =
            Size { setter: Some(setter), written: said.written, former: said.former, held_back, left_alone };
        (wanted, size)
    }

    /// The object that says the size of an owner, and what it says; none if nobody is known that keeps it as it is
    /// written.
    fn setter<'n>(&'n self, owner: &Owner, note: &'n OwnerNote) -> Option<(Setter, &'n Said)> {
        if let Some(controller) = deployment_of(note) {
            let deployment = self.deployments.get(&controller.name)?;
            if !controller.uid.is_empty() && deployment.uid != controller.uid {
                return None;
            }
            let uid = OwnerUid::new(Arc::clone(&deployment.uid));
            let setter = Setter { kind: SetterKind::Deployment, name: Arc::clone(&controller.name), uid };
            return Some((setter, &deployment.said));
        }
        let is_free = |controller: &Controller| LEAVE_SIZES_ALONE.contains(&&*controller.kind);
        let kind = match owner.kind {
            OwnerKind::ReplicaSet => SetterKind::ReplicaSet,
            OwnerKind::StatefulSet => SetterKind::StatefulSet,
            OwnerKind::Job => SetterKind::Job,
            OwnerKind::QueueJob => return None,
        };
        let setter = Setter { kind, name: Arc::clone(&owner.name), uid: owner.uid.clone() };
        note.controller.as_ref().is_none_or(is_free).then_some((setter, &note.said))
    }
}

/// The Deployment of a ReplicaSet.
fn deployment_of(note: &OwnerNote) -> Option<&Controller> {
    note.controller.as_ref().filter(|controller| &*controller.kind == "Deployment")
}
