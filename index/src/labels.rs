//! Labels, whose texts stand in memory once; and what is kept of namespaces: their labels say whose parents parent queues may be.

use std::collections::BTreeMap;

use quotient_snapshot::labels::Labels;

use crate::interned::Interned;
use crate::meta::Meta;

/// A namespace as it was seen last.
///
/// This takes a few hundred bytes a namespace, and is shown only of namespaces with Queues: a cluster may
/// have ten thousand namespaces that take part in nothing, and snapshots do not mention them.
#[derive(Debug)]
pub(crate) struct ObservedNamespace {
    pub(crate) meta: Meta,
    pub(crate) labels: Labels,
    /// Whether it is being deleted.
    pub(crate) terminating: bool,
}

/// The labels of an object: `known`, if they are the same, otherwise new ones that share their texts with all others.
///
/// Of more than `most` the first by key are kept. Most events leave labels as they were, and then this allocates nothing.
pub(crate) fn shared_labels(
    texts: &mut Interned<str>,
    known: Option<&Labels>,
    written: Option<&BTreeMap<String, String>>,
    counts: impl Fn(&str) -> bool,
    most: usize,
) -> Labels {
    let counting = || {
        let pairs = written.into_iter().flatten();
        pairs.map(|(key, value)| (key.as_str(), value.as_str())).filter(|(key, _)| counts(key)).take(most)
    };
    match known {
        Some(known) if known.iter().eq(counting()) => known.clone(),
        _ => counting().map(|(key, value)| (texts.get(key), texts.get(value))).collect(),
    }
}
