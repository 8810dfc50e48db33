//! Objects of our own kinds as a watch should deliver them: one that cannot be read neither hides the others nor what was
//! said of it before.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::object::HasStatus;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::index::Index;
use crate::keeps::Keeps;

/// An object, or what can be read of it.
///
/// Written before its schema was what it is now, an object may be stored that no type can hold. Its status is still ours: who
/// does not know what stands there writes it again for ever.
#[derive(Clone, Debug)]
pub struct Readable<K: HasStatus>(pub Result<K, Unreadable<K::Status>>);

/// What can be read of an object whose spec cannot.
#[derive(Clone, Debug)]
pub struct Unreadable<S> {
    /// The field, and why not.
    pub error: String,
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// Its status, if that can be read and is there.
    pub status: Option<S>,
}

impl<'de, K> Deserialize<'de> for Readable<K>
where
    K: DeserializeOwned + HasStatus,
    K::Status: DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Value::deserialize(deserializer)?;
        let error = match serde_path_to_error::deserialize(&whole) {
            Ok(object) => return Ok(Self(Ok(object))),
            Err(error) => error.to_string(),
        };
        let part = |name: &str| whole.get(name).unwrap_or(&Value::Null);
        let metadata = ObjectMeta::deserialize(part("metadata")).map_err(D::Error::custom)?;
        let status = Option::deserialize(part("status")).unwrap_or_default();
        Ok(Self(Err(Unreadable { error, metadata, status })))
    }
}

impl<K: Resource + HasStatus> Resource for Readable<K> {
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
        self.0.as_ref().map_or_else(|unreadable| &unreadable.metadata, K::meta)
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.as_mut().map_or_else(|unreadable| &mut unreadable.metadata, K::meta_mut)
    }
}

/// A kind of which the index also keeps objects that cannot be read.
pub trait KeepsUnreadable<K: HasStatus>: Keeps<K> {
    /// Takes in what can be read of an object, as an invalid one. `problem` says why it is, and the way out.
    fn apply_unreadable(&mut self, object: &Unreadable<K::Status>, problem: &str) -> bool;
}

/// Objects as a watch should deliver them: one that cannot be read is kept as an invalid one, instead of making the whole
/// list fail. Feed one index through either form, not both.
impl<K> Keeps<Readable<K>> for Index
where
    K: HasStatus + Resource<DynamicType = ()>,
    Self: KeepsUnreadable<K>,
{
    fn apply(&mut self, object: &Readable<K>) -> bool {
        match &object.0 {
            Ok(object) => Keeps::<K>::apply(self, object),
            Err(unreadable) => {
                let (kind, error) = (K::kind(&()), &unreadable.error);
                let problem =
                    format!("the {kind} cannot be read: {error}; correct the field and apply it again");
                self.apply_unreadable(unreadable, &problem)
            }
        }
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
