//! One instant of a cluster: the objects that the operator reads, from a cluster, from files or from a snapshot file.

mod file;
mod latest_time;
mod overlay;
mod place;
mod redact;

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::time::Timestamp;
use serde_json::Value;

#[cfg(test)]
pub(crate) use file::Body;
pub(crate) use file::{SnapshotFileError, is_snapshot, read_file, write_file};
pub(crate) use overlay::{Change, OverlayError, Setting, overlay};
pub(crate) use place::Place;
pub(crate) use redact::{CONTAINERS, OF_CONTAINER, OF_POD, redact};

use crate::objects::text;
use latest_time::latest_time;

/// The objects of one instant.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// When the objects were read; none for manifests, whose time is the latest that stands in them.
    pub(crate) as_of: Option<Timestamp>,
    /// Where they come from, for people.
    pub(crate) source: String,
    /// Whether an API server returned them; manifests are completed as an API server would.
    pub(crate) is_observed: bool,
    /// Whether it lacks objects that decisions depend on: only some kinds or one namespace were asked for.
    pub(crate) is_partial: bool,
    /// Whether what no decision depends on was removed.
    pub(crate) is_redacted: bool,
    /// The objects.
    pub(crate) entries: Vec<Entry>,
    /// Pods of a cluster, beside the entries: they are the most of it, and as JSON they would take three times the memory.
    pub(crate) pods: Vec<Arc<Pod>>,
    /// The lists that the API server refused.
    pub(crate) missing: Vec<Missing>,
}

/// One object as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where it stands.
    pub(crate) place: Place,
    /// The object, with apiVersion and kind. Snapshots that differ in a few objects share the others.
    pub(crate) value: Arc<Value>,
    /// Whether a person wrote it, so that defaults are missing and mistakes are errors.
    pub(crate) is_written: bool,
}

/// A list that the API server refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The resource as kubectl names it, such as `jobs.batch`.
    pub(crate) resource: String,
    /// The namespace that was asked for; none for all.
    pub(crate) namespace: Option<String>,
}

impl Snapshot {
    /// One of objects that an API server returned.
    pub(crate) fn observed(as_of: Timestamp, source: &str) -> Self {
        Self {
            as_of: Some(as_of),
            source: source.to_owned(),
            is_observed: true,
            is_partial: false,
            is_redacted: false,
            entries: Vec::new(),
            pods: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// When the cluster is looked at: when the objects were read, or the latest time that stands in them.
    pub(crate) fn now(&self) -> Timestamp {
        let latest = || self.entries.iter().filter_map(|entry| latest_time(&entry.value)).max();
        self.as_of.or_else(latest).unwrap_or_default()
    }

    /// An empty one of objects that a person wrote.
    pub(crate) fn written(source: &str) -> Self {
        Self { as_of: None, is_observed: false, ..Self::observed(Timestamp::default(), source) }
    }

    /// Replaces the objects of one kind by those that another question returned.
    pub(crate) fn replace(&mut self, kind: &str, values: Vec<Value>) {
        self.entries.retain(|entry| text(&entry.value, "/kind") != kind);
        self.add(values);
    }

    /// Adds objects of the same origin.
    pub(crate) fn add(&mut self, values: Vec<Value>) {
        let place = Place::file(&self.source);
        let is_written = !self.is_observed;
        let entry = |value| Entry { place: place.clone(), value: Arc::new(value), is_written };
        self.entries.extend(values.into_iter().map(entry));
    }
}
