//! Objects decoded one by one: an object that cannot be decoded hides no other object of its list or watch.
//!
//! A list is one JSON document. If one item fails to decode, or is nested deeper than the decoder allows, the whole document
//! fails, and with it the kind. [`Decoded`] takes the fields of an item as texts first, without looking inside, and decodes
//! them alone. Of `metadata.managedFields` only the writers of the spec are read.

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use kube::Resource;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::error_path;
use crate::lean_pod::LeanPod;
use crate::metadata::{Metadata, Names};

/// The longest reason that is told, in characters. A decoder repeats what it found, which may be a megabyte.
const LONGEST_REASON: usize = 300;

const STATUS: &str = "status";

/// An object, or what can be read of an object that cannot be decoded.
///
/// Decode it from text, as kube's client does.
#[derive(Clone, Debug)]
pub struct Decoded<K>(pub Result<K, Undecodable>);

/// What can be read of an object that cannot be decoded.
#[derive(Clone, Debug)]
pub struct Undecodable {
    /// The field, and why it cannot be decoded.
    pub error: String,
    /// Its metadata without `managedFields`.
    pub metadata: ObjectMeta,
    fields: Fields,
}

impl Undecodable {
    /// An object of which not all could be read that has to be.
    pub(crate) fn new(error: &str, metadata: ObjectMeta) -> Self {
        Self { error: error.chars().take(LONGEST_REASON).collect(), metadata, fields: Fields::default() }
    }

    /// Its status, if there is one that can be decoded.
    pub fn status<S: DeserializeOwned>(&self) -> Option<S> {
        serde_json::from_str(self.fields.get(STATUS)?.get()).ok()
    }

    /// The object as if it had no status, if that is what cannot be decoded. Of a kind whose status Quotient writes, it costs no
    /// more than what was remembered: the next status takes the place of this one.
    pub(crate) fn without_status<K: DeserializeOwned>(&self) -> Option<K> {
        let mut fields = self.fields.clone();
        fields.0.remove(STATUS)?;
        fields.decode().ok()
    }
}

impl<'de, K: DeserializeOwned + 'static> Deserialize<'de> for Decoded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields(Deserialize::deserialize(deserializer)?);
        // Lean pods pass over `managedFields` themselves. They are most of what a start reads, and once is enough.
        if TypeId::of::<K>() != TypeId::of::<LeanPod>() {
            fields.omit_managed_fields();
        }
        Ok(Self(fields.decode().map_err(|error| undecodable(fields, &error))))
    }
}

/// What can be read of an object whose `fields` cannot be decoded. Without names it can only be counted.
fn undecodable(fields: Fields, error: &str) -> Undecodable {
    let metadata = fields.get("metadata").map(RawValue::get).unwrap_or_default();
    let metadata = match serde_json::from_str::<Metadata>(metadata) {
        Ok(metadata) => metadata.into(),
        Err(_) => serde_json::from_str::<Names>(metadata).map(ObjectMeta::from).unwrap_or_default(),
    };
    let is_too_deep = fields.value().is_err();
    let error = if is_too_deep { "its fields are nested more than 128 levels deep" } else { error };
    Undecodable { fields, ..Undecodable::new(error, metadata) }
}

impl<K: Resource> Resource for Decoded<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(of: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(of)
    }

    fn group(of: &Self::DynamicType) -> Cow<'_, str> {
        K::group(of)
    }

    fn version(of: &Self::DynamicType) -> Cow<'_, str> {
        K::version(of)
    }

    fn plural(of: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(of)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.as_ref().map_or_else(|undecodable| &undecodable.metadata, K::meta)
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.as_mut().map_or_else(|undecodable| &mut undecodable.metadata, K::meta_mut)
    }
}

/// The fields of one object by name. No value is decoded, however deeply it is nested.
///
/// Of `metadata.managedFields` only the writers of the spec are kept, for the events that name them: any writer of an object
/// fills it as it likes, it is often half of the object, and no decision depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// The text of the field `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|text| &**text)
    }

    /// The object.
    pub(crate) fn decode<K: DeserializeOwned>(&self) -> Result<K, String> {
        let last = Cell::new(("", ""));
        let fields = self.0.iter().map(|(name, text)| {
            last.set((name, text.get()));
            (name.as_str(), &**text)
        });
        K::deserialize(MapDeserializer::new(fields)).map_err(|error| {
            let (name, text) = last.get();
            error_path::located(name, text, &error)
        })
    }

    /// Leaves all of `metadata.managedFields` but the writers of the spec out.
    fn omit_managed_fields(&mut self) {
        if let Some(metadata) = self.0.get_mut("metadata")
            // Metadata that is no object stays: the object cannot be decoded, and no other of its list is hidden.
            && let Ok(Some(lean)) = lean(metadata)
        {
            *metadata = lean;
        }
    }

    /// The object as a tree of values.
    pub(crate) fn value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.0)
    }
}

/// The text of an object's metadata with only the writers of the spec in `managedFields`; none if there is nothing to leave out.
fn lean(metadata: &RawValue) -> serde_json::Result<Option<Box<RawValue>>> {
    const NAME: &str = "managedFields";
    let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(metadata.get())?;
    let Some(all) = fields.remove(NAME) else { return Ok(None) };
    let writers = writers_of_spec(all);
    fields.extend(writers.as_deref().map(|writers| (NAME.to_owned(), writers)));
    to_raw_value(&fields).map(Some)
}

/// The most entries of `managedFields` that are looked at.
const MOST_ENTRIES: usize = 64;

/// What is read of an entry of `managedFields`. Of its fields only whether the spec is among them is.
#[derive(Deserialize)]
struct Entry {
    manager: Option<String>,
    subresource: Option<IgnoredAny>,
    time: Option<String>,
    #[serde(rename = "fieldsV1")]
    fields: Option<Written>,
}

#[derive(Deserialize)]
struct Written {
    #[serde(rename = "f:spec")]
    spec: Option<IgnoredAny>,
}

/// The manager that wrote something of the spec, and when; none if that cannot be read.
fn writers_of_spec(managed_fields: &RawValue) -> Option<Box<RawValue>> {
    let entries: Vec<&RawValue> = serde_json::from_str(managed_fields.get()).ok()?;
    let entries = entries.into_iter().take(MOST_ENTRIES);
    let writers: Vec<ManagedFieldsEntry> =
        entries.filter_map(|entry| writer(serde_json::from_str(entry.get()).ok()?)).collect();
    if writers.is_empty() { None } else { to_raw_value(&writers).ok() }
}

fn writer(entry: Entry) -> Option<ManagedFieldsEntry> {
    let of_spec = entry.subresource.is_none() && entry.fields?.spec.is_some();
    of_spec.then(|| ManagedFieldsEntry {
        manager: entry.manager,
        // A time that cannot be read is older than every other.
        time: entry.time.and_then(|time| serde_json::from_value(Value::String(time)).ok()),
        fields_v1: Some(FieldsV1(json!({"f:spec": {}}))),
        ..ManagedFieldsEntry::default()
    })
}
