//! How the owners of a namespace get their size.
//!
//! A size follows from the owner, its Deployment, the Deployment's other ReplicaSets and the autoscalers of either. What
//! one of these says concerns the owners that [`Sized`] names for it and no others, so that a namespace with thousands of
//! each is read in a time that grows as they do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_snapshot::names::OwnerUid;
use quotient_snapshot::reasons::KeptReason;
use quotient_snapshot::{Owner, OwnerKind, ScaleTarget, ScaleTargetKind, Size, Workload};

use super::{NamespaceEntry, OwnerNote};
use crate::sizes::{Autoscaler, DeclaredReplicas, DeploymentSize};

/// The owners that say their own size, as what they are and as what is scaled.
pub(crate) const SCALED: [(OwnerKind, ScaleTargetKind); 3] = [
    (OwnerKind::ReplicaSet, ScaleTargetKind::ReplicaSet),
    (OwnerKind::StatefulSet, ScaleTargetKind::StatefulSet),
    (OwnerKind::Job, ScaleTargetKind::Job),
];

/// An owner, as its namespace finds it.
type OwnerName = (OwnerKind, Arc<str>);

/// Which owners get their size from what.
#[derive(Debug, Default)]
pub(super) struct Sized {
    /// The owners that a Deployment controls, by its name.
    by_deployment: BTreeMap<Arc<str>, BTreeSet<OwnerName>>,
    /// Of these, how many want pods by their own spec, by the Deployment's name and uid.
    in_rollout: BTreeMap<(Arc<str>, OwnerUid), u32>,
    /// How many autoscalers keep the size of an object, by its kind and its name.
    autoscalers: BTreeMap<(Arc<str>, Arc<str>), u32>,
}

impl Sized {
    /// An owner was noted as `former` and is now as `next`; none where it was not there, or is gone. Returns the owners
    /// whose size may be another by that: itself, and those of a Deployment that begins or ends to be in a rollout.
    pub(super) fn note(
        &mut self,
        owner: OwnerName,
        former: Option<(&Owner, &OwnerNote)>,
        next: Option<(&Owner, &OwnerNote)>,
    ) -> Vec<OwnerName> {
        let controllers = [former, next].map(|noted| deployment_of(noted?.0));
        let before = controllers.map(|controller| controller.is_some_and(|one| self.is_in_rollout(one)));
        if let Some(((_, note), controller)) = former.zip(controllers[0]) {
            self.remove(&owner, note, controller);
        }
        if let Some(((_, note), controller)) = next.zip(controllers[1]) {
            self.add(&owner, note, controller);
        }
        let mut concerned = vec![owner];
        for (controller, before) in controllers.into_iter().zip(before) {
            if let Some(controller) = controller.filter(|one| self.is_in_rollout(one) != before) {
                concerned.extend(self.of_deployment(&controller.name));
            }
        }
        concerned
    }

    fn add(&mut self, owner: &OwnerName, note: &OwnerNote, controller: &Workload) {
        self.by_deployment.entry(Arc::clone(&controller.name)).or_default().insert(owner.clone());
        if note.wanted > 0 {
            count_up(&mut self.in_rollout, key(controller));
        }
    }

    fn remove(&mut self, owner: &OwnerName, note: &OwnerNote, controller: &Workload) {
        if let Some(of_deployment) = self.by_deployment.get_mut(&controller.name) {
            of_deployment.remove(owner);
            if of_deployment.is_empty() {
                self.by_deployment.remove(&controller.name);
            }
        }
        if note.wanted > 0 {
            count_down(&mut self.in_rollout, &key(controller));
        }
    }

    fn of_deployment(&self, name: &str) -> Vec<OwnerName> {
        self.by_deployment.get(name).into_iter().flatten().cloned().collect()
    }

    fn is_in_rollout(&self, controller: &Workload) -> bool {
        self.in_rollout.get(&key(controller)).is_some_and(|sets| *sets > 1)
    }

    fn is_autoscaled(&self, scale_target: &ScaleTarget) -> bool {
        self.autoscalers.contains_key(&(scale_target.kind.name().into(), Arc::clone(&scale_target.name)))
    }
}

fn key(controller: &Workload) -> (Arc<str>, OwnerUid) {
    (Arc::clone(&controller.name), controller.uid.clone())
}

fn count_up<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
    *count
}

fn count_down<K: Ord>(counts: &mut BTreeMap<K, u32>, key: &K) -> u32 {
    let Some(count) = counts.get_mut(key) else { return 0 };
    *count = count.saturating_sub(1);
    let left = *count;
    if left == 0 {
        counts.remove(key);
    }
    left
}

impl NamespaceEntry {
    /// Keeps what a Deployment says. Says whether anything changed that a decision depends on.
    pub(crate) fn put_deployment(&mut self, name: Arc<str>, size: DeploymentSize) -> bool {
        let concerned = self.sized.of_deployment(&name);
        self.deployments.insert(name, size);
        self.size_owners(concerned)
    }

    /// Forgets the Deployment of this name. Says whether a decision depended on it.
    pub(crate) fn remove_deployment(&mut self, name: &str) -> bool {
        self.deployments.remove(name).is_some() && self.size_owners(self.sized.of_deployment(name))
    }

