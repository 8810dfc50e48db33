//! Namespaces: the labels by which parent queues select whose parents they are.

use std::collections::BTreeMap;

use quotient_engine::labels::Labels;
use quotient_engine::names::Namespace;

use crate::meta::Meta;

/// The labels of every namespace that the API server knows.
///
/// They stand here, in a few hundred bytes a namespace, and are shown only of namespaces with Queues: a cluster may
/// have ten thousand namespaces that take part in nothing, and snapshots do not mention them.
#[derive(Debug, Default)]
pub(crate) struct NamespaceLabels(pub(crate) BTreeMap<Namespace, Entry>);

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) meta: Meta,
    pub(crate) labels: Labels,
}

impl NamespaceLabels {
    /// The labels of `namespace`; none if it is not known.
    pub(crate) fn of(&self, namespace: &Namespace) -> Labels {
        self.0.get(namespace).map(|entry| entry.labels.clone()).unwrap_or_default()
    }

    /// Whether the API server knows `namespace`.
    pub(crate) fn knows(&self, namespace: &Namespace) -> bool {
        self.0.contains_key(namespace)
    }
}
