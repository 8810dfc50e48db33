//! How autoscalers come in.

use std::sync::Arc;

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;

use super::Kind;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::NamespaceEntry;
use crate::sizes::Autoscaler;
use crate::tables::KindId;

impl Kind for HorizontalPodAutoscaler {
    type Name = Arc<str>;
    const ID: KindId = KindId::Autoscaler;

    fn kept<'i>(index: &'i Index, (namespace, name): &Key) -> Option<Kept<'i>> {
        index.entry(namespace)?.autoscaler(name).map(|kept| kept.meta.kept())
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::autoscaler_names)
    }

    fn put(index: &mut Index, (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let target = &object.spec.scale_target_ref;
        let target = (target.kind.as_str().into(), target.name.as_str().into());
        index.entry_mut(&namespace).put_autoscaler(name, Autoscaler { meta, target })
    }

    fn remove(index: &mut Index, (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_autoscaler(name)
    }
}
