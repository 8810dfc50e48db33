//! The fields of one object as texts, without `metadata.managedFields`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The fields of one object by name. No value is decoded, however deeply it is nested.
///
/// `metadata.managedFields` is passed over while the text is split: any writer of an object fills it as it likes, it is often half
/// of the object, and no decision depends on it.
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
        deserializer.deserialize_map(OfObject)
    }
}

struct OfObject;

impl<'de> Visitor<'de> for OfObject {
    type Value = Fields;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let text = if name == "metadata" { map.next_value::<Metadata>()?.0 } else { map.next_value()? };
            fields.insert(name, text);
        }
        Ok(Fields(fields))
    }
}

/// The text of an object's metadata without `managedFields`.
struct Metadata(Box<RawValue>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfMetadata)
    }
}

struct OfMetadata;

impl<'de> Visitor<'de> for OfMetadata {
    type Value = Metadata;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the metadata of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
        let mut fields = BTreeMap::<String, Box<RawValue>>::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == "managedFields" {
                map.next_value::<IgnoredAny>()?;
            } else {
                fields.insert(name, map.next_value()?);
            }
        }
        to_raw_value(&fields).map(Metadata).map_err(serde::de::Error::custom)
    }
}
