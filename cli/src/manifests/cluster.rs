//! A cluster put together from the objects of one instant.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use k8s_openapi::api::core::v1::LimitRange;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::DynamicObject;
use quotient_advance::settle;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::plan::{Eviction, Plan, PodId};
use quotient_engine::snapshot::{self, Owner};
use quotient_engine::time::Timestamp;
use quotient_index::{Decoded, Index, IndexSettings};
use quotient_operator::settings::Settings;
use serde::Deserialize as _;
use serde_json::Value;

use super::defaults::{complete, identify, namespace, prioritize, unknown_classes};
use super::operator::{OperatorFacts, find_operator};
use super::reader::Reader;
use super::rollouts::{add_jobs, roll_out};
use super::sources::{Problem, Problems, documents, read_all, take_apart};
use crate::controllers::Controllers;
use crate::objects::Object;
use crate::output::{list, note, sum};
use crate::snapshot::{Entry, Missing, Snapshot};

/// What the objects describe.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// As the operator sees it.
    pub(crate) snapshot: snapshot::Snapshot,
    /// The objects, completed.
    pub(crate) objects: Vec<Object>,
    /// What goes on in it besides.
    pub(crate) controllers: Controllers,
    /// The operator that runs in it, if its Deployment was read.
    pub(crate) operator: Option<OperatorFacts>,
    /// Whether an API server returned the objects.
    pub(crate) is_observed: bool,
    /// Where they come from.
    pub(crate) source: String,
    /// The lists that the API server refused.
    pub(crate) missing: Vec<Missing>,
    /// Whether only some kinds, or one namespace, were asked for.
    pub(crate) is_partial: bool,
    /// What was read but makes no difference, a line each.
    pub(crate) warnings: Vec<String>,
    /// What [`plan`](Self::plan) computed.
    planned: OnceCell<Option<Plan>>,
}

/// The objects of manifests. Those that name no namespace are in `namespace`, if one is given.
pub(crate) fn read_snapshot(paths: &[PathBuf], namespace: Option<&str>) -> Result<Snapshot, Problems> {
    let mut problems = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    for source in &read_all(paths, &mut problems) {
        for (place, document) in documents(source, &mut problems) {
            let objects = take_apart(place, document, &mut problems);
            entries.extend(objects.into_iter().map(|(place, value)| Entry::written(place, value)));
        }
    }
    if let Some(namespace) = namespace {
        for entry in &mut entries {
            entry.place_in(namespace);
        }
    }
    if !problems.is_empty() {
        // The rest is looked at all the same: everything that is wrong is reported at once.
        let mut reader = Reader::with(problems);
        for entry in &entries {
            reader.take(entry);
        }
        return Err(Problems(reader.problems));
    }
    Ok(Snapshot { entries, ..Snapshot::written(&list(paths.iter().map(|path| path.display()))) })
}

/// Reads manifests. `now` is when the cluster is looked at; none for the latest time in the input.
#[cfg(test)]
pub(crate) fn read(paths: &[PathBuf], now: Option<Timestamp>) -> Result<Cluster, Problems> {
    Cluster::of(&read_snapshot(paths, None)?, now)
}

