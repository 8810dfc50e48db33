//! From the entries of a snapshot to typed objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::checks::{futility, mistakes};
use super::problem::Problem;
use crate::objects::{Kind, Object};
use crate::snapshot::{Entry, Place};

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
    places: BTreeMap<(Kind, String), Place>,
}

impl Reader {
    /// One that found these problems already.
    pub(super) fn with(problems: Vec<Problem>) -> Self {
        Self { problems, ..Self::default() }
    }

    /// Takes one object in, or remembers what is wrong with it.
    pub(super) fn take(&mut self, entry: &Entry) {
        let Entry { place, value, is_written } = entry;
        match self.read(place, value, *is_written) {
            Ok(Some(object)) => self.objects.push((object, *is_written)),
            Ok(None) => {}
            Err(messages) if *is_written => {
                let object = displayed_name(value);
                let problem = |message| Problem { place: place.clone(), object: object.clone(), message };
                self.problems.extend(messages.into_iter().map(problem));
            }
            // The operator skips it, too.
            Err(messages) => {
                let name = displayed_name(value).unwrap_or_default();
                let why = messages.into_iter().next().unwrap_or_default();
                self.warnings.insert(format!("{name} is skipped because it cannot be read: {why}"));
            }
        }
    }

    /// Takes one pod in that an API server returned. One without a name does not exist.
    pub(super) fn take_pod(&mut self, pod: &Arc<Pod>, place: &Place) {
        let mut object = Object::Pod(Arc::clone(pod));
        if let Ok(full_name) = complete_name(&mut object, Kind::Pod) {
            self.places.insert((Kind::Pod, full_name), place.clone());
            self.objects.push((object, false));
        }
    }

    fn read(
        &mut self,
        place: &Place,
        value: &Arc<Value>,
        is_written: bool,
    ) -> Result<Option<Object>, Vec<String>> {
        let Some(kind) = kind_of(value).map_err(|message| vec![message])? else {
            if is_written {
                let count = self.skipped.entry(kind_and_group(value)).or_default();
                *count = count.saturating_add(1);
            } else {
                self.others.push(value.clone());
            }
            return Ok(None);
        };
        let (mut object, mut unknown_fields) = Object::read(kind, value).map_err(|message| vec![message])?;
        // Types of ours know them not as fields.
        unknown_fields.retain(|field| field != "apiVersion" && field != "kind");
        let full_name = complete_name(&mut object, kind)?;
        if is_written {
            self.check(place, kind, &full_name, &object, unknown_fields)?;
        }
        if let Some(other) = self.places.insert((kind, full_name), place.clone())
            && is_written
        {
            return Err(vec![format!("it stands in {other} already; give each object once")]);
        }
        Ok(Some(object))
    }

    fn check(
        &mut self,
        place: &Place,
        kind: Kind,
        full_name: &str,
        object: &Object,
        unknown_fields: Vec<String>,
    ) -> Result<(), Vec<String>> {
        // Ours are all known. Others may be of a newer Kubernetes, or misspelled: a warning for each kind, since
        // a dump of a cluster repeats them in every object.
        if matches!(kind, Kind::Queue | Kind::QueueJob) && !unknown_fields.is_empty() {
            let message = |field: String| format!("{field}: a {} has no such field", kind.name());
            return Err(unknown_fields.into_iter().map(message).collect());
        }
        for field in unknown_fields {
            let field = without_numbers(&field);
            self.warnings.insert(format!("{}: field {field} is not known and ignored", kind.name()));
        }
        let mistakes = mistakes(object);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        if let Some(futility) = futility(object) {
            self.warnings.insert(format!("{place}: {} {full_name}: {futility}", kind.name()));
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
    let text = |field: &str| value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("kind").ok_or("kind: a manifest says what it describes, such as kind: Pod")?;
    let api_version = text("apiVersion").ok_or("apiVersion: a manifest names it, such as apiVersion: v1")?;
    Kind::find(api_version, name)
}

/// `ConfigMap`, `Queue.scheduling.volcano.sh`.
fn kind_and_group(value: &Value) -> String {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    match text("apiVersion").split_once('/') {
        Some((group, _)) => format!("{}.{group}", text("kind")),
        None => text("kind").to_owned(),
    }
}

/// Kind, namespace and name as they stand in the manifest, for messages.
fn displayed_name(value: &Value) -> Option<String> {
    let kind = value.get("kind").and_then(Value::as_str)?;
    let metadata = value.get("metadata");
    let text = |field: &str| metadata.and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
    Some(match (text("namespace"), text("name")) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    })
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
