//! The documents of a file.

use serde::Deserialize;
use serde_json::Value;

use super::problem::Problem;
use super::sources::Source;
use crate::snapshot::Place;

/// Every document of the file that is not empty, and where it stands.
pub(super) fn documents(source: &Source, problems: &mut Vec<Problem>) -> Vec<(Place, Value)> {
    let values = match parse(source) {
        Ok(values) => values,
        Err(message) => {
            problems.push(Problem::of_file(&source.name, message));
            return Vec::new();
        }
    };
    let several = values.len() > 1;
    let numbered = values.into_iter().zip(1_usize..).filter(|(value, _)| !value.is_null());
    numbered
        .map(|(value, number)| {
            let document = several.then_some(number);
            (Place { document, ..Place::file(&source.name) }, value)
        })
        .collect()
}

/// JSON where it is JSON, YAML elsewhere. Nearly all JSON is YAML too, but not several documents in a row.
fn parse(source: &Source) -> Result<Vec<Value>, String> {
    let json = || serde_json::Deserializer::from_str(&source.text).into_iter().collect::<Result<Vec<_>, _>>();
    if has_ending(&source.name, "json") {
        return json().map_err(|error| format!("read JSON: {error}"));
    }
    if source.text.trim_start().starts_with('{')
        && let Ok(values) = json()
    {
        return Ok(values);
    }
    yaml(&source.text).map_err(|error| format!("read YAML: {error}"))
}

fn has_ending(name: &str, ending: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn yaml(text: &str) -> Result<Vec<Value>, serde_yaml_ng::Error> {
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| {
            // Through the YAML value, because JSON knows neither `<<` nor anchors.
            let mut value = serde_yaml_ng::Value::deserialize(document)?;
            value.apply_merge()?;
            serde_yaml_ng::from_value(value)
        })
        .collect()
}