impl Cluster {
    /// What the operator would decide, if everything that decisions depend on was read.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.planned.get_or_init(|| self.is_complete().then(|| settle(&self.snapshot).1)).as_ref()
    }

    /// Whether everything that decisions depend on was read.
    pub(crate) const fn is_complete(&self) -> bool {
        !self.is_partial && self.missing.is_empty()
    }

    /// Whether no Queue can manage `namespace`, because it is one of Kubernetes or of the operator.
    pub(crate) fn is_of_system(&self, namespace: &str) -> bool {
        let is_protected = match self.settings() {
            Some(settings) => settings.index.protected.contains(&Namespace::from(namespace)),
            None => IndexSettings::PROTECTED.contains(&namespace),
        };
        is_protected || self.operator.as_ref().is_some_and(|operator| operator.namespace == namespace)
    }

    /// The settings of the operator, as far as they are known.
    pub(crate) fn settings(&self) -> Option<&Settings> {
        settings_of(self.operator.as_ref())
    }

    /// How many seconds ago that was; a time to come is negative.
    pub(crate) fn seconds_since(&self, time: jiff::Timestamp) -> i64 {
        self.snapshot.now.millis().saturating_sub(time.as_millisecond()).div_euclid(1000)
    }

    /// What the nodes offer that count.
    pub(crate) fn offered(&self) -> Amounts {
        let nodes = self.snapshot.nodes.values().filter(|node| node.counts);
        sum(nodes.map(|node| &node.allocatable))
    }

    /// How long an evicted pod may take to end, in seconds: what the eviction gives it, or else its own time.
    pub(crate) fn grace_of(&self, eviction: &Eviction) -> Option<u32> {
        let own = || Some(find_pod(&self.snapshot, &eviction.pod)?.1.grace_seconds.into());
        eviction.grace_seconds.or_else(own)
    }

    /// Says on standard error what was read but makes no difference.
    pub(crate) fn warned(self) -> Self {
        for warning in &self.warnings {
            note(&format!("warning: {warning}"));
        }
        self
    }

    /// The cluster that the objects describe, at `now`; none for the time at which they were read.
    pub(crate) fn of(snapshot: &Snapshot, now: Option<Timestamp>) -> Result<Self, Problems> {
        let mut reader = Reader::default();
        for entry in &snapshot.entries {
            reader.take(entry);
        }
        if reader.problems.is_empty() && reader.objects.is_empty() && !snapshot.is_observed {
            reader
                .problems
                .push(Problem::of_file("input", "there is no object in it that decisions depend on"));
        }
        if !reader.problems.is_empty() {
            return Err(Problems(reader.problems));
        }
        let now = now.unwrap_or_else(|| snapshot.now());
        let mut warnings = reader.warnings.clone();
        warnings.extend(skipped(&reader.skipped));
        let missing_namespaces = reader.missing_namespaces();
        let workloads = std::mem::take(&mut reader.others);
        let has_written = reader.objects.iter().any(|(_, is_written)| *is_written);
        let mut objects = completed(reader.objects, &missing_namespaces, now);
        if has_written {
            roll_out(&mut objects, &reader.renewed);
            add_jobs(&mut objects);
            warnings.extend(unknown_classes(&objects).into_iter().map(|class| {
                format!(
                    "PriorityClass {class} is named but not described: pods of it are taken to have priority 0"
                )
            }));
        }
        let operator = if snapshot.is_observed { find_operator(&objects, &workloads) } else { None };
        let unreadable = operator.as_ref().and_then(|operator| operator.settings.as_ref().err());
        warnings.extend(unreadable.map(|error| {
            format!("the flags of the operator cannot be read, so its defaults are assumed: {error}")
        }));
        let mut index = Index::new(settings(operator.as_ref(), has_written));
        let (objects, controllers) = put_into(&mut index, objects);
        apply_workloads(&workloads, operator.as_ref(), &mut index);
        if !snapshot.missing.iter().any(|missing| missing.resource == "limitranges") {
            // All of them are known: containers without requests get their defaults, or those of the Queue.
            index.relist_finish::<LimitRange>(&());
        }
        let mut seen =
            if snapshot.is_observed { index.snapshot(now) } else { index.snapshot_with_every_owner(now) };
        controllers.begin(&mut seen);
        Ok(Self {
            snapshot: seen,
            objects,
            controllers,
            operator,
            is_observed: snapshot.is_observed,
            source: snapshot.source.clone(),
            missing: snapshot.missing.clone(),
            is_partial: snapshot.is_partial,
            warnings: warnings.into_iter().collect(),
            planned: OnceCell::new(),
        })
    }
}

