//! From JSON to typed objects, by one decoder for every kind and source.
//!
//! It reads a [`Value`] in place, names the field that cannot be read, and lists the fields that no type knows. Rejected:
//! `serde_path_to_error` around `serde_ignored`, because each of the large kinds is then compiled for both, which makes a
//! program of twice the size.

use std::cell::RefCell;
use std::fmt;
use std::iter::Enumerate;
use std::slice::Iter;

use quotient_engine::time::Timestamp;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// What was noticed while an object was read.
#[derive(Default)]
struct Log {
    /// The paths of fields that no type knows.
    unknown: Vec<String>,
    /// The path of the value that could not be read.
    failed: Option<String>,
}

/// Reads `value`; returns also the paths of the fields that its type does not know. The error names the field.
pub(crate) fn decode<T: DeserializeOwned>(value: &Value) -> Result<(T, Vec<String>), String> {
    let log = RefCell::new(Log::default());
    let read = T::deserialize(Node { value, path: &Path::Root, log: &log });
    let Log { unknown, failed } = log.into_inner();
    match read {
        Ok(object) => Ok((object, unknown)),
        Err(error) => Err(failed.map_or_else(|| error.to_string(), |path| format!("{path}: {error}"))),
    }
}

/// The same where only the object matters.
pub(crate) fn decoded<T: DeserializeOwned>(value: &Value) -> Option<T> {
    decode(value).ok().map(|(object, _)| object)
}

/// Where a value stands.
enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

/// `spec.containers[0].resource`.
impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => formatter.write_str(name),
            Self::Field(parent, name) => write!(formatter, "{parent}.{name}"),
            Self::Item(parent, number) => write!(formatter, "{parent}[{number}]"),
        }
    }
}

/// One value that is read.
struct Node<'de, 'p> {
    value: &'de Value,
    path: &'p Path<'p>,
    log: &'p RefCell<Log>,
}

impl<'de> Node<'de, '_> {
    fn below<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        let (path, log) = (self.path, self.log);
        // The innermost value is noted first.
        seed.deserialize(self).inspect_err(|_| {
            log.borrow_mut().failed.get_or_insert_with(|| path.to_string());
        })
    }
}

impl<'de> Deserializer<'de> for Node<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self { value, path, log } = self;
        match value {
            Value::Array(items) => visitor.visit_seq(Items { left: items.iter().enumerate(), path, log }),
            Value::Object(fields) => visitor.visit_map(Fields { left: fields.iter(), next: None, path, log }),
            scalar => scalar.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.log.borrow_mut().unknown.push(self.path.to_string());
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The items of a list that are left, with their numbers.
struct Items<'de, 'p> {
    left: Enumerate<Iter<'de, Value>>,
    path: &'p Path<'p>,
    log: &'p RefCell<Log>,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((number, value)) = self.left.next() else { return Ok(None) };
        let path = Path::Item(self.path, number);
        Node { value, path: &path, log: self.log }.below(seed).map(Some)
    }
}

/// The fields of a map that are left.
struct Fields<'de, 'p> {
    left: serde_json::map::Iter<'de>,
    /// The field whose name was read.
    next: Option<(&'de str, &'de Value)>,
    path: &'p Path<'p>,
    log: &'p RefCell<Log>,
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.next = self.left.next().map(|(name, value)| (name.as_str(), value));
        let Some((name, _)) = self.next else { return Ok(None) };
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        // A value is asked for only behind its name.
        let (name, value) = self.next.take().unwrap_or(("", &Value::Null));
        let path = Path::Field(self.path, name);
        Node { value, path: &path, log: self.log }.below(seed)
    }
}

/// The text at a pointer, if there is one.
pub(crate) fn find_text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The text at a pointer; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    find_text(value, pointer).unwrap_or_default()
}

/// A time as RFC 3339 has it.
pub(crate) fn time(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse::<jiff::Timestamp>().map(|time| Timestamp::from_millis(time.as_millisecond()))
}

/// A value as it stands in YAML: a text without quotes.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_listed_and_wrong_ones_named() {
        let pod =
            |container: Value| json!({"kind": "Pod", "spec": {"containers": [{"name": "a"}, container]}});
        let (read, unknown) = decode::<Pod>(&pod(json!({"name": "b", "resource": {"x": 1}}))).unwrap();
        assert_eq!(read.spec.unwrap().containers.len(), 2);
        assert_eq!(unknown, ["spec.containers[1].resource"]);
        let error = decode::<Pod>(&pod(json!({"name": "b", "ports": 80}))).unwrap_err();
        assert_eq!(error, "spec.containers[1].ports: invalid type: integer `80`, expected a sequence");
        assert!(decode::<Pod>(&json!(7)).unwrap_err().starts_with("invalid type: integer `7`"));
    }
}
