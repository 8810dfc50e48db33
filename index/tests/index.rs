//! Manifests in, snapshots out.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failure, as it should be")]

mod budgets;
mod decoded;
mod freshness;
mod gangs;
mod interleavings;
mod kinds;
mod labels;
mod ledger;
mod limit_ranges;
mod nodes;
mod overlays;
mod owners;
mod placement;
mod pods;
mod queue_jobs;
mod queues;
mod quotas;
mod rejected;
mod remembered;
mod sharing;
mod sizes;
mod story;
mod wide;
mod workload_kinds;

use quotient_snapshot::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use quotient_index::{Index, IndexSettings};

use kinds::apply_value;

/// The documents of a YAML text.
fn documents(yaml: &str) -> Vec<Value> {
    let documents = serde_yaml_ng::Deserializer::from_str(yaml);
    documents.map(|document| Value::deserialize(document).unwrap()).filter(|value| !value.is_null()).collect()
}

/// Applies every document of a YAML text and says of each whether it changed anything.
fn apply(index: &mut Index, yaml: &str) -> Vec<bool> {
    documents(yaml).into_iter().map(|document| apply_value(index, &document)).collect()
}

/// The objects of a YAML text in an index with default settings.
fn index_of(yaml: &str) -> Index {
    let mut index = Index::new(IndexSettings::default());
    apply(&mut index, yaml);
    index
}

/// What a snapshot of these objects shows, at this time of 2026-01-01.
fn shown(yaml: &str, time: &str) -> String {
    story::describe(&index_of(yaml).snapshot(at(time)))
}

/// This time of 2026-01-01, such as `12:00:05`.
fn at(time: &str) -> Timestamp {
    let instant: jiff::Timestamp = format!("2026-01-01T{time}Z").parse().unwrap();
    Timestamp::from_millis(instant.as_millisecond())
}
