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

fn migrated_text(system: &str, manifests: &str) -> String {
    let directory = directory(&[("a.yaml", manifests)]);
    migrated(system, &directory.path().join("a.yaml")).manifests()
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
        assert_eq!((&document["system"], &document["queues"]), (&system.into(), &queues.clone().into()));
        let unmapped = document["unmapped"].as_array().unwrap();
        for one in unmapped {
            let [object, field, value, advice] =
                ["object", "field", "value", "advice"].map(|name| one[name].as_str().unwrap());
            let comment = format!("# No equivalent: {object} {field}: {value} ({advice})\n");
            assert!(text.contains(&comment), "{comment}");
        }
        assert_eq!(text.contains("# No equivalent"), !unmapped.is_empty(), "{system}");
        // Other systems have queues, too, and several namespaces have a Queue of one name.
        let names = queues.iter().map(|queue| {
            let [namespace, name] =
                ["namespace", "name"].map(|field| queue["metadata"][field].as_str().unwrap());
            format!("queue.quotient.dev/{namespace}/{name}")
        });
        assert_eq!(migration.names(), names.collect::<Vec<_>>());
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
    let manifests = migrated_text("kai", orphan);
    assert!(manifests.contains("Queue c parent: gone"), "{manifests}");
    let cluster = read(&[("a.yaml", &manifests)]).unwrap();
    assert!(settle(&cluster.snapshot).1.stalled.is_empty(), "{manifests}");
}

/// The second queue has no Queue in it; the field without an equivalent says so.
#[test]
fn a_namespace_of_two_queues_has_one_queue() {
    let queue = |name: &str, pods: &[(&str, &str)]| {
        let pods = pods.iter().map(|(namespace, pod)| {
            format!(
                "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {pod}, namespace: {namespace}, labels: {{runai/queue: \
                 {name}}}}}}}\n"
            )
        });
        let queue =
            format!("---\n{{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {{name: {name}}}}}\n");
        queue + &pods.collect::<String>()
    };
    let first = queue("first", &[("shared", "a")]);
    let manifests = migrated_text("kai", &(first + &queue("second", &[("shared", "b"), ("own", "c")])));
    let comment = "# No equivalent: Queue second namespace: shared (the namespace has one Queue, that of first: split the namespace, \
                   or add these amounts)\n";
    let queues: Vec<&str> = manifests.split("---\n").collect();
    assert_eq!(queues.len(), 2, "{manifests}");
    assert!(queues[0].contains("# From Queue second.\n") && queues[0].contains(comment), "{manifests}");
    assert!(
        queues[0].contains("namespace: own\n") && queues[1].contains("namespace: shared\n"),
        "{manifests}"
    );
}

fn of_yunikorn(queues: &str) -> String {
    let config = format!("{{partitions: [{{name: default, queues: [{{name: root, queues: [{queues}]}}]}}]}}");
    migrated_text(
        "yunikorn",
        &format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: yunikorn-configs, namespace: y}}, data: {{queues.yaml: \
             '{config}'}}}}"
        ),
    )
}

/// Where no namespaces are described, a queue is taken to be that of the namespace of its name, if there can be one.
#[test]
fn no_namespace_has_a_name_that_the_api_refuses() {
    let manifests = of_yunikorn("{name: Team_1}, {name: team-2}");
    assert!(
        manifests.contains("queue root.Team_1 metadata.name: Team_1 (no namespace uses it"),
        "{manifests}"
    );
    assert!(
        !manifests.contains("namespace: Team_1") && manifests.contains("namespace: team-2"),
        "{manifests}"
    );
}

#[test]
fn two_parent_queues_have_two_names() {
    let manifests = of_yunikorn("{name: a-b, parent: true}, {name: a, queues: [{name: b, parent: true}]}");
    for name in ["name: a\n", "name: a-b\n", "name: a-b-tree\n"] {
        assert!(manifests.contains(&format!("metadata:\n  {name}  namespace: org\n")), "{name}: {manifests}");
    }
}

/// A queue to which nothing is guaranteed has a share like any other.
#[test]
fn a_guarantee_of_nothing_is_no_weight() {
    let manifests = of_yunikorn("{name: a, resources: {guaranteed: {vcore: 0}}}");
    assert!(manifests.contains("weight: 1\n"), "{manifests}");
}

/// The last one that is listed says that there are more.
#[test]
fn of_many_values_the_first_are_told() {
    let priorities: Vec<String> = (0..20).map(|number| format!("class-number-{number}")).collect();
    let tenant = format!(
        "{{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {{name: t}}, spec: {{priorityClasses: {{allowed: \
         [{}]}}}}}}",
        priorities.join(", ")
    );
    let manifests = migrated_text("capsule", &tenant);
    assert!(manifests.contains("class-number-3, ... (keep Capsule for it)"), "{manifests}");
}

/// A value of several lines is one comment: what stands behind the line break would be part of a manifest.
#[test]
fn a_comment_has_one_line() {
    let tenant = "{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {name: t}, spec: {about: \"a\\nspec: b\"}}";
    let manifests = migrated_text("capsule", tenant);
    assert!(
        manifests.contains("# No equivalent: Tenant t spec.about: a spec: b (keep Capsule for it)\n"),
        "{manifests}"
    );
}

#[test]
fn the_root_of_all_queues_is_no_parent_queue() {
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {yunikorn.apache.org/parentqueue: root}}}";
    let manifests = migrated_text("yunikorn", namespace);
    assert!(manifests.starts_with("# From Namespace shop.\napiVersion"), "{manifests}");
}
