//! Objects decoded one by one: an object that cannot be decoded hides no other object of its list or watch.
//!
//! A list is one JSON document. If one item fails to decode, or is nested deeper than the decoder allows, the whole document
//! fails, and with it the kind. [`Decoded`] takes the text of an item first, without looking inside, and decodes it alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_engine::names::Namespace;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::index::Index;
use crate::keeps::Keeps;
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
        let text = Box::<RawValue>::deserialize(deserializer)?;
        decode(text.get()).map(Self).map_err(D::Error::custom)
    }
}

/// Decodes one object. The outer error means that not even its name can be read.
fn decode<K: DeserializeOwned>(text: &str) -> serde_json::Result<Result<K, Undecodable>> {
    if let Ok(object) = serde_json::from_str(text) {
        return Ok(Ok(object));
    }
    // `managedFields` is the one part that any writer of an object fills as it likes, and no decision depends on it.
    let text = &*without_managed_fields(text)?;
    let error = match serde_json::from_str(text) {
        Ok(object) => return Ok(Ok(object)),
        Err(error) => reason::<K>(text, &error),
    };
    let Rest { metadata, status } = serde_json::from_str(text)?;
    let metadata = match serde_json::from_str::<Metadata>(metadata.get()) {
        Ok(metadata) => metadata.into(),
        Err(_) => serde_json::from_str::<Names>(metadata.get())?.into(),
    };
    Ok(Err(Undecodable { error, metadata, status }))
}

/// The parts of an object that are read when the object cannot be decoded.
#[derive(Deserialize)]
struct Rest {
    metadata: Box<RawValue>,
    status: Option<Box<RawValue>>,
}

/// The same object without `metadata.managedFields`. Values are copied and not decoded, however deeply they are nested.
fn without_managed_fields(text: &str) -> serde_json::Result<String> {
    type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
    let mut object: Fields<'_> = serde_json::from_str(text)?;
    let mut metadata: Fields<'_> = match object.get("metadata") {
        Some(metadata) => serde_json::from_str(metadata.get())?,
        None => Fields::new(),
    };
    metadata.remove("managedFields");
    let metadata = serde_json::value::to_raw_value(&metadata)?;
    object.insert("metadata".into(), &metadata);
    serde_json::to_string(&object)
}

/// The field that cannot be decoded and why, in at most [`LONGEST_REASON`] characters.
fn reason<K: DeserializeOwned>(text: &str, error: &serde_json::Error) -> String {
    let reason = match serde_json::from_str::<Value>(text) {
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

/// Objects as watches and replies deliver them. Feed one index with these or with plain objects, not with both.
impl<K> Keeps<Decoded<K>> for Index
where
    Self: Keeps<K>,
{
    fn apply(&mut self, object: &Decoded<K>) -> bool {
        match &object.0 {
            Ok(object) => Keeps::<K>::apply(self, object),
            Err(undecodable) => Keeps::<K>::apply_undecodable(self, undecodable),
        }
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        Keeps::<K>::apply_undecodable(self, object)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        Keeps::<K>::delete(self, namespace, name, uid)
    }

    fn relist_begin(&mut self) {
        Keeps::<K>::relist_begin(self);
    }

    fn relist_finish(&mut self) -> bool {
        Keeps::<K>::relist_finish(self)
    }
}