    /// Keeps the workload that an autoscaler scales. Says whether anything changed that a decision depends on.
    pub(crate) fn put_autoscaler(&mut self, name: Arc<str>, autoscaler: Autoscaler) -> bool {
        let target = autoscaler.target.clone();
        let former = self.autoscalers.insert(name, autoscaler).map(|former| former.target);
        if former.as_ref() == Some(&target) {
            return false;
        }
        let mut concerned = Vec::new();
        if count_up(&mut self.sized.autoscalers, target.clone()) == 1 {
            concerned.extend(self.scaled_by(&target));
        }
        if let Some(former) = former {
            concerned.extend(self.forget_target(&former));
        }
        self.size_owners(concerned)
    }

    /// Forgets the autoscaler of this name. Says whether a decision depended on it.
    pub(crate) fn remove_autoscaler(&mut self, name: &str) -> bool {
        let Some(former) = self.autoscalers.remove(name) else { return false };
        let concerned = self.forget_target(&former.target);
        self.size_owners(concerned)
    }

    /// One autoscaler less has this target. Returns the owners whose size no autoscaler keeps any more.
    fn forget_target(&mut self, target: &(Arc<str>, Arc<str>)) -> Vec<OwnerName> {
        match count_down(&mut self.sized.autoscalers, target) {
            0 => self.scaled_by(target),
            _ => Vec::new(),
        }
    }

    /// The owners whose size stands in the object of this kind and name.
    fn scaled_by(&self, (kind, name): &(Arc<str>, Arc<str>)) -> Vec<OwnerName> {
        if **kind == *ScaleTargetKind::Deployment.name() {
            return self.sized.of_deployment(name);
        }
        let scaled = SCALED.iter().filter(|(_, target)| **kind == *target.name());
        scaled.map(|(owner, _)| (*owner, Arc::clone(name))).collect()
    }

    /// Reads the sizes of these owners anew. Says whether a decision depends on what changed.
    pub(super) fn size_owners(&mut self, concerned: Vec<OwnerName>) -> bool {
        let mut changed = false;
        for (kind, name) in concerned {
            let Ok(at) = self.find_owner(kind, &name) else { continue };
            let Some((owner, note)) = self.state.owners.get(at).zip(self.owners.get(at)) else { continue };
            let (wanted, size) = self.size(owner, note);
            if owner.wanted == wanted && owner.size == size {
                continue;
            }
            changed = true;
            if let Some(owner) = Arc::make_mut(&mut self.state).owners.get_mut(at) {
                (owner.wanted, owner.size) = (wanted, size);
            }
        }
        changed && self.has_queues()
    }

    /// How many pods an owner wants, and what says so.
    fn size(&self, owner: &Owner, note: &OwnerNote) -> (u32, Size) {
        let controller = deployment_of(owner);
        let rolls_out = controller.is_some_and(|controller| self.sized.is_in_rollout(controller));
        let Some((scale_target, declared)) = self.scale_target(owner, note) else {
            return (note.wanted, Size::default());
        };
        let surges_first = controller
            .and_then(|controller| self.deployments.get(&controller.name))
            .is_some_and(|deployment| deployment.surges_first)
            && declared.revision.is_some()
            && declared.revision == note.declared.revision;
        let autoscaled = self.sized.is_autoscaled(&scale_target);
        let left_alone = (autoscaled.then_some(KeptReason::Autoscaled))
            .or(declared.left_alone)
            .or(rolls_out.then_some(KeptReason::RollingOut));
        let is_of_deployment = scale_target.kind == ScaleTargetKind::Deployment;
        // What its Deployment says reaches a ReplicaSet a moment later; until then no other workload is to have that room.
        let wanted = if is_of_deployment && !rolls_out { declared.written } else { note.wanted };
        let withheld_replicas = match declared.original_replicas {
            Some(former) if !is_of_deployment => note.rightful.max(wanted).saturating_sub(wanted).min(former),
            Some(former) => former.saturating_sub(declared.written),
            None => 0,
        };
        let size = Size {
            scale_target: Some(scale_target),
            written: declared.written,
            original_replicas: declared.original_replicas,
            withheld_replicas,
            left_alone,
            surges_first,
        };
        (wanted, size)
    }

    /// The object that says the size of an owner, and what it says; none if no object is known that keeps it as it is
    /// written.
    fn scale_target<'n>(
        &'n self,
        owner: &Owner,
        note: &'n OwnerNote,
    ) -> Option<(ScaleTarget, &'n DeclaredReplicas)> {
        if let Some(controller) = deployment_of(owner) {
            let deployment = self.deployments.get(&controller.name)?;
            if !controller.uid.as_str().is_empty() && *deployment.meta.uid != *controller.uid.as_str() {
                return None;
            }
            let uid = OwnerUid::new(Arc::clone(&deployment.meta.uid));
            let scale_target =
                ScaleTarget { kind: ScaleTargetKind::Deployment, name: Arc::clone(&controller.name), uid };
            return Some((scale_target, &deployment.declared));
        }
        let is_free = |controller: &Workload| &*controller.kind == "CronJob";
        let (_, kind) = SCALED.into_iter().find(|(kind, _)| *kind == owner.kind)?;
        let scale_target = ScaleTarget { kind, name: Arc::clone(&owner.name), uid: owner.uid.clone() };
        owner.controller.as_deref().is_none_or(is_free).then_some((scale_target, &note.declared))
    }
}

/// The Deployment of a ReplicaSet.
fn deployment_of(owner: &Owner) -> Option<&Workload> {
    owner.controller.as_deref().filter(|controller| &*controller.kind == "Deployment")
}
