//! One page of a list, whose objects are read beside the requests for the next pages.

use serde::Deserialize;
use serde::de::DeserializeSeed as _;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Error, Value};

use crate::snapshot::Part;

/// The answer to a list. Its objects are not read yet.
#[derive(Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    metadata: Metadata,
    items: Option<Vec<Box<RawValue>>>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default, rename = "continue")]
    next: String,
}

impl Page {
    /// Where the next page begins; empty behind the last one.
    pub(super) fn next(&self) -> &str {
        &self.metadata.next
    }

    /// The objects of the kind of this name, without what no command looks at: `metadata.managedFields`, and of nodes and pods
    /// what no decision depends on.
    pub(super) fn objects(&self, kind: &str) -> Result<Vec<Value>, Error> {
        let items = self.items.iter().flatten();
        items.map(|item| Part::of(kind).deserialize(&mut Deserializer::from_str(item.get()))).collect()
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
        let read = |text: &str| serde_json::from_str::<Page>(text);
        let page = read(&page.to_string()).unwrap();
        assert_eq!(page.next(), "more");
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
        let last = read(r#"{"kind": "PodList", "items": null}"#).unwrap();
        assert_eq!((last.next(), last.objects("Pod").unwrap()), ("", vec![]));

        // The order of fields does not matter.
        let node = r#"{"items": [{"status": {"images": [{"names": ["i"]}], "capacity": "x"}}], "metadata": {"continue": "x"}}"#;
        let node = read(node).unwrap();
        assert_eq!(node.next(), "x");
        assert_eq!(node.objects("Node").unwrap(), [json!({"status": {"capacity": "x"}})]);

        assert!(read(r#"{"items": [{"metadata": 1}]}"#).unwrap().objects("Node").is_err());
        // A list whose end is not known must not look complete.
        for wrong in [
            r#"{"metadata": {"continue": 1}, "items": []}"#,
            r#"{"metadata": {}, "items": [{]}"#,
            r#"{"items": 1}"#,
            "{",
            "null",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
