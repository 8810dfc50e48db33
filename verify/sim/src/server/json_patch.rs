//! JSON patches with the semantics of the library that the API server uses.

use json_patch::{Patch, PatchOperation, patch};
use serde_json::Value;

/// Applies `operations` one after the other to `object`. None if one of them fails: then nothing counts.
///
/// As in that library a member that is not there equals null, so that a test for null holds.
pub(super) fn apply(object: &Value, operations: &Value) -> Option<Value> {
    let mut object = object.clone();
    for operation in serde_json::from_value::<Patch>(operations.clone()).ok()?.0 {
        let is_absent = matches!(&operation, PatchOperation::Test(test)
            if test.value.is_null() && test.path.resolve(&object).is_err());
        if !is_absent {
            patch(&mut object, &[operation]).ok()?;
        }
    }
    Some(object)
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
