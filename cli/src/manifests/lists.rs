//! Lists: what `kubectl get -o yaml` prints of several objects.

use serde_json::Value;

use super::problem::Problem;
use crate::snapshot::Place;

/// The objects of the document: itself, or, if it is a list, its items, to any depth.
///
/// A list is `List` or `…List` with items. Items of a typed list need no kind of their own: the API server
/// leaves it out.
pub(super) fn take_apart(place: Place, value: Value, problems: &mut Vec<Problem>) -> Vec<(Place, Value)> {
    let item_kind = value.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    let Some(item_kind) = item_kind.map(str::to_owned) else { return vec![(place, value)] };
    let api_version = value.get("apiVersion").cloned();
    let Value::Object(mut list) = value else { return Vec::new() };
    let items = match list.remove("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) => Vec::new(),
        _ => {
            let message = "items: a list has its objects here".to_owned();
            problems.push(Problem { place, object: Some(format!("{item_kind}List")), message });
            return Vec::new();
        }
    };
    let mut objects = Vec::new();
    for (mut item, number) in items.into_iter().zip(0_usize..) {
        let place = Place { item: Some(number), ..place.clone() };
        if let Value::Object(fields) = &mut item
            && !item_kind.is_empty()
        {
            fields.entry("kind").or_insert_with(|| item_kind.clone().into());
            if let Some(api_version) = &api_version {
                fields.entry("apiVersion").or_insert_with(|| api_version.clone());
            }
        }
        objects.extend(take_apart(place, item, problems));
    }
    objects
}
