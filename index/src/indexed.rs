//! What the index offers for every kind of object that it keeps.

use crate::decoded::Undecodable;
use crate::meta::ResourceVersion;

/// How much of what was kept a list has not contained so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListLoss {
    /// How many objects it has not contained.
    pub missing: usize,
    /// How many were kept when it began.
    pub kept: usize,
}

/// Takes the life of objects of kind `K` in, as a watch or a directory of manifests tells it.
///
/// The index keeps pods and their owners (ReplicaSets, StatefulSets, DaemonSets, Jobs), PodDisruptionBudgets, PodGroups,
/// priority classes, nodes, namespaces, Queues, ResourceQuotas and LimitRanges; the operator's watch tasks are written once,
/// against this trait. Every function says whether anything changed that a decision or a condition depends on, so that a watch
/// event that only moved a heartbeat starts no cycle.
pub trait Indexed<K> {
    /// Takes `object` in, new or changed, from a watch or from the reply to a write.
    ///
    /// Ignored are: an object without a name, one older (by resourceVersion) than what is kept under its name,
    /// and, for kinds that are also written, one whose uid was deleted before.
    fn apply(&mut self, object: &K) -> bool;

    /// The same for the reply to a write. It says nothing of what happened to other objects before.
    fn apply_reply(&mut self, object: &K) -> bool;

    /// The watch has delivered every change up to `version`. Objects applied outside of a list, and the end of a list, say so
    /// too.
    fn seen_up_to(&mut self, version: &ResourceVersion) -> bool;

    /// Takes note of an object that exists and cannot be decoded. What is kept of it stays as it was decoded last; a kind with
    /// a place for it keeps the object as invalid, and a PodDisruptionBudget counts as one that allows no disruption.
    fn apply_undecodable(&mut self, object: &Undecodable) -> bool;

    /// What of `object` is too much to be kept, if anything is; what the object counts as then is the kind's careful reading.
    fn excess(_: &K) -> Option<String> {
        None
    }

    /// Forgets the object of this name. A successor under the same name, with another uid, stays.
    ///
    /// `namespace` is empty for kinds that are in none.
    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool;

    /// Starts a full list: objects not applied until [`relist_finish`](Self::relist_finish) are gone by then.
    ///
    /// Nothing changes yet; snapshots taken during the list show what was known before plus what came in. A
    /// list that broke off is simply started again.
    fn relist_begin(&mut self);

    /// What of the kept objects the running list has not contained so far. Of a kind that says nothing every list is believed.
    fn relist_loss(&self) -> ListLoss;

    /// Ends a full list: forgets everything that was kept when it began and that it did not contain.
    ///
    /// Without a list begun before, nothing is forgotten.
    fn relist_finish(&mut self) -> bool;
}
