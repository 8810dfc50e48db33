//! A trace as a history of the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Record;
use crate::objects::{Key, Kind};

/// All objects at one point of a trace.
pub type State = BTreeMap<Key, Arc<Value>>;

/// Goes through a trace and keeps the state of the cluster.
///
/// No iterator, because what it shows is its own: call [`step`](Self::step) until there is nothing more.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    rest: std::slice::Iter<'a, Record>,
    state: State,
}

impl<'a> Replay<'a> {
    pub(super) fn new(records: &'a [Record]) -> Self {
        Self { rest: records.iter(), state: State::new() }
    }

    /// The next record, and all objects as they are after it.
    pub fn step(&mut self) -> Option<(&'a Record, &State)> {
        let record = self.rest.next()?;
        if record.write.is_some() {
            let key = Key::new(record.kind, &record.namespace, &record.name);
            match &record.after {
                Some(after) => self.state.insert(key, Arc::clone(after)),
                None => self.state.remove(&key),
            };
        }
        Some((record, &self.state))
    }

    /// All objects as they are now.
    pub const fn state(&self) -> &State {
        &self.state
    }
}

/// The objects of one kind, of one namespace or of all.
pub fn of_kind<'a>(
    state: &'a State,
    kind: Kind,
    namespace: Option<&'a str>,
) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> {
    state.range(Key::first(kind, namespace.unwrap_or_default())..).take_while(move |(key, _)| {
        key.kind == kind && namespace.is_none_or(|namespace| &*key.namespace == namespace)
    })
}
