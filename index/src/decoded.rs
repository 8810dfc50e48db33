//! Objects decoded one by one: an object that cannot be decoded hides no other object of its list or watch.
//!
//! A list is one JSON document. If one item fails to decode, or is nested deeper than the decoder allows, the whole document
//! fails, and with it the kind. [`Decoded`] takes the fields of an item as texts first, without looking inside, and decodes
//! them alone. Of `metadata.managedFields` only the writers of the spec are read.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_engine::names::Namespace;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::metadata::{Metadata, Names};

/// The longest reason that is told, in characters. A decoder repeats what it found, which may be a megabyte.
const LONGEST_REASON: usize = 300;

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
    status: Option<Box<RawValue>>,
}

impl Undecodable {
    /// An object of which not all could be read that has to be.
    pub(crate) fn new(error: &str, metadata: ObjectMeta) -> Self {
        Self { error: error.chars().take(LONGEST_REASON).collect(), metadata, status: None }
    }

    /// Its status, if there is one that can be decoded.
    pub fn status<S: DeserializeOwned>(&self) -> Option<S> {
        serde_json::from_str(self.status.as_ref()?.get()).ok()
    }

    /// Its namespace, empty if it is in none, and its name.
    pub(crate) fn key(&self) -> (Namespace, Arc<str>) {
        let ObjectMeta { namespace, name, .. } = &self.metadata;
        (namespace.as_deref().unwrap_or_default().into(), name.as_deref().unwrap_or_default().into())
    }
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Decoded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        Ok(Self(fields.decode().map_err(|error| undecodable::<K>(&fields, &error))))
    }
}

/// What can be read of an object whose `fields` are no `K`. Without names it can only be counted.
fn undecodable<K: DeserializeOwned>(fields: &Fields, error: &serde_json::Error) -> Undecodable {
    let metadata = fields.get("metadata").map(RawValue::get).unwrap_or_default();
    let metadata = match serde_json::from_str::<Metadata>(metadata) {
        Ok(metadata) => metadata.into(),
        Err(_) => serde_json::from_str::<Names>(metadata).map(ObjectMeta::from).unwrap_or_default(),
    };
    let status = fields.get("status").map(ToOwned::to_owned);
    Undecodable { error: reason::<K>(fields, error), metadata, status }
}

/// The field that cannot be decoded and why, in at most [`LONGEST_REASON`] characters.
fn reason<K: DeserializeOwned>(fields: &Fields, error: &serde_json::Error) -> String {
    let reason = match fields.value() {
        Ok(value) => match serde_path_to_error::deserialize::<_, K>(&value) {
            Ok(_) => error.to_string(),
            Err(error) => error.to_string(),
        },
        Err(_) => "its fields are nested more than 128 levels deep".to_owned(),
    };
    reason.chars().take(LONGEST_REASON).collect()
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
