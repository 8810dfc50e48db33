//! Where the objects of one kind go.

use std::fmt::Debug;
use std::marker::PhantomData;

use kube::Resource;
use kube::core::DynamicObject;
use quotient_index::{Decoded, Index, Indexed, ListLoss, ResourceVersion, WorkloadKind, WorkloadObject};
use serde::de::DeserializeOwned;

/// What the index does with the objects of one kind.
pub(super) trait Intake: Send + Sync {
    /// The objects as the API server sends them.
    type Object: Resource + Clone + DeserializeOwned + Debug + Send + 'static;
    /// The objects as the index takes them.
    type Content: Send;

    fn read(&self, object: Decoded<Self::Object>) -> Decoded<Self::Content>;

    fn apply(&self, index: &mut Index, object: &Decoded<Self::Content>) -> bool;

    /// What of `object` is too much to be kept, if anything is.
    fn excess(&self, _object: &Self::Content) -> Option<String> {
        None
    }

    fn delete(&self, index: &mut Index, namespace: &str, name: &str, uid: &str) -> bool;

    /// The watch has delivered every change up to `version`.
    fn seen_up_to(&self, _index: &mut Index, _version: &ResourceVersion) -> bool {
        false
    }

    fn relist_begin(&self, index: &mut Index);

    /// What of the kept objects the running list has not contained; every list of a kind that says nothing is believed.
    fn relist_loss(&self, _index: &Index) -> ListLoss {
        ListLoss::default()
    }

    fn relist_finish(&self, index: &mut Index) -> bool;
}

/// The objects of a kind that has a type.
pub(super) type Typed<K> = PhantomData<fn() -> K>;

impl<K> Intake for Typed<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
    Index: Indexed<K>,
{
    type Object = K;
    type Content = K;

    fn read(&self, object: Decoded<K>) -> Decoded<K> {
        object
    }

    fn apply(&self, index: &mut Index, object: &Decoded<K>) -> bool {
        Indexed::<Decoded<K>>::apply(index, object)
    }

    fn excess(&self, object: &K) -> Option<String> {
        <Index as Indexed<K>>::excess(object)
    }

    fn delete(&self, index: &mut Index, namespace: &str, name: &str, uid: &str) -> bool {
        Indexed::<Decoded<K>>::delete(index, namespace, name, uid)
    }

    fn seen_up_to(&self, index: &mut Index, version: &ResourceVersion) -> bool {
        Indexed::<Decoded<K>>::seen_up_to(index, version)
    }

    fn relist_begin(&self, index: &mut Index) {
        Indexed::<Decoded<K>>::relist_begin(index);
    }

    fn relist_loss(&self, index: &Index) -> ListLoss {
        Indexed::<Decoded<K>>::relist_loss(index)
    }

    fn relist_finish(&self, index: &mut Index) -> bool {
        Indexed::<Decoded<K>>::relist_finish(index)
    }
}

impl Intake for WorkloadKind {
    type Object = DynamicObject;
    type Content = WorkloadObject;

    fn read(&self, object: Decoded<DynamicObject>) -> Decoded<WorkloadObject> {
        Self::read(self, object)
    }

    fn apply(&self, index: &mut Index, object: &Decoded<WorkloadObject>) -> bool {
        index.apply_workload(self, object)
    }

    fn delete(&self, index: &mut Index, namespace: &str, name: &str, uid: &str) -> bool {
        index.delete_workload(self, namespace, name, uid)
    }

    fn relist_begin(&self, index: &mut Index) {
        index.begin_workloads(self);
    }

    fn relist_finish(&self, index: &mut Index) -> bool {
        index.finish_workloads(self)
    }
}
