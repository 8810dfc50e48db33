//! How nodes come in, and how they stand at an instant.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as Object;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::{Namespace, NodeName};
use quotient_engine::snapshot::Node;
use quotient_engine::time::Timestamp;

use super::entry::{NodeEntry, excess};
use crate::index::Index;
use crate::shared_labels::shared_labels;
use crate::table::{Kept, Key, Kind, KindId, Meta};

/// Every node that the API server knows.
#[derive(Debug, Default)]
pub(crate) struct Nodes(BTreeMap<NodeName, NodeEntry>);

impl Nodes {
    /// The nodes as of `now`.
    pub(crate) fn at(&mut self, now: Timestamp, ready_seconds: i64) -> BTreeMap<NodeName, Arc<Node>> {
        self.0.iter_mut().map(|(name, entry)| (name.clone(), entry.at(now, ready_seconds))).collect()
    }

    /// What all nodes together offer or will offer: also those that are not Ready yet, or cordoned. They are part of what
    /// the cluster may grow to as long as they are there.
    pub(crate) fn claimed(&self) -> Amounts {
        let mut claimed = Amounts::new();
        for allocatable in self.0.values().filter_map(NodeEntry::claims) {
            claimed.add_all(allocatable);
        }
        claimed
    }

    /// When the first node that is not Ready for long enough yet will be.
    pub(crate) fn next_change(&self, now: Timestamp, ready_seconds: i64) -> Option<Timestamp> {
        self.0.values().filter_map(|entry| entry.ripens_after(now, ready_seconds)).min()
    }
}

impl Kind for Object {
    type Name = Arc<str>;
    const ID: KindId = KindId::Node;

    fn excess(&self) -> Option<String> {
        excess(self)
    }

    fn kept<'i>(index: &'i Index, (_, name): &Key) -> Option<Kept<'i>> {
        index.nodes.0.get(&node(name)).map(|entry| entry.meta.kept())
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.nodes.0.keys().map(|name| (Namespace::default(), name.as_str().into()))
    }

    fn put(index: &mut Index, (_, name): Key, meta: Meta, object: &Self) -> bool {
        let name = node(&name);
        let known = index.nodes.0.get(&name).map(NodeEntry::labels);
        let labels =
            shared_labels(&mut index.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        let entry = NodeEntry::of(object, meta, labels, &index.settings.nodes);
        match index.nodes.0.get_mut(&name) {
            Some(kept) if !kept.differs_from(&entry) => {
                kept.meta = entry.meta;
                false
            }
            _ => {
                index.nodes.0.insert(name, entry);
                true
            }
        }
    }

    fn remove(index: &mut Index, (_, name): &Key) -> bool {
        index.nodes.0.remove(&node(name)).is_some()
    }
}

fn node(name: &Arc<str>) -> NodeName {
    NodeName::new(Arc::clone(name))
}
