//! From the entries of a snapshot to typed objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::checks::mistakes;
use super::rollouts::{Workload, is_rolled_out, named};
use super::sources::Problem;
use crate::objects::{Kind, Object, find_text, in_words, later_version};
use crate::snapshot::{Content, Entry, Place};

/// The namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// Typed objects, and what was noticed while reading them.
#[derive(Default)]
pub(super) struct Reader {
    /// The objects, each with whether a person wrote it.
    pub(super) objects: Vec<(Object, bool)>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: BTreeSet<String>,
    /// Objects of other kinds that an API server returned: the operator may be configured to read them.
    pub(super) others: Vec<Arc<Value>>,
    /// How many objects there are of each kind that no decision depends on.
    pub(super) skipped: BTreeMap<String, usize>,
    /// The workloads that replace pods of another template.
    pub(super) renewed: BTreeSet<Workload>,
    places: BTreeMap<(Kind, String), Place>,
}

impl Reader {
    /// One that found these problems already.
    pub(super) fn with(problems: Vec<Problem>) -> Self {
        Self { problems, ..Self::default() }
    }

    /// Takes one object in, or remembers what is wrong with it.
    pub(super) fn take(&mut self, entry: &Entry) {
        match self.read(entry) {
            Ok(Some(object)) => {
                if entry.is_written && is_rolled_out(&object, entry.former.as_deref()) {
                    self.renewed.insert(named(&object));
                }
                self.objects.push((object, entry.is_written));
            }
            Ok(None) => {}
            Err(messages) if entry.is_written => {
                let object = displayed_name(entry);
                let problem =
                    |message| Problem { place: entry.place.clone(), object: object.clone(), message };
                self.problems.extend(messages.into_iter().map(problem));
            }
            // The operator skips it, too.
            Err(messages) => {
                let name = displayed_name(entry).unwrap_or_default();
                let why = messages.into_iter().next().unwrap_or_default();
                self.warnings.insert(format!("{name} is skipped because it cannot be read: {why}"));
            }
        }
    }

    fn read(&mut self, entry: &Entry) -> Result<Option<Object>, Vec<String>> {
        let Entry { place, content, is_written, .. } = entry;
        let mut unknown_fields = Vec::new();
        let mut object = match content {
            Content::Pod(pod) => Object::Pod(Arc::clone(pod)),
            Content::Json(value) => match kind_of(value).map_err(|message| vec![message])? {
                Some(kind) => {
                    let later = later_version(value);
                    let value = later.as_ref().unwrap_or(value);
                    let object = Object::read(kind, value).map_err(|message| vec![message])?;
                    if *is_written {
                        unknown_fields = object.unknown_fields(value);
                    }
                    object
                }
                None if *is_written => {
                    let count = self.skipped.entry(kind_and_group(entry)).or_default();
                    *count = count.saturating_add(1);
                    return Ok(None);
                }
                None => {
                    self.others.push(Arc::clone(value));
                    return Ok(None);
                }
            },
        };
        let kind = object.kind();
        let full_name = complete_name(&mut object, kind)?;
        if *is_written {
            self.check(kind, &object, unknown_fields)?;
        }
        if let Some(other) = self.places.insert((kind, full_name), place.clone())
            && *is_written
        {
            return Err(vec![format!("it stands in {other} already; give each object once")]);
        }
        Ok(Some(object))
    }

    fn check(
        &mut self,
        kind: Kind,
        object: &Object,
        mut unknown_fields: Vec<String>,
    ) -> Result<(), Vec<String>> {
        // Ours are all known; a status leaves out what is empty. Others may be of a newer Kubernetes, or misspelled: a warning
        // for each kind, since a dump of a cluster repeats them in every object.
        if matches!(kind, Kind::Queue | Kind::QueueJob) {
            unknown_fields.retain(|field| !field.starts_with("status."));
            if !unknown_fields.is_empty() {
                let message = |field: String| format!("{field}: a {} has no such field", kind.name());
                return Err(unknown_fields.into_iter().map(message).collect());
            }
        }
        for field in unknown_fields {
            let field = without_numbers(&field);
            self.warnings.insert(format!("{}: field {field} is not known and ignored", kind.name()));
        }
        let mistakes = mistakes(object);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(())
    }

    /// The namespaces of objects that no object describes; in a cluster those exist all the same.
    pub(super) fn missing_namespaces(&self) -> Vec<String> {
        let used = self.places.keys().filter(|(kind, _)| kind.is_namespaced());
        let used: BTreeSet<&str> = used.filter_map(|(_, name)| Some(name.split_once('/')?.0)).collect();
        let is_described = |name: &&str| self.places.contains_key(&(Kind::Namespace, (*name).to_owned()));
        used.into_iter().filter(|name| !is_described(name)).map(str::to_owned).collect()
    }
}

/// Gives the object its namespace; returns `namespace/name`, or the name of what is in no namespace.
fn complete_name(object: &mut Object, kind: Kind) -> Result<String, Vec<String>> {
    let name = object.name().to_owned();
    if name.is_empty() {
        return Err(vec!["metadata.name: give the object a name".to_owned()]);
    }
    if !kind.is_namespaced() {
        object.metadata_mut().namespace = None;
        return Ok(name);
    }
    if object.namespace().is_empty() {
        object.metadata_mut().namespace = Some(DEFAULT_NAMESPACE.to_owned());
    }
    Ok(format!("{}/{name}", object.namespace()))
}

fn kind_of(value: &Value) -> Result<Option<Kind>, String> {
    if !value.is_object() {
        return Err("this is no object: a manifest has apiVersion, kind and metadata".to_owned());
    }
    let text = |pointer: &str| find_text(value, pointer).filter(|text| !text.is_empty());
    let name = text("/kind").ok_or("kind: a manifest says what it describes, such as kind: Pod")?;
    let api_version = text("/apiVersion").ok_or("apiVersion: a manifest names it, such as apiVersion: v1")?;
    Kind::find(api_version, name)
}

/// `ConfigMap`, `Queue.scheduling.volcano.sh`.
fn kind_and_group(entry: &Entry) -> String {
    let (kind, group) = (entry.kind(), entry.group());
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

/// Kind, namespace and name as they stand in the manifest, for messages.
fn displayed_name(entry: &Entry) -> Option<String> {
    let (kind, namespace, name) = (entry.kind(), entry.namespace(), entry.name());
    let text = if name.is_empty() { kind.to_owned() } else { in_words(kind, namespace, name) };
    (!kind.is_empty()).then_some(text)
}

/// The path without the places in lists: `spec.containers[].resource`.
fn without_numbers(path: &str) -> String {
    let mut inside = false;
    path.chars()
        .filter(|character| {
            match character {
                '[' => inside = true,
                ']' => inside = false,
                _ => return !inside,
            }
            true
        })
        .collect()
}
