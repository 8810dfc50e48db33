//! JSON patches with the semantics of the library that the API server uses.

use serde_json::Value;

/// Applies `operations` one after the other to `object`. None if one of them fails: then nothing counts.
///
/// As in that library a member that is not there equals null, so that a test for null holds.
pub(super) fn apply(object: &Value, operations: &Value) -> Option<Value> {
    let mut object = object.clone();
    for operation in operations.as_array()? {
        let path = operation["path"].as_str()?;
        match operation["op"].as_str()? {
            "test" if object.pointer(path).unwrap_or(&Value::Null) == &operation["value"] => {}
            "add" => add(&mut object, path, operation.get("value")?.clone())?,
            "replace" => *object.pointer_mut(path)? = operation.get("value")?.clone(),
            "remove" => {
                remove(&mut object, path)?;
            }
            "copy" => {
                let value = object.pointer(operation["from"].as_str()?)?.clone();
                add(&mut object, path, value)?;
            }
            "move" => {
                let value = remove(&mut object, operation["from"].as_str()?)?;
                add(&mut object, path, value)?;
            }
            _ => return None,
        }
    }
    Some(object)
}

/// The value that holds the last member of `path`, and that member.
fn parent<'a>(object: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parent, member) = path.rsplit_once('/')?;
    Some((object.pointer_mut(parent)?, member.replace("~1", "/").replace("~0", "~")))
}

fn add(object: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *object = value;
        return Some(());
    }
    match parent(object, path)? {
        (Value::Object(members), member) => {
            members.insert(member, value);
        }
        (Value::Array(values), member) if member == "-" => values.push(value),
        (Value::Array(values), member) => {
            let place = member.parse().ok().filter(|place| *place <= values.len())?;
            values.insert(place, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(object: &mut Value, path: &str) -> Option<Value> {
    match parent(object, path)? {
        (Value::Object(members), member) => members.remove(&member),
        (Value::Array(values), member) => {
            let place = member.parse().ok().filter(|place| *place < values.len())?;
            Some(values.remove(place))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(operations: &Value) -> Option<Value> {
        apply(&json!({"metadata": {"annotations": {"a/b": "1"}}, "list": [1, 2]}), operations)
    }

    #[test]
    fn what_is_not_there_equals_null_and_one_failure_undoes_all() {
        assert!(applied(&json!([{"op": "test", "path": "/metadata/labels", "value": null}])).is_some());
        assert!(
            applied(&json!([{"op": "test", "path": "/metadata/annotations/a~1b", "value": "1"}])).is_some()
        );
        assert!(
            applied(&json!([{"op": "test", "path": "/metadata/annotations/a~1b", "value": "2"}])).is_none()
        );
        assert!(applied(&json!([{"op": "remove", "path": "/metadata/annotations/c"}])).is_none());
        assert!(applied(&json!([{"op": "add", "path": "/metadata/labels/c", "value": "1"}])).is_none());
    }

    #[test]
    fn members_and_elements_are_added_replaced_and_removed() {
        let object = applied(&json!([
            {"op": "replace", "path": "/metadata/annotations/a~1b", "value": "2"},
            {"op": "add", "path": "/list/-", "value": 3},
            {"op": "remove", "path": "/list/0"},
            {"op": "copy", "from": "/list", "path": "/copy"},
        ]));
        assert_eq!(
            object,
            Some(json!({"metadata": {"annotations": {"a/b": "2"}}, "list": [2, 3], "copy": [2, 3]}))
        );
    }
}
