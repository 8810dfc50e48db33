//! Reading and writing objects as plain JSON.

use serde_json::{Map, Value, json};

/// The text at a member of `metadata`; empty if there is none.
pub fn meta<'a>(object: &'a Value, member: &str) -> &'a str {
    object["metadata"][member].as_str().unwrap_or_default()
}

/// Its name.
pub fn name(object: &Value) -> &str {
    meta(object, "name")
}

/// Its namespace; empty if it is in none.
pub fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

/// Its uid.
pub fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

/// Whether it is to go.
pub fn is_leaving(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Whether something has to be done before it may go.
pub fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

/// Its metadata, to be changed.
pub fn meta_mut(object: &mut Value) -> &mut Map<String, Value> {
    member_mut(object, "metadata")
}

/// The object at `member`, which becomes one if it is none.
pub fn member_mut<'a>(object: &'a mut Value, member: &str) -> &'a mut Map<String, Value> {
    if !object[member].is_object() {
        object[member] = json!({});
    }
    object[member].as_object_mut().expect("it has just been made one")
}

/// The phase in its status.
pub fn phase(object: &Value) -> &str {
    object["status"]["phase"].as_str().unwrap_or_default()
}

/// An annotation.
pub fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][name].as_str()
}

/// Whether the condition `kind` is True.
pub fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind) == Some("True")
}

/// What a condition of the object's status says: `True`, `False` or `Unknown`; none if there is no such condition.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)?["status"].as_str()
}

/// Sets the condition `kind`. Its time changes only with its status.
pub fn set_condition(object: &mut Value, kind: &str, status: &str, reason: &str, now: &str) {
    let status_of = member_mut(object, "status");
    let conditions = status_of.entry("conditions").or_insert_with(|| json!([]));
    let Some(conditions) = conditions.as_array_mut() else { return };
    let found = conditions.iter_mut().find(|condition| condition["type"] == kind);
    let since = match &found {
        Some(former) if former["status"] == status => former["lastTransitionTime"].clone(),
        _ => now.into(),
    };
    let condition = json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": since});
    match found {
        Some(former) => *former = condition,
        None => conditions.push(condition),
    }
}

/// The controller among its owners: kind, name and uid.
pub fn controller(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

/// Whether `selector` (matchLabels and matchExpressions) fits `labels`. One that says nothing fits all.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    let exact = selector["matchLabels"].as_object().into_iter().flatten();
    let exact = exact.into_iter().all(|(key, value)| labels[key] == *value);
    let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    exact && expressions.into_iter().all(|expression| fits(expression, labels))
}

fn fits(expression: &Value, labels: &Value) -> bool {
    let label = &labels[expression["key"].as_str().unwrap_or_default()];
    let listed = || expression["values"].as_array().is_some_and(|values| values.contains(label));
    match expression["operator"].as_str() {
        Some("In") => listed(),
        Some("NotIn") => !listed(),
        Some("Exists") => !label.is_null(),
        Some("DoesNotExist") => label.is_null(),
        _ => false,
    }
}
