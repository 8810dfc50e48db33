//! One page of a list, read beside the requests for the next ones.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::{Deserializer, Error, Map, Value};

use crate::snapshot::{
    CONTAINER_STATES, CONTAINER_STATUSES, CONTAINERS, OF_CONTAINER, OF_CONTAINER_STATE, OF_CONTAINER_STATUS,
    OF_POD,
};

/// The answer to a list. Where the next page begins is known before its objects are read.
pub(super) struct Page(pub(super) String);

impl Page {
    /// Where the next page begins; empty behind the last one.
    pub(super) fn next(&self) -> Result<String, Error> {
        let mut next = None;
        // It ends in an error also where it stops: behind the metadata, which an API server writes first.
        let read = Deserializer::from_str(&self.0).deserialize_map(Head(&mut next));
        next.map_or_else(|| read.map(|()| String::new()), Ok)
    }

    /// The objects of the kind with this plural, without what no command looks at. That can be larger than the rest:
    /// `metadata.managedFields`, the images of nodes, and of pods what [`redact`](crate::snapshot::redact) removes from spec and
    /// status.
    pub(super) fn objects(&self, plural: &str) -> Result<Vec<Value>, Error> {
        let of_each = match plural {
            "pods" => &Part::Pod,
            "nodes" => &Part::Node,
            _ => &Part::Object,
        };
        let mut list = Part::List(of_each).deserialize(&mut Deserializer::from_str(&self.0))?;
        match list.get_mut("items").map(Value::take) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(objects)) => Ok(objects),
            Some(_) => Err(serde::de::Error::custom("its items are no list")),
        }
    }
}

/// Reads the metadata of a list, and stops.
struct Head<'n>(&'n mut Option<String>);

#[derive(Deserialize)]
struct Metadata {
    #[serde(default, rename = "continue")]
    next: String,
}

impl<'de> Visitor<'de> for Head<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name == "metadata" {
                *self.0 = Some(fields.next_value::<Metadata>()?.next);
                break;
            }
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// A part of an object of which not every field is wanted.
#[derive(Clone, Copy)]
enum Part {
    /// A list of such objects.
    List(&'static Self),
    Object,
    Pod,
    Node,
    NodeStatus,
    Metadata,
    PodSpec,
    Container,
    PodStatus,
    ContainerStatus,
    /// The states of a container by their names.
    ContainerStates,
    ContainerState,
}

/// What to do with a field.
enum Field {
    LeftOut,
    Whole,
    /// A part, or a list of such parts.
    Parts(Part),
}

impl Part {
    fn field(self, name: &str) -> Field {
        match (self, name) {
            (Self::List(of_each), "items") => Field::Parts(*of_each),
            (Self::Object | Self::Pod | Self::Node, "metadata") => Field::Parts(Self::Metadata),
            (Self::Node, "status") => Field::Parts(Self::NodeStatus),
            (Self::Pod, "status") => Field::Parts(Self::PodStatus),
            (Self::PodStatus, list) if CONTAINER_STATUSES.contains(&list) => {
                Field::Parts(Self::ContainerStatus)
            }
            (Self::ContainerStatus, name) if CONTAINER_STATES.contains(&name) => {
                Field::Parts(Self::ContainerStates)
            }
            (Self::ContainerStates, _) => Field::Parts(Self::ContainerState),
            (Self::Pod, "spec") => Field::Parts(Self::PodSpec),
            (Self::PodSpec, list) if CONTAINERS.contains(&list) => Field::Parts(Self::Container),
            (Self::List(_), _) | (Self::Metadata, "managedFields") | (Self::NodeStatus, "images") => {
                Field::LeftOut
            }
            (Self::PodSpec, name) if OF_POD.contains(&name) => Field::LeftOut,
            (Self::Container, name) if !OF_CONTAINER.contains(&name) => Field::LeftOut,
            (Self::ContainerStatus, name) if !OF_CONTAINER_STATUS.contains(&name) => Field::LeftOut,
            (Self::ContainerState, name) if !OF_CONTAINER_STATE.contains(&name) => Field::LeftOut,
            _ => Field::Whole,
        }
    }
}

/// Reads the wanted fields of a part, or of each part in a list.
impl<'de> DeserializeSeed<'de> for Part {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut wanted = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = match self.field(&name) {
                Field::LeftOut => fields.next_value::<IgnoredAny>().map(|_| None),
                Field::Whole => fields.next_value().map(Some),
                Field::Parts(part) => fields.next_value_seed(part).map(Some),
            };
            wanted.extend(value?.map(|value| (name, value)));
        }
        Ok(Value::Object(wanted))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        std::iter::from_fn(|| items.next_element_seed(self).transpose()).collect()
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_no_command_looks_at_is_left_out() {
        let page = json!({
            "metadata": {"continue": "more"},
            "items": [{
                "metadata": {
                    "name": "a\"",
                    "managedFields": [{"manager": "kubectl"}],
                    "labels": {"managedFields": "b"},
                },
                "spec": {
                    "managedFields": 1,
                    "volumes": [{"name": "v"}],
                    "initContainers": null,
                    "containers": [{"name": "c", "env": [{"name": "e"}], "resources": {"limits": {"cpu": 1}}}],
                },
                "status": {"phase": "Running", "containerStatuses": [
                    {"name": "c", "image": "i", "state": {"waiting": {"reason": "r", "message": "m"}}},
                ]},
            }],
        });
        let page = Page(page.to_string());
        assert_eq!(page.next().unwrap(), "more");
        let metadata = json!({"name": "a\"", "labels": {"managedFields": "b"}});
        let containers = json!([{"name": "c", "resources": {"limits": {"cpu": 1}}}]);
        let spec = json!({"managedFields": 1, "initContainers": null, "containers": containers});
        let reports = json!([{"name": "c", "state": {"waiting": {"reason": "r"}}}]);
        let status = json!({"phase": "Running", "containerStatuses": reports});
        let pod = json!({"metadata": metadata, "spec": spec, "status": status});
        assert_eq!(page.objects("pods").unwrap(), [pod]);
        let whole = page.objects("claims").unwrap();
        assert_eq!(whole[0]["metadata"], metadata);
        assert_eq!(whole[0]["spec"]["volumes"], json!([{"name": "v"}]));
        let page = |text: &str| Page(text.to_owned());
        let last = page(r#"{"kind": "PodList", "items": null}"#);
        assert_eq!((last.next().unwrap().as_str(), last.objects("pods").unwrap()), ("", vec![]));
        let node =
            page(r#"{"items": [{"metadata": {}, "status": {"images": [{"names": ["i"]}], "phase": "x"}}]}"#);
        assert_eq!(node.objects("nodes").unwrap(), [json!({"metadata": {}, "status": {"phase": "x"}})]);
        // The order of fields does not matter.
        assert_eq!(
            page(r#"{"items": [{"metadata": {}}], "metadata": {"continue": "x"}}"#).next().unwrap(),
            "x"
        );
        for wrong in [
            r#"{"items": [{"metadata": 1}]}"#,
            r#"{"metadata": {}, "items": [{]}"#,
            r#"{"items": 1}"#,
            "{",
            "",
        ] {
            assert!(page(wrong).objects("nodes").is_err(), "{wrong}");
        }
        // A list whose end is not known must not look complete.
        for wrong in [r#"{"metadata": {"continue": 1}, "items": []}"#, "{", "null", ""] {
            assert!(page(wrong).next().is_err(), "{wrong}");
        }
    }
}