/// How many workloads of a namespace have containers without a request for cpu or memory and without a default for it, and how
/// many there are. What a Deployment or a `CronJob` creates counts once.
pub(crate) fn without_requests(state: &snapshot::NamespaceState) -> (usize, usize) {
    let count = |is_counted: fn(&Owner) -> bool| {
        let owners = state.owners.iter().filter(|owner| is_counted(owner));
        let workloads: BTreeSet<&OwnerUid> = owners
            .map(|owner| owner.controller.as_ref().map_or(&owner.uid, |controller| &controller.uid))
            .collect();
        workloads.len()
    };
    (count(|owner| !owner.unspecified.is_nothing()), count(|_| true))
}

/// The pod with its namespace, if it is in the snapshot.
pub(crate) fn find_pod<'s>(
    snapshot: &'s snapshot::Snapshot,
    id: &PodId,
) -> Option<(&'s snapshot::NamespaceState, &'s snapshot::Pod)> {
    let state = snapshot.namespaces.get(&id.namespace)?;
    Some((state, state.pods.iter().find(|pod| pod.uid == id.uid)?))
}

/// Puts `objects` into the index, priority classes first. Returns them, and what controls them.
fn put_into(index: &mut Index, objects: Vec<Object>) -> (Vec<Object>, Controllers) {
    let (classes, mut others): (Vec<Object>, Vec<Object>) =
        objects.into_iter().partition(|object| matches!(object, Object::PriorityClass(_)));
    for class in &classes {
        class.apply_to(index);
    }
    prioritize(&mut others, index);
    let controllers = Controllers::of(&mut others);
    for object in &others {
        object.apply_to(index);
    }
    others.extend(classes);
    (others, controllers)
}

/// Puts objects of the kinds into the index that only the settings of the operator know.
fn apply_workloads(objects: &[Arc<Value>], operator: Option<&OperatorFacts>, index: &mut Index) {
    for kind in settings_of(operator).iter().flat_map(|settings| &settings.workload_kinds) {
        let is_of_kind = |object: &&Arc<Value>| {
            let text = |field: &str| object.get(field).and_then(Value::as_str);
            text("kind") == Some(kind.kind()) && text("apiVersion") == Some(kind.api_version())
        };
        for object in objects.iter().filter(is_of_kind) {
            if let Ok(object) = DynamicObject::deserialize(&**object) {
                index.apply_decoded(kind, &kind.read(Decoded(Ok(object))));
            }
        }
    }
}

/// The objects with ids, those of manifests completed as the API server would.
fn completed(read: Vec<(Object, bool)>, missing_namespaces: &[String], now: Timestamp) -> Vec<Object> {
    let created = Time(jiff::Timestamp::from_millisecond(now.millis()).unwrap_or_default());
    let namespaces = missing_namespaces.iter().map(|name| (namespace(name), true));
    let (mut objects, written): (Vec<Object>, Vec<bool>) = read.into_iter().chain(namespaces).unzip();
    identify(&mut objects);
    for (object, is_written) in objects.iter_mut().zip(written) {
        if is_written {
            complete(object, &created);
        }
    }
    objects
}

fn settings_of(operator: Option<&OperatorFacts>) -> Option<&Settings> {
    operator?.settings.as_deref().ok()
}

/// Those of the operator. Manifests describe nodes as they are meant: one that is Ready counts, however recently it became
/// so.
fn settings(operator: Option<&OperatorFacts>, has_written: bool) -> IndexSettings {
    let settings = settings_of(operator).map(|settings| settings.index.clone()).unwrap_or_default();
    if has_written { IndexSettings { ready_seconds: 0, ..settings } } else { settings }
}

/// `3 objects of kinds that no decision depends on are skipped: ConfigMap (2), Service (1)`.
fn skipped(kinds: &BTreeMap<String, usize>) -> Option<String> {
    let total: usize = kinds.values().sum();
    let named = list(kinds.iter().map(|(kind, count)| format!("{kind} ({count})")));
    let objects = if total == 1 { "object is" } else { "objects are" };
    let of = "of a kind that no decision depends on";
    (total > 0).then(|| format!("{total} {objects} skipped, {of}: {named}"))
}
