//! A cluster put together from manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quotient_engine::snapshot::Snapshot;
use quotient_engine::time::Timestamp;
use quotient_index::{Index, IndexSettings};
use serde_json::Value;

use super::checks::{futility, mistakes};
use super::decode::{Decoded, decode};
use super::defaults::{complete, namespace};
use super::deployments::roll_out;
use super::documents::documents;
use super::identity::identify;
use super::known::Kind;
use super::latest_time::latest_time;
use super::lists::take_apart;
use super::object::Object;
use super::priorities::{prioritize, unknown_classes};
use super::problem::{Place, Problem, Problems};
use super::queue_jobs::add_jobs;
use super::sources::read_all;
use super::ungoverned::with_every_owner;
use crate::controllers::Controllers;

/// The namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// What the manifests describe.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// As the operator would see it.
    pub(crate) snapshot: Snapshot,
    /// What goes on in it besides.
    pub(crate) controllers: Controllers,
    /// What was read but makes no difference, a line each.
    pub(crate) warnings: Vec<String>,
}

/// Reads the manifests. `now` is when the cluster is looked at; none for the latest time in the input.
pub(crate) fn read(paths: &[PathBuf], now: Option<Timestamp>) -> Result<Cluster, Problems> {
    let mut reader = Reader::default();
    let sources = read_all(paths, &mut reader.problems);
    for source in &sources {
        for (place, document) in documents(source, &mut reader.problems) {
            for (place, object) in take_apart(place, document, &mut reader.problems) {
                reader.take(&place, object);
            }
        }
    }
    reader.finish(now)
}

#[derive(Default)]
struct Reader {
    objects: Vec<Object>,
    places: BTreeMap<(Kind, String), Place>,
    latest: Option<Timestamp>,
    problems: Vec<Problem>,
    warnings: BTreeSet<String>,
}

impl Reader {
    /// Takes one object in, or remembers what is wrong with it.
    fn take(&mut self, place: &Place, value: Value) {
        let latest = latest_time(&value);
        let name = displayed_name(&value);
        match self.decoded(place, value) {
            Ok(object) => {
                self.objects.push(object);
                self.latest = self.latest.max(latest);
            }
            Err(messages) => self.problems.extend(messages.into_iter().map(|message| Problem {
                place: place.clone(),
                object: name.clone(),
                message,
            })),
        }
    }

    fn decoded(&mut self, place: &Place, value: Value) -> Result<Object, Vec<String>> {
        let kind = kind_of(&value).map_err(|message| vec![message])?;
        let Decoded { mut object, unknown_fields } = decode(kind, value).map_err(|message| vec![message])?;

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

        let metadata = object.metadata_mut();
        let Some(name) = metadata.name.clone().filter(|name| !name.is_empty()) else {
            return Err(vec!["metadata.name: give the object a name".to_owned()]);
        };
        let full_name = if kind.is_namespaced() {
            let namespace = metadata.namespace.take().filter(|namespace| !namespace.is_empty());
            let namespace = namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
            let full_name = format!("{namespace}/{name}");
            metadata.namespace = Some(namespace);
            full_name
        } else {
            metadata.namespace = None;
            name
        };

        let mistakes = mistakes(&object);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        if let Some(futility) = futility(&object) {
            self.warnings.insert(format!("{place}: {} {full_name}: {futility}", kind.name()));
        }
        if let Some(other) = self.places.insert((kind, full_name), place.clone()) {
            return Err(vec![format!("it stands in {other} already; give each object once")]);
        }
        Ok(object)
    }

    /// Objects may be in namespaces that no manifest describes; in a cluster those exist all the same.
    fn add_missing_namespaces(&mut self) {
        let used = self.places.keys().filter(|(kind, _)| kind.is_namespaced());
        let used: BTreeSet<String> =
            used.filter_map(|(_, name)| Some(name.split_once('/')?.0.to_owned())).collect();
        let missing =
            used.into_iter().filter(|name| !self.places.contains_key(&(Kind::Namespace, name.clone())));
        self.objects.extend(missing.map(|name| namespace(&name)));
    }

    fn finish(mut self, now: Option<Timestamp>) -> Result<Cluster, Problems> {
        if self.problems.is_empty() && self.objects.is_empty() {
            self.problems.push(Problem::of_file("input", "there is no object in it"));
        }
        if !self.problems.is_empty() {
            return Err(Problems(self.problems));
        }
        self.add_missing_namespaces();
        let now = now.or(self.latest).unwrap_or_default();
        let created = Time(jiff::Timestamp::from_millisecond(now.millis()).unwrap_or_default());
        let mut objects = self.objects;
        identify(&mut objects);
        for object in &mut objects {
            complete(object, &created);
        }
        roll_out(&mut objects);
        add_jobs(&mut objects);
        self.warnings.extend(unknown_classes(&objects).into_iter().map(|class| {
            format!(
                "PriorityClass {class} is named but not described: pods of it are taken to have priority 0"
            )
        }));
        // Manifests describe nodes as they are meant: one that is Ready counts, however recently it became so.
        let mut index = Index::new(IndexSettings { ready_seconds: 0, ..IndexSettings::default() });
        let (classes, mut others): (Vec<Object>, Vec<Object>) =
            objects.into_iter().partition(|object| matches!(object, Object::PriorityClass(_)));
        for class in &classes {
            class.apply_to(&mut index);
        }
        prioritize(&mut others, &index);
        let controllers = Controllers::of(&mut others);
        for object in &others {
            object.apply_to(&mut index);
        }
        let mut snapshot = with_every_owner(&mut index, &others, now);
        controllers.begin(&mut snapshot);
        Ok(Cluster { snapshot, controllers, warnings: self.warnings.into_iter().collect() })
    }
}

fn kind_of(value: &Value) -> Result<Kind, String> {
    if !value.is_object() {
        return Err("this is no object: a manifest has apiVersion, kind and metadata".to_owned());
    }
    let text = |field: &str| value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("kind").ok_or("kind: a manifest says what it describes, such as kind: Pod")?;
    let api_version = text("apiVersion").ok_or("apiVersion: a manifest names it, such as apiVersion: v1")?;
    Kind::find(api_version, name)
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
