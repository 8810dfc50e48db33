//! How lean pods come in: as whole ones do.

use k8s_openapi::api::core::v1::Pod;

use crate::index::Index;
use crate::kinds::Kind;
use crate::lean_pod::LeanPod;
use crate::meta::{Age, Kept, Key, Meta};

impl Kind for LeanPod {
    const LISTS_ARE_DOUBTED: bool = Pod::LISTS_ARE_DOUBTED;

    fn excess(&self) -> Option<String> {
        self.0.excess()
    }

    fn kept<'i>(index: &'i Index, (): &(), key: &Key) -> Option<Kept<'i>> {
        Pod::kept(index, &(), key)
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        Pod::keys(index, &())
    }

    fn put(index: &mut Index, (): &(), key: Key, meta: Meta, object: &Self) -> bool {
        Pod::put(index, &(), key, meta, &object.0)
    }

    fn seen_up_to(index: &mut Index, age: Age) -> bool {
        Pod::seen_up_to(index, age)
    }

    fn remove(index: &mut Index, (): &(), key: &Key) -> bool {
        Pod::remove(index, &(), key)
    }
}
