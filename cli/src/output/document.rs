//! What every answer for programs has in common. A stable interface; fields are only added.

use std::collections::BTreeMap;

use jiff::Timestamp as Time;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::time::Timestamp;
use serde::Serialize;

/// The version of all answers.
const API_VERSION: &str = "cli.quotient.dev/v1";

/// An answer for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<T> {
    api_version: &'static str,
    kind: &'static str,
    /// The time that the answer is about.
    as_of: String,
    /// Where the objects come from.
    source: String,
    #[serde(flatten)]
    answer: T,
}

/// `answer` as a document of this kind.
pub(crate) fn document<T>(kind: &'static str, as_of: Timestamp, source: &str, answer: T) -> Document<T> {
    Document { api_version: API_VERSION, kind, as_of: time_text(as_of), source: source.to_owned(), answer }
}

/// The time in whole seconds, as Kubernetes writes it.
pub(crate) fn time_text(time: Timestamp) -> String {
    Time::from_second(time.millis().div_euclid(1000)).unwrap_or_default().to_string()
}

/// Each of `resources` with its amount as a Kubernetes quantity, zeros included.
pub(crate) fn quantities(amounts: &Amounts, resources: &[Resource]) -> BTreeMap<String, String> {
    resources
        .iter()
        .map(|resource| (resource.name().to_owned(), resource.format(amounts.get(resource))))
        .collect()
}
