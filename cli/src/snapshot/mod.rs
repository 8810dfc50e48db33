//! One instant of a cluster: the objects that the operator reads, from a cluster, from files or from a snapshot file.

mod entry;
mod file;
mod overlay;
mod parts;
mod redact;

use quotient_engine::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::objects::{Kind, text};
use crate::output::note;
use entry::latest_time;
pub(crate) use entry::{Content, Entry, Place};
#[cfg(test)]
pub(crate) use file::Body;
pub(crate) use file::{is_snapshot, read_file, write_file};
pub(crate) use overlay::{NodeOffer, Setting, overlay};
pub(crate) use parts::Part;
pub(crate) use redact::redact;

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
    /// The lists that the API server refused.
    pub(crate) missing: Vec<Missing>,
    /// The kinds of Quotient that the API server does not serve, by their plural names; a file does not keep that.
    pub(crate) not_served: Vec<&'static str>,
}

/// A list that the API server refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MissingText", description = ""))]
pub(crate) struct Missing {
    /// The resource as kubectl names it, such as `jobs.batch`.
    #[cfg_attr(test, schemars(description = ""))]
    pub(crate) resource: String,
    /// The namespace that was asked for; none for all.
    #[cfg_attr(test, schemars(description = ""))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            missing: Vec::new(),
            not_served: Vec::new(),
        }
    }

    /// When the cluster is looked at: when the objects were read, or the latest time that stands in them. Kinds that no decision
    /// depends on may have times to come, such as the renewal of a certificate.
    pub(crate) fn now(&self) -> Timestamp {
        let objects = self.entries.iter().filter_map(Entry::json);
        let understood = objects.filter(|object| {
            matches!(Kind::find(text(object, "/apiVersion"), text(object, "/kind")), Ok(Some(_)))
        });
        self.as_of.or_else(|| understood.filter_map(latest_time).max()).unwrap_or_default()
    }

    /// An empty one of objects that a person wrote.
    pub(crate) fn written(source: &str) -> Self {
        Self { as_of: None, is_observed: false, ..Self::observed(Timestamp::default(), source) }
    }

    /// Adds objects of the same origin.
    pub(crate) fn add(&mut self, objects: impl IntoIterator<Item = impl Into<Content>>) {
        let (place, is_written) = (Place::file(&self.source), !self.is_observed);
        let entry =
            |object: _| Entry { place: place.clone(), content: Into::into(object), is_written, former: None };
        self.entries.extend(objects.into_iter().map(entry));
    }

    /// Says on standard error which lists are missing.
    pub(crate) fn warn_of_missing(&self) {
        for missing in &self.missing {
            note(&format!("warning: {} are missing: you may not list them", missing.resource));
        }
    }

    /// Keeps every object as JSON.
    pub(crate) fn write_out(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.change(|_| ()));
    }
}
