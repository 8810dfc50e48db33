//! One page of a list, read beside the requests for the next ones.

use std::fmt;

use serde::de::{DeserializeSeed as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::{Deserializer, Error, Value};

use crate::snapshot::Part;

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

    /// The objects of the kind of this name, without what no command looks at: `metadata.managedFields`, the images of nodes, and
    /// of pods what no decision depends on.
    pub(super) fn objects(&self, kind: &str) -> Result<Vec<Value>, Error> {
        let mut list = Part::List(Part::of(kind)).deserialize(&mut Deserializer::from_str(&self.0))?;
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
        assert_eq!(page.objects("Pod").unwrap(), [pod]);
        let whole = page.objects("Claim").unwrap();
        assert_eq!(whole[0]["metadata"], metadata);
        assert_eq!(whole[0]["spec"]["volumes"], json!([{"name": "v"}]));
        let page = |text: &str| Page(text.to_owned());
        let last = page(r#"{"kind": "PodList", "items": null}"#);
        assert_eq!((last.next().unwrap().as_str(), last.objects("Pod").unwrap()), ("", vec![]));
        let node =
            page(r#"{"items": [{"metadata": {}, "status": {"images": [{"names": ["i"]}], "phase": "x"}}]}"#);
        assert_eq!(node.objects("Node").unwrap(), [json!({"metadata": {}, "status": {"phase": "x"}})]);
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
            assert!(page(wrong).objects("Node").is_err(), "{wrong}");
        }
        // A list whose end is not known must not look complete.
        for wrong in [r#"{"metadata": {"continue": 1}, "items": []}"#, "{", "null", ""] {
            assert!(page(wrong).next().is_err(), "{wrong}");
        }
    }
}
