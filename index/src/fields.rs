//! The fields of one object as texts; of `metadata.managedFields` only the writers of the spec.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The fields of one object by name. No value is decoded, however deeply it is nested.
///
/// Of `metadata.managedFields` only the writers of the spec are kept, for the events that name them: any writer of an object
/// fills it as it likes, it is often half of the object, and no decision depends on it.
pub(crate) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    /// The text of the field `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|text| &**text)
    }

    /// The object.
    pub(crate) fn decode<K: DeserializeOwned>(&self) -> serde_json::Result<K> {
        let fields = self.0.iter().map(|(name, text)| (name.as_str(), &**text));
        K::deserialize(MapDeserializer::new(fields))
    }

    /// The object as a tree of values.
    pub(crate) fn value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = BTreeMap::<String, Box<RawValue>>::deserialize(deserializer)?;
        if let Some(metadata) = fields.get_mut("metadata")
            // Metadata that is no object stays: the object cannot be decoded, and no other of its list is hidden.
            && let Ok(Some(lean)) = lean(metadata)
        {
            *metadata = lean;
        }
        Ok(Self(fields))
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

/// What is read of an entry of `managedFields`. Of its fields only the outermost names are.
#[derive(Deserialize)]
struct Entry<'a> {
    manager: Option<String>,
    subresource: Option<IgnoredAny>,
    time: Option<String>,
    #[serde(rename = "fieldsV1", borrow)]
    fields: Option<BTreeMap<String, &'a RawValue>>,
}

/// Who wrote something of the spec, and when; none if that cannot be read.
fn writers_of_spec(managed_fields: &RawValue) -> Option<Box<RawValue>> {
    let entries: Vec<&RawValue> = serde_json::from_str(managed_fields.get()).ok()?;
    let entries = entries.into_iter().take(MOST_ENTRIES);
    let writers: Vec<ManagedFieldsEntry> =
        entries.filter_map(|entry| writer(serde_json::from_str(entry.get()).ok()?)).collect();
    if writers.is_empty() { None } else { to_raw_value(&writers).ok() }
}

fn writer(entry: Entry<'_>) -> Option<ManagedFieldsEntry> {
    let of_spec = entry.subresource.is_none() && entry.fields?.contains_key(SPEC);
    of_spec.then(|| ManagedFieldsEntry {
        manager: entry.manager,
        // A time that cannot be read is older than every other.
        time: entry.time.and_then(|time| serde_json::from_value(Value::String(time)).ok()),
        fields_v1: Some(FieldsV1(json!({SPEC: {}}))),
        ..ManagedFieldsEntry::default()
    })
}

/// The spec, as `managedFields` names it.
const SPEC: &str = "f:spec";
