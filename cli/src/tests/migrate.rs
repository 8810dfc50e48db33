//! `migrate`: manifests of each other system in, Queues and the fields without an equivalent out.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use quotient_advance::settle;
use serde::Deserialize as _;
use serde_json::Value;

use super::{args, directory, read};
use crate::commands::migrate::{Migration, MigrationText, migrate};
use crate::manifests;

const SYSTEMS: [&str; 7] = ["resourcequota", "kueue", "volcano", "kai", "yunikorn", "hnc", "capsule"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/migrate")
}

fn migrated(line: &str, file: &Path) -> Migration {
    migrate(&args(line), &manifests::read_snapshot(&[file.to_owned()], None).unwrap()).unwrap()
}

#[test]
fn every_system_becomes_queues() {
    for system in SYSTEMS {
        let migration = migrated(system, &folder().join(format!("{system}.yaml")));
        expect_file![folder().join(format!("{system}.queues.yaml"))].assert_eq(&migration.manifests());
        // The same for programs: each Queue, and each field without an equivalent, which is a comment in the manifests.
        let (document, text) = (MigrationText::of(&migration), migration.manifests());
        let document = serde_json::to_value(document).unwrap();
        let objects = serde_yaml_ng::Deserializer::from_str(&text);
        let objects = objects.map(|object| Value::deserialize(object).unwrap());
        let queues: Vec<Value> = objects.filter(|object| object["kind"] == "Queue").collect();
        assert_eq!((&document["system"], &document["queues"]), (&system.into(), &queues.into()));
        let unmapped = document["unmapped"].as_array().unwrap();
        for one in unmapped {
            let [object, field, value, advice] =
                ["object", "field", "value", "advice"].map(|name| one[name].as_str().unwrap());
            let comment = format!("# No equivalent: {object} {field}: {value} ({advice})\n");
            assert!(text.contains(&comment), "{comment}");
        }
        assert_eq!(text.contains("# No equivalent"), !unmapped.is_empty(), "{system}");
    }
}

const ROOT: &str =
    "{apiVersion: v1, kind: Namespace, metadata: {name: org, labels: {org.tree.hnc.x-k8s.io/depth: '0'}}}";

/// They are understood, every queue finds its parent, and no leaf queue goes beyond Observe.
#[test]
fn what_is_proposed_starts_in_observe() {
    let namespaces = std::fs::read_to_string(folder().join("namespaces.yaml")).unwrap();
    for system in SYSTEMS {
        for parts in ["guaranteed", "limit"] {
            let line = format!("{system} --quotas-as {parts}");
            let manifests = migrated(&line, &folder().join(format!("{system}.yaml"))).manifests();
            // The others write this namespace themselves.
            let root = if system == "hnc" { ROOT } else { "" };
            let cluster = read(&[("a.yaml", &namespaces), ("b.yaml", &manifests), ("c.yaml", root)]).unwrap();
            let plan = settle(&cluster.snapshot).1;
            assert!(plan.stalled.is_empty(), "{line}: {:?}", plan.stalled);
            for document in manifests.split("---\n").filter(|document| document.contains("kind: Queue")) {
                let is_parent = document.contains("children:");
                assert_eq!(document.contains("mode: Observe"), !is_parent, "{line}: {document}");
            }
        }
    }
}

#[test]
fn quotas_may_become_limits() {
    let migration = migrated("resourcequota --quotas-as limit", &folder().join("resourcequota.yaml"));
    assert!(migration.manifests().contains("limit:\n    cpu: '20'"), "{}", migration.manifests());
    assert!(!migration.manifests().contains("guaranteed"));
}

#[test]
fn a_file_of_another_system_is_refused() {
    let snapshot = manifests::read_snapshot(&[folder().join("kueue.yaml")], None).unwrap();
    let error = migrate(&args("volcano"), &snapshot).unwrap_err();
    assert_eq!(error.code(), 2);
    assert!(error.to_string().contains("has no object of it"), "{error}");
}

#[test]
fn a_parent_that_does_not_exist_is_left_out() {
    let orphan =
        "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: c}, spec: {parentQueue: gone}}";
    let directory = directory(&[("a.yaml", orphan)]);
    let manifests = migrated("kai", &directory.path().join("a.yaml")).manifests();
    assert!(manifests.contains("Queue c parent: gone"), "{manifests}");
    let cluster = read(&[("a.yaml", &manifests)]).unwrap();
    assert!(settle(&cluster.snapshot).1.stalled.is_empty(), "{manifests}");
}
