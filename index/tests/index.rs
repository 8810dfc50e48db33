//! Manifests in, snapshots out.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failure, as it should be")]

mod budgets;
mod decoded;
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
mod to_come;
mod wide;
mod workload_kinds;

use std::sync::Arc;

use expect_test::Expect;
use quotient_snapshot::NamespaceState;
use quotient_snapshot::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use quotient_index::{Index, IndexSettings};

use kinds::{apply_value, delete_value};

/// A queue of the namespace `a`, and the beginning of the next document.
const QUEUE: &str = "{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}\n---\n";

/// The documents of a YAML text.
fn documents(yaml: &str) -> Vec<Value> {
    let documents = serde_yaml_ng::Deserializer::from_str(yaml);
    documents.map(|document| Value::deserialize(document).unwrap()).filter(|value| !value.is_null()).collect()
}

/// Applies every document of a YAML text and says of each whether it changed anything.
fn apply(index: &mut Index, yaml: &str) -> Vec<bool> {
    documents(yaml).into_iter().map(|document| apply_value(index, &document)).collect()
}

/// Deletes every document of a YAML text, the last one first, and says of each whether that was news.
fn delete(index: &mut Index, yaml: &str) -> Vec<bool> {
    documents(yaml).iter().rev().map(|document| delete_value(index, document)).collect()
}

/// The objects of a YAML text in an index with default settings.
fn index_of(yaml: &str) -> Index {
    let mut index = Index::new(IndexSettings::default());
    apply(&mut index, yaml);
    index
}

/// What a snapshot at noon shows.
fn printed(index: &mut Index) -> String {
    story::describe(&index.snapshot(at("12:00:00")))
}

/// The namespace `a` in a snapshot at noon.
fn namespace_a(index: &mut Index) -> Arc<NamespaceState> {
    Arc::clone(&index.snapshot(at("12:00:00")).namespaces[&"a".into()])
}

/// What a snapshot of these objects shows.
fn shown(yaml: &str) -> String {
    printed(&mut index_of(yaml))
}

fn check(yaml: &str, expected: &Expect) {
    expected.assert_eq(&shown(yaml));
}

/// This time of 2026-01-01, such as `12:00:05`.
fn at(time: &str) -> Timestamp {
    let instant: jiff::Timestamp = format!("2026-01-01T{time}Z").parse().unwrap();
    Timestamp::from_millis(instant.as_millisecond())
}
