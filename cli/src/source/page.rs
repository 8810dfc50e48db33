//! One page of a list, read beside the requests for the next ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Error, Map, Value};

/// The answer to a list.
#[derive(Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    metadata: Metadata,
    /// The objects as text: where the next page begins is known before they are read.
    #[serde(default)]
    items: Vec<Box<RawValue>>,
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

    /// The objects, without `metadata.managedFields`: nothing depends on it, and it can be larger than the rest.
    pub(super) fn objects(&self) -> Result<Vec<Map<String, Value>>, Error> {
        self.items.iter().map(|item| object(item)).collect()
    }
}

fn object(text: &RawValue) -> Result<Map<String, Value>, Error> {
    let read = |(name, text): (String, &RawValue)| {
        let value = if name == "metadata" { metadata(text)? } else { serde_json::from_str(text.get())? };
        Ok((name, value))
    };
    fields(text)?.into_iter().map(read).collect()
}

fn metadata(text: &RawValue) -> Result<Value, Error> {
    let mut fields = fields(text)?;
    fields.remove("managedFields");
    let read = |(name, text): (String, &RawValue)| Ok((name, serde_json::from_str(text.get())?));
    fields.into_iter().map(read).collect::<Result<_, Error>>().map(Value::Object)
}

/// The fields of a map as text.
fn fields(text: &RawValue) -> Result<BTreeMap<String, &RawValue>, Error> {
    serde_json::from_str(text.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn managed_fields_of_metadata_alone_are_left_out() {
        let page = json!({
            "metadata": {"continue": "more"},
            "items": [{
                "metadata": {
                    "name": "a\"",
                    "managedFields": [{"manager": "kubectl"}],
                    "labels": {"managedFields": "b"},
                },
                "spec": {"managedFields": 1},
            }],
        });
        let page: Page = serde_json::from_str(&page.to_string()).unwrap();
        assert_eq!(page.next(), "more");
        let expected = json!([{
            "metadata": {"name": "a\"", "labels": {"managedFields": "b"}},
            "spec": {"managedFields": 1},
        }]);
        assert_eq!(json!(page.objects().unwrap()), expected);
        let last: Page = serde_json::from_str(r#"{"kind": "PodList", "items": []}"#).unwrap();
        assert_eq!(last.next(), "");
    }
}
